/* Whether the memory that a point needs is there. */
#ifndef MACHINE_MEMORY_CHECK_H
#define MACHINE_MEMORY_CHECK_H

#include "team/team.h"

#include <stddef.h>

/* Do the `bytes` that each rank needs fit into what their hosts have left, all ranks of a host together?
 * Collective; ERR_NOMEM on the lowest rank of a host where they do not, with a sentence that
 * has the sizes, and 0 on the others. ERR_MPI. */
int memory_check(const struct team *team, size_t bytes);

#endif
