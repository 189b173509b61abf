/* A source of stamps: whole ns since the clock was opened. Never MPI_Wtime, which in MPICH is CLOCK_REALTIME.
 */
#ifndef TIME_CLOCK_H
#define TIME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct json;
struct skew;

struct clock {
    const char *name;
    int64_t (*read)(const struct clock *clock); /* ns of the source itself */
    int64_t base;                               /* what `read` said at opening */
    int id;                                     /* for the rows that share one `read` */
    bool sleeps;       /* a wait sleeps, because time does not pass while a core is busy */
    struct skew *skew; /* for tests: the source is made to go wrong; NULL: it is not */
    double cost_ns;    /* of one reading, from readings back to back */
    int64_t tick_ns;   /* by how much readings advance; 1 when no step shows */
};

static inline int64_t clock_now(const struct clock *clock)
{
    return clock->read(clock) - clock->base;
}

/* Open the clock of that name (NULL: the best there is), measure its cost and tick. ERR_INPUT, ERR_SYSTEM. */
int clock_open(const char *name, struct clock *clock);

/* Measure cost and tick of a clock whose `read` is set; clock_open() does. */
void clock_gauge(struct clock *clock);

/* Wait until this clock shows `until_ns`; returns at once when it does already. */
void clock_wait(const struct clock *clock, int64_t until_ns);

/* For tests of the synchronisation: from now on the clock is off by up to 10 s, drifts by up to 20 ppm, and
 * the drift takes a random walk; all of it made from the seed. ERR_NOMEM. */
int clock_skew(struct clock *clock, uint64_t seed);

/* What the true clock showed when this one showed `local_ns`, not long ago: so that tests know what a
 * synchronisation should have found. */
int64_t clock_true(const struct clock *clock, int64_t local_ns);

/* The true clock behind one that is skewed; the clock itself where it is not. Its readings count from the
 * base of the source. It must not outlive `clock`. */
struct clock clock_truth(const struct clock *clock);

void clock_close(struct clock *clock);

void clock_describe(struct json *j);

/* The empty interval: what is between two stamps that stand back to back is one reading. So the engine leaves
 * `cost_ns` in the record, and the statistics take it off. */

#endif
