#define _GNU_SOURCE
#include "base/delay_until.h"

#include "base/err.h"
#include "base/num.h"

#include <stdlib.h>
#include <time.h>

enum { SECOND_NS = 1000000000 };

#ifdef SMPI_HELPERS_H

void delay_for(int64_t ns)
{
    const struct timespec rest = {.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};
    if (ns > 0)
        nanosleep(&rest, NULL);
}

int delay_gauge(int64_t ns, struct delay *delay)
{
    *delay = (struct delay){.distance_ns = ns};
    return 0;
}

void delay_wait(const struct delay *delay)
{
    delay_for(delay->distance_ns);
}

#else

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* A number of multiplications would last as long as the core's frequency of the moment likes; a deadline does
 * not, and needs no calibration. */
void delay_for(int64_t ns)
{
    if (ns <= 0)
        return;
    const int64_t deadline = now_ns() + ns;
    while (now_ns() < deadline)
        ;
}

/* What stands before it is done and what stands behind it has not begun. A core that runs ahead otherwise
 * begins a wait while the construct before it, such as a barrier, is still at work, and so takes off what it
 * should add (benchmarks/omp_delay.c). */
static inline void fence(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static void wait_turns(int64_t turns)
{
    uint64_t x = (uint64_t)turns;
    for (int64_t i = 0; i < turns; ++i) {
        x *= 6364136223846793005U;
        __asm__ volatile("" : "+r"(x)); /* each needs the one before it */
    }
}

/* Fibonacci hashing of the reading (Knuth, The Art of Computer Programming 3, 6.4): readings that follow each
 * other spread evenly over the grain, and no thread needs a state of its own. */
void delay_wait(const struct delay *delay)
{
    fence();
    if (delay->turns > 0) {
        wait_turns(delay->turns);
        fence();
        return;
    }
    const int64_t now = now_ns();
    const uint32_t share = (uint32_t)now * 2654435769U;
    const int64_t deadline = now + delay->distance_ns + (int64_t)((share * (uint64_t)delay->grain_ns) >> 32);
    while (now_ns() < deadline)
        ;
    fence();
}

enum { BATCHES = 51, REPS = 100 };

/* The mean of a batch with three quarters of them above it: disturbed ones are above, also on a busy core. */
static int64_t calm_mean(int64_t took[BATCHES])
{
    qsort(took, BATCHES, sizeof took[0], num_compare_ints);
    return (took[BATCHES / 4] + REPS / 2) / REPS;
}

/* What one reading takes; at least 1 ns, the unit of the clock. */
static int64_t reading_ns(void)
{
    int64_t took[BATCHES];
    for (int b = 0; b < BATCHES; ++b) {
        const int64_t start = now_ns();
        for (int i = 0; i < REPS; ++i)
            now_ns();
        took[b] = now_ns() - start;
    }
    const int64_t mean = calm_mean(took);
    return mean > 0 ? mean : 1;
}

/* How long a wait lasts by this delay, back to back. */
static int64_t wait_ns(const struct delay *delay)
{
    int64_t took[BATCHES];
    for (int b = 0; b < BATCHES; ++b) {
        const int64_t start = now_ns();
        for (int i = 0; i < REPS; ++i)
            delay_wait(delay);
        took[b] = now_ns() - start;
    }
    return calm_mean(took);
}

/* From what one multiplication and a thousand more take. */
static int gauge_turns(int64_t ns, struct delay *out)
{
    enum { MANY = 1000 };
    const struct delay one = {.turns = 1}, many = {.turns = 1 + MANY};
    const int64_t least = wait_ns(&one);
    const int64_t took = wait_ns(&many) - least; /* of MANY */
    if (ns < least || took <= 0)
        return err_say(ERR_INPUT, "a wait of %lld ns is shorter than the %lld ns of the shortest one",
                       (long long)ns, (long long)least);
    *out = (struct delay){.turns = 1 + ((ns - least) * MANY + took / 2) / took};
    return 0;
}

/* First with a distance that no time that is asked for can be too short for, then with the one that follows
 * from it: a core foresees the end of a short wait and not that of a long one. */
static int gauge(int64_t ns, struct delay *out)
{
    const int64_t tried_ns = 1000;
    struct delay delay = {.distance_ns = tried_ns, .grain_ns = reading_ns()};
    const int64_t beyond = wait_ns(&delay) - tried_ns;
    if (ns < beyond)
        return gauge_turns(ns, out);
    delay.distance_ns = ns - beyond;
    if (ns < tried_ns) {
        const int64_t late = wait_ns(&delay) - ns;
        delay.distance_ns -= late < delay.distance_ns ? late : delay.distance_ns;
    }
    *out = delay;
    return 0;
}

/* What was gauged before is given again: a gauge is off by a ns or two, and so would be the difference of two
 * points that wait by two gauges. A plan has a few delays; of more, the oldest make room. */
int delay_gauge(int64_t ns, struct delay *out)
{
    enum { REMEMBERED = 16 };
    static struct {
        int64_t ns; /* 0: nothing yet */
        struct delay delay;
    } table[REMEMBERED];
    static int next;
    for (int i = 0; ns > 0 && i < REMEMBERED; ++i)
        if (table[i].ns == ns) {
            *out = table[i].delay;
            return 0;
        }
    int err = gauge(ns, out);
    if (err)
        return err;
    table[next].ns = ns;
    table[next].delay = *out;
    next = (next + 1) % REMEMBERED;
    return 0;
}

#endif
