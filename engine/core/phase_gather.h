/* Gather the phases of all ranks, and of their threads, on rank 0, which alone has a sink and writes them.
 * Collective. ERR_NOMEM, or errors of the team's messages and of the sink. */
#ifndef CORE_PHASE_GATHER_H
#define CORE_PHASE_GATHER_H

#include "core/phase.h"
#include "core/point.h"
#include "core/sink.h"
#include "team/team.h"

#include <stdbool.h>

/* In a chunk of `count` samples from the `first` on; nothing without phases. All ranks take part, or chosen
 * ones (team_chosen()). */
int phases_gather(const struct phases *phases, const struct team *team, const struct point *point,
                  bool of_all, struct sink *sink, int64_t first, int64_t count);

/* Each thread's own times, of all samples; nothing if threads noted none. */
int lanes_gather(const struct phases *phases, const struct team *team, const struct point *point,
                 struct sink *sink);

#endif
