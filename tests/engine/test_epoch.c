/* How the windows of epoch and window grow and shrink with the samples that started late: on one rank, whose
 * clock moves only when told. */
#include "test.h"

#include "core/method.h"

#include <stdlib.h>

enum { SAMPLES = 100, LEAST_NS = 1000 };
static const int64_t SECOND_NS = 1000000000;

/* `count` blocks of 100 samples, of which the last `late` start late in each: the width of the windows after
 * them. Before the last of these blocks it is what it was. */
struct step {
    int count, late;
    int64_t width_ns;
};

static int run_nothing(void *state, int64_t reps)
{
    (void)state, (void)reps;
    return 0;
}

/* When samples of a block are planned to start, from `first_ns` on: window by window, or anywhere in each
 * other window. Returns where in its window the first starts. */
static int64_t check_block(const struct method *method, struct bench *bench, struct fake_clock *fake,
                           int late)
{
    const bool is_epoch = method == &method_epoch;
    const int64_t width_ns = bench->window_ns, first_ns = fake->now + 2 * fake->cost + width_ns;
    int64_t first_after_ns = 0;
    int in_first_half = 0;
    for (int i = 0; i < SAMPLES; ++i) {
        struct observation o = {0};
        if (i == SAMPLES - late)
            fake->now += 4 * SAMPLES * width_ns; /* beyond the block's last start */
        CHECK(method->observe(bench, &o) == 0 && o.late == (i >= SAMPLES - late));
        const int64_t after_ns = o.target_ns - first_ns - (is_epoch ? 2 : 1) * i * width_ns;
        CHECK(is_epoch ? after_ns >= 0 && after_ns < width_ns : after_ns == 0);
        in_first_half += after_ns < width_ns / 2;
        first_after_ns = i == 0 ? after_ns : first_after_ns;
    }
    CHECK(!is_epoch || (in_first_half > SAMPLES / 4 && in_first_half < 3 * SAMPLES / 4));
    CHECK(method->open(bench) == 0);
    return first_after_ns;
}

static void check_steps(const struct method *method, const struct step *steps)
{
    const double params[] = {LEAST_NS, CACHE_WARM};
    const struct op op = {.run = run_nothing};
    struct fake_clock fake = fake_clock(20, 10);
    struct team team = {.size = 1};
    struct sync sync = {0};
    struct bench bench = {.op = &op,
                          .team = &team,
                          .clock = &fake.clock,
                          .sync = &sync,
                          .params = params,
                          .brief = true,
                          .reps = 7, /* of the test case before */
                          .lead_in = 7,
                          .own = calloc(1, method->size)};
    CHECK(method->begin(&bench) == 0 && bench.window_ns == LEAST_NS && method->open(&bench) == 0);
    CHECK(bench.reps == 1 && bench.lead_in == 0 && bench.warm_up_reps >= 20);
    int64_t after_ns = -1;
    for (int64_t before = LEAST_NS; steps->count > 0; before = steps++->width_ns)
        for (int i = 1; i <= steps->count; ++i) {
            const int64_t last_ns = after_ns;
            after_ns = check_block(method, &bench, &fake, steps->late);
            CHECK(method != &method_epoch ||
                  after_ns != last_ns); /* each block has random numbers of its own */
            const int64_t expected = i < steps->count ? before : steps->width_ns;
            CHECK(llabs(bench.window_ns - expected) <= 1); /* widths are whole ns */
        }
    free(bench.own);
}

static int run_slowly(void *state, int64_t reps)
{
    ((struct fake_clock *)state)->now += 1000 * reps;
    return 0;
}

/* A little more than twice a call of 1000 ns and the three readings around it. */
static void check_width(const struct method *method)
{
    const double params[] = {0, CACHE_WARM};
    const struct op op = {.run = run_slowly};
    struct fake_clock fake = fake_clock(20, 10);
    struct team team = {.size = 1};
    struct bench bench = {.op = &op,
                          .state = &fake,
                          .team = &team,
                          .clock = &fake.clock,
                          .params = params,
                          .brief = true,
                          .own = calloc(1, method->size)};
    CHECK(method->begin(&bench) == 0 && bench.window_ns == 2 * (1000 + 3 * 20) + 2000);
    free(bench.own);
}

static int run_for_seconds(void *state, int64_t reps)
{
    ((struct fake_clock *)state)->now += 20 * SECOND_NS * reps;
    return 0;
}

/* Calls of 20 s are a block each, and no rank is idle for more than a second before one. */
static void check_waits(const struct method *method)
{
    const double params[] = {0, CACHE_WARM};
    const struct op op = {.run = run_for_seconds};
    struct fake_clock fake = fake_clock(SECOND_NS / 1000, 1);
    struct team team = {.size = 1};
    struct sync sync = {0};
    struct bench bench = {.op = &op,
                          .state = &fake,
                          .team = &team,
                          .clock = &fake.clock,
                          .sync = &sync,
                          .params = params,
                          .brief = true,
                          .seed = 7,
                          .own = calloc(1, method->size)};
    CHECK(method->begin(&bench) == 0 && bench.window_ns > 40 * SECOND_NS);
    for (int i = 0; i < SAMPLES; ++i) {
        struct observation o = {0};
        const int64_t before_ns = fake.now;
        CHECK(method->open(&bench) == 0 && method->observe(&bench, &o) == 0 && !o.late);
        CHECK(o.start_ns - before_ns < SECOND_NS + SECOND_NS / 50);
    }
    free(bench.own);
}

int main(void)
{
    static const struct step cases[][8] = {
        {{20, 0, 1000}},                                /* nothing is late, and no window is narrower */
        {{20, 5, 1000}},                                /* a twentieth may be late */
        {{1, 100, 1000}, {1, 0, 1000}, {1, 100, 1000}}, /* one block: a rank lost its core */
        {{2, 6, 1500}, {2, 6, 2250}, {2, 6, 3375}},     /* two in a row, and then two anew */
        {{1, 100, 1000}, {1, 6, 1500}},                 /* the second of them says by how much */
        {{2, 50, 1500}},                                /* half of them are not most */
        {{2, 51, 4000}, {2, 100, 16000}},               /* most of them are late */
        {{2, 51, 4000}, {8, 0, 2667}, {8, 0, 1778}, {8, 0, 1185}, {8, 0, 1000}, {8, 0, 1000}},
        {{2, 51, 4000}, {7, 0, 4000}, {1, 1, 4000}, {7, 0, 4000}, {1, 5, 4000}, {8, 0, 2667}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        check_steps(&method_epoch, cases[i]);
        check_steps(&method_window, cases[i]);
    }
    check_width(&method_epoch);
    check_width(&method_window);
    check_waits(&method_epoch);
    check_waits(&method_window);
    return test_result();
}
