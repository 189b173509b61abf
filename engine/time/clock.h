/* A source of stamps: whole ns since the clock was opened. Never MPI_Wtime, which in MPICH is CLOCK_REALTIME.
 */
#ifndef TIME_CLOCK_H
#define TIME_CLOCK_H

#include <stdint.h>

struct json;

struct clock {
    const char *name;
    int64_t (*read)(const struct clock *clock); /* ns of the source itself */
    int64_t base;                               /* what `read` said at opening */
    int id;                                     /* for the rows that share one `read` */
    double cost_ns;                             /* of one reading, from readings back to back */
    int64_t tick_ns;                            /* by how much readings advance; 1 when no step shows */
};

static inline int64_t clock_now(const struct clock *clock)
{
    return clock->read(clock) - clock->base;
}

/* Open the clock of that name (NULL: the best there is), measure its cost and tick. ERR_INPUT, ERR_SYSTEM. */
int clock_open(const char *name, struct clock *clock);

/* Measure cost and tick of a clock whose `read` is set; clock_open() does. */
void clock_gauge(struct clock *clock);

void clock_describe(struct json *j);

/* The empty interval: what is between two stamps that stand back to back is one reading. So the engine leaves
 * `cost_ns` in the record, and the statistics take it off. */

#endif
