/* Clock synchronisation: every rank learns how its clock differs from rank 0's, and how well it knows. */
#ifndef SYNC_SYNC_H
#define SYNC_SYNC_H

#include "team/team.h"
#include "time/clock.h"
#include "time/map.h"

#include <stdint.h>

/* What one synchronisation says of one rank. */
struct sync_point {
    struct clock_map map;
    double error_ns; /* from the closure between random pairs, what of the bound asymmetry may be, the tick */
    double bound_ns; /* certain: half the round trips on the way to rank 0, whatever the paths' asymmetry */
    int64_t true_ns; /* in tests with skewed clocks: the true time of map.at_ns */
};

struct sync {
    const struct team *team;
    const struct clock *clock;
    int *leaders; /* ranks that synchronise, ascending, rank 0 first: one for each clock domain */
    int leader_count;
    int *leader_of;          /* of every rank */
    int leader;              /* the rank whose clock is mine; myself when I am one */
    struct sync_point mine;  /* the latest */
    struct clock_map anchor; /* where the base line of the drift begins */
    struct sync_point *all;  /* on rank 0: the latest of every rank */
    int64_t cost_ns;         /* of the latest, on rank 0 */
    int64_t count;           /* so far */
};

/* Find the clock domains, synchronise twice and learn the drift. Collective. ERR_NOMEM, ERR_MPI. */
int sync_open(struct sync *sync, const struct team *team, const struct clock *clock);
void sync_close(struct sync *sync);

/* Synchronise once more. Collective. */
int sync_take(struct sync *sync);

#endif
