/* truth: the reference for other methods, only in simulation, where a clock is always right and costs nothing
 * to read, and a rank can sleep until any instant of it.
 *
 * All ranks enter the op at one true instant; the value is the time from it until the last rank has left.
 * Start and stop are timestamps of the true clock. The start is that instant on every rank, even if the
 * clocks of the other methods are skewed. */
#include "core/method.h"

#include "base/err.h"

enum { SETTLE };

static const struct param params[] = {
    [SETTLE] = {"settle_ns", "ns", "pause before each call; longer than any delay by noise", 1e6, 0, 1e12},
    {0},
};

#ifdef SMPI_HELPERS_H
#define MISSING NULL
#else
#define MISSING "the truth is known in simulation only; use 'steelyard validate'"
#endif

/* The time to agree on an instant, on the slowest rank. */
static int pilot(const struct bench *b, const struct clock *truth, int64_t *longest_ns)
{
    enum { PILOTS = 10 };
    *longest_ns = 0;
    int err = 0;
    for (int i = 0; i < PILOTS && !err; ++i) {
        int64_t begin = clock_now(truth), agreed = begin;
        err = team_max(b->team, &agreed);
        int64_t took = clock_now(truth) - begin;
        *longest_ns = took > *longest_ns ? took : *longest_ns;
    }
    return err ? err : team_max(b->team, longest_ns);
}

static int begin(struct bench *b)
{
    enum { LEAST_WARM_UP = 20 }; /* as for the methods that are compared with this one */
    const struct clock truth = clock_truth(b->clock);
    double rep_ns = 0;
    int64_t agreeing_ns = 0;
    b->reps = 1;
    b->lead_in = 0;
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    if (!err)
        err = pilot(b, &truth, &agreeing_ns);
    b->window_ns = 2 * agreeing_ns + (int64_t)b->params[SETTLE];
    return err;
}

static int observe(struct bench *b, struct observation *o)
{
    const struct clock truth = clock_truth(b->clock);
    struct bench exact = *b;
    exact.clock = &truth;
    int64_t instant = clock_now(&truth) + b->window_ns;
    int err = team_max(b->team, &instant);
    if (!err && clock_now(&truth) > instant)
        err = err_say(
            ERR_WRONG,
            "the instant of the truth had passed when this rank heard of it; give a longer settle_ns");
    if (!err) {
        clock_wait(&truth, instant, NULL);
        err = method_time(&exact, o);
    }
    o->start_ns = instant;
    return err;
}

const struct method method_truth = {
    .name = "truth",
    .summary = "in simulation only: a call that all ranks enter at one true instant, until the last has left",
    .missing = MISSING,
    .suits = {[OP_COLLECTIVE] = true},
    .params = params,
    .begin = begin,
    .observe = observe,
};
