/* How many steps of work (base/work.h) make a microsecond: asked once in a launch. */
#include "core/launch.h"

#include "base/err.h"
#include "base/work.h"

/* The fastest of many short stretches is one that nobody else took time from. Each is as long as a hundred
 * readings or ticks of the clock, whichever is longer, so that these are within 1 %. */
static double steps_per_us(const struct clock *clock)
{
    enum { STRETCHES = 100, FIRST = 1000 };
    const int64_t most_steps = 10000000; /* far more than any tick: this clock stands still meanwhile */
    const double grain = clock->cost_ns > (double)clock->tick_ns ? clock->cost_ns : (double)clock->tick_ns;
    int64_t steps = FIRST;
    uint64_t x = 1;
    double best = 0;
    for (int i = 0; i < STRETCHES;) {
        int64_t start = clock_now(clock);
        x = work_do(x, steps);
        int64_t took = clock_now(clock) - start;
        if ((double)took >= 100 * grain) {
            double rate = 1e3 * (double)steps / (double)took;
            best = rate > best ? rate : best;
            ++i;
        } else if ((steps *= 2) > most_steps)
            return 0;
    }
    return x != 0 ? best : 0;
}

int launch_work(const struct team *team, const struct clock *clock, double *rate)
{
    enum { SCALE = 1000 };
    int64_t mine = (int64_t)(steps_per_us(clock) * SCALE);
    int err = team_max(team, &mine);
    if (!err)
        *rate = (double)mine / SCALE;
    return err;
}
