/* A source of timestamps: whole ns since the launch began. */
#ifndef TIME_CLOCK_H
#define TIME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct json;
struct skew;

enum { CLOCK_ROWS = 5, CLOCK_DOUBT_MAX = 120, CLOCK_PASSED_MAX = CLOCK_DOUBT_MAX + 24 };

/* The rate of a counter. */
struct clock_rate {
    double hz, ppm;        /* counts in a second, and the guaranteed error of that; 0: no counter */
    uint64_t ns_per_count; /* times 2^48 */
};

struct clock {
    const char *name;
    int64_t (*read)(const struct clock *clock); /* ns of the source itself */
    int64_t (*mark)(const struct clock *clock); /* as `read`, but later instructions need not wait; NULL:
                                                   `read` */
    void (*rest)(const struct clock *clock, int64_t left_ns); /* in a long wait; NULL: yield the core */
    int64_t base;          /* the reading of `read` when the launch began */
    int id;                /* for the rows that share one `read` */
    double (*wtime)(void); /* seconds; only for the row whose clock comes from outside */
    struct clock_rate rate;
    bool sleeps;                   /* a wait sleeps, because time does not pass while a core is busy */
    bool forced;                   /* the user named it */
    struct skew *skew;             /* for tests: errors to add; NULL: none */
    double cost_ns;                /* of one reading, from readings back to back */
    int64_t tick_ns;               /* the step of readings; 1 if no step shows */
    char doubt[CLOCK_DOUBT_MAX];   /* why it is not sound; "" when it is */
    char passed[CLOCK_PASSED_MAX]; /* a better clock that this rank finds doubtful, and why; "" for none */
};

static inline int64_t clock_now(const struct clock *clock)
{
    return clock->read(clock) - clock->base;
}

/* One stamp for the end of one step and the beginning of the next, if both are in one chain and a full
 * reading would make it longer. */
static inline int64_t clock_mark(const struct clock *clock)
{
    return (clock->mark ? clock->mark : clock->read)(clock)-clock->base;
}

/* Open the clock of that name and gauge it. `wtime`: the clock of the ranks' library, in seconds; NULL if it
 * has none. ERR_INPUT. */
int clock_open(const char *name, double (*wtime)(void), struct clock *clock);

/* Row i of the table, gauged except for its tick; NULL, or why it cannot be read here. */
const char *clock_try(int row, double (*wtime)(void), struct clock *clock);

/* The quality of a row, the worst of all ranks: greater is worse. */
struct clock_verdict {
    int64_t state; /* enum clock_state */
    int64_t cost_ps;
};

enum clock_state { CLOCK_SOUND, CLOCK_DOUBTFUL, CLOCK_ABSENT };

/* Choose a row: the first sound one, or one that costs less than half; the last readable one if none is
 * sound; -1 if there is none. */
int clock_choose(const struct clock_verdict *verdicts, int count);

/* Measure the cost of a clock whose `read` is set, and whether it goes back, which makes it doubtful; some 2
 * ms. Then its tick; up to 50 ms. */
void clock_gauge_reading(struct clock *clock);
void clock_gauge_tick(struct clock *clock);

/* The gaps that waits saw on their core, from the time between successive readings of the clock. A wait that
 * yields its core sees nothing. */
struct spun {
    int64_t ns;         /* of readings back to back */
    int64_t lost_ns;    /* the part in gaps longer than 1 us and four readings, which no reading takes */
    int64_t longest_ns; /* gap */
};

/* Wait until this clock shows `until_ns`; returns at once if it already does. Gaps are added to `seen`,
 * unless that is NULL. */
void clock_wait(const struct clock *clock, int64_t until_ns, struct spun *seen);

/* For tests of the synchronisation: from now on the clock is off by up to 10 s and drifts by up to 20 ppm,
 * and the drift takes a random walk, all from the seed. ERR_NOMEM. */
int clock_skew(struct clock *clock, uint64_t seed);

/* For tests of its detection: from now on the clock jumps back by 20 ms every 50 ms. ERR_NOMEM. */
int clock_jump(struct clock *clock);
/* For tests: a clock that cannot be related to any other, because each reading adds some ms. ERR_NOMEM. */
int clock_go_wild(struct clock *clock, uint64_t seed);

/* The true time when this clock showed `local_ns`, not long ago, so that tests know the right result of a
 * synchronisation. Not for a clock that jumps. */
int64_t clock_true(const struct clock *clock, int64_t local_ns);

/* The true clock behind a skewed one; the clock itself if it is not skewed. Its readings count from the base
 * of the source. It must not outlive `clock`. */
struct clock clock_truth(const struct clock *clock);

void clock_close(struct clock *clock);

void clock_describe(struct json *j, double (*wtime)(void));

/* The time between two adjacent timestamps is one reading. So the engine leaves `cost_ns` in the record, and
 * the statistics subtract it. */

#endif
