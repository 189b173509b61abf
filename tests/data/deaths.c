/* Ways to die, and to live badly, for tests: a shared object to be loaded before an engine, with or without
 * an MPI.
 *
 * DEATH=PLACE:WAY[:NUMBER]. The places: load (before main), init, barrier (the second MPI_Barrier), finalize.
 * DEATH_RANK says on which rank, 1 if nothing does; -1 is all ranks. No header of an MPI is used, so one file
 * fits all of them: what is passed on are whole registers. DEATH=bind:refused lets nobody bind, as a filter
 * of a container may. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static int own_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return 0;
}

static void die_exit(int number)
{
    exit(number);
}

static void die_quietly(int number)
{
    _exit(number);
}

static void die_abort(int number)
{
    (void)number;
    fprintf(stderr, "libfabric:12:core: the provider gave up\n");
    abort();
}

static void die_assert(int number)
{
    assert(number == 12345);
}

static void die_signal(int number)
{
    raise(number);
}

static void die_killed(int number)
{
    kill(getpid(), number);
}

static void die_segv(int number)
{
    *(volatile int *)(long)number = 1;
}

static void die_twice_freed(int number)
{
    char *volatile block = malloc(2000), *volatile other = malloc(2000);
    (void)number;
    free(block);
    free(block);
    free(other);
}

static void die_terminate(int number)
{
    void *cxx = dlopen("libstdc++.so.6", RTLD_NOW);
    void (*give_up)(const char *) = NULL;
    if (cxx)
        *(void **)&give_up = dlsym(cxx, "_ZSt20__throw_length_errorPKc"); /* std::length_error */
    (void)number;
    if (give_up)
        give_up("a provider's table has grown too long");
}

/* Without memory on /dev/shm, so large a file is found to be none by SIGBUS. */
static void die_shared_memory(int number)
{
    const size_t bytes = (size_t)number << 20;
    const int file = (int)syscall(SYS_openat, AT_FDCWD, "/dev/shm", O_TMPFILE | O_RDWR, 0600);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        return;
    char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory != MAP_FAILED)
        memset(memory, 1, bytes);
}

static void die_processor_time(int number)
{
    const struct rlimit limit = {(rlim_t)number, RLIM_INFINITY};
    setrlimit(RLIMIT_CPU, &limit);
    for (volatile int spins = 0;; ++spins)
        ;
}

static void die_call_forbidden(int number)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    (void)number;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    syscall(SYS_getppid);
}

static void die_hang(int number)
{
    (void)number;
    for (;;)
        pause();
}

static void die_suspended(int number)
{
    (void)number;
    raise(SIGSTOP);
}

static void die_with_launcher(int number)
{
    kill(getppid(), number);
    sleep(5);
}

static long world; /* the communicator of the last MPI_Barrier */

static void die_mpi_abort(int number)
{
    int (*abort_all)(long, int);
    *(void **)&abort_all = next("MPI_Abort");
    abort_all(world, number);
}

static void die_files(int number)
{
    const struct rlimit limit = {(rlim_t)number, (rlim_t)number};
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- what is no death by itself ---- */

static void live_with_small_files(int number)
{
    const struct rlimit limit = {(rlim_t)number, (rlim_t)number};
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* Into the records, among others' lines. */
static void live_with_garbage(int number)
{
    static const char line[] = "\033[2J{\"record\":\"end\"\n\n\xff\n";
    for (int file = STDERR_FILENO + 1; file < number; ++file) {
        char link[32], path[512];
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        const ssize_t length = readlink(link, path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        if (strstr(path, ".jsonl") && write(file, line, sizeof line - 1) < 0)
            abort();
    }
}

static void live_loudly(int number)
{
    for (int i = 0; i < number; ++i) {
        printf("\033[2J{\"record\":\"end\"}\xff\n");
        fprintf(stderr, "\033]0;title\a<script>alert(1)</script>\n");
    }
}

static void live_deaf(int number)
{
    for (int i = 1; i < number; ++i)
        signal(i, SIG_IGN);
}

static void live_elsewhere(int number)
{
    if (chdir("/proc") == 0)
        umask((mode_t)number);
    clearenv();
}

static void live_with_child(int number)
{
    if (fork() != 0)
        return;
    setsid();
    clearenv();
    sleep((unsigned)number);
    _exit(0);
}

static const struct {
    const char *name;
    void (*die)(int number);
} ways[] = {
    {"exit", die_exit},
    {"quietly", die_quietly},
    {"abort", die_abort},
    {"assert", die_assert},
    {"raise", die_signal},
    {"killed", die_killed},
    {"segv", die_segv},
    {"twice-freed", die_twice_freed},
    {"terminate", die_terminate},
    {"shm", die_shared_memory},
    {"cpu-time", die_processor_time},
    {"forbidden", die_call_forbidden},
    {"hang", die_hang},
    {"suspended", die_suspended},
    {"launcher", die_with_launcher},
    {"mpi-abort", die_mpi_abort},
    {"files", die_files},
    {"small-files", live_with_small_files},
    {"garbage", live_with_garbage},
    {"loud", live_loudly},
    {"deaf", live_deaf},
    {"elsewhere", live_elsewhere},
    {"child", live_with_child},
};

static void die_at(const char *place)
{
    const char *wish = getenv("DEATH"), *rank = getenv("DEATH_RANK");
    const size_t length = strlen(place);
    const int victim = rank ? atoi(rank) : 1;
    if (!wish || strncmp(wish, place, length) != 0 || wish[length] != ':')
        return;
    if (victim >= 0 && victim != own_rank())
        return;
    const char *way = wish + length + 1, *colon = strchr(way, ':');
    const size_t letters = colon ? (size_t)(colon - way) : strlen(way);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i)
        if (strlen(ways[i].name) == letters && strncmp(ways[i].name, way, letters) == 0)
            ways[i].die(colon ? atoi(colon + 1) : 0);
}

__attribute__((constructor)) static void load(void)
{
    if (strstr(program_invocation_short_name, "steelyard"))
        die_at("load");
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *cpus)
{
    const char *wish = getenv("DEATH");
    if (!wish || strcmp(wish, "bind:refused") != 0)
        return (int)syscall(SYS_sched_setaffinity, pid, size, cpus);
    errno = EPERM;
    return -1;
}

int MPI_Init_thread(int *argc, char ***argv, int wanted, int *given)
{
    int (*init)(int *, char ***, int, int *);
    *(void **)&init = next("MPI_Init_thread");
    die_at("init");
    return init(argc, argv, wanted, given);
}

int MPI_Barrier(long comm)
{
    static int calls;
    int (*barrier)(long);
    *(void **)&barrier = next("MPI_Barrier");
    world = comm;
    if (++calls > 1)
        die_at("barrier");
    return barrier(comm);
}

int MPI_Finalize(void)
{
    int (*finalize)(void);
    *(void **)&finalize = next("MPI_Finalize");
    const int rc = finalize();
    die_at("finalize");
    return rc;
}
