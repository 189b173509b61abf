/* What the engine's C tests share: a check that counts, a clock that moves only when told, an op that moves
 * it. */
#ifndef TEST_H
#define TEST_H

#include "base/hash.h"
#include "core/op.h"
#include "time/clock.h"

#include <stdint.h>
#include <stdio.h>

static int test_failures;

#define CHECK(condition)                                                                                     \
    do                                                                                                       \
        if (!(condition)) {                                                                                  \
            ++test_failures;                                                                                 \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                          \
        }                                                                                                    \
    while (0)

/* At the end of main: return test_result(). */
static inline int test_result(void)
{
    return test_failures ? 1 : 0;
}

/* A clock whose readings cost `cost` ns, and up to `wander` more, and come in steps of `tick`. */
struct fake_clock {
    struct clock clock; /* first: one is the other */
    int64_t now, cost, tick, wander;
    uint64_t readings;
};

static inline int64_t fake_read(const struct clock *clock)
{
    struct fake_clock *fake = (struct fake_clock *)(uintptr_t)clock;
    fake->now += fake->cost;
    if (fake->wander > 0)
        fake->now += (int64_t)(hash_mix(++fake->readings) % (uint64_t)fake->wander);
    return fake->now / fake->tick * fake->tick;
}

/* Half of what is left passes at once: to yield a core at each reading takes minutes where others want it. */
static inline void fake_rest(const struct clock *clock, int64_t left_ns)
{
    ((struct fake_clock *)(uintptr_t)clock)->now += left_ns / 2;
}

static inline struct fake_clock fake_clock(int64_t cost, int64_t tick)
{
    return (struct fake_clock){.clock = {.name = "fake",
                                         .read = fake_read,
                                         .rest = fake_rest,
                                         .cost_ns = (double)cost,
                                         .tick_ns = tick},
                               .cost = cost,
                               .tick = tick};
}

#endif
