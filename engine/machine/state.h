/* The state of each rank and of the CPUs that it may use, at an instant. It is read when a launch begins and
 * after each point, outside all timed regions, so that changes show. */
#ifndef MACHINE_STATE_H
#define MACHINE_STATE_H

#include "team/team.h"
#include "time/clock.h"

#include <stdbool.h>

struct json;

/* Times since the machine began, counts since their counters began; -1: this system does not show it. */
enum state_field {
    STATE_AT_NS,       /* on the rank's own clock */
    STATE_CPU,         /* that it is on */
    STATE_MIGRATIONS,  /* of the rank's main thread from one CPU to another */
    STATE_VOLUNTARY,   /* times that the process yielded its core, to wait */
    STATE_INVOLUNTARY, /* times that the kernel took it */
    STATE_OWN_NS,      /* CPU time of the process */
    STATE_BUSY_NS,     /* CPU time of everything on the CPUs that it may use, including itself */
    STATE_STEAL_NS,    /* time that the hypervisor gave to others while those CPUs had work */
    STATE_KHZ,         /* of the CPU it is on */
    STATE_THROTTLES,   /* of that core, because it was too hot */
    STATE_QUOTA_STOPS, /* periods in which the control group had used up its CPU time */
    STATE_STEP_PS,     /* the undisturbed time of a step of work (base/work.h); it changes with the core's
                          frequency */
    STATE_FIELDS
};

/* Write the state record, on rank 0; collective, some 0.2 ms. `point`: the one that has just ended, in so
 * many threads; -1: the launch begins. `of_all`: of every rank, else of chosen ones. `j` is an empty
 * document. ERR_NOMEM, ERR_MPI. */
int state_record(const struct team *team, const struct clock *clock, int64_t point, int threads, bool of_all,
                 struct json *j);

#endif
