/* The one-way time of an empty message, without a common clock. */
#ifndef CORE_ONE_WAY_H
#define CORE_ONE_WAY_H

#include "team/team.h"
#include "time/clock.h"

/* Between rank 0 and `rank`, in ns, on all ranks; 0 for rank 0. It is half of what each further round trip
 * adds to the median of a chain of them: the part of a message in the median of an operation that it ends. If
 * messages scatter, half of the shortest round trip is less than that. Collective. ERR_MPI. */
int one_way(const struct team *team, const struct clock *clock, int rank, double *ns);

#endif
