/* The speed of the core: its own cycles, which are not those of the time-stamp counter. */
#ifndef MACHINE_CORE_SPEED_H
#define MACHINE_CORE_SPEED_H

#include "time/clock.h"

struct json;

/* "core": cycles per second of this rank's core now, and how they are known. Nothing in simulation. */
void core_speed_json(const struct clock *clock, struct json *j);

#endif
