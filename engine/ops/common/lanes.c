#include "ops/common/lanes.h"

#include "base/err.h"
#include "base/pool.h"
#include "ops/common/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERIFIED_ROUNDS = 2 }; /* the second finds what the first has left */

double lanes_param(const struct op_env *env, const char *name, double absent)
{
    return param_value(env->op->params, env->params, name, absent);
}

size_t lane_lines(size_t bytes)
{
    return bytes > 0 ? (bytes + LANE_LINE - 1) / LANE_LINE * LANE_LINE : LANE_LINE;
}

struct lane *lane_at(const struct lanes *lanes, int t)
{
    return (struct lane *)(void *)(lanes->states + (size_t)t * lanes->duty->size);
}

void lanes_on_threads(struct lanes *lanes, void (*work)(void *, int))
{
    if (lanes->pool)
        pool_run(lanes->pool, work, lanes);
    else
        work(lanes, 0);
}

/* ---- running and checking ---------------------------------------------------------------------------- */

static bool takes_part(const struct lanes *lanes)
{
    return lanes->team->rank <= 1;
}

static bool has_work(const struct lanes *lanes, const struct lane *lane)
{
    return lane->acts || (lanes->duty->serves && takes_part(lanes));
}

static void work(void *state, int t)
{
    const struct lanes *lanes = state;
    struct lane *lane = lane_at(lanes, t);
    if (has_work(lanes, lane))
        lanes->duty->loop(lane, lanes->reps);
}

int lanes_run(void *state, int64_t reps)
{
    struct lanes *lanes = state;
    lanes->reps = reps;
    lanes->moved += reps;
    if (has_work(lanes, lane_at(lanes, 0)))
        lanes_on_threads(lanes, work);
    for (int t = 0; t < lanes->count; ++t)
        if (lane_at(lanes, t)->failed)
            return err_say(ERR_SYSTEM, "a call between ranks %d and %d failed: %s", lane_at(lanes, t)->rank,
                           lane_at(lanes, t)->peer, lane_at(lanes, t)->failed);
    return 0;
}

/* Fresh data in all buffers, on both ranks before either goes on. */
static int renew(struct lanes *lanes)
{
    for (int t = 0; t < lanes->count && takes_part(lanes); ++t) {
        struct lane *lane = lane_at(lanes, t);
        ++lane->generation;
        lanes->duty->fresh(lane);
    }
    lanes->moved = 0;
    return team_barrier(lanes->team);
}

static int check_all(const struct lanes *lanes)
{
    char why[ERR_TEXT_MAX];
    int err = 0;
    for (int t = 0; t < lanes->count && !err && takes_part(lanes) && lanes->moved > 0; ++t)
        err = lanes->duty->check(lane_at(lanes, t), lanes->moved);
    if (!err || lanes->count == 1)
        return err;
    snprintf(why, sizeof why, "%s", err_text());
    return err_say((enum err)err, "one of %d threads: %.220s", lanes->count, why);
}

static void plant(struct lanes *lanes, bool planted)
{
    for (int t = 0; t < lanes->count; ++t)
        lane_at(lanes, t)->planted = lane_at(lanes, t)->planted && planted;
}

int lanes_verify(void *state)
{
    struct lanes *lanes = state;
    int err = 0, wrong = 0;
    for (int round = 0; round < VERIFIED_ROUNDS && !err; ++round) {
        err = renew(lanes);
        const int ran = err ? 0 : lanes_run(lanes, 1);
        int64_t failed = ran; /* on any rank: others wait here for one whose call has failed */
        err = err ? err : team_max(lanes->team, &failed);
        if (!err && failed)
            return ran;
        wrong = err || wrong ? wrong : check_all(lanes);
    }
    plant(lanes, false); /* once is enough */
    err = err ? err : renew(lanes);
    return err ? err : wrong;
}

int lanes_check(void *state)
{
    struct lanes *lanes = state;
    int err = team_barrier(lanes->team);
    const int wrong = err ? 0 : check_all(lanes);
    err = err ? err : renew(lanes); /* together with the other rank, which may have found no error */
    return wrong ? wrong : err;
}

/* ---- setup ------------------------------------------------------------------------------------------- */

static void take_apart(struct lanes *lanes)
{
    if (lanes->duty->leave)
        lanes->duty->leave(lanes);
    pool_close(lanes->pool);
    for (int t = 0; t < lanes->count && lanes->duty->close; ++t)
        lanes->duty->close(lane_at(lanes, t));
    free(lanes->states);
}

void lanes_teardown(void *state)
{
    take_apart(state);
    free(state);
}

static int open_lanes(struct lanes *lanes, const struct op_env *env, char *memory, size_t each)
{
    const int rank = env->team->rank;
    int err = 0;
    for (int t = 0; t < env->threads && !err; ++t) {
        struct lane *lane = lane_at(lanes, t);
        *lane = (struct lane){.rank = rank,
                              .peer = 1 - rank,
                              .thread = t,
                              .acts = rank == 0 || (rank == 1 && lanes->duty->both),
                              .is_target = rank == 1 || (rank == 0 && lanes->duty->both),
                              .planted = env->planted && t == env->threads - 1,
                              .window = memory ? memory + (size_t)t * each : NULL};
        lanes->count = t + 1;
        if (rank <= 1)
            err = lanes->duty->open(lane, env);
    }
    if (!err && env->threads > 1)
        err = pool_open(env->threads, &lanes->pool);
    return err;
}

/* Others may wait for this rank in memory() and join(), so it calls both even after an error of its own. */
int lanes_setup(const struct op_env *env, const struct duty *duty, void **state)
{
    const size_t threads = (size_t)env->threads, room = lane_lines(duty->size * threads);
    size_t each = 0;
    char *memory = NULL;
    int err = duty->plan(env, &each);
    if (err)
        return err;
    struct lanes made = {.team = env->team, .duty = duty, .states = aligned_alloc(LANE_LINE, room)};
    struct lanes *kept = malloc(sizeof *kept);
    if (made.states)
        memset(made.states, 0, room);
    if (!made.states || !kept)
        err = err_say(ERR_NOMEM, "no memory for %d threads of %s", env->threads, env->op->name);
    err = duty->memory(&made, env, err, each * threads, &memory);
    if (!err)
        buffers_count(env->buffers, each * threads);
    err = err ? err : open_lanes(&made, env, memory, each);
    err = duty->join(&made, env, err);
    if (err) {
        take_apart(&made);
        free(kept);
        return err;
    }
    *kept = made;
    *state = kept;
    return 0;
}

/* The completion at the end of a sample takes a us: one percent of it. */
static const double ONCE_MATTERS_NS = 100e3;

struct op lanes_op(const char *prefix, const char *name, bool threaded)
{
    struct op op = {.class = OP_P2P,
                    .role = ROLE_LATENCY,
                    .parts = 1,
                    .least_ranks = 2,
                    .least_ns = ONCE_MATTERS_NS,
                    .threaded = threaded,
                    .run = lanes_run,
                    .verify = lanes_verify,
                    .check = lanes_check,
                    .teardown = lanes_teardown};
    snprintf(op.name, sizeof op.name, "%s.%s%s", prefix, threaded ? "mt." : "", name);
    return op;
}
