/* bounds: an upper and a lower bound of an operation's time, without a common clock.
 *
 * At most: after a barrier, each rank timestamps, calls, goes through the team's barrier, timestamps. No rank
 * leaves that barrier before the last has completed the operation, so the longest of the local durations is
 * at least the time from the first start to the last completion.
 *
 * At least: calls back to back. A rank that starts a call early makes no other finish later. So n calls take
 * no longer than n operations one after the other, except for the skew at the start, which is small beside n
 * of them. The two kinds alternate. */
#include "core/method.h"

#include "base/json.h"

#include <math.h>

enum { REPS };

static const struct param params[] = {
    [REPS] = {"reps", "",
              "calls back to back for the lower bound; 0: 50, or more if a barrier takes longer than a call",
              0, 0, 1e9},
    {0},
};

enum { LEAST_WARM_UP = 20, LEAST_REPS = 50, MOST_REPS = 500 };

struct turns {
    int64_t low_reps; /* repetitions in a sample of the lower bound */
    int64_t count;    /* samples so far */
};

static int begin(struct bench *b)
{
    struct turns *turns = b->own;
    double rep_ns = 0;
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    int64_t barrier_ns = 0;
    for (int i = 0; i < 2 && !err; ++i) { /* the first waits until all have come */
        int64_t start = clock_now(b->clock);
        err = team_barrier(b->team);
        barrier_ns = clock_now(b->clock) - start;
    }
    double reps = b->params[REPS];
    if (reps < 1)
        reps = fmin(MOST_REPS, LEAST_REPS * fmax(1, (double)barrier_ns / rep_ns));
    turns->low_reps = (int64_t)reps;
    b->reps = 1;
    return err ? err : team_bcast(b->team, &turns->low_reps, sizeof turns->low_reps);
}

static int observe(struct bench *b, struct observation *o)
{
    struct turns *turns = b->own;
    struct bench low = *b;
    low.reps = turns->low_reps;
    o->low = turns->count++ % 2 == 1;
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

static void describe(const struct bench *b, struct json *j)
{
    const struct turns *turns = b->own;
    json_int(j, "low_reps", turns->low_reps);
}

const struct method method_bounds = {
    .name = "bounds",
    .summary =
        "two bounds, without a common clock. At most: a call and a barrier; at least: calls back to back",
    .nature = "not an estimate",
    .bound = BOUND_UPPER,
    .suits = {[OP_COLLECTIVE] = true},
    .params = params,
    .least_ranks = 2,
    .lows = true,
    .size = sizeof(struct turns),
    .begin = begin,
    .observe = observe,
    .describe = describe,
};
