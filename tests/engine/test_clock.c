#include "test.h"

#include "base/err.h"

#include <math.h>

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

int main(void)
{
    test_gauge();
    test_real();
    return test_result();
}
