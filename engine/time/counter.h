/* The time counter of the processor that programs may read: `tsc` of x86-64, `cntvct` of aarch64. */
#ifndef TIME_COUNTER_H
#define TIME_COUNTER_H

#include <stdint.h>

struct clock;

/* Make `clock` the counter of that name. Its rate is measured, which takes 10 ms; `doubt` says if the
 * processor or the kernel do not trust it. NULL, or why it cannot be read here. */
const char *counter_open(const char *name, struct clock *clock);

/* The factor from counts of a counter of `hz` to ns, times 2^48. */
uint64_t counter_ns_per_count(double hz);

/* Whole ns of so many counts: nothing overflows in 292 years, and a day is right to 1 ns of the rate. */
int64_t counter_to_ns(uint64_t counts, uint64_t ns_per_count);

#endif
