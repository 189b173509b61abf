/* A core kept busy for a known time, for ops that delay a rank on purpose. */
#ifndef BASE_DELAY_UNTIL_H
#define BASE_DELAY_UNTIL_H

#include <stdint.h>

/* Return when that much time has passed: at once for 0, and less than one reading of the system's clock too
 * late otherwise. Nothing is stamped, so an op that calls it reads no clock of the measurement. In
 * simulation, where time does not pass while a core is busy, the thread sleeps instead. */
void delay_for(int64_t ns);

/* A wait whose mean is known to a few ns, which that of delay_for() is not: it is longer by what its readings
 * of the clock take, and a whole number of them. This one is gauged once and shortened by that, and dithered
 * over the length of a reading. It is constant: any thread may wait by it at any time. */
struct delay {
    int64_t distance_ns; /* from the first reading to the deadline, less than what was asked for */
    int64_t grain_ns;    /* the deadline is up to so much later, at random */
};

/* Takes some milliseconds, and none for a time that the process has gauged before: then the same delay is
 * given. One thread at a time. ERR_INPUT for a time that is shorter than what ends it. */
int delay_gauge(int64_t ns, struct delay *delay);
void delay_wait(const struct delay *delay);

#endif
