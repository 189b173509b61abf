/* The fastest of many short stretches of work is one that nobody took time from: an interruption makes a
 * stretch only longer. */
#ifndef MACHINE_BEST_OF_H
#define MACHINE_BEST_OF_H

#include "time/clock.h"

struct stretch {
    int64_t ns;     /* 0: the clock stands still while a rank computes, as it does in simulation */
    int64_t cycles; /* that the counter saw in it; 0: it saw nothing, or there is none */
};

/* The fastest of `count` runs of work(x, steps), such as work_do(). `counter`: a file that can be read for a
 * count of cycles; -1: there is none. */
struct stretch best_of(const struct clock *clock, int count, uint64_t (*work)(uint64_t x, int64_t steps),
                       int64_t steps, int counter);

#endif
