/* mpi.part.*: a message in partitions (MPI 4, chapter 4). The sender marks each partition as ready when it
 * is: from one thread or several, all at once or not. Ranks 0 and 1 communicate, the others wait. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "base/pool.h"
#include "base/work.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <math.h>
#include <stdlib.h>

enum { TAG = 1, TAG_ANSWER = 2 };

enum { WAIT, PARRIVED };
static const char *const arrivals[] = {[WAIT] = "wait", [PARRIVED] = "parrived", NULL};

enum { PARTITIONS, WORK_US, SKEW_US, ARRIVAL };
static const struct param params[] = {
    [PARTITIONS] = {"partitions", "", "partitions of a message; each thread readies its share", 4, 1, 65536,
                    .all = "partitions"},
    [WORK_US] = {"work_us", "us", "calibrated work of each thread, spread over its partitions", 0, 0, 1e7},
    [SKEW_US] = {"skew_us", "us", "further work of the last thread, before its last partition", 0, 0, 1e7},
    [ARRIVAL] = PARAM_WORDS("arrival", "how the receiver waits: MPI_Wait, or MPI_Parrived first", arrivals),
    BUFFERS_PARAMS,
    {0},
};

/* A thread's share of a message, on cache lines of its own. */
struct part_lane {
    _Alignas(64) int first, last; /* its partitions, `last` not included */
    int64_t piece, skew;          /* steps of work before each of them, and extra steps before the last one */
    uint64_t x, checked;          /* the result of the work; its value before a check */
    int rc;
};

struct part {
    MPI_Comm comm;
    int rank, peer, partitions, threads;
    size_t bytes;
    char *send, *recv;
    MPI_Request outgoing, incoming;
    void (*look)(void *state, int lane); /* what each of the receiver's threads does; NULL: wait */
    int (*half[2])(struct part *p);      /* a repetition of rank 0 and of rank 1 */
    struct pool *pool;
    struct part_lane *lanes;
    bool planted;
};

struct halves {
    int (*half[2])(struct part *p);
    bool answers; /* rank 1 sends a message back */
};

/* Both directions of a message. */

static void ready_share(void *state, int lane)
{
    struct part *p = state;
    struct part_lane *l = &p->lanes[lane];
    uint64_t x = l->x;
    int rc = MPI_SUCCESS, last = l->last - 1;
    for (int i = l->first; i < last && rc == MPI_SUCCESS; ++i) {
        x = work_do(x, l->piece);
        rc = MPI_Pready(i, p->outgoing);
    }
    l->x = work_do(x, l->piece + l->skew);
    l->rc = rc == MPI_SUCCESS ? MPI_Pready(last, p->outgoing) : rc;
}

static void look_for_share(void *state, int lane)
{
    struct part *p = state;
    struct part_lane *l = &p->lanes[lane];
    int rc = MPI_SUCCESS;
    for (int i = l->first; i < l->last && rc == MPI_SUCCESS; ++i)
        for (int there = 0; !there && rc == MPI_SUCCESS;)
            rc = MPI_Parrived(p->incoming, i, &there);
    l->rc = rc;
}

static int together(struct part *p, void (*share)(void *state, int lane))
{
    pool_run(p->pool, share, p);
    int rc = MPI_SUCCESS;
    for (int t = 0; t < p->threads && rc == MPI_SUCCESS; ++t)
        rc = p->lanes[t].rc;
    return rc;
}

static int send_message(struct part *p)
{
    int rc = MPI_Start(&p->outgoing);
    if (rc == MPI_SUCCESS)
        rc = together(p, ready_share);
    return rc == MPI_SUCCESS ? MPI_Wait(&p->outgoing, MPI_STATUS_IGNORE) : rc;
}

static int receive_message(struct part *p)
{
    int rc = MPI_Start(&p->incoming);
    if (rc == MPI_SUCCESS && p->look)
        rc = together(p, p->look);
    return rc == MPI_SUCCESS ? MPI_Wait(&p->incoming, MPI_STATUS_IGNORE) : rc;
}

