/* What all ranks did in their phases, and their threads, written down by rank 0, which alone has a sink.
 * Collective. ERR_NOMEM, or as the team's messages and the sink. */
#ifndef CORE_PHASE_GATHER_H
#define CORE_PHASE_GATHER_H

#include "core/phase.h"
#include "core/point.h"
#include "core/sink.h"
#include "team/team.h"

#include <stdbool.h>

/* In a chunk of `count` samples from the `first` on; nothing where nobody noted any. All
 * ranks tell, or chosen ones (team_chosen()). */
int phases_gather(const struct phases *phases, const struct team *team, const struct point *point,
                  bool of_all, struct sink *sink, int64_t first, int64_t count);

/* Each thread's own times, of all samples; nothing where threads noted none. */
int lanes_gather(const struct phases *phases, const struct team *team, const struct point *point,
                 struct sink *sink);

#endif
