/* bounds and round-time on one rank, whose clock moves only when told, and what two ranks agree on. */
#define _GNU_SOURCE
#include "ranks.h"
#include "test.h"

#include "core/method.h"
#include "sync/sync.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { COST = 20 };

struct world {
    struct fake_clock fake;
    int64_t rep_ns, reps; /* what a repetition takes; so far */
    bool is_late;
};

static int run(void *state, int64_t reps)
{
    struct world *w = state;
    w->fake.now += w->rep_ns * reps;
    w->reps += reps;
    return 0;
}

/* By turns one call with the barrier behind it, and calls back to back: 50, or as many as the parameter says,
 * or more where a barrier takes longer than a call, at most 500. */
static void check_bounds(double param, int64_t rep_ns, int64_t least, int64_t most)
{
    struct world w = {.fake = fake_clock(COST, 1), .rep_ns = rep_ns};
    struct team team = {.size = 1};
    const struct op op = {.run = run};
    struct bench bench = {.op = &op,
                          .state = &w,
                          .team = &team,
                          .clock = &w.fake.clock,
                          .params = &param,
                          .reps = 7, /* of the test case before */
                          .own = calloc(1, method_bounds.size)};
    CHECK(method_bounds.begin(&bench) == 0 && bench.reps == 1);
    for (int i = 0; i < 5; ++i) {
        const int64_t before = w.reps;
        struct observation o = {0};
        CHECK(method_bounds.observe(&bench, &o) == 0 && o.low == (i % 2 == 1));
        const int64_t reps = w.reps - before;
        CHECK(o.low ? reps >= least && reps <= most : reps == 1);
        CHECK(o.stop_ns - o.start_ns == rep_ns * reps + (o.low ? COST : 2 * COST)); /* two stamps, or three */
    }
    free(bench.own);
}

/* Blocks of so many samples of which so many are late: the time to learn the instant after them. */
static void check_round_time(void)
{
    static const struct {
        int count, late;
        int64_t window_ns;
    } blocks[] = {{100, 0, 1040}, {100, 5, 1040}, {99, 5, 1560}, {100, 0, 1560}, {100, 100, 2340}};
    const double params[] = {2, CACHE_WARM}; /* in units of a barrier: here a reading of the clock */
    struct world w = {.fake = fake_clock(COST, 1), .rep_ns = 1000};
    struct team team = {.size = 1};
    struct sync sync = {0};
    const struct op op = {.run = run};
    struct bench bench = {.op = &op,
                          .state = &w,
                          .team = &team,
                          .clock = &w.fake.clock,
                          .sync = &sync,
                          .params = params,
                          .brief = true,
                          .reps = 7,
                          .lead_in = 7,
                          .own = calloc(1, method_round_time.size)};
    CHECK(method_round_time.begin(&bench) == 0 && bench.reps == 1 && bench.lead_in == 0);
    CHECK(bench.window_ns == 1040 && bench.warm_up_reps >= 20 && method_round_time.open(&bench) == 0);
    for (size_t k = 0; k < sizeof blocks / sizeof blocks[0]; ++k) {
        for (int i = 0; i < blocks[k].count; ++i) {
            struct observation o = {0};
            const bool is_late = i < blocks[k].late;
            w.fake.cost = is_late ? 5000 : COST; /* the instant is over when the rank has learnt it */
            const int64_t now = w.fake.now + w.fake.cost;
            CHECK(method_round_time.observe(&bench, &o) == 0 && o.late == is_late);
            CHECK(o.target_ns == now + bench.window_ns && o.start_ns >= o.target_ns);
        }
        CHECK(method_round_time.open(&bench) == 0 && bench.window_ns == blocks[k].window_ns);
    }
    free(bench.own);
}

static atomic_int *steps_of_1; /* what rank 1 has done: 1: it came to its first sample, 2: its call is over */

/* No stamp is taken before rank 1 has come, and the third, of the end, not before its call is over. */
static int64_t read_in_order(const struct clock *clock)
{
    struct fake_clock *fake = (struct fake_clock *)(uintptr_t)clock;
    CHECK(atomic_load(steps_of_1) >= (++fake->readings == 3 ? 2 : 1));
    return fake_read(clock);
}

static int run_late_on_1(void *state, int64_t reps)
{
    struct world *w = state;
    if (w->is_late) {
        usleep(20000);
        atomic_store(steps_of_1, 2);
    }
    return run(state, reps);
}

/* A sample begins when the last rank has come to it, and ends when the last has completed the call. */
static int bounds_case(struct team *team)
{
    const double param = 7;
    struct world w = {.fake = fake_clock(COST, 1), .rep_ns = 1000};
    const struct op op = {.run = run_late_on_1};
    struct bench bench = {.op = &op,
                          .state = &w,
                          .team = team,
                          .clock = &w.fake.clock,
                          .params = &param,
                          .brief = true,
                          .own = calloc(1, method_bounds.size)};
    struct observation o = {0};
    CHECK(method_bounds.begin(&bench) == 0);
    if (team->rank == 1) {
        usleep(20000);
        atomic_store(steps_of_1, 1);
        w.is_late = true;
    }
    w.fake.readings = 0;
    w.fake.clock.read = read_in_order;
    CHECK(method_bounds.observe(&bench, &o) == 0);
    free(bench.own);
    return test_failures;
}

/* The clock of rank 1 costs ten times as much: the longest barrier counts, and each instant is rank 0's. */
static int round_time_case(struct team *team)
{
    const double params[] = {2, CACHE_WARM};
    struct world w = {.fake = fake_clock(team->rank ? 10 * COST : COST, 1), .rep_ns = 1000};
    struct sync sync = {0};
    const struct op op = {.run = run};
    struct bench bench = {.op = &op,
                          .state = &w,
                          .team = team,
                          .clock = &w.fake.clock,
                          .sync = &sync,
                          .params = params,
                          .brief = true,
                          .own = calloc(1, method_round_time.size)};
    struct observation o = {0};
    CHECK(method_round_time.begin(&bench) == 0 && bench.window_ns == 2 * 10 * COST + 1000);
    CHECK(method_round_time.open(&bench) == 0);
    w.fake.now = 100000 * (1 + team->rank);
    CHECK(method_round_time.observe(&bench, &o) == 0 && o.target_ns == 100000 + COST + bench.window_ns);
    free(bench.own);
    return test_failures;
}

int main(void)
{
    steps_of_1 = mmap(NULL, sizeof *steps_of_1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (steps_of_1 == MAP_FAILED)
        return 1;
    CHECK(ranks_run(bounds_case, 2) == 0);
    CHECK(ranks_run(round_time_case, 2) == 0);
    check_bounds(0, 1000, 50, 50);
    check_bounds(7, 1000, 7, 7);
    check_bounds(1, 1000, 1, 1);
    check_bounds(0, 5, 195, 200); /* the barrier takes 20 ns */
    check_bounds(0, 1, 500, 500);
    check_round_time();
    return test_result();
}
