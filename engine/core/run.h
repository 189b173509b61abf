/* The one loop of the engine. It knows neither MPI nor any op. */
#ifndef CORE_RUN_H
#define CORE_RUN_H

#include "team/team.h"
#include "time/clock.h"

struct point;
struct probe;
struct sink;
struct sync;

/* Measure one point: set up, check, warm up, observe until the rule has enough, check again, record.
 * Collective. `sink` is NULL except on rank 0. `sync` is {0} until a method needs it, and kept from point to
 * point. `probe` looks at the machine between chunks; NULL: no looks. A point that cannot be measured or is
 * wrong becomes an `end` record, and 0 is returned. An error means that ranks may no longer agree, and the
 * launch must be aborted. */
int run_point(const struct point *point, const struct team *team, const struct clock *clock,
              struct sync *sync, struct probe *probe, struct sink *sink);

#endif
