/* Functions of an OpenSHMEM team for OpenSHMEM ops. */
#ifndef TEAM_TEAM_SHMEM_H
#define TEAM_TEAM_SHMEM_H

#include "team/team.h"

#include <shmem.h>

/* Symmetric memory of so many bytes, at the beginning of a page, the same place at each call: what was taken
 * before may lie in it. Collective, with the same number on all ranks. Nobody gives it back, so an op that
 * fails on one rank leaves nobody waiting. ERR_NOMEM, on all ranks alike. */
int team_symmetric(const struct team *team, size_t bytes, void **memory);

/* As much beside all that was taken since the last team_symmetric(), which takes back all of it. */
int team_symmetric_more(const struct team *team, size_t bytes, void **memory);

/* May so many threads call OpenSHMEM at once? 0, or ERR_UNSUPPORTED and a sentence with the provided level
 * and what to do. A single thread always may. */
int team_threads_allowed(const char *op, int threads);

#endif
