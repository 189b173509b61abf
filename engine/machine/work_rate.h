/* How many steps of work (base/work.h) make a microsecond: asked once in a launch. */
#ifndef MACHINE_WORK_RATE_H
#define MACHINE_WORK_RATE_H

#include "team/team.h"
#include "time/clock.h"

/* Steps of work that make a microsecond: those of the fastest rank, so that the same work is as many steps on
 * all; 0 when the clock stands still while a rank computes, as it does in simulation. Collective. ERR_MPI. */
int work_rate_find(const struct team *team, const struct clock *clock, double *steps_per_us);

#endif
