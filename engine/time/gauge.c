/* What a clock is worth, found by reading it: what a reading costs, in which steps it advances, and whether
 * it ever goes back. */
#define _GNU_SOURCE
#include "time/clock.h"

#include "base/hash.h"
#include "base/num.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double gauge_cost(const struct clock *clock)
{
    enum { BATCHES = 20, READINGS = 500 }; /* the fastest batch is one that nothing interrupted */
    double best = INFINITY;
    for (int b = 0; b < BATCHES; ++b) {
        int64_t first = clock->read(clock), last = first;
        for (int i = 0; i < READINGS; ++i)
            last = clock->read(clock);
        double cost = (double)(last - first) / (double)READINGS;
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

/* A delay that no compiler drops. */
static void loiter(int64_t steps)
{
    for (int64_t i = 0; i < steps; ++i)
        __asm__ volatile("" ::: "memory");
}

/* The largest q of which differences between readings are multiples. Random delays spread them: those of a
 * loop that grows by steps would show its steps. A clock may advance in steps far coarser than its unit: 10
 * ns on some virtual machines, 1 us or more on old kernels. */
static int64_t gauge_tick(const struct clock *clock)
{
    enum { COUNT = 400, DELAYS = 40 };
    const int64_t longest_delay = 1 << 20;
    const double good_fit = 0.8;
    int64_t d[COUNT], found = 0;
    for (int64_t delay = 4; delay < longest_delay; delay *= 4) {
        for (int i = 0; i < COUNT; ++i) {
            int64_t before = clock->read(clock);
            loiter((int64_t)(hash_mix((uint64_t)i) % (uint64_t)(DELAYS * delay)));
            d[i] = clock->read(clock) - before;
        }
        qsort(d, COUNT, sizeof d[0], num_compare_ints);
        int64_t spread = 2 * (d[COUNT / 2] - d[0]), before = found;
        int64_t q = spread / 4; /* a coarser one may fit by chance */
        int most = COUNT;
        while (d[most - 1] > d[0] + spread) /* these were interrupted */
            --most;
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

static void move_to(int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* By how many ns readings go back at most, on this CPU and on others that this thread may use: one, or more
 * as some time allows. A counter that is behind on another core shows if that is more than a move takes, some
 * 10 us; for less the kernel looks, and the synchronisation between ranks. */
static int64_t gauge_back(const struct clock *clock)
{
    enum { READINGS = 100, LEAST = 2 };
    const int64_t enough_ns = 1000000;
    cpu_set_t allowed;
    struct timespec begin, now;
    bool may_move = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    int home = sched_getcpu(), visits = 0;
    home = home < 0 ? 0 : home;
    int64_t worst = 0, last = clock->read(clock), passed = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i <= CPU_SETSIZE; ++i) { /* from home once around, and home again */
        int cpu = visits >= LEAST && passed > enough_ns ? home : (home + i) % CPU_SETSIZE;
        if (cpu != home && (!may_move || !CPU_ISSET((size_t)cpu, &allowed)))
            continue;
        if (may_move)
            move_to(cpu);
        for (int k = 0; k < READINGS; ++k) {
            int64_t reading = clock->read(clock);
            worst = last - reading > worst ? last - reading : worst;
            last = reading;
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
        passed = (now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec;
        ++visits;
        if (cpu == home && i > 0)
            break;
    }
    if (may_move)
        sched_setaffinity(0, sizeof allowed, &allowed);
    return worst;
}

void clock_gauge_reading(struct clock *clock)
{
    clock->cost_ns = fmax(gauge_cost(clock), 0);
    int64_t back = gauge_back(clock);
    if (back > 0)
        snprintf(clock->doubt, sizeof clock->doubt, "it went back by %lld ns while it was gauged",
                 (long long)back);
}

void clock_gauge_tick(struct clock *clock)
{
    clock->tick_ns = gauge_tick(clock);
}
