#include "test.h"

#include "base/pool.h"
#include "base/yield.h"

#include <sched.h>
#include <stdatomic.h>

enum { LANES = 3, ROUNDS = 1000 };

struct tally {
    atomic_int of_lane[LANES];
};

static void count(void *arg, int lane)
{
    atomic_fetch_add(&((struct tally *)arg)->of_lane[lane], 1);
}

static void test_rounds(void)
{
    struct tally tally = {0};
    struct pool *pool = NULL;
    CHECK(pool_open(LANES, &pool) == 0);
    for (int round = 1; round <= ROUNDS; ++round) {
        pool_run(pool, count, &tally);
        for (int lane = 0; lane < LANES; ++lane) /* all are done when pool_run returns */
            CHECK(atomic_load(&tally.of_lane[lane]) == round);
    }
    pool_close(pool);
    CHECK(pool_open(1, &pool) == 0);
    pool_run(pool, count, &tally);
    CHECK(atomic_load(&tally.of_lane[0]) == ROUNDS + 1);
    pool_close(pool);
}

static void test_yields(void)
{
    int64_t before = yield_count();
    CHECK(sched_yield() == 0);
    CHECK(sched_yield() == 0);
    CHECK(yield_count() - before == 2);
    yield_disable();
    CHECK(sched_yield() == 0 && yield_disabled());
    CHECK(yield_count() - before == 3);
}

int main(void)
{
    test_rounds();
    test_yields();
    return test_result();
}
