#define _GNU_SOURCE /* CPU sets */
#include "test.h"

#include "base/err.h"
#include "time/counter.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* The cost of a clock that is regular, and the tick of one that is read at odd moments, whatever they are. */
static void test_gauge(void)
{
    static const int64_t costs[] = {11, 24, 27, 40}, ticks[] = {1, 7, 10, 40, 1000};
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; ++i) {
        struct fake_clock fake = fake_clock(costs[i], 1);
        fake.clock.cost_ns = 0;
        clock_gauge_reading(&fake.clock);
        CHECK(fabs(fake.clock.cost_ns - (double)costs[i]) < 0.01 && !fake.clock.doubt[0]);
    }
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; ++i) {
        struct fake_clock fake = fake_clock(24, ticks[i]);
        fake.wander = 20 * ticks[i] + 2000; /* so that steps of 1 ns are many, and no longer delay is tried */
        fake.clock.tick_ns = 0;
        clock_gauge_tick(&fake.clock);
        CHECK(fake.clock.tick_ns == ticks[i]);
    }
}

/* Clocks that are not sound: one is 1 us back at every 70th reading, one is 1 ms behind on odd CPUs. */
static int64_t read_hiccup(const struct clock *clock)
{
    struct fake_clock *fake = (struct fake_clock *)(uintptr_t)clock;
    int64_t reading = fake_read(clock);
    return ++fake->readings % 70 ? reading : reading - 1000;
}

static int64_t read_uneven(const struct clock *clock)
{
    int64_t reading = fake_read(clock);
    return sched_getcpu() % 2 ? reading - 1000000 : reading;
}

/* What goes back is doubtful, on this CPU or from one to another; and the gauge leaves the thread where it
 * may be. */
static void test_back(void)
{
    struct fake_clock fake = fake_clock(20, 1);
    fake.clock.read = read_hiccup;
    clock_gauge_reading(&fake.clock);
    CHECK(strcmp(fake.clock.doubt, "it went back by 980 ns while it was gauged") == 0);

    cpu_set_t allowed, before, after;
    CHECK(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    CPU_ZERO(&before);
    for (size_t cpu = 0, parity = 0; cpu < CPU_SETSIZE && parity < 2; ++cpu) /* an even one and an odd one */
        if (CPU_ISSET(cpu, &allowed) && cpu % 2 == parity) {
            CPU_SET(cpu, &before);
            ++parity;
        }
    CHECK(CPU_COUNT(&before) == 0 || sched_setaffinity(0, sizeof before, &before) == 0);
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    fake = fake_clock(20, 1);
    fake.clock.read = read_uneven;
    clock_gauge_reading(&fake.clock);
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after));
    CHECK(CPU_COUNT(&before) < 2 || strstr(fake.clock.doubt, "it went back by 999980 ns"));
    CHECK(sched_setaffinity(0, sizeof allowed, &allowed) == 0);
}

