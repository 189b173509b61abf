/* Looks at the machine between chunks, without MPI, to distinguish causes below MPI from causes in it: a
 * canary, which is the time of a cache line from one rank to another of the same host, and the share of time
 * that each rank loses to others. */
#ifndef MACHINE_PROBE_H
#define MACHINE_PROBE_H

#include "team/team.h"
#include "time/clock.h"

#include <stdbool.h>

struct probe;

/* The result of one look; on rank 0. */
struct probed {
    double canary_ns;    /* one way; not a number: no two ranks can measure it, or one of them was not
                            there */
    double most_noise;   /* the largest of any rank: 0 to 1 of the time was lost */
    const double *noise; /* of each rank, where they are kept; it lives until the next look */
    const int64_t *cpu;  /* of each rank: its CPU; -1: the kernel does not say. It lives as long */
};

/* Find two ranks for the canary and learn each rank's undisturbed speed. Collective; some ms, once a launch.
 * In simulation, where nothing is below MPI, *out is NULL. ERR_NOMEM, ERR_MPI. */
int probe_open(const struct team *team, const struct clock *clock, struct probe **out);
void probe_close(struct probe *probe);

/* Will a look be due after so many ns, on rank 0? No probe (NULL) is never due. */
bool probe_is_due(const struct probe *probe, double after_ns);

/* Look, on all ranks at about the same time; some 0.1 ms. *seen is NULL except on rank 0; `keeps_all`: it has
 * each rank's values, too. Collective. ERR_NOMEM, ERR_MPI. */
int probe_take(struct probe *probe, bool keeps_all, const struct probed **seen);

#endif
