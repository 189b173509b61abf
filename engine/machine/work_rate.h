/* The steps of work (base/work.h) per microsecond, measured once in a launch. */
#ifndef MACHINE_WORK_RATE_H
#define MACHINE_WORK_RATE_H

#include "team/team.h"
#include "time/clock.h"

/* Steps of work per microsecond: those of the fastest rank, so that the same work has as many steps on all; 0
 * if the clock stands still while a rank computes, as in simulation. Collective. ERR_MPI. */
int work_rate_find(const struct team *team, const struct clock *clock, double *steps_per_us);

#endif
