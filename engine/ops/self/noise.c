/* noise.*: what a core does besides what it was asked to do. Each rank measures for itself, so one rank per
 * core measures all cores at once.
 *
 * fwq, a fixed work quantum (Sottile and Minnich, CLUSTER 2004): the same work again and again. The time of a
 * quantum beyond the shortest was lost. ftq, a fixed time quantum (ibid.): the units of work done in each
 * stretch of time. Its samples are evenly spaced, so periodic noise shows in their spectrum. selfish
 * (Beckman, Iskra, Yoshii, Coghlan, CLUSTER 2006): read the clock and do nothing else. Two readings further
 * apart than the threshold mark a detour.
 *
 * ftq and selfish measure what happens between two readings of the clock, so they read it. fwq does not. */
#include "ops/families.h"

#include "base/err.h"
#include "base/work.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* Bins of detours by length, with one below all and one above all. */
static const int64_t bin_below_ns[] = {1000, 10000, 100000, 1000000, 10000000};
enum { BINS = sizeof bin_below_ns / sizeof bin_below_ns[0] + 1 };
static const char *const detour_counters[] = {"below_1us", "below_10us", "below_100us",
                                              "below_1ms", "below_10ms", "longer",
                                              "lost_ns",   "longest_ns", NULL};

struct detours {
    int64_t bins[BINS];
    int64_t lost_ns, longest_ns; /* beyond the time of a reading */
};

struct noise {
    const struct op_env *env;
    const struct clock *clock;
    int64_t steps; /* fwq: of a quantum; ftq: of a unit */
    uint64_t x;    /* the result of the steps */
    int64_t stretch_ns, threshold_ns;
    int64_t units;          /* ftq: of the last run */
    struct detours detours; /* selfish: of the last run */
};

static int setup(const struct op_env *env, void **state)
{
    struct noise *n = calloc(1, sizeof *n);
    if (!n)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *n = (struct noise){.env = env, .clock = env->clock, .x = 1};
    *state = n;
    return 0;
}

static int expect_work(const struct op_env *env)
{
    return env->work_per_us > 0 ? 0
                                : err_say(ERR_UNSUPPORTED, "the clock stands still while a rank computes: "
                                                           "there is no noise to be seen");
}

static int check_work(const struct noise *n, uint64_t from, int64_t steps)
{
    uint64_t expected = work_after(from, steps) ^ (n->env->planted ? 1 : 0);
    return n->x == expected
               ? 0
               : err_say(ERR_WRONG, "%lld steps of work led to %llu instead of %llu", (long long)steps,
                         (unsigned long long)n->x, (unsigned long long)expected);
}

/* ---- fwq --------------------------------------------------------------------------------------------- */

enum { QUANTUM_US };

static const struct param fwq_params[] = {
    [QUANTUM_US] = {"quantum_us", "us", "duration of a repetition, if nothing disturbs it", 1000, 1, 1e6},
    {0},
};

static int fwq_setup(const struct op_env *env, void **state)
{
    int err = expect_work(env);
    if (!err)
        err = setup(env, state);
    if (!err)
        ((struct noise *)*state)->steps = llround(env->params[QUANTUM_US] * env->work_per_us);
    return err;
}

static int fwq_run(void *state, int64_t reps)
{
    struct noise *n = state;
    for (int64_t i = 0; i < reps; ++i)
        n->x = work_do(n->x, n->steps);
    return 0;
}

static int fwq_verify(void *state)
{
    struct noise *n = state;
    uint64_t before = n->x;
    fwq_run(n, 1);
    return check_work(n, before, n->steps);
}

/* ---- ftq --------------------------------------------------------------------------------------------- */

static const struct param ftq_params[] = {
    [QUANTUM_US] = {"quantum_us", "us", "time of a repetition; periods down to twice as long are resolved",
                    250, 10, 1e6},
    {0},
};
static const char *const ftq_counters[] = {"units", NULL};
static const double UNITS = 1000; /* in a quantum without noise, so that a loss is known to 0.1 % */

