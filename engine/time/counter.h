/* The counter of time that programs may read in the processor itself: `tsc` of x86-64, `cntvct` of aarch64.
 */
#ifndef TIME_COUNTER_H
#define TIME_COUNTER_H

#include <stdint.h>

struct clock;

/* Make `clock` the counter of that name: how fast it runs is measured, which takes 10 ms; whether the
 * processor and the kernel trust it goes into `doubt`. NULL, or why it cannot be read here. */
const char *counter_open(const char *name, struct clock *clock);

/* What to multiply counts of a counter of `hz` by for ns, times 2^48. */
uint64_t counter_ns_per_count(double hz);

/* Whole ns of so many counts: nothing overflows in 292 years, and a day is right to 1 ns of the rate. */
int64_t counter_to_ns(uint64_t counts, uint64_t ns_per_count);

#endif
