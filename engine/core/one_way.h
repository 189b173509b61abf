/* What an empty message takes one way, without a common clock. */
#ifndef CORE_ONE_WAY_H
#define CORE_ONE_WAY_H

#include "team/team.h"
#include "time/clock.h"

/* Between rank 0 and `rank`, in ns, on all ranks; 0 for rank 0. Half of what each more round trip adds to the
 * median of a chain of them: what a message adds to the median of whatever it is the last of. Where messages
 * scatter, half of the shortest round trip is less than that. Collective. ERR_MPI. */
int one_way(const struct team *team, const struct clock *clock, int rank, double *ns);

#endif
