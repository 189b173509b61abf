#include "ops/shmem/job.h"

#include "base/err.h"
#include "base/pool.h"
#include "ops/common/data.h"
#include "team/team_shmem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const shmem_contexts[5] = {"default", "shared", "serialized", "private", NULL};
enum { CONTEXT_DEFAULT, CONTEXT_SHARED, CONTEXT_SERIALIZED, CONTEXT_PRIVATE };

enum { VERIFIED_ROUNDS = 2 }; /* the second finds what the first has left */

struct job {
    const struct team *team;
    const struct duty *duty;
    int count, context;
    struct pool *pool; /* NULL: there is only the caller */
    char *lanes;       /* duty->size bytes each */
    int64_t reps;      /* of this run */
    int64_t moved;     /* repetitions since the data were renewed */
};

double job_param(const struct op_env *env, const char *name, double absent)
{
    return param_value(env->op->params, env->params, name, absent);
}

static struct lane *lane_at(const struct job *job, int t)
{
    return (struct lane *)(void *)(job->lanes + (size_t)t * job->duty->size);
}

/* On each thread, for a private context belongs to the thread that made it. */
static void on_threads(struct job *job, void (*work)(void *, int))
{
    if (job->pool)
        pool_run(job->pool, work, job);
    else
        work(job, 0);
}

/* ---- contexts ---------------------------------------------------------------------------------------- */

static void make_context(void *state, int t)
{
    const struct job *job = state;
    static const long options[] = {[CONTEXT_SERIALIZED] = SHMEM_CTX_SERIALIZED,
                                   [CONTEXT_PRIVATE] = SHMEM_CTX_PRIVATE};
    struct lane *lane = lane_at(job, t);
    if (job->context == CONTEXT_DEFAULT || (job->context == CONTEXT_SHARED && t > 0))
        return;
    lane->refused = shmem_ctx_create(options[job->context], &lane->ctx) != 0;
    lane->owns_ctx = !lane->refused;
}

static void drop_context(void *state, int t)
{
    struct lane *lane = lane_at(state, t);
    if (lane->owns_ctx)
        shmem_ctx_destroy(lane->ctx);
    lane->owns_ctx = false;
}

static int make_contexts(struct job *job)
{
    int refused = 0;
    on_threads(job, make_context);
    for (int t = 0; t < job->count; ++t) {
        refused += lane_at(job, t)->refused;
        if (job->context == CONTEXT_SHARED)
            lane_at(job, t)->ctx = lane_at(job, 0)->ctx;
    }
    return refused == 0 ? 0
                        : err_say(ERR_UNSUPPORTED,
                                  "this OpenSHMEM refuses %d of %d contexts of the kind %s; give fewer "
                                  "threads or another --param context",
                                  refused, job->count, shmem_contexts[job->context]);
}

/* ---- running and checking ---------------------------------------------------------------------------- */

static void work(void *state, int t)
{
    const struct job *job = state;
    struct lane *lane = lane_at(job, t);
    if (lane->acts)
        job->duty->loop(lane, job->reps);
}

int job_run(void *state, int64_t reps)
{
    struct job *job = state;
    job->reps = reps;
    job->moved += reps;
    if (lane_at(job, 0)->acts)
        on_threads(job, work);
    return 0;
}

static bool takes_part(const struct job *job)
{
    return job->team->rank <= 1;
}

/* Fresh data in all buffers, on both ranks before either goes on. */
static int renew(struct job *job)
{
    for (int t = 0; t < job->count && takes_part(job); ++t) {
        struct lane *lane = lane_at(job, t);
        ++lane->generation;
        job->duty->fresh(lane);
    }
    job->moved = 0;
    return team_barrier(job->team);
}

static int check_lanes(const struct job *job)
{
    char why[ERR_TEXT_MAX];
    int err = 0;
    for (int t = 0; t < job->count && !err && takes_part(job) && job->moved > 0; ++t)
        err = job->duty->check(lane_at(job, t), job->moved);
    if (!err || job->count == 1)
        return err;
    snprintf(why, sizeof why, "%s", err_text());
    return err_say((enum err)err, "one of %d threads: %.220s", job->count, why);
}

