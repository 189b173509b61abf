/* mpi.wait.stream: what a waiting rank takes from its neighbour. Rank 0 streams through memory (STREAM's
 * triad) and then sends a message, for which rank 1 waits all the while: in MPI_Recv, or asleep. Put both on
 * one CPU, one core, or apart. */
#include "ops/families.h"

#include "base/err.h"
#include "team/team_mpi.h"

#include <stdlib.h>
#include <time.h>

enum { WORKER, WAITER };
enum { TAG = 1 }; /* that of all point-to-point ops */
enum { BY };
enum { RECV, SLEEP };
static const char *const ways[] = {[RECV] = "recv", [SLEEP] = "sleep", NULL};

static const struct param params[] = {
    [BY] = PARAM_WORDS("wait",
                       "how rank 1 waits. recv: in MPI_Recv; sleep: it looks for the message once in a "
                       "millisecond, and sleeps between",
                       ways),
    BUFFERS_PARAMS,
    {0},
};

struct wait {
    MPI_Comm comm;
    int rank;
    bool sleeps, planted;
    size_t count; /* numbers in an array */
    double *a, *b, *c;
};

static const double FACTOR = 3;

static void triad(struct wait *w)
{
    double *restrict a = w->a;
    const double *restrict b = w->b, *restrict c = w->c;
    for (size_t i = 0; i < w->count; ++i)
        a[i] = b[i] + FACTOR * c[i];
    __asm__ volatile("" : : "r"(a) : "memory"); /* each pass is done */
}

static int work(struct wait *w, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i)
        triad(w);
    return team_mpi_err(MPI_Send(NULL, 0, MPI_BYTE, WAITER, TAG, w->comm), "MPI_Send");
}

static int await(const struct wait *w)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    int there = !w->sleeps, rc = MPI_SUCCESS;
    while (!there && rc == MPI_SUCCESS) {
        nanosleep(&nap, NULL);
        rc = MPI_Iprobe(WORKER, TAG, w->comm, &there, MPI_STATUS_IGNORE);
    }
    if (rc == MPI_SUCCESS)
        rc = MPI_Recv(NULL, 0, MPI_BYTE, WORKER, TAG, w->comm, MPI_STATUS_IGNORE);
    return team_mpi_err(rc, "MPI_Iprobe or MPI_Recv");
}

static int run(void *state, int64_t reps)
{
    struct wait *w = state;
    return w->rank == WORKER ? work(w, reps) : w->rank == WAITER ? await(w) : 0;
}

static int setup(const struct op_env *env, void **state)
{
    struct wait *w = calloc(1, sizeof *w);
    if (!w)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *w = (struct wait){.comm = team_comm(env->team),
                       .rank = env->team->rank,
                       .sleeps = (int)env->params[BY] == SLEEP,
                       .planted = env->planted,
                       .count = env->bytes / sizeof(double)};
    double **const arrays[] = {&w->a, &w->b, &w->c};
    int err = 0;
    for (int i = 0; i < 3 && w->rank == WORKER && !err; ++i)
        err = buffers_take(env->buffers, 1, w->count * sizeof(double), (void **)arrays[i]);
    if (err)
        free(w);
    else
        *state = w;
    return err;
}

static int verify(void *state)
{
    struct wait *w = state;
    const bool works = w->rank == WORKER;
    for (size_t i = 0; works && i < w->count; ++i) {
        w->a[i] = -1;
        w->b[i] = (double)(i % 1000);
        w->c[i] = (double)(i % 7);
    }
    int err = run(w, 1);
    if (works && w->planted && w->count > 0)
        w->a[w->count - 1] += 1;
    for (size_t i = 0; works && !err && i < w->count; ++i)
        if (w->a[i] != (double)(i % 1000) + FACTOR * (double)(i % 7))
            err = err_say(ERR_WRONG, "number %zu of the triad is %g, should be %g", i, w->a[i],
                          (double)(i % 1000) + FACTOR * (double)(i % 7));
    return err;
}

/* As STREAM counts: two arrays read and one written. */
static double moved(const struct op_env *env)
{
    return 3 * (double)(env->bytes / sizeof(double) * sizeof(double));
}

static const struct op rows[] = {
    {.name = "mpi.wait.stream",
     .family = "p2p",
     .summary =
         "STREAM's triad at rank 0 while rank 1 waits for a message of it; bytes are those of an array",
     .class = OP_P2P,
     .role = ROLE_BANDWIDTH,
     .report = OP_ROOT,
     .parts = 1,
     .least_ranks = 2,
     .default_bytes = "8Mi",
     .params = params,
     .setup = setup,
     .run = run,
     .verify = verify,
     .teardown = free,
     .moved = moved},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
}

const struct op_family mpi_wait_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
