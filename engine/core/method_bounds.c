/* bounds: what an operation takes at most and at least, without a common clock.
 *
 * At most: after a barrier, each rank stamps, calls, goes through the team's barrier, stamps. No rank leaves
 * that barrier before the last has completed the operation, so the longest of the local durations is at least
 * the time from the first start to the last completion.
 *
 * At least: calls back to back. Whoever starts a call earlier than others makes none of them finish later, so
 * n calls take no longer than n operations one after the other, but for the skew at the start, which is small
 * beside n of them. The two kinds take turns. */
#include "core/method.h"

#include <math.h>

enum { REPS };

static const struct param params[] = {
    [REPS] = {"reps", "",
              "calls back to back for the lower bound; 0: 50, more where a barrier takes longer than a call",
              0, 0, 1e9},
    {0},
};

enum { LEAST_WARM_UP = 20, LEAST_REPS = 50, MOST_REPS = 500 };

static int begin(struct bench *b)
{
    double rep_ns = 0;
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    int64_t barrier_ns = 0;
    for (int i = 0; i < 2 && !err; ++i) { /* the first waits for all to come */
        int64_t start = clock_now(b->clock);
        err = team_barrier(b->team);
        barrier_ns = clock_now(b->clock) - start;
    }
    double reps = b->params[REPS];
    if (reps < 1)
        reps = fmin(MOST_REPS, LEAST_REPS * fmax(1, (double)barrier_ns / rep_ns));
    b->low_reps = (int64_t)reps;
    b->reps = 1;
    b->next = 0;
    return err ? err : team_bcast(b->team, &b->low_reps, sizeof b->low_reps);
}

static int observe(struct bench *b, struct observation *o)
{
    struct bench low = *b;
    low.reps = b->low_reps;
    o->low = b->next++ % 2 == 1;
    int err = team_barrier(b->team);
    if (err)
        return err;
    err = method_time(o->low ? &low : b, o);
    if (!err && !o->low) {
        err = team_barrier(b->team);
        o->stop_ns = clock_now(b->clock);
    }
    return err;
}

const struct method method_bounds = {
    .name = "bounds",
    .summary = "at most: a call and a barrier of our own; at least: calls back to back; no common clock",
    .suits = {[OP_COLLECTIVE] = true},
    .params = params,
    .least_ranks = 2,
    .begin = begin,
    .observe = observe,
};
