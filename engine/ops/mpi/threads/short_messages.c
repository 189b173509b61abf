/* mpi.mt.short: the ping-pong of the first threads of ranks 0 and 1 while the other threads of rank 0 send
 * long messages. Does a long message in one thread block the short ones of another? After R. Thakur and W.
 * Gropp, Test suite for evaluating performance of multithreaded MPI communication, Parallel Computing 35
 * (2009).
 *
 * The long messages go on from the first check to the end of the point, so that their beginning and end are
 * not timed. The last one before each check has its own tag, by which the receiver recognises it. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "base/pool.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/threads/threads.h"
#include "team/team_mpi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1, TAG_LAST };

enum { PEER, THIRD };
static const char *const targets[] = {[PEER] = "peer", [THIRD] = "third", NULL};

enum { OTHER_BYTES, OTHER_TO, OWN };
static const struct param own[OWN] = {
    [OTHER_BYTES] = {"other_bytes", "bytes", "size of the long messages", 1048576, 0, 1073741824},
    [OTHER_TO] = PARAM_WORDS(
        "other_to", "receiver of the long messages. peer: rank 1 in its other threads; third: rank 2",
        targets),
};
static struct mt_base base;

/* The long messages that one thread sends or receives. */
struct long_stream {
    _Alignas(128) struct team team;
    MPI_Comm comm;
    char *buffer;
    int rc;
};

struct shorts {
    const struct op *alone; /* the ping-pong */
    void *state;
    struct op_env env;
    struct pool *pool; /* lane 0 has the ping-pong */
    int opened;        /* streams that have a team with all ranks */
    int count;         /* threads of this rank in a stream */
    int rank, target, bytes;
    int generation; /* number of the check, which the long messages' data depend on */
    bool planted, flowing;
    atomic_bool over;
    struct long_stream *streams;
};

static void flow(void *state, int lane)
{
    struct shorts *s = state;
    struct long_stream *me = &s->streams[lane - 1];
    bool last = false;
    int rc = MPI_SUCCESS;
    while (!last && rc == MPI_SUCCESS)
        if (s->rank == 0) {
            last = atomic_load_explicit(&s->over, memory_order_relaxed);
            rc = MPI_Send(me->buffer, s->bytes, MPI_BYTE, s->target, last ? TAG_LAST : TAG, me->comm);
        } else {
            MPI_Status status;
            rc = MPI_Recv(me->buffer, s->bytes, MPI_BYTE, 0, MPI_ANY_TAG, me->comm, &status);
            last = rc == MPI_SUCCESS && status.MPI_TAG == TAG_LAST;
        }
    me->rc = rc;
}

static void flow_begin(struct shorts *s)
{
    atomic_store_explicit(&s->over, false, memory_order_relaxed);
    pool_begin(s->pool, flow, s);
    s->flowing = true;
}

/* All ranks at once: a receiver ends when its sender does. */
static int flow_end(struct shorts *s)
{
    int rc = MPI_SUCCESS;
    if (!s->flowing)
        return 0;
    atomic_store_explicit(&s->over, true, memory_order_relaxed);
    pool_end(s->pool);
    s->flowing = false;
    for (int i = 0; i < s->count && rc == MPI_SUCCESS; ++i)
        rc = s->streams[i].rc;
    return team_mpi_err(rc, s->rank == 0 ? "MPI_Send of a long message" : "MPI_Recv of a long message");
}

static int run(void *state, int64_t reps)
{
    struct shorts *s = state;
    return s->alone->run(s->state, reps);
}

static int turn(void *state, int64_t message)
{
    struct shorts *s = state;
    return s->alone->turn(s->state, message);
}

static bool write_payload(void *state)
{
    struct shorts *s = state;
    return s->alone->write && s->alone->write(s->state);
}

/* The contents of a long message, which differ for each thread and each check. */
static int content(const struct shorts *s, int stream)
{
    enum { STREAMS_OF_A_CHECK = 4096 };
    return s->generation * STREAMS_OF_A_CHECK + stream;
}

