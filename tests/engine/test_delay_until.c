#include "test.h"

#include "base/delay_until.h"
#include "base/err.h"

#include <string.h>
#include <time.h>

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Never too short; how much too long it is depends on who else wants the core. */
static void test_it_lasts(int64_t ns)
{
    const int64_t before = now_ns();
    delay_for(ns);
    CHECK(now_ns() - before >= ns);
}

static void test_a_gauged_wait_lasts(int64_t ns)
{
    struct delay delay = {0};
    CHECK(delay_gauge(ns, &delay) == 0);
    CHECK(delay.grain_ns >= 1 && delay.distance_ns <= ns);
    const int64_t before = now_ns();
    delay_wait(&delay);
    CHECK(now_ns() - before >= delay.distance_ns);
}

/* The shortest time that is not refused is too short for readings, and is made of multiplications. */
static void test_a_wait_without_readings_lasts(void)
{
    struct delay shortest = {0}, longer = {.turns = 1000000};
    int64_t ns = 2;
    while (ns < 1000 && delay_gauge(ns, &shortest) != 0)
        ++ns;
    CHECK(shortest.turns >= 1 && shortest.turns < longer.turns);
    int64_t least[2] = {INT64_MAX, INT64_MAX};
    const struct delay *const delays[] = {&shortest, &longer};
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 20; ++k) {
            const int64_t before = now_ns();
            delay_wait(delays[i]);
            const int64_t took = now_ns() - before;
            least[i] = took < least[i] ? took : least[i];
        }
    CHECK(least[0] < least[1]);
}

/* No wait is as short as 1 ns: two fences are in it. */
static void test_a_wait_that_is_too_short_is_refused(void)
{
    struct delay delay = {.distance_ns = 7};
    CHECK(delay_gauge(1, &delay) == ERR_INPUT);
    CHECK(strstr(err_text(), "a wait of 1 ns is shorter than") != NULL);
    CHECK(delay.distance_ns == 7);
}

/* Points of a launch wait by one gauge, whatever other times were gauged, or refused, between them. */
static void test_a_time_is_gauged_once(void)
{
    struct delay first = {0}, again = {0}, other = {0};
    CHECK(delay_gauge(30000, &first) == 0);
    CHECK(delay_gauge(1, &other) == ERR_INPUT);
    CHECK(delay_gauge(40000, &other) == 0 && other.distance_ns > first.distance_ns);
    CHECK(delay_gauge(30000, &again) == 0);
    CHECK(again.distance_ns == first.distance_ns && again.grain_ns == first.grain_ns);
}

int main(void)
{
    test_a_time_is_gauged_once();
    test_a_gauged_wait_lasts(10000);
    test_a_gauged_wait_lasts(2000000);
    test_a_wait_that_is_too_short_is_refused();
    test_a_wait_without_readings_lasts();
    test_it_lasts(-5);
    test_it_lasts(0);
    test_it_lasts(1);
    test_it_lasts(1000);
    test_it_lasts(2000000);
    return test_result();
}
