/* A known delay inside a construct: in the critical section, between two hand-overs, in the thread that was
 * made. The cost of an op with it, less its cost without it, must be the delay times the number in the op's
 * row (`delays`). So every construct can be checked against a known value.
 *
 * Without the delay an op must be the same code as if there were none. So its work is one function that is
 * inlined twice, with and without, and setup chooses. */
#ifndef OPS_COMMON_DELAY_H
#define OPS_COMMON_DELAY_H

#include "base/delay_until.h"

#include <math.h>

/* The row of a table of parameters. */
#define DELAY_PARAM                                                                                          \
    {.name = "spin_ns",                                                                                      \
     .unit = "ns",                                                                                           \
     .summary = "a known delay inside the construct, for tests of the method; 0: none",                      \
     .most = 1e9}

/* At setup, some milliseconds; 0 takes none. ERR_INPUT for a delay that is too short to be known. */
static inline int delay_open(double ns, struct delay *delay)
{
    *delay = (struct delay){0};
    return ns > 0 ? delay_gauge(llround(ns), delay) : 0;
}

/* In run. */
static inline void delay_do(const struct delay *delay)
{
    delay_wait(delay);
}

#endif
