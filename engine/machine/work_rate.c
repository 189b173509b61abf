#include "machine/work_rate.h"

#include "base/work.h"
#include "machine/best_of.h"

/* A stretch is as long as a hundred readings or ticks of the clock, whichever is longer, so that these are
 * within 1 %. */
static double fastest(const struct clock *clock)
{
    enum { STRETCHES = 100, TRIES = 5, FIRST = 1000 };
    const int64_t most_steps = 10000000; /* far more than any tick: this clock stands still meanwhile */
    const double grain = clock->cost_ns > (double)clock->tick_ns ? clock->cost_ns : (double)clock->tick_ns;
    int64_t steps = FIRST;
    while ((double)best_of(clock, TRIES, work_do, steps, -1).ns < 100 * grain)
        if ((steps *= 2) > most_steps)
            return 0;
    return 1e3 * (double)steps / (double)best_of(clock, STRETCHES, work_do, steps, -1).ns;
}

int work_rate_find(const struct team *team, const struct clock *clock, double *steps_per_us)
{
    enum { SCALE = 1000 };
    int64_t mine = (int64_t)(fastest(clock) * SCALE);
    int err = team_max(team, &mine);
    if (!err)
        *steps_per_us = (double)mine / SCALE;
    return err;
}