/* pingpong, send */

static int ping(struct part *p)
{
    int rc = send_message(p);
    return rc == MPI_SUCCESS ? receive_message(p) : rc;
}

static int pong(struct part *p)
{
    int rc = receive_message(p);
    return rc == MPI_SUCCESS ? send_message(p) : rc;
}

static int send_one(struct part *p)
{
    int rc = send_message(p);
    return rc == MPI_SUCCESS ? MPI_Recv(NULL, 0, MPI_BYTE, p->peer, TAG_ANSWER, p->comm, MPI_STATUS_IGNORE)
                             : rc;
}

static int receive_one(struct part *p)
{
    int rc = receive_message(p);
    return rc == MPI_SUCCESS ? MPI_Send(NULL, 0, MPI_BYTE, p->peer, TAG_ANSWER, p->comm) : rc;
}

static void teardown(void *state)
{
    struct part *p = state;
    pool_close(p->pool);
    if (p->outgoing != MPI_REQUEST_NULL)
        MPI_Request_free(&p->outgoing);
    if (p->incoming != MPI_REQUEST_NULL)
        MPI_Request_free(&p->incoming);
    free(p->lanes);
    free(p);
}

/* What each rank can work out without the others. */
static int check_params(const struct op_env *env)
{
    const int partitions = (int)env->params[PARTITIONS];
    int level = MPI_THREAD_SINGLE;
    int err = team_mpi_err(MPI_Query_thread(&level), "MPI_Query_thread");
    if (err)
        return err;
    if (env->threads > 1 && level < MPI_THREAD_MULTIPLE)
        return err_say(ERR_INPUT,
                       "%d threads call MPI_Pready at once, which this launch does not allow; give "
                       "--thread-level multiple",
                       env->threads);
    if (partitions < env->threads)
        return err_say(ERR_INPUT, "%d partitions are fewer than the %d threads; give at least %d", partitions,
                       env->threads, env->threads);
    const size_t left = env->bytes % (size_t)partitions;
    if (left != 0)
        return err_say(ERR_INPUT,
                       "%zu bytes cannot be cut into %d partitions; give a multiple of them, as %zu or %zu",
                       env->bytes, partitions, env->bytes - left, env->bytes - left + (size_t)partitions);
    if (env->params[WORK_US] + env->params[SKEW_US] > 0 && env->work_per_us <= 0)
        return err_say(ERR_UNSUPPORTED, "the clock stands still while a rank computes: work has no duration");
    return 0;
}

static int share_out(struct part *p, const struct op_env *env)
{
    p->lanes = aligned_alloc(sizeof *p->lanes, (size_t)p->threads * sizeof *p->lanes);
    if (!p->lanes)
        return err_say(ERR_NOMEM, "no memory for %d threads", p->threads);
    for (int t = 0; t < p->threads; ++t) {
        int first = (int)((int64_t)p->partitions * t / p->threads);
        int last = (int)((int64_t)p->partitions * (t + 1) / p->threads);
        double own = t == p->threads - 1 ? env->params[SKEW_US] : 0;
        p->lanes[t] =
            (struct part_lane){.first = first,
                               .last = last,
                               .piece = llround(env->params[WORK_US] * env->work_per_us / (last - first)),
                               .skew = llround(own * env->work_per_us)};
    }
    return pool_open(p->threads, &p->pool);
}

static int make_requests(struct part *p, bool answers)
{
    const MPI_Count count = (MPI_Count)(p->bytes / (size_t)p->partitions);
    int rc = MPI_SUCCESS;
    (void)count;
    if (p->rank == 0 || answers)
        rc = MPI_Psend_init(p->send, p->partitions, count, MPI_BYTE, p->peer, TAG, p->comm, MPI_INFO_NULL,
                            &p->outgoing);
    if (rc == MPI_SUCCESS && (p->rank == 1 || answers))
        rc = MPI_Precv_init(p->recv, p->partitions, count, MPI_BYTE, p->peer, TAG, p->comm, MPI_INFO_NULL,
                            &p->incoming);
    return team_mpi_err(rc, "MPI_Psend_init or MPI_Precv_init");
}

