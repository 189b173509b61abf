/* mpi.mt.*: an MPI op in several threads of each rank at once, under MPI_THREAD_MULTIPLE. Thread t of a rank
 * communicates with thread t of the others, each with buffers of its own.
 *
 * Each of them runs another op in as many threads as are asked for. To add one: its name in the table below.
 * A repetition begins when the threads are released and ends when the last has finished. What the threads
 * share in MPI is `channel`: with a communicator for each thread the library can separate them before a
 * message is matched; with tags alone all of them match in one list. */
#include "ops/families.h"

#include "base/err.h"
#include "base/pool.h"
#include "comm/compat_mpi.h"
#include "ops/mpi/threads/threads.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum channel { COMMS, TAGS, STREAMS, THREADCOMM };
static const char *const channels[] = {
    [COMMS] = "comms", [TAGS] = "tags", [STREAMS] = "streams", [THREADCOMM] = "threadcomm", NULL};

/* Ops whose messages have a tag by op_env.lane have all of these rows, others only those before CHANNEL. */
enum { PHASES, CHANNEL, ASSERT, OWN };
static const struct param own[OWN] = {
    [PHASES] = MT_PHASES_PARAM,
    [CHANNEL] = PARAM_WORDS("channel",
                            "what separates the threads' messages: a communicator or a tag each, a "
                            "communicator on a stream of MPICH each, or a rank each in a thread communicator "
                            "of MPICH",
                            channels),
    [ASSERT] = MT_PROMISE_PARAM,
};