static void test_choose(void)
{
    static const struct {
        struct clock_verdict verdicts[3];
        int chosen;
    } cases[] = {
        {{{CLOCK_SOUND, 22000}, {CLOCK_SOUND, 28000}, {CLOCK_DOUBTFUL, 10000}}, 0},
        {{{CLOCK_SOUND, 28000}, {CLOCK_SOUND, 24000}, {CLOCK_SOUND, 23000}}, 0}, /* not clearly cheaper */
        {{{CLOCK_SOUND, 40000}, {CLOCK_SOUND, 28000}, {CLOCK_SOUND, 12000}}, 2},
        {{{CLOCK_DOUBTFUL, 20000}, {CLOCK_SOUND, 900000}, {CLOCK_DOUBTFUL, 30000}}, 1},
        {{{CLOCK_ABSENT, 0}, {CLOCK_ABSENT, 0}, {CLOCK_SOUND, 50000}}, 2},
        {{{CLOCK_DOUBTFUL, 20000}, {CLOCK_DOUBTFUL, 20000}, {CLOCK_DOUBTFUL, 30000}},
         2}, /* the last resort */
        {{{CLOCK_DOUBTFUL, 20000}, {CLOCK_DOUBTFUL, 20000}, {CLOCK_ABSENT, 0}}, 1},
        {{{CLOCK_ABSENT, 0}, {CLOCK_ABSENT, 0}, {CLOCK_ABSENT, 0}}, -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
        CHECK(clock_choose(cases[i].verdicts, 3) == cases[i].chosen);
}

/* Counts become ns without overflow and without losing any, over days and years of counting. */
static void test_counter(void)
{
    static const struct {
        double hz;
        uint64_t counts;
        int64_t ns;
    } cases[] = {
        {1e9, 0, 0},
        {1e9, UINT64_C(86400000000000), INT64_C(86400000000000)},           /* a day */
        {1e9, UINT64_C(9000000000000000000), INT64_C(9000000000000000000)}, /* 285 years */
        {2.5e9, UINT64_C(216000000000001), INT64_C(86400000000000)},        /* a day and 0.4 ns */
        {2.5e9, UINT64_C(15768000000000000000), INT64_C(6307200000000000000)},
        {24e6, UINT64_C(2073600000000), INT64_C(86400000000000)},
        {5e9, UINT64_C(432000000000004), INT64_C(86400000000000)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        int64_t ns = counter_to_ns(cases[i].counts, counter_ns_per_count(cases[i].hz));
        int64_t rounding = cases[i].ns / (INT64_C(1) << 47) + 1; /* of the rate: half of its last bit */
        CHECK(llabs(ns - cases[i].ns) <= rounding);
    }
    int64_t last = 0; /* never back, from one count to the next */
    for (uint64_t count = UINT64_C(1) << 53; count < (UINT64_C(1) << 53) + 1000; ++count) {
        int64_t ns = counter_to_ns(count, counter_ns_per_count(2.5e9));
        CHECK(last == 0 || (ns - last >= 0 && ns - last <= 1));
        last = ns;
    }
}

static double wtime(void) /* seconds since 1970, as MPICH's */
{
    static const double now = 1795000000.123456;
    return now;
}

static void test_real(void)
{
    struct clock clock;
    CHECK(clock_open("no such clock", NULL, &clock) == ERR_INPUT);
    CHECK(clock_open("mpi-wtime", NULL, &clock) == ERR_INPUT && strstr(err_text(), "has no MPI"));
    int open = 0;
    for (int i = 0; i < CLOCK_ROWS; ++i) {
        if (clock_try(i, NULL, &clock))
            continue;
        ++open;
        CHECK(clock_open(clock.name, NULL, &clock) == 0);
        CHECK(clock.cost_ns > 0 && clock.tick_ns >= 1);
        if (clock.doubt[0])
            continue;
        int64_t last = clock_now(&clock);
        CHECK(last >= 0);
        for (int k = 0; k < 100000; ++k) {
            int64_t now = clock_now(&clock);
            CHECK(now >= last);
            last = now;
        }
    }
    CHECK(open >= 2);
    int row = CLOCK_ROWS - 1;
    CHECK(!clock_try(row, wtime, &clock) && strcmp(clock.name, "mpi-wtime") == 0 && clock.doubt[0]);
    CHECK(llabs(clock.read(&clock) - INT64_C(1795000000123456001)) < 239); /* the grain of the double */
}

/* Behind a clock that is skewed stands the true one; a clock that is not is its own truth. */
static void test_truth(void)
{
    struct fake_clock fake = fake_clock(0, 1);
    fake.now = 1000;
    fake.clock.base = 400;
    CHECK(clock_now(&fake.clock) == 600);
    CHECK(clock_skew(&fake.clock, 7) == 0);
    CHECK(llabs(clock_now(&fake.clock) - 600) > 1000);
    int64_t seen = clock_now(&fake.clock);
    /* A copy cannot stand for the fake clock, whose time is behind it: its reading is asked with the
     * original. */
    const struct clock truth = clock_truth(&fake.clock);
    CHECK(truth.skew == NULL && truth.base == 0 && truth.read(&fake.clock) == 1000);
    CHECK(clock_true(&fake.clock, seen) == 1000);
    clock_close(&fake.clock);
}

int main(void)
{
    test_gauge();
    test_back();
    test_choose();
    test_counter();
    test_truth();
    test_real();
    return test_result();
}