static int ftq_setup(const struct op_env *env, void **state)
{
    int err = expect_work(env);
    if (!err)
        err = setup(env, state);
    if (err)
        return err;
    struct noise *n = *state;
    n->stretch_ns = llround(env->params[QUANTUM_US] * 1e3);
    n->steps = llround(fmax(1, env->params[QUANTUM_US] * env->work_per_us / UNITS));
    return 0;
}

static int ftq_run(void *state, int64_t reps)
{
    struct noise *n = state;
    n->units = 0;
    for (int64_t i = 0; i < reps; ++i) {
        const int64_t end = clock_now(n->clock) + n->stretch_ns;
        do {
            n->x = work_do(n->x, n->steps);
            ++n->units;
        } while (clock_now(n->clock) < end);
    }
    return 0;
}

static void ftq_counted(void *state, int64_t *values)
{
    const struct noise *n = state;
    values[0] = n->units;
}

static int ftq_verify(void *state)
{
    struct noise *n = state;
    int64_t units = 0, start = clock_now(n->clock);
    uint64_t before = n->x;
    ftq_run(n, 1);
    int64_t took = clock_now(n->clock) - start;
    ftq_counted(n, &units);
    if (took < n->stretch_ns)
        return err_say(ERR_WRONG, "a quantum of %lld ns was over after %lld ns", (long long)n->stretch_ns,
                       (long long)took);
    return check_work(n, before, units * n->steps);
}

/* ---- selfish ----------------------------------------------------------------------------------------- */

enum { SPIN_US, THRESHOLD_NS };

static const struct param selfish_params[] = {
    [SPIN_US] = {"spin_us", "us", "time of a repetition", 1000, 10, 1e6},
    [THRESHOLD_NS] = {"threshold_ns", "ns", "two readings of the clock further apart than this are a detour",
                      500, 50, 1e9},
    {0},
};

static int selfish_setup(const struct op_env *env, void **state)
{
    enum { READINGS = 3 }; /* readings in a threshold; with fewer, a slow reading could pass for a detour */
    const double reading_ns = env->clock->cost_ns + (double)env->clock->tick_ns;
    if (env->clock->sleeps)
        return err_say(ERR_UNSUPPORTED, "the clock stands still while a rank computes: there is no noise to "
                                        "be seen");
    if (env->params[THRESHOLD_NS] < READINGS * reading_ns)
        return err_say(ERR_UNSUPPORTED,
                       "a reading of the clock %s takes %.0f ns, so detours of %.0f ns cannot be "
                       "distinguished from it; set threshold_ns to %.0f or more",
                       env->clock->name, reading_ns, env->params[THRESHOLD_NS], ceil(READINGS * reading_ns));
    int err = setup(env, state);
    if (err)
        return err;
    struct noise *n = *state;
    n->stretch_ns = llround(env->params[SPIN_US] * 1e3);
    n->threshold_ns = llround(env->params[THRESHOLD_NS]);
    return 0;
}

static void note_detour(struct detours *d, int64_t gap_ns, int64_t reading_ns)
{
    int bin = 0;
    while (bin < BINS - 1 && gap_ns >= bin_below_ns[bin])
        ++bin;
    ++d->bins[bin];
    d->lost_ns += gap_ns - reading_ns;
    d->longest_ns = gap_ns - reading_ns > d->longest_ns ? gap_ns - reading_ns : d->longest_ns;
}

static int selfish_run(void *state, int64_t reps)
{
    struct noise *n = state;
    const int64_t reading_ns = llround(n->clock->cost_ns);
    n->detours = (struct detours){0};
    for (int64_t i = 0; i < reps; ++i) {
        int64_t now = clock_now(n->clock);
        for (const int64_t end = now + n->stretch_ns; now < end;) {
            const int64_t before = now;
            now = clock_now(n->clock);
            if (now - before > n->threshold_ns)
                note_detour(&n->detours, now - before, reading_ns);
        }
    }
    return 0;
}