static const struct row {
    const char *name; /* of the op that each thread does */
    bool tagged;      /* has `channel` and `assert` */
} rows[] = {
    {"mpi.pingpong", true},
    {"mpi.pingping", true},
    {"mpi.sendrecv", true},
    {"mpi.bandwidth", true},
    {"mpi.bibandwidth", true},
    {"mpi.message_rate", false},
    {"mpi.pattern.neighbours", false},
    {"mpi.pattern.bisection", false},
    {"mpi.pattern.ring", false},
    {"mpi.pattern.all", false},
    {"mpi.barrier", false},
    {"mpi.bcast", false},
    {"mpi.reduce", false},
    {"mpi.allreduce", false},
    {"mpi.gather", false},
    {"mpi.gatherv", false},
    {"mpi.scatter", false},
    {"mpi.scatterv", false},
    {"mpi.allgather", false},
    {"mpi.allgatherv", false},
    {"mpi.alltoall", false},
    {"mpi.alltoallv", false},
    {"mpi.alltoallw", false},
    {"mpi.reduce_scatter", false},
    {"mpi.reduce_scatter_block", false},
    {"mpi.scan", false},
    {"mpi.exscan", false},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* The positions of the table's ops. */
static const struct op_family *const homes[] = {&mpi_p2p_pingpong_ops, &mpi_p2p_exchange_ops,
                                                &mpi_p2p_window_ops,   &mpi_p2p_rate_ops,
                                                &mpi_pattern_ops,      &mpi_coll_ops};

/* Made by op_at(), with the same result each time: an op's parameters must be one table. Those of the op that
 * the threads run are in a table of their own. */
static struct mt_base bases[ROWS];

/* One thread, on cache lines of its own. */
struct mt_lane {
    _Alignas(128) void *state; /* of `alone` */
    struct team team;
    struct op_env env;
    struct lane_time time; /* of phases */
    MPIX_Stream stream;    /* MPIX_STREAM_NULL: none */
    int err;
    char why[ERR_TEXT_MAX];
};

struct mt_threads {
    const struct op *alone;
    struct pool *pool;
    struct phases *phases; /* NULL: phases=off */
    int count;
    int64_t reps;          /* of this run */
    struct hint_seen hint; /* what the library shows of the hint in the first thread's communicator */
    struct mt_lane *lanes;
    struct lane_time *times;  /* of each thread, for its phases */
    MPI_Comm threadcomm;      /* MPI_COMM_NULL: none */
    bool entered;             /* by each thread */
    const struct op_env *all; /* of all threads together, during setup */
    int turn;                 /* of which thread it is to set up */
};

struct op_env mt_env_alone(const struct op_env *env)
{
    const struct mt_base *base = env->op->row;
    struct op_env alone = *env;
    alone.op = &base->alone;
    alone.threads = 1;
    alone.params = env->params + base->own;
    return alone;
}

/* The first error of any thread, which the caller reports again. */
static int first_error(const struct mt_threads *s)
{
    for (int t = 0; t < s->count; ++t)
        if (s->lanes[t].err)
            return err_say((enum err)s->lanes[t].err, "thread %d: %.230s", t, s->lanes[t].why);
    return 0;
}

static void note(struct mt_lane *lane, int err)
{
    lane->err = err;
    if (err)
        snprintf(lane->why, sizeof lane->why, "%s", err_text());
}

static void run_one(void *state, int t)
{
    const struct mt_threads *s = state;
    struct mt_lane *lane = &s->lanes[t];
    if (s->phases)
        lane->time.start_ns = phase_now(s->phases);
    note(lane, s->alone->run(lane->state, s->reps));
    if (s->phases)
        lane->time.stop_ns = phase_now(s->phases);
}

static int run(void *state, int64_t reps)
{
    struct mt_threads *s = state;
    s->reps = reps;
    phase_begin(s->phases);
    pool_run(s->pool, run_one, s);
    for (int t = 0; s->phases && t < s->count; ++t)
        s->times[t] = s->lanes[t].time;
    if (s->phases)
        mt_stamp(s->phases, s->times, s->count, reps);
    return first_error(s);
}

static void verify_one(void *state, int t)
{
    const struct mt_threads *s = state;
    note(&s->lanes[t], s->alone->verify(s->lanes[t].state));
}

static int verify(void *state)
{
    struct mt_threads *s = state;
    pool_run(s->pool, verify_one, s);
    return first_error(s);
}

static void check_one(void *state, int t)
{
    const struct mt_threads *s = state;
    note(&s->lanes[t], s->alone->check(s->lanes[t].state));
}

static int check(void *state)
{
    struct mt_threads *s = state;
    pool_run(s->pool, check_one, s);
    return first_error(s);
}

static void setup_one(void *state, int t)
{
    const struct mt_threads *s = state;
    struct mt_lane *lane = &s->lanes[t];
    if (t == s->turn)
        note(lane, s->alone->setup(&lane->env, &lane->state));
}

static void enter_one(void *state, int t)
{
    const struct mt_threads *s = state;
    struct op_env *env = &s->lanes[t].env;
    note(&s->lanes[t], mt_threadcomm_enter(s->threadcomm, s->all, &env->lane));
    env->lanes_as_ranks = s->all->threads;
}

static void leave_one(void *state, int t)
{
    const struct mt_threads *s = state;
    (void)t;
    mt_threadcomm_leave(s->threadcomm);
}

static void teardown(void *state)
{
    struct mt_threads *s = state;
    if (s->entered)
        pool_run(s->pool, leave_one, s);
    pool_close(s->pool);
    for (int t = 0; t < s->count; ++t) {
        if (s->lanes[t].state)
            s->alone->teardown(s->lanes[t].state);
        team_lane_close(&s->lanes[t].team);
        mt_stream_close(&s->lanes[t].stream);
    }
    mt_threadcomm_close(&s->threadcomm);
    free(s->times);
    free(s->lanes);
    free(s);
}

static void describe_end(const void *state, struct json *j)
{
    const struct mt_threads *s = state;
    hint_describe(&s->hint, j);
}

int mt_allowed(const struct op_env *env)
{
    return team_threads_allowed(env->op->name, env->threads);
}

/* Threads that share a communicator must not take each other's messages, nor share one buffer. */
static int check_words(const struct op_env *env, enum channel channel)
{
    const char *match = mt_word(env, "match");
    if (channel == TAGS && (strcmp(match, "any_tag") == 0 || strcmp(match, "any") == 0))
        return err_say(ERR_INPUT,
                       "channel=tags tells threads apart by their tags, which match=%s does not look at; "
                       "give channel=comms",
                       match);
    if (env->threads > 1 && strcmp(mt_word(env, "send"), "bsend") == 0)
        return err_say(ERR_INPUT,
                       "send=bsend has one buffer for the whole process, not one for each of %d "
                       "threads; give another call",
                       env->threads);
    return mt_refuse_promise(env, channel == COMMS || channel == STREAMS);
}

/* All ranks do it for one thread after another, in the same order. */
static int open_lanes(const struct op_env *env, struct mt_threads *s, enum channel channel)
{
    const bool shared = channel == TAGS || channel == THREADCOMM;
    int err = channel == THREADCOMM ? mt_threadcomm_refuse(env) : 0;
    if (!err && channel == THREADCOMM)
        err = mt_threadcomm_open(env, &s->threadcomm);
    for (int t = 0; t < env->threads && !err; ++t) {
        err = team_lane_open(env->team, !shared, &s->lanes[t].team);
        s->count += !err;
        s->lanes[t].stream = MPIX_STREAM_NULL;
        if (!err && channel == STREAMS)
            err = mt_stream_open(env, &s->lanes[t].team, &s->lanes[t].stream);
        if (!err && channel == THREADCOMM)
            err = team_lane_use(&s->lanes[t].team, s->threadcomm, false);
        err = err ? err : mt_promise(env, &s->lanes[t].team, &s->hint);
    }
    for (int t = 0; t < s->count && !err; ++t) {
        struct mt_lane *lane = &s->lanes[t];
        lane->env = mt_env_alone(env);
        lane->env.team = &lane->team;
        lane->env.lane = channel == TAGS ? t : 0;
        lane->env.planted = env->planted && t == env->threads - 1;
    }
    return err;
}

/* Each thread sets its op up itself, one after another in the same order on all ranks. */
static int setup_lanes(struct mt_threads *s)
{
    int err = 0;
    if (s->threadcomm != MPI_COMM_NULL) {
        pool_run(s->pool, enter_one, s);
        err = first_error(s);
        s->entered = !err;
    }
    for (s->turn = 0; s->turn < s->count && !err; ++s->turn) {
        pool_run(s->pool, setup_one, s);
        err = first_error(s);
    }
    return err;
}

static int setup(const struct op_env *env, void **state)
{
    const struct mt_base *base = env->op->row;
    const enum channel channel = base->own > CHANNEL ? (enum channel)(int)env->params[CHANNEL] : COMMS;
    int err = mt_allowed(env);
    err = err ? err : check_words(env, channel);
    if (err)
        return err;
    struct mt_threads *s = calloc(1, sizeof *s);
    struct mt_lane *lanes = aligned_alloc(_Alignof(struct mt_lane), (size_t)env->threads * sizeof *lanes);
    struct lane_time *times = calloc((size_t)env->threads, sizeof *times);
    if (!s || !lanes || !times) {
        free(s);
        free(lanes);
        free(times);
        return err_say(ERR_NOMEM, "no memory for %d threads of %s", env->threads, env->op->name);
    }
    memset(lanes, 0, (size_t)env->threads * sizeof *lanes);
    *s = (struct mt_threads){
        .alone = &base->alone, .lanes = lanes, .times = times, .threadcomm = MPI_COMM_NULL, .all = env};
    err = mt_open_phases(env, &s->phases);
    err = err ? err : open_lanes(env, s, channel);
    err = err ? err : pool_open(env->threads, &s->pool);
    err = err ? err : setup_lanes(s);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static enum op_flow flow_at(const struct op_env *env)
{
    const struct op_env alone = mt_env_alone(env);
    return alone.op->flow_at ? alone.op->flow_at(&alone) : alone.op->flow;
}

/* The number of all threads together. */

static double moved(const struct op_env *env)
{
    const struct op_env alone = mt_env_alone(env);
    return env->threads * alone.op->moved(&alone);
}

static double work(const struct op_env *env)
{
    const struct op_env alone = mt_env_alone(env);
    return env->threads * alone.op->work(&alone);
}

static void find(const char *name, struct op *op)
{
    for (size_t f = 0; f < sizeof homes / sizeof homes[0]; ++f)
        for (size_t i = 0; i < homes[f]->count; ++i) {
            homes[f]->op_at(i, op);
            if (strcmp(op->name, name) == 0)
                return;
        }
    *op = (struct op){.missing = "no op has the name that the table of mpi.mt gives"};
}

void mt_base_make(struct mt_base *base, const char *name, size_t count, const struct param *params)
{
    find(name, &base->alone);
    base->own = count;
    memcpy(base->params, params, count * sizeof *params);
    memcpy(base->params + count, base->alone.params,
           param_count(base->alone.params) * sizeof base->params[0]);
}

void mt_op(struct mt_base *base, struct op *op)
{
    *op = base->alone;
    op->family = "mt";
    op->layer = LAYER_NONE;
    op->base[0] = '\0';
    op->missing = op->missing ? op->missing : THREADS_MISSING;
    op->threaded = true;
    op->thread_level = "multiple";
    op->params = base->params;
    op->row = base;
}

static void op_at(size_t i, struct op *op)
{
    struct mt_base *base = &bases[i];
    mt_base_make(base, rows[i].name, rows[i].tagged ? OWN : CHANNEL, own);
    mt_op(base, op);
    snprintf(op->name, sizeof op->name, "mpi.mt.%s", rows[i].name + strlen("mpi."));
    op->phases = mt_phases;
    op->setup = setup;
    op->run = run;
    op->verify = verify;
    op->check = base->alone.check ? check : NULL;
    op->describe_end = describe_end;
    op->teardown = teardown;
    op->flow_at = flow_at;
    op->turn = NULL; /* messages of several threads have no common order */
    op->write = NULL;
    op->partner = NULL;
    op->moved = base->alone.moved ? moved : NULL;
    op->work = base->alone.work ? work : NULL;
}

const struct op_family mpi_mt_ops = {.count = ROWS, .op_at = op_at};
