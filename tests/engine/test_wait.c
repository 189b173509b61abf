/* What a wait sees of its core: gaps between readings, by a clock that makes them when told. */
#include "test.h"

/* Every tenth reading comes `late` ns later. */
struct rough_clock {
    struct fake_clock fake; /* first: one is the other */
    int64_t late;
};

static int64_t rough_read(const struct clock *clock)
{
    struct rough_clock *rough = (struct rough_clock *)(uintptr_t)clock;
    if (++rough->fake.readings % 10 == 0)
        rough->fake.now += rough->late;
    return fake_read(clock);
}

static struct spun wait(int64_t cost, int64_t late, int64_t ns)
{
    struct spun seen = {0};
    struct rough_clock rough = {.fake = fake_clock(cost, 1), .late = late};
    rough.fake.clock.read = rough_read;
    clock_wait(&rough.fake.clock, clock_now(&rough.fake.clock) + ns, &seen);
    CHECK(rough.fake.now >= ns);
    return seen;
}

int main(void)
{
    /* Nothing between the readings: all of the wait is seen, nothing is lost. */
    struct spun even = wait(20, 0, 10000);
    CHECK(even.lost_ns == 0 && even.longest_ns == 20 && even.ns >= 9900 && even.ns <= 10020);

    /* Gaps that are shorter than what a reading may take now and then are not lost, but the longest is told.
     */
    struct spun soft = wait(20, 900, 10000);
    CHECK(soft.lost_ns == 0 && soft.longest_ns == 920);

    /* Each tenth reading is 5 us late: 3 of them in 12 us and the 27 others. */
    struct spun hard = wait(20, 5000, 12000);
    CHECK(hard.longest_ns == 5020 && hard.lost_ns % 5020 == 0 && hard.lost_ns >= 2 * 5020);
    CHECK(hard.lost_ns < hard.ns);

    /* A clock that takes 2 us to be read has no gap for that. */
    struct spun dear = wait(2000, 0, 15000);
    CHECK(dear.lost_ns == 0 && dear.longest_ns == 2000);

    /* Far from the end the core is anybody's: what passes then is neither spent waiting nor lost. */
    struct spun far = wait(20, 50000, 1000000);
    CHECK(far.ns <= 20000 + 50020);

    /* Several waits add up; one that is over at once, or asks for nothing, sees nothing. */
    struct fake_clock fake = fake_clock(20, 1);
    struct spun sum = {.ns = 5, .lost_ns = 3, .longest_ns = 700};
    clock_wait(&fake.clock, clock_now(&fake.clock), &sum);
    CHECK(sum.ns == 5 && sum.lost_ns == 3 && sum.longest_ns == 700);
    clock_wait(&fake.clock, clock_now(&fake.clock) + 1000, &sum);
    CHECK(sum.ns > 900 && sum.lost_ns == 3 && sum.longest_ns == 700);
    clock_wait(&fake.clock, clock_now(&fake.clock) + 1000, NULL);
    return test_result();
}
