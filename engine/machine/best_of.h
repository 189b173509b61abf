/* The fastest of many short stretches of work is an undisturbed one, because interruptions only lengthen
 * them. */
#ifndef MACHINE_BEST_OF_H
#define MACHINE_BEST_OF_H

#include "time/clock.h"

struct stretch {
    int64_t ns;     /* 0: the clock stands still while a rank computes, as in simulation */
    int64_t cycles; /* counted in it; 0: none, or there is no counter */
};

/* The fastest of `count` runs of work(x, steps), such as work_do(). `counter`: a file with a count of cycles;
 * -1: none. */
struct stretch best_of(const struct clock *clock, int count, uint64_t (*work)(uint64_t x, int64_t steps),
                       int64_t steps, int counter);

#endif
