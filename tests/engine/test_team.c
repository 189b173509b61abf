/* A team of forked ranks. Orphans would come to this process. */
#define _GNU_SOURCE
#include "ranks.h"
#include "test.h"

#include "base/err.h"
#include "team/team.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BIG = 10001 }; /* several pieces of a slot, and no whole number of them */

static atomic_int *came; /* of each rank; shared by all that are forked */

static void rest(void)
{
    nanosleep(&(const struct timespec){.tv_nsec = 10000000}, NULL);
}

/* Every orphan, dead or alive, is ours to wait for: whether all end. */
static bool all_gone(void)
{
    enum { PATIENCE = 1000 }; /* rests: 10 s */
    for (int i = 0; i < PATIENCE; ++i) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0)
            return errno == ECHILD;
        if (pid == 0)
            rest();
    }
    return false;
}

/* ---- what all ranks do together ---------------------------------------------------------------------- */

static unsigned char byte_of(int rank, int i)
{
    return (unsigned char)(hash_mix((uint64_t)rank * 100003 + (uint64_t)i) & 0xff);
}

static void check_bcast(const struct team *team, int bytes)
{
    unsigned char data[BIG];
    for (int i = 0; i < bytes; ++i)
        data[i] = team->rank == 0 ? byte_of(7, i) : 0;
    CHECK(team_bcast(team, data, (size_t)bytes) == 0);
    for (int i = 0; i < bytes; ++i)
        CHECK(data[i] == byte_of(7, i));
}

static void check_gather(const struct team *team, int bytes)
{
    unsigned char mine[BIG];
    unsigned char *all = team->rank == 0 ? malloc((size_t)team->size * BIG) : NULL;
    for (int i = 0; i < bytes; ++i)
        mine[i] = byte_of(team->rank, i);
    CHECK(team_gather(team, mine, (size_t)bytes, all) == 0);
    for (int r = 0; all && r < team->size; ++r)
        for (int i = 0; i < bytes; ++i)
            CHECK(all[r * bytes + i] == byte_of(r, i));
    free(all);
}

struct told {
    int64_t sum, most, bits[3];
};

static void merge_told(void *into_bytes, const void *from_bytes, size_t bytes)
{
    struct told *into = into_bytes;
    const struct told *from = from_bytes;
    CHECK(bytes == sizeof *into);
    into->sum += from->sum;
    into->most = from->most > into->most ? from->most : into->most;
    for (int i = 0; i < 3; ++i)
        into->bits[i] |= from->bits[i];
}

/* Each rank counts once, whatever the tree; chosen ranks tell what is their own. */
static void check_reduce(const struct team *team)
{
    struct told told = {.sum = team->rank + 1, .most = 7 - team->rank, .bits = {0, 1 << team->rank, 0}};
    CHECK(team_reduce(team, &told, sizeof told, merge_told) == 0);
    if (team->rank == 0)
        CHECK(told.sum == team->size * (team->size + 1) / 2 && told.most == 7 &&
              told.bits[1] == (1 << team->size) - 1 && told.bits[0] == 0);
    int64_t mine = 100 + team->rank, all[TEAM_CHOSEN_MOST] = {0};
    CHECK(team_gather_chosen(team, &mine, sizeof mine, team->rank == 0 ? all : NULL) == 0);
    for (int i = 0; i < team_chosen_count(team->size) && team->rank == 0; ++i)
        CHECK(all[i] == 100 + team_chosen(team->size, i));
}

static void test_chosen(void)
{
    static const int counts[] = {1, 5, 64, 65, 1000, 1 << 30};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i) {
        const int count = team_chosen_count(counts[i]);
        CHECK(count <= TEAM_CHOSEN_MOST && count <= counts[i] && team_chosen(counts[i], 0) == 0);
        for (int k = 1; k < count; ++k)
            CHECK(team_chosen(counts[i], k) > team_chosen(counts[i], k - 1));
        CHECK(team_chosen(counts[i], count - 1) < counts[i]);
    }
}

/* Round a ring of an even number, empty messages and long ones. */
static void check_ring(const struct team *team, int bytes)
{
    unsigned char out[BIG], in[BIG] = {0};
    const int to = (team->rank + 1) % team->size, from = (team->rank + team->size - 1) % team->size;
    for (int i = 0; i < bytes; ++i)
        out[i] = byte_of(team->rank, i);
    for (int turn = 0; turn < 2; ++turn)
        if (team->rank % 2 == turn)
            CHECK(team_send(team, to, out, (size_t)bytes) == 0);
        else
            CHECK(team_recv(team, from, in, (size_t)bytes) == 0);
    for (int i = 0; i < bytes; ++i)
        CHECK(in[i] == byte_of(from, i));
}

