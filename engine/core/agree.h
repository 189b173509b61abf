/* Ranks never decide alone. */
#ifndef CORE_AGREE_H
#define CORE_AGREE_H

#include "base/err.h"
#include "team/team.h"

/* Share the result of a step that each rank may have failed at: all ranks get the worst error, and rank 0 the
 * sentence of the first rank that failed. Collective. ERR_NOMEM, ERR_MPI. */
int agree(const struct team *team, int mine, int *worst, char why[ERR_TEXT_MAX]);

#endif