static void refill(struct shorts *s)
{
    ++s->generation;
    for (int i = 0; i < s->count && s->bytes > 0; ++i)
        if (s->rank == 0)
            data_fill(s->streams[i].buffer, (size_t)s->bytes, 0, content(s, i));
        else
            data_poison(s->streams[i].buffer, (size_t)s->bytes);
}

static int check_long(struct shorts *s)
{
    int err = 0;
    for (int i = 0; i < s->count && s->rank != 0 && s->bytes > 0 && !err; ++i) {
        data_arrived(s->streams[i].buffer, (size_t)s->bytes, s->planted);
        err = data_check(s->streams[i].buffer, (size_t)s->bytes, 0, content(s, i), i);
    }
    return err;
}

/* Check short messages under long ones, then the last of these. The next samples are under long ones too. */
static int check_both(struct shorts *s, int (*check_short)(void *state))
{
    const int wrong = check_short(s->state);
    char why[ERR_TEXT_MAX];
    snprintf(why, sizeof why, "%s", wrong ? err_text() : "");
    int err = flow_end(s);
    err = err ? err : check_long(s);
    refill(s);
    flow_begin(s);
    return wrong ? err_say((enum err)wrong, "%s", why) : err;
}

static int verify(void *state)
{
    struct shorts *s = state;
    if (!s->flowing) {
        refill(s);
        flow_begin(s);
    }
    return check_both(s, s->alone->verify);
}

static int check(void *state)
{
    struct shorts *s = state;
    return check_both(s, s->alone->check);
}

static void teardown(void *state)
{
    struct shorts *s = state;
    flow_end(s);
    pool_close(s->pool);
    if (s->state)
        s->alone->teardown(s->state);
    for (int i = 0; i < s->opened; ++i)
        team_lane_close(&s->streams[i].team);
    free(s->streams);
    free(s);
}

static int open_streams(const struct op_env *env, struct shorts *s)
{
    const int streams = env->threads - 1;
    int err = 0;
    if (streams > 0) {
        s->streams = aligned_alloc(_Alignof(struct long_stream), (size_t)streams * sizeof *s->streams);
        if (!s->streams)
            return err_say(ERR_NOMEM, "no memory for %d threads of %s", env->threads, env->op->name);
        memset(s->streams, 0, (size_t)streams * sizeof *s->streams);
    }
    for (int i = 0; i < streams && !err; ++i) {
        err = team_lane_open(env->team, true, &s->streams[i].team);
        s->opened += !err;
    }
    s->count = s->rank == 0 || s->rank == s->target ? streams : 0;
    for (int i = 0; i < s->count && !err; ++i) {
        struct long_stream *stream = &s->streams[i];
        stream->comm = team_comm(&stream->team);
        err = buffers_take(env->buffers, 1, (size_t)s->bytes, (void **)&stream->buffer);
    }
    return err ? err : pool_open(1 + s->count, &s->pool);
}

static int setup(const struct op_env *env, void **state)
{
    const int target = (int)env->params[OTHER_TO] == THIRD ? 2 : 1;
    int err = mt_allowed(env);
    if (!err && target >= env->team->size)
        err = err_say(ERR_UNSUPPORTED, "other_to=third sends long messages to rank 2; give 3 ranks, not %d",
                      env->team->size);
    if (err)
        return err;
    struct shorts *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    s->alone = &base.alone;
    s->rank = env->team->rank;
    s->target = target;
    s->bytes = (int)env->params[OTHER_BYTES];
    s->planted = env->planted;
    s->env = mt_env_alone(env);
    err = open_streams(env, s);
    err = err ? err : s->alone->setup(&s->env, &s->state);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    mt_base_make(&base, "mpi.pingpong", OWN, own);
    mt_op(&base, op);
    strcpy(op->name, "mpi.mt.short");
    op->summary =
        "mpi.pingpong in one thread while the others send long messages; one way, half the round trip";
    op->default_bytes = "0,1..64Ki";
    op->setup = setup;
    op->run = run;
    op->turn = turn;
    op->write = write_payload;
    op->verify = verify;
    op->check = check;
    op->teardown = teardown;
}

const struct op_family mpi_mt_short_ops = {.count = 1, .op_at = op_at};
