/* How the windows of epoch and window grow and shrink with the samples that started late: on one rank, whose
 * clock moves only when told. */
#include "test.h"

#include "core/method.h"

#include <stdlib.h>

enum { SAMPLES = 100, LEAST_NS = 1000 };

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

static void check_block(const struct method *method, struct bench *bench, struct fake_clock *fake, int late)
{
    for (int i = 0; i < SAMPLES; ++i) {
        struct observation o = {0};
        if (i == SAMPLES - late)
            fake->now += 4 * SAMPLES * bench->window_ns; /* beyond the block's last start */
        CHECK(method->observe(bench, &o) == 0 && o.late == (i >= SAMPLES - late));
    }
    CHECK(method->open(bench) == 0);
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
                          .own = calloc(1, method->size)};
    CHECK(method->begin(&bench) == 0 && bench.window_ns == LEAST_NS && method->open(&bench) == 0);
    for (int64_t before = LEAST_NS; steps->count > 0; before = steps++->width_ns)
        for (int i = 1; i <= steps->count; ++i) {
            check_block(method, &bench, &fake, steps->late);
            const int64_t expected = i < steps->count ? before : steps->width_ns;
            CHECK(llabs(bench.window_ns - expected) <= 1); /* widths are whole ns */
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
    return test_result();
}
