/* What a launch is to measure: read by rank 0, and the same on all ranks. */
#ifndef LAUNCH_POINTS_H
#define LAUNCH_POINTS_H

#include "team/team.h"

#include <stddef.h>

struct delays;
struct op;
struct point;

/* The points of a file (NULL: there is none), or of the words of a command line as one. Collective; free()
 * them. ERR_INPUT, ERR_NOMEM, ERR_MPI. */
int points_share(const struct team *team, const char *path, int words, char **word, const struct op *ops,
                 size_t op_count, struct point **points, size_t *count);

/* The delays of a file, of each rank in each repetition. Collective. ERR_INPUT, ERR_NOMEM, ERR_MPI. */
int points_share_delays(const struct team *team, const char *path, struct delays *delays);

#endif
