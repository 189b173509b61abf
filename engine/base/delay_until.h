/* Keep a core busy for a known time, for ops that delay a rank on purpose. */
#ifndef BASE_DELAY_UNTIL_H
#define BASE_DELAY_UNTIL_H

#include <stdint.h>

/* Return after that time: at once for 0, else at most one reading of the system's clock too late. Nothing is
 * stamped, so an op that calls it reads no clock of the measurement. In simulation, where time does not pass
 * while a core is busy, the thread sleeps instead. */
void delay_for(int64_t ns);

/* A wait whose mean is known to a few ns. delay_for() is longer by the time of its readings of the clock, and
 * lasts a whole number of them. This wait is gauged once, shortened by that time, and dithered over the
 * length of a reading. A time too short for readings is so many multiplications, which last as long as the
 * core's frequency of the moment likes. It is constant: any thread may use it at any time. */
struct delay {
    int64_t distance_ns; /* from the first reading to the deadline, less than the delay */
    int64_t grain_ns;    /* the deadline is up to this much later, at random */
    int64_t turns;       /* multiplications in place of readings; 0: it reads */
};

/* Takes some milliseconds, or none for a delay that the process has gauged before, which is then reused. One
 * thread at a time. ERR_INPUT for a time that is shorter than the shortest wait. */
int delay_gauge(int64_t ns, struct delay *delay);
void delay_wait(const struct delay *delay);

#endif
