/* A known delay inside a construct: in the critical section, between two hand-overs, in the thread that was
 * made. What an op costs with it, less what it costs without, must be the delay as often as the op's row says
 * (`delays`): a truth that every construct can be held to.
 *
 * An op without it must be the same code as if there were no delay at all: so its work is one function that
 * is inlined twice, with and without, and setup chooses. */
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

/* At setup, some milliseconds; nothing at all for 0. ERR_INPUT for a delay that is too short to be known. */
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