static void plant(struct job *job, bool planted)
{
    for (int t = 0; t < job->count; ++t)
        lane_at(job, t)->planted = lane_at(job, t)->planted && planted;
}

int job_verify(void *state)
{
    struct job *job = state;
    int err = 0, wrong = 0;
    for (int round = 0; round < VERIFIED_ROUNDS && !err; ++round) {
        err = renew(job);
        err = err ? err : job_run(job, 1);
        err = err ? err : team_barrier(job->team);
        wrong = err || wrong ? wrong : check_lanes(job);
    }
    plant(job, false); /* once is enough */
    err = err ? err : renew(job);
    return err ? err : wrong;
}

int job_check(void *state)
{
    struct job *job = state;
    int err = team_barrier(job->team);
    const int wrong = err ? 0 : check_lanes(job);
    err = err ? err : renew(job); /* together with the other rank, which may have found no error */
    return wrong ? wrong : err;
}

/* ---- setup ------------------------------------------------------------------------------------------- */

void job_teardown(void *state)
{
    struct job *job = state;
    on_threads(job, drop_context);
    pool_close(job->pool);
    for (int t = 0; t < job->count && job->duty->close; ++t)
        job->duty->close(lane_at(job, t));
    free(job->lanes);
    free(job);
}

static int open_lanes(struct job *job, const struct op_env *env, char *memory, size_t each)
{
    const int rank = env->team->rank;
    int err = 0;
    for (int t = 0; t < env->threads && !err; ++t) {
        struct lane *lane = lane_at(job, t);
        *lane = (struct lane){.ctx = SHMEM_CTX_DEFAULT,
                              .rank = rank,
                              .peer = 1 - rank,
                              .thread = t,
                              .acts = rank == 0 || (rank == 1 && job->duty->both),
                              .is_target = rank == 1 || (rank == 0 && job->duty->both),
                              .planted = env->planted && t == env->threads - 1,
                              .window = memory + (size_t)t * each};
        job->count = t + 1;
        if (rank <= 1)
            err = job->duty->open(lane, env);
    }
    if (!err && env->threads > 1)
        err = pool_open(env->threads, &job->pool);
    return err ? err : make_contexts(job);
}

int job_setup(const struct op_env *env, const struct duty *duty, void **state)
{
    size_t each = 0;
    void *memory = NULL;
    int err = team_threads_allowed(env->op->name, env->threads);
    err = err ? err : duty->plan(env, &each);
    err = err ? err : team_symmetric(env->team, each * (size_t)env->threads, &memory);
    if (err)
        return err;
    buffers_count(env->buffers, each * (size_t)env->threads);
    struct job *job = calloc(1, sizeof *job);
    const size_t room = (duty->size * (size_t)env->threads + SHMEM_LINE - 1) / SHMEM_LINE * SHMEM_LINE;
    char *lanes = aligned_alloc(SHMEM_LINE, room);
    if (!job || !lanes) {
        free(job);
        free(lanes);
        return err_say(ERR_NOMEM, "no memory for %d threads of %s", env->threads, env->op->name);
    }
    memset(lanes, 0, room);
    *job = (struct job){.team = env->team,
                        .duty = duty,
                        .lanes = lanes,
                        .context = (int)job_param(env, "context", CONTEXT_DEFAULT)};
    err = open_lanes(job, env, memory, each);
    if (err)
        job_teardown(job);
    else
        *state = job;
    return err;
}

/* The completion at the end of a sample takes a us: one percent of it. */
static const double ONCE_MATTERS_NS = 100e3;

struct op job_op(const char *name, bool threaded)
{
    struct op op = {.family = "openshmem",
                    .class = OP_P2P,
                    .role = ROLE_LATENCY,
                    .parts = 1,
                    .least_ranks = 2,
                    .least_ns = ONCE_MATTERS_NS,
                    .threaded = threaded,
                    .thread_level = threaded ? "multiple" : NULL,
                    .run = job_run,
                    .verify = job_verify,
                    .check = job_check,
                    .teardown = job_teardown};
    snprintf(op.name, sizeof op.name, "shmem.%s%s", threaded ? "mt." : "", name);
    return op;
}
