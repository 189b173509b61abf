#include "test.h"

#include "base/spin.h"

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
    spin_ns(ns);
    CHECK(now_ns() - before >= ns);
}

int main(void)
{
    test_it_lasts(-5);
    test_it_lasts(0);
    test_it_lasts(1);
    test_it_lasts(1000);
    test_it_lasts(2000000);
    return test_result();
}
