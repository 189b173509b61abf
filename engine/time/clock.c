#define _GNU_SOURCE
#include "time/clock.h"

#include "base/err.h"
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct clock_row {
    const char *name, *summary;
    int id;
};

/* The first is the default: slewed by NTP at most 500 ppm, never stepped, and in the vDSO everywhere. */
static const struct clock_row rows[] = {
    {"monotonic", "CLOCK_MONOTONIC: never steps, slewed by NTP", CLOCK_MONOTONIC},
    {"monotonic-raw", "CLOCK_MONOTONIC_RAW: never steps, never slewed", CLOCK_MONOTONIC_RAW},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

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

static double gauge_cost(const struct clock *clock)
{
    enum { BATCHES = 20, READINGS = 500 }; /* the fastest batch is one that nothing interrupted */
    double best = INFINITY;
    for (int b = 0; b < BATCHES; ++b) {
        int64_t first = clock->read(clock), last = first;
        for (int i = 0; i < READINGS; ++i)
            last = clock->read(clock);
        double cost = (double)(last - first) / READINGS;
        best = cost < best ? cost : best;
    }
    return best;
}

/* How well the differences fit multiples of q: 1 when all do, near 0 when they fall anywhere (a periodogram).
 */
static double fit(const int64_t *differences, int count, int64_t q)
{
    double re = 0, im = 0;
    for (int i = 0; i < count; ++i) {
        double phase = 2 * M_PI * (double)(differences[i] % q) / (double)q;
        re += cos(phase);
        im += sin(phase);
    }
    return hypot(re, im) / count;
}

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* A delay that no compiler drops. */
static void loiter(int64_t steps)
{
    for (int64_t i = 0; i < steps; ++i)
        __asm__ volatile("" ::: "memory");
}

/* The largest q of which differences between readings, spread by delays of many lengths, are multiples. A
 * clock may advance in steps far coarser than its unit: 10 ns on some virtual machines, 1 us or more on old
 * kernels. */
static int64_t gauge_tick(const struct clock *clock)
{
    enum { COUNT = 400, DELAYS = 40 };
    const int64_t longest_delay = 1 << 20;
    const double good_fit = 0.8;
    int64_t d[COUNT], found = 0;
    for (int64_t delay = 4; delay < longest_delay; delay *= 4) {
        for (int i = 0; i < COUNT; ++i) {
            int64_t before = clock->read(clock);
            loiter(i % DELAYS * delay);
            d[i] = clock->read(clock) - before;
        }
        qsort(d, COUNT, sizeof d[0], compare);
        int most = COUNT * 9 / 10; /* the longest were interrupted */
        int64_t spread = d[most - 1] - d[0], before = found, least = d[0];
        for (int i = 0; i < most && least == 0; ++i)
            least = d[i];
        int64_t q = least < spread / 4 ? least : spread / 4; /* a coarser one may fit by chance */
        while (q > 1 && fit(d, most, q) <= good_fit)
            --q;
        while (q > 1 && fit(d, most, q - 1) > fit(d, most, q)) /* from the flank of the peak to its top */
            --q;
        found = q > 1 ? q : 1;
        bool many = spread > 64 * (int64_t)(1 + clock->cost_ns); /* so many steps that one would show */
        if (found == before && (found > 1 || many)) /* longer delays did not find a multiple of it */
            return found;
    }
    return found;
}

void clock_gauge(struct clock *clock)
{
    clock->cost_ns = gauge_cost(clock);
    clock->tick_ns = gauge_tick(clock);
}

int clock_open(const char *name, struct clock *clock)
{
    for (int i = 0; i < ROWS; ++i)
        if (!name || strcmp(name, rows[i].name) == 0) {
            struct timespec t;
            if (clock_gettime((clockid_t)rows[i].id, &t) != 0)
                return err_say(ERR_SYSTEM, "the clock %s cannot be read on this system", rows[i].name);
            *clock = (struct clock){.name = simulated ? "simulated" : rows[i].name,
                                    .read = read_posix,
                                    .id = rows[i].id,
                                    .sleeps = simulated,
                                    .tick_ns = 1};
            if (!simulated)
                clock_gauge(clock);
            clock->base = clock->read(clock);
            return 0;
        }
    return err_say(ERR_INPUT, "there is no clock '%s'; see 'describe'", name);
}

void clock_wait(const struct clock *clock, int64_t until_ns)
{
    const int64_t far_ns = 20000; /* then others may have the core, if there are any */
    int64_t left = until_ns - clock_now(clock);
    while (left > 0) {
        if (!clock->sleeps && left > far_ns)
            syscall(SYS_sched_yield); /* not sched_yield(): the count in base/yield is the library's */
        if (clock->sleeps) {          /* a skewed clock may need another, short one */
            const struct timespec rest = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
            nanosleep(&rest, NULL);
        }
        left = until_ns - clock_now(clock);
    }
}

void clock_describe(struct json *j)
{
    json_open(j, "clocks", '[');
    for (int i = 0; i < ROWS; ++i) {
        struct timespec t;
        bool there = clock_gettime((clockid_t)rows[i].id, &t) == 0;
        json_open(j, NULL, '{');
        json_string(j, "name", rows[i].name);
        json_string(j, "summary", rows[i].summary);
        json_bool(j, "available", there);
        json_string(j, "why_not", there ? NULL : "clock_gettime() refuses it");
        json_close(j, '}');
    }
    json_close(j, ']');
}
