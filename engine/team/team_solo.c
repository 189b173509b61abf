/* A team without MPI: one process, which costs nothing, or several on this host that talk through memory.
 *
 * The process that opens a team of several becomes their keeper: it forks every rank, rank 0 too, and waits.
 * The first rank that ends badly ends all; then the keeper ends as that rank did, by the same signal or with
 * the same code. A rank dies with its keeper, so none is left behind whichever process is killed.
 *
 * There is a slot for each pair of ranks and direction, which the sender fills and the receiver empties, in
 * pieces where a message is longer. Ranks call the team's functions in one order, so what comes next from a
 * rank is what is waited for. */
#define _GNU_SOURCE
#include "team/team.h"

#include "base/crash.h"
#include "base/err.h"
#include "base/json.h"
#include "base/wait.h"
#include "team/hosts.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

const char team_kind[] = "solo";
double (*const team_wtime)(void) = NULL;

enum {
    RANKS_MOST = 256, /* 256 MiB of slots, of which those that are used become memory */
    SLOT = 4096,
    PIECE = SLOT - 2 * (int)sizeof(uint64_t),
    EXIT_UNFINISHED = 3, /* of a keeper whose rank ended without a word: the measurement failed */
    LOOK_US = 1000,
    LOOKS_MOST = 1000 /* a second for ranks to end after a TERM: more than they take */
};

struct slot {
    _Atomic uint64_t full;
    uint64_t whole; /* bytes of the message that this is a piece of */
    char data[PIECE];
};

struct own {
    struct slot *slots;  /* of a message from a to b: [a * size + b] */
    atomic_bool *closed; /* [rank]; behind the slots */
    size_t bytes;        /* of all that is shared */
};

static int share(struct own *own, int ranks)
{
    const size_t slots = (size_t)ranks * (size_t)ranks * sizeof(struct slot);
    own->bytes = slots + (size_t)ranks * sizeof *own->closed;
    void *memory =
        mmap(NULL, own->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return err_say(ERR_NOMEM, "no memory for the messages of %d ranks: %s", ranks, strerror(errno));
    own->slots = memory;
    own->closed = (atomic_bool *)((char *)memory + slots);
    return 0;
}

/* ---- the keeper -------------------------------------------------------------------------------------- */

static void kill_all(const pid_t *pids, int ranks, int signal_number)
{
    for (int r = 0; r < ranks; ++r)
        if (pids[r] > 0)
            kill(pids[r], signal_number);
}

/* End as a rank did. */
static _Noreturn void end_like(int status)
{
    if (WIFSIGNALED(status)) {
        const struct rlimit no_core = {0, 0}; /* the rank has left its own */
        setrlimit(RLIMIT_CORE, &no_core);
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : EXIT_UNFINISHED);
}

static _Noreturn void keep(const struct own *own, pid_t *pids, int ranks)
{
    bool failed = false;
    int first = 0, looks = 0;
    crash_expect_exit(); /* this process is no rank */
    for (int left = ranks; left > 0;) {
        int status = 0, r = 0;
        pid_t pid = waitpid(-1, &status, failed && looks < LOOKS_MOST ? WNOHANG : 0);
        if (pid == 0) {
            usleep(LOOK_US);
            if (++looks == LOOKS_MOST)
                kill_all(pids, ranks, SIGKILL);
            continue;
        }
        while (r < ranks && pids[r] != pid)
            ++r;
        if (pid < 0 && errno != EINTR)
            break;
        if (pid < 0 || r == ranks)
            continue;
        pids[r] = 0;
        --left;
        const bool well = WIFEXITED(status) && WEXITSTATUS(status) == 0 && atomic_load(&own->closed[r]);
        if (!well && !failed) {
            failed = true;
            first = status;
            if (WIFSIGNALED(status))
                crash_tell(r, WTERMSIG(status));
            kill_all(pids, ranks, SIGTERM); /* by which a rank removes its files of shared memory */
        }
    }
    if (failed)
        end_like(first);
    _exit(0);
}

/* Returns in each rank; the keeper stays. ERR_SYSTEM, in the keeper. */
static int fork_ranks(const struct own *own, int ranks, int *rank)
{
    const pid_t keeper = getpid();
    pid_t pids[RANKS_MOST];
    fflush(NULL); /* or each rank would write it again */
    for (int r = 0; r < ranks; ++r) {
        pids[r] = fork();
        if (pids[r] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != keeper) /* it died before it could be told */
                _exit(EXIT_UNFINISHED);
            *rank = r;
            return 0;
        }
        if (pids[r] < 0) {
            int refused = errno;
            kill_all(pids, r, SIGKILL);
            while (waitpid(-1, NULL, 0) > 0)
                ;
            return err_say(ERR_SYSTEM, "rank %d of %d cannot be started: %s", r, ranks, strerror(refused));
        }
    }
    keep(own, pids, ranks);
}

