/* first: what a launch did before all else (core/first.h), once. It observes nothing: it tells the timestamps
 * that were taken then, in the time of the clock that has been opened since. */
#include "core/first.h"
#include "base/system_time.h"
#include "core/method.h"

static int begin(struct bench *b)
{
    b->reps = 1;
    b->lead_in = 0;
    return 0;
}

static int observe(struct bench *b, struct observation *o)
{
    const int64_t since = clock_now(b->clock) - system_time_ns(CLOCK_MONOTONIC);
    o->start_ns = b->first->start_ns + since;
    o->stop_ns = b->first->stop_ns + since;
    return 0;
}

const struct method method_first = {
    .name = "first",
    .summary = "the first use in a launch, before anything else is sent: once a launch, so launches are the "
               "samples; ranks begin at one instant of their clocks of day",
    .suits = {[OP_LOCAL] = true, [OP_P2P] = true, [OP_COLLECTIVE] = true},
    .once = true,
    .begin = begin,
    .observe = observe,
};