static int setup(const struct op_env *env, void **state)
{
    const struct halves *halves = env->op->row;
    int err = check_params(env);
    if (err)
        return err;
    struct part *p = calloc(1, sizeof *p);
    if (!p)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *p = (struct part){.comm = team_comm(env->team),
                       .rank = env->team->rank,
                       .peer = 1 - env->team->rank,
                       .partitions = (int)env->params[PARTITIONS],
                       .threads = env->threads,
                       .bytes = env->bytes,
                       .outgoing = MPI_REQUEST_NULL,
                       .incoming = MPI_REQUEST_NULL,
                       .look = (int)env->params[ARRIVAL] == PARRIVED ? look_for_share : NULL,
                       .half = {halves->half[0], halves->half[1]},
                       .planted = env->planted};
    if (p->rank < 2) {
        err = buffers_take(env->buffers, 1, p->bytes, (void **)&p->send);
        if (!err)
            err = buffers_take(env->buffers, 1, p->bytes, (void **)&p->recv);
        if (!err)
            err = share_out(p, env);
        if (!err)
            err = make_requests(p, halves->answers);
    }
    if (err)
        teardown(p);
    else
        *state = p;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct part *p = state;
    int rc = MPI_SUCCESS;
    if (p->rank >= 2)
        return 0;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = p->half[p->rank](p);
    return team_mpi_err(rc, "a message in partitions");
}

static int turn(void *state, int64_t message)
{
    struct part *p = state;
    if (p->rank >= 2)
        return 0;
    return team_mpi_err(message % 2 == p->rank ? send_message(p) : receive_message(p),
                        "a message in partitions");
}

/* Check that the senders did all steps of their work. */
static int check_work(const struct part *p)
{
    for (int t = 0; t < p->threads; ++t) {
        const struct part_lane *l = &p->lanes[t];
        int64_t steps = l->piece * (l->last - l->first) + l->skew;
        if (l->x != work_after(l->checked, steps))
            return err_say(ERR_WRONG, "thread %d has not done its %lld steps of work", t, (long long)steps);
    }
    return 0;
}

static int verify(void *state)
{
    struct part *p = state;
    if (p->rank >= 2)
        return 0;
    data_fill(p->send, p->bytes, p->rank, p->peer);
    data_poison(p->recv, p->bytes);
    for (int t = 0; t < p->threads; ++t)
        p->lanes[t].checked = p->lanes[t].x;
    int err = run(p, 1);
    if (!err && p->outgoing != MPI_REQUEST_NULL)
        err = check_work(p);
    if (err || p->incoming == MPI_REQUEST_NULL)
        return err;
    data_arrived(p->recv, p->bytes, p->planted);
    return data_check(p->recv, p->bytes, p->peer, p->rank, 0);
}

static double moved(const struct op_env *env)
{
    return env->op->parts * (double)env->bytes;
}

static const struct op rows[] = {
    {.name = "mpi.part.pingpong",
     .summary = "a message in partitions there and back; one way, half the round trip",
     .parts = 2,
     .row = &(const struct halves){{ping, pong}, .answers = true},
     .turn = turn},
    {.name = "mpi.part.send",
     .summary = "a message in partitions, and an empty answer after all of it has arrived",
     .parts = 1,
     .row = &(const struct halves){{send_one, receive_one}, .answers = false}},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "partitioned";
    op->class = OP_P2P;
    op->role = ROLE_LATENCY;
    op->report = OP_ROOT;
    op->least_ranks = 2;
    op->threaded = true;
    op->works = true;
    op->default_bytes = "8,1Ki,64Ki,1Mi";
    op->params = params;
    op->missing = MPI4_CALLS_MISSING;
    op->setup = setup;
    op->run = run;
    op->verify = verify;
    op->teardown = teardown;
    op->moved = moved;
}

const struct op_family mpi_part_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