static int collectives(struct team *team)
{
    static const int sizes[] = {0, 1, 8, 4079, 4080, 4081, BIG};
    for (int round = 0; round < 20; ++round) {
        CHECK(team_barrier(team) == 0);
        check_reduce(team);
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
            check_bcast(team, sizes[s]);
            check_gather(team, sizes[s]);
            if (team->size % 2 == 0)
                check_ring(team, sizes[s]);
        }
        for (int largest = 0; largest < team->size; ++largest) {
            int64_t value = team->rank == largest ? 1000 + round : -team->rank;
            CHECK(team_max(team, &value) == 0 && value == 1000 + round);
        }
    }
    CHECK(team_library_barrier(team) == 0);
    return test_failures;
}

static void test_collectives(void)
{
    static const int counts[] = {1, 2, 3, 5, 8};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; ++i)
        CHECK(ranks_run(collectives, counts[i]) == 0);
    CHECK(all_gone());
}

/* No rank leaves a barrier before the last has come: each says in shared memory in which round it is. */
static int barrier_holds(struct team *team)
{
    for (int round = 1; round <= 50; ++round) {
        if (team->rank == round % team->size)
            rest();
        atomic_store(&came[team->rank], round);
        CHECK(team_barrier(team) == 0);
        check_reduce(team);
        for (int r = 0; r < team->size; ++r)
            CHECK(atomic_load(&came[r]) >= round);
    }
    return test_failures;
}

/* ---- how it ends ------------------------------------------------------------------------------------- */

/* The others wait for who never comes. */
static int one_is_killed(struct team *team)
{
    if (team->rank == 1)
        raise(SIGKILL);
    return team_barrier(team);
}

static int one_aborts(struct team *team)
{
    if (team->rank == team->size - 1)
        team_abort(team, 3);
    return team_barrier(team);
}

/* As a library may that finds something wrong. */
static int one_leaves(struct team *team)
{
    if (team->rank == 0)
        exit(0);
    return team_barrier(team);
}

static int all_wait(struct team *team)
{
    CHECK(team_barrier(team) == 0);
    for (int i = 0; i < 100000; ++i) /* far longer than the test */
        rest();
    return test_failures;
}

static void test_ends(void)
{
    for (int ranks = 2; ranks <= 5; ++ranks) {
        int killed = ranks_run(one_is_killed, ranks), aborted = ranks_run(one_aborts, ranks);
        int left = ranks_run(one_leaves, ranks);
        CHECK(WIFSIGNALED(killed) && WTERMSIG(killed) == SIGKILL);
        CHECK(WIFEXITED(aborted) && WEXITSTATUS(aborted) == 3);
        CHECK(WIFEXITED(left) && WEXITSTATUS(left) == 3);
        CHECK(all_gone());
    }
}

/* Nobody can clean up after it, and nobody needs to. */
static void test_a_killed_keeper(void)
{
    static const int signals[] = {SIGKILL, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
        const pid_t keeper = ranks_start(all_wait, 3);
        for (int k = 0; k < 10; ++k)
            rest();
        CHECK(kill(keeper, signals[i]) == 0);
        CHECK(all_gone());
    }
}

/* ---- bad input --------------------------------------------------------------------------------------- */

static void test_input(void)
{
    struct team team;
    int64_t value = 5;
    char data = 'x';
    CHECK(team_open(&team, "single", 100000, NULL, NULL) == ERR_INPUT && strstr(err_text(), "at most 256"));
    CHECK(team_open(&team, "single", 0, NULL, NULL) == 0 && team.size == 1 && team.rank == 0 && !team.own);
    CHECK(team_send(&team, 1, &data, 1) == ERR_SYSTEM && strstr(err_text(), "no rank 1 to send to"));
    CHECK(team_recv(&team, 0, &data, 1) == ERR_SYSTEM);
    CHECK(team_barrier(&team) == 0 && team_max(&team, &value) == 0 && value == 5);
    CHECK(team_bcast(&team, &data, 1) == 0 && data == 'x');
    CHECK(team_close(&team) == 0);
}

/* What one sends and what the other waits for differ: said, not cut. */
static int unlike_sizes(struct team *team)
{
    char data[16] = "";
    if (team->rank == 0)
        CHECK(team_send(team, 1, data, 8) == 0);
    else
        CHECK(team_recv(team, 0, data, 16) == ERR_SYSTEM && strstr(err_text(), "waits for 16 bytes"));
    return test_failures;
}

int main(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    came = shared;
    test_input();
    test_chosen();
    test_collectives();
    CHECK(ranks_run(barrier_holds, 3) == 0);
    CHECK(ranks_run(unlike_sizes, 2) == 0);
    test_ends();
    test_a_killed_keeper();
    return test_result();
}
