#include "ops/mpi/threads/threads.h"

#include <stdlib.h>

enum { FIRST, MIDDLE, LAST };
const struct phase mt_phases[] = {[FIRST] = {"first thread", true},
                                  [MIDDLE] = {"middle thread", true},
                                  [LAST] = {"last thread", true},
                                  {0}};

const char *const mt_off_on[3] = {[MT_PHASES_OFF] = "off", [MT_PHASES_ON] = "on", NULL};

static int compare(const void *a, const void *b)
{
    const int64_t x = ((const struct lane_time *)a)->stop_ns, y = ((const struct lane_time *)b)->stop_ns;
    return (x > y) - (x < y);
}

void mt_stamp(struct phases *phases, struct lane_time *lanes, int count, int64_t reps)
{
    phase_add_lanes(phases, lanes, count, reps);
    qsort(lanes, (size_t)count, sizeof *lanes, compare);
    phase_end_at(phases, FIRST, lanes[0].stop_ns);
    phase_end_at(phases, MIDDLE, lanes[(count - 1) / 2].stop_ns);
    phase_end_at(phases, LAST, lanes[count - 1].stop_ns);
}

int mt_open_phases(const struct op_env *env, struct phases **phases)
{
    const bool on = param_value(env->op->params, env->params, "phases", MT_PHASES_OFF) == MT_PHASES_ON;
    *phases = on ? env->phases : NULL;
    if (on)
        return phases_open_lanes(env->phases, env->threads);
    if (env->phases)
        phases_none(env->phases);
    return 0;
}
