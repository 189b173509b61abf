/* From clock to clock, and a clock that goes wrong on purpose. */
#include "test.h"

#include "time/map.h"

#include <stdlib.h>

static void test_map(void)
{
    /* 5 s ahead at local time 1 s, gaining 20 ppm. */
    const struct clock_map map = {.at_ns = 1000000000, .offset_ns = 5e9, .drift = 2e-5};
    CHECK(map_to_reference(&map, 1000000000) == -4000000000);
    CHECK(map_to_reference(&map, 2000000000) == -3000020000);
    for (int64_t t = -3000000000; t < 9000000000; t += 777777777)
        CHECK(llabs(map_to_reference(&map, map_to_local(&map, t)) - t) <= 1);
    const struct clock_map later = {.at_ns = 3000000000, .offset_ns = 5e9 + 100};
    CHECK(map_between(&map, &later, 1000000000) == 5e9);
    CHECK(map_between(&map, &later, 2000000000) == 5e9 + 50);
    CHECK(map_between(&map, &later, 3000000000) == 5e9 + 100);
    CHECK(map_between(&map, &map, 3000000000) == 5e9 + 40000); /* one and the same: by its drift */
}

/* Off by up to 10 s and 20 ppm, the same for the same seed, never backwards; and the true time can be had
 * back. */
static void test_skew(void)
{
    struct fake_clock a = fake_clock(1000, 1), b = fake_clock(1000, 1), c = fake_clock(1000, 1);
    CHECK(clock_skew(&a.clock, 7) == 0 && clock_skew(&b.clock, 7) == 0 && clock_skew(&c.clock, 8) == 0);
    int64_t last = clock_now(&a.clock), other = clock_now(&c.clock);
    CHECK(clock_now(&b.clock) == last && other != last);
    for (int i = 0; i < 100000; ++i) {
        int64_t now = clock_now(&a.clock);
        CHECK(now > last && llabs(now - last - 1000) <= 1);
        CHECK(llabs(clock_true(&a.clock, now) - a.now) <= 1);
        last = now;
    }
    CHECK(llabs(last - a.now) < 10000000000 && llabs(last - a.now) > 0);
    clock_close(&a.clock);
    clock_close(&b.clock);
    clock_close(&c.clock);
}

int main(void)
{
    test_map();
    test_skew();
    return test_result();
}
