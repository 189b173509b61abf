/* Which clock a launch takes, and how its ranks come to read the same. */
#include "launch/launch.h"

#include "base/err.h"
#include "team/hosts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* From where and how fast a rank's clock counts. */
struct origin {
    int64_t base;
    struct clock_rate rate;
};

/* All ranks judge every clock; what one of them finds unsound is so for all. */
static int choose(const struct team *team, struct clock *clock)
{
    struct clock_verdict verdicts[CLOCK_ROWS];
    struct clock clocks[CLOCK_ROWS];
    int err = 0;
    for (int i = 0; i < CLOCK_ROWS && !err; ++i) {
        struct clock_verdict *v = &verdicts[i];
        bool absent = clock_try(i, team_wtime, &clocks[i]) != NULL;
        v->state = absent ? CLOCK_ABSENT : clocks[i].doubt[0] ? CLOCK_DOUBTFUL : CLOCK_SOUND;
        v->cost_ps = absent ? 0 : llround(1e3 * clocks[i].cost_ns);
        err = team_max(team, &v->state);
        if (!err)
            err = team_max(team, &v->cost_ps);
    }
    int chosen = err ? -1 : clock_choose(verdicts, CLOCK_ROWS);
    if (chosen >= 0)
        *clock = clocks[chosen];
    for (int i = 0; i < chosen && !clock->passed[0]; ++i)
        if (clocks[i].doubt[0])
            snprintf(clock->passed, sizeof clock->passed, "%s: %s", clocks[i].name, clocks[i].doubt);
    if (chosen < 0 && !err)
        err = err_say(ERR_SYSTEM, "there is no clock that all ranks can read");
    return err;
}

/* Ranks of one host count from the same moment at the same rate, those of its lowest rank: so clocks that are
 * the same read the same, to the ns. Other hosts have counters of other rates, so each has its own. */
static int share_origin(const struct team *team, struct clock *clock)
{
    struct origin origin;
    memset(&origin, 0, sizeof origin); /* padding too: it is sent */
    origin.base = clock->read(clock);
    origin.rate = clock->rate;
    int err = host_bcast(team, &origin, sizeof origin);
    clock->base = origin.base;
    clock->rate = origin.rate;
    return err;
}

int launch_clock(const struct team *team, const char *name, struct clock *clock)
{
    int err = name ? clock_open(name, team_wtime, clock) : choose(team, clock);
    if (err)
        return err;
    clock->forced = name != NULL;
    if (!name && !clock->sleeps)
        clock_gauge_tick(clock);
    return share_origin(team, clock);
}
