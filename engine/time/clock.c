#define _GNU_SOURCE
#include "time/clock.h"

#include "base/err.h"
#include "base/json.h"
#include "time/counter.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* `open` makes the clock read this source and says what is doubtful about it; NULL, or why it cannot. */
struct clock_row {
    const char *name, *summary;
    int id;
    const char *(*open)(const struct clock_row *row, struct clock *clock);
};

/* SimGrid's smpicc makes every clock the simulated one, which stands still while a rank computes and need not
 * be gauged. */
#ifdef SMPI_HELPERS_H
static const bool simulated = true;
#else
static const bool simulated = false;
#endif

static int64_t read_posix(const struct clock *clock)
{
    struct timespec t;
    clock_gettime((clockid_t)clock->id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static const char *open_posix(const struct clock_row *row, struct clock *clock)
{
    struct timespec t;
    clock->read = read_posix;
    clock->id = row->id;
    return clock_gettime((clockid_t)row->id, &t) == 0 ? NULL : "clock_gettime() refuses it";
}

static const char *open_counter(const struct clock_row *row, struct clock *clock)
{
    return counter_open(row->name, clock);
}

/* Seconds since 1970 have a grain of 238 ns as a double; whole seconds go first, so that it grows no coarser.
 */
static int64_t read_wtime(const struct clock *clock)
{
    double now = clock->wtime();
    int64_t seconds = (int64_t)now;
    return seconds * 1000000000 + (int64_t)((now - (double)seconds) * 1e9 + 0.5);
}

static const char *open_wtime(const struct clock_row *row, struct clock *clock)
{
    (void)row;
    clock->read = read_wtime;
    snprintf(clock->doubt, sizeof clock->doubt, "MPI does not promise that it never steps");
    return clock->wtime ? NULL : "this engine has no MPI";
}

/* In the order in which they are taken where several cost about the same; the last is the last resort. */
static const struct clock_row rows[CLOCK_ROWS] = {
    {"tsc", "the time-stamp counter of x86-64: never steps, never slewed", 0, open_counter},
    {"cntvct", "the virtual counter of aarch64: never steps, never slewed", 0, open_counter},
    {"monotonic", "CLOCK_MONOTONIC: never steps, slewed by NTP", CLOCK_MONOTONIC, open_posix},
    {"monotonic-raw", "CLOCK_MONOTONIC_RAW: never steps, never slewed", CLOCK_MONOTONIC_RAW, open_posix},
    {"mpi-wtime", "MPI_Wtime, the library's clock: in MPICH one that may step", 0, open_wtime},
};

static const char *row_open(const struct clock_row *row, double (*wtime)(void), struct clock *clock)
{
    *clock = (struct clock){.name = row->name, .wtime = wtime, .tick_ns = 1};
    if (!simulated)
        return row->open(row, clock);
    clock->name = "simulated";
    clock->read = read_posix;
    clock->id = CLOCK_MONOTONIC;
    clock->sleeps = true;
    return NULL;
}

const char *clock_try(int row, double (*wtime)(void), struct clock *clock)
{
    const char *why_not = row_open(&rows[row], wtime, clock);
    if (!why_not && !simulated)
        clock_gauge_reading(clock);
    return why_not;
}

int clock_choose(const struct clock_verdict *verdicts, int count)
{
    const double clearly = 0.5; /* what gauging varies by is no reason: launches should choose alike */
    int best = -1, last = -1;
    for (int i = 0; i < count; ++i) {
        last = verdicts[i].state != CLOCK_ABSENT ? i : last;
        if (verdicts[i].state == CLOCK_SOUND &&
            (best < 0 || (double)verdicts[i].cost_ps < clearly * (double)verdicts[best].cost_ps))
            best = i;
    }
    return best >= 0 ? best : last;
}

int clock_open(const char *name, double (*wtime)(void), struct clock *clock)
{
    for (int i = 0; i < CLOCK_ROWS; ++i)
        if (strcmp(name, rows[i].name) == 0) {
            const char *why_not = clock_try(i, wtime, clock);
            if (why_not)
                return err_say(ERR_INPUT, "the clock %s cannot be used here: %s; see 'describe'", name,
                               why_not);
            if (!simulated)
                clock_gauge_tick(clock);
            clock->base = clock->read(clock);
            return 0;
        }
    return err_say(ERR_INPUT, "there is no clock '%s'; see 'describe'", name);
}

static void rest(const struct clock *clock, int64_t left)
{
    const struct timespec time = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    if (clock->rest)
        clock->rest(clock, left);
    else if (clock->sleeps)
        nanosleep(&time, NULL);
    else
        syscall(SYS_sched_yield); /* not sched_yield(): the count in base/yield is the library's */
}

/* Others may have the core, if there are any, until it is not far. Then it is kept, and what passes between
 * two readings beyond what a reading takes was taken from it. Nothing is stored before the wait is over. */
void clock_wait(const struct clock *clock, int64_t until_ns, struct spun *seen)
{
    const int64_t far_ns = clock->sleeps ? 0 : 20000;
    int64_t left = until_ns - clock_now(clock);
    while (left > far_ns) {
        rest(clock, left); /* a skewed clock that sleeps may need another, short one */
        left = until_ns - clock_now(clock);
    }
    const int64_t near = left, gap_ns = 1000 + 4 * ((int64_t)clock->cost_ns + clock->tick_ns);
    int64_t longest = 0, lost = 0;
    while (left > 0) {
        const int64_t before = left;
        left = until_ns - clock_now(clock);
        const int64_t gap = before - left;
        longest = gap > longest ? gap : longest;
        lost += gap > gap_ns ? gap : 0;
    }
    if (seen && near > 0) {
        seen->ns += near - left;
        seen->lost_ns += lost;
        seen->longest_ns = longest > seen->longest_ns ? longest : seen->longest_ns;
    }
}

/* Without reading MPI's, for there may be no MPI running. */
void clock_describe(struct json *j, double (*wtime)(void))
{
    json_open(j, "clocks", '[');
    for (int i = 0; i < CLOCK_ROWS; ++i) {
        struct clock clock;
        const char *why_not = row_open(&rows[i], wtime, &clock);
        if (!why_not && !simulated && rows[i].open != open_wtime)
            clock_gauge_reading(&clock);
        json_open(j, NULL, '{');
        json_string(j, "name", rows[i].name);
        json_string(j, "summary", rows[i].summary);
        json_bool(j, "available", !why_not);
        json_string(j, "why_not", why_not);
        json_bool(j, "sound", !why_not && !clock.doubt[0]);
        json_string(j, "doubt", why_not || !clock.doubt[0] ? NULL : clock.doubt);
        json_close(j, '}');
    }
    json_close(j, ']');
}
