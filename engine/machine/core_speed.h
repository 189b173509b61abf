/* How fast the core runs: cycles of its own, which are not those of the time-stamp counter. */
#ifndef MACHINE_CORE_SPEED_H
#define MACHINE_CORE_SPEED_H

#include "time/clock.h"

struct json;

/* "core": how many cycles this rank's core makes in a second now, and how that is known. Nothing in
 * simulation. */
void core_speed_json(const struct clock *clock, struct json *j);

#endif
