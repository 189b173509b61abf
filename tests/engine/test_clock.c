#include "test.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>

/* The cost of a clock that is regular, and the tick of one that is read at odd moments, whatever they are. */
static void test_gauge(void)
{
    static const int64_t costs[] = {11, 24, 27, 40}, ticks[] = {1, 7, 10, 40, 1000};
    for (size_t i = 0; i < sizeof costs / sizeof costs[0]; ++i) {
        struct fake_clock fake = fake_clock(costs[i], 1);
        fake.clock.cost_ns = 0;
        clock_gauge(&fake.clock);
        CHECK(fabs(fake.clock.cost_ns - (double)costs[i]) < 0.01);
    }
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; ++i) {
        struct fake_clock fake = fake_clock(24, ticks[i]);
        fake.wander = 20 * ticks[i] + 1;
        fake.clock.tick_ns = 0;
        clock_gauge(&fake.clock);
        CHECK(fake.clock.tick_ns == ticks[i]);
    }
}

static void test_real(void)
{
    struct clock clock;
    CHECK(clock_open("no such clock", &clock) == ERR_INPUT);
    CHECK(clock_open(NULL, &clock) == 0);
    CHECK(clock.cost_ns > 0 && clock.tick_ns >= 1);
    int64_t last = clock_now(&clock);
    CHECK(last >= 0);
    for (int i = 0; i < 100000; ++i) {
        int64_t now = clock_now(&clock);
        CHECK(now >= last);
        last = now;
    }
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
    test_truth();
    test_real();
    return test_result();
}
