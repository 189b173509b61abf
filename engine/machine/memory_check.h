/* Check that the memory of a point is available. */
#ifndef MACHINE_MEMORY_CHECK_H
#define MACHINE_MEMORY_CHECK_H

#include "team/team.h"

#include <stddef.h>

/* Do the `bytes` of each rank fit into the free memory of their hosts, all ranks of a host together?
 * Collective; ERR_NOMEM on the lowest rank of a host without enough, with a sentence that has the sizes, and
 * 0 on the others. ERR_MPI. */
int memory_check(const struct team *team, size_t bytes);

#endif