int team_open(struct team *team, const char *thread_level, int ranks, team_early *early, void *data)
{
    (void)thread_level;
    (void)early; /* there is no library to start */
    (void)data;
    *team = (struct team){.size = 1};
    if (ranks <= 1)
        return hosts_open(team);
    if (ranks > RANKS_MOST)
        return err_say(ERR_INPUT, "%d ranks without MPI are too many: at most %d; use an MPI", ranks,
                       RANKS_MOST);
    struct own *own = calloc(1, sizeof *own);
    if (!own)
        return err_say(ERR_NOMEM, "no memory for the team");
    int rank = 0, err = share(own, ranks);
    if (!err)
        err = fork_ranks(own, ranks, &rank);
    if (err) {
        free(own);
        return err;
    }
    *team = (struct team){.own = own, .rank = rank, .size = ranks};
    return hosts_open(team);
}

int team_close(struct team *team)
{
    struct own *own = team->own;
    hosts_close(team);
    if (!own)
        return 0;
    atomic_store(&own->closed[team->rank], true);
    munmap(own->slots, own->bytes);
    free(own);
    team->own = NULL;
    return 0;
}

void team_abort(const struct team *team, int code)
{
    (void)team; /* where there are others, the keeper ends them */
    exit(code);
}

/* ---- messages ---------------------------------------------------------------------------------------- */

static struct slot *slot_of(const struct team *team, int from, int to)
{
    return &((const struct own *)team->own)->slots[from * team->size + to];
}

static void wait_until(const _Atomic uint64_t *full, uint64_t value)
{
    int looks = 0;
    while (atomic_load_explicit(full, memory_order_acquire) != value)
        wait_a_little(&looks);
}

static bool is_other(const struct team *team, int rank)
{
    return rank >= 0 && rank < team->size && rank != team->rank;
}

int team_send(const struct team *team, int to, const void *data, size_t bytes)
{
    if (!is_other(team, to))
        return err_say(ERR_SYSTEM, "rank %d of %d has no rank %d to send to", team->rank, team->size, to);
    struct slot *slot = slot_of(team, team->rank, to);
    size_t sent = 0;
    do {
        const size_t piece = bytes - sent < PIECE ? bytes - sent : PIECE;
        wait_until(&slot->full, 0);
        slot->whole = bytes;
        if (piece > 0)
            memcpy(slot->data, (const char *)data + sent, piece);
        atomic_store_explicit(&slot->full, 1, memory_order_release);
        sent += piece;
    } while (sent < bytes);
    return 0;
}

int team_recv(const struct team *team, int from, void *data, size_t bytes)
{
    if (!is_other(team, from))
        return err_say(ERR_SYSTEM, "rank %d of %d has no rank %d to receive from", team->rank, team->size,
                       from);
    struct slot *slot = slot_of(team, from, team->rank);
    size_t received = 0;
    do {
        const size_t piece = bytes - received < PIECE ? bytes - received : PIECE;
        wait_until(&slot->full, 1);
        if (slot->whole != bytes)
            return err_say(ERR_SYSTEM, "rank %d waits for %zu bytes from rank %d, which sends %llu",
                           team->rank, bytes, from, (unsigned long long)slot->whole);
        if (piece > 0)
            memcpy((char *)data + received, slot->data, piece);
        atomic_store_explicit(&slot->full, 0, memory_order_release);
        received += piece;
    } while (received < bytes);
    return 0;
}

int team_library_barrier(const struct team *team)
{
    (void)team;
    return 0;
}

void team_describe(struct json *j)
{
    json_string(j, "mpi", NULL);
}

void team_record(const struct team *team, struct json *j)
{
    (void)team;
    team_describe(j);
}

void team_queues(const struct team *team, struct json *j)
{
    (void)team, (void)j;
}
