#include "test.h"

#include "base/work.h"

/* Each number of steps leads to one number, however it is cut into pieces. */
static void test_steps(void)
{
    uint64_t x = 42;
    for (int64_t steps = 0; steps < 1000; ++steps) {
        CHECK(work_after(42, steps) == x);
        x = work_do(x, 1);
    }
    CHECK(work_do(work_do(7, 1234), 98766) == work_do(7, 100000));
    CHECK(work_after(7, 100000) == work_do(7, 100000));
    CHECK(work_do(7, 0) == 7 && work_do(7, 1) != 7);
}

int main(void)
{
    test_steps();
    return test_result();
}
