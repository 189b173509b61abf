/* Ranks never decide alone. */
#ifndef CORE_AGREE_H
#define CORE_AGREE_H

#include "base/err.h"
#include "team/team.h"

/* What all ranks must know after something that each may have failed at: the worst error, and on rank 0 the
 * sentence of the first rank that met it. Collective.
 * ERR_NOMEM, ERR_MPI. */
int agree(const struct team *team, int mine, int *worst, char why[ERR_TEXT_MAX]);

#endif