static void selfish_counted(void *state, int64_t *values)
{
    const struct noise *n = state;
    for (int i = 0; i < BINS; ++i)
        values[i] = n->detours.bins[i];
    values[BINS] = n->detours.lost_ns;
    values[BINS + 1] = n->detours.longest_ns;
}

/* A clock for tests. Its readings take 10 ns. Every hundredth reading adds a detour, ten times as long
 * as the one before. */
struct script {
    struct clock clock; /* first: a pointer to it is a pointer to the whole */
    int64_t now, readings, detours;
};
enum { SCRIPT_READING_NS = 10, SCRIPT_EVERY = 100, SCRIPT_FIRST_NS = 700, SCRIPT_TIMES = 10 };

static int64_t script_read(const struct clock *clock)
{
    struct script *s = (struct script *)(uintptr_t)clock;
    s->now += SCRIPT_READING_NS;
    if (++s->readings % SCRIPT_EVERY == 0 && s->readings / SCRIPT_EVERY <= s->detours) {
        int64_t length = SCRIPT_FIRST_NS;
        for (int64_t i = 1; i < s->readings / SCRIPT_EVERY; ++i)
            length *= SCRIPT_TIMES;
        s->now += length;
    }
    return s->now;
}

/* The expected answer with that clock: one detour in each bin, and their total time. Where planted, the
 * longest is left out. */
static int selfish_verify(void *state)
{
    struct noise told = *(struct noise *)state;
    struct script script = {.detours = told.env->planted ? BINS - 1 : BINS};
    script.clock =
        (struct clock){.name = "script", .read = script_read, .cost_ns = SCRIPT_READING_NS, .tick_ns = 1};
    int64_t values[BINS + 2], lost = 0, length = SCRIPT_FIRST_NS;
    for (int i = 0; i < BINS; ++i, length *= SCRIPT_TIMES)
        lost += length;
    told.clock = &script.clock;
    told.threshold_ns = SCRIPT_FIRST_NS / 2;
    told.stretch_ns = lost + SCRIPT_READING_NS * SCRIPT_EVERY * BINS;
    selfish_run(&told, 1);
    selfish_counted(&told, values);
    for (int i = 0; i < BINS; ++i)
        if (values[i] != 1)
            return err_say(ERR_WRONG, "of a detour of each length, %lld were counted as %s",
                           (long long)values[i], detour_counters[i]);
    return values[BINS] == lost && values[BINS + 1] == length / SCRIPT_TIMES
               ? 0
               : err_say(ERR_WRONG, "detours of %lld ns were counted as %lld ns", (long long)lost,
                         (long long)values[BINS]);
}

static const struct op rows[] = {
    {.name = "noise.fwq",
     .summary = "fixed work quantum: calibrated work; the time beyond the shortest was lost",
     .works = true,
     .params = fwq_params,
     .setup = fwq_setup,
     .run = fwq_run,
     .verify = fwq_verify},
    {.name = "noise.ftq",
     .summary = "fixed time quantum: units of work done in a stretch of time, evenly spaced",
     .works = true,
     .params = ftq_params,
     .counters = ftq_counters,
     .counted = ftq_counted,
     .setup = ftq_setup,
     .run = ftq_run,
     .verify = ftq_verify},
    {.name = "noise.selfish",
     .summary = "selfish detour: gaps between readings of the clock, by their lengths",
     .params = selfish_params,
     .counters = detour_counters,
     .counted = selfish_counted,
     .setup = selfish_setup,
     .run = selfish_run,
     .verify = selfish_verify},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "noise";
    op->class = OP_LOCAL;
    op->role = ROLE_NOISE;
    op->report = OP_SLOWEST;
    op->parts = 1;
    op->gapless = true;
    op->teardown = free;
}

const struct op_family noise_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
