/* EP, "embarrassingly parallel": RNR-94-007, section 3.1. Pairs of Gaussian deviates from 2^m pairs of
 * uniform ones by the polar method, counted by square annuli and summed.
 *
 * Numbers are made in batches, each with a seed of its own, so that any rank and thread can make any batch.
 * In a batch: all numbers; the pairs that are accepted, moved together; then logarithms and roots of these
 * alone, as vectors. */
#include "kernels/npb/npb.h"

#include "base/err.h"
#include "base/hot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAIRS = 2048, /* in a batch: its arrays stay in the first-level cache's neighbourhood, 80 KiB */
    ANNULI = 10,
    LINE = 64,
};
static const uint64_t SEED = UINT64_C(271828183);

/* Pairs, log2. */
static const int exponents[NPB_CLASSES] = {[NPB_S] = 24, [NPB_W] = 25, [NPB_A] = 28, [NPB_B] = 30,
                                           [NPB_C] = 32, [NPB_D] = 36, [NPB_E] = 40};

/* What a thread works with, and what it has found. */
struct ep_lane {
    _Alignas(LINE) double sx, sy;
    int64_t counts[ANNULI];
    double numbers[2 * PAIRS];
    double x[PAIRS], y[PAIRS], t[PAIRS];
    int32_t annulus[PAIRS];
};

struct ep {
    struct kernel_env *env;
    struct ep_lane *lanes;
    struct share batches; /* this rank's */
    double sums[2];
    int64_t counts[ANNULI];
};

enum { PHASE_PAIRS, PHASE_SUM };
static const struct phase phases[] = {[PHASE_PAIRS] = {"pairs", false}, [PHASE_SUM] = {"sum", true}, {0}};

/* ---- a batch ------------------------------------------------------------------------------------------- */

/* ln t of 0 < t <= 1, to some units in the last place. t = m 2^e with m from sqrt(1/2) to sqrt(2); ln m =
 * 2 artanh s, s = (m - 1) / (m + 1), by the series s + s^3/3 + s^5/5 + ...: |s| < 0.1716, so that what is
 * left out after s^21/21 is below 2^-60 of it. */
static inline double log_below_one(double t)
{
    const double ln2 = 0.693147180559945309417232121458;
    const uint64_t half_root = UINT64_C(0x3fe6a09e667f3bcd); /* sqrt(1/2) */
    union {
        double value;
        uint64_t bits;
    } u = {.value = t}, e;
    /* the exponent, counted from sqrt(1/2), is what the upper bits say; plus 2^52 it is a double's low bits
     */
    uint64_t from = u.bits - half_root + (UINT64_C(2048) << 52);
    uint64_t exponent = from >> 52;
    e.bits = exponent | UINT64_C(0x4330000000000000);
    u.bits -= (exponent - 2048) << 52;
    double power = e.value - (0x1p52 + 2048);
    double s = (u.value - 1) / (u.value + 1), z = s * s;
    double series = 1.0 / 21;
    series = series * z + 1.0 / 19;
    series = series * z + 1.0 / 17;
    series = series * z + 1.0 / 15;
    series = series * z + 1.0 / 13;
    series = series * z + 1.0 / 11;
    series = series * z + 1.0 / 9;
    series = series * z + 1.0 / 7;
    series = series * z + 1.0 / 5;
    series = series * z + 1.0 / 3;
    return power * ln2 + 2 * (s + s * z * series);
}

/* Steps 2 and 3: x = 2 r - 1; the pairs with t = x^2 + y^2 <= 1 move to the front. Returns how many. */
HOT static size_t accept(struct ep_lane *l)
{
    size_t kept = 0;
    for (size_t i = 0; i < PAIRS; ++i) {
        double x = 2 * l->numbers[2 * i] - 1, y = 2 * l->numbers[2 * i + 1] - 1;
        double t = x * x + y * y;
        l->x[kept] = x;
        l->y[kept] = y;
        l->t[kept] = t;
        kept += t <= 1;
    }
    return kept;
}

/* Steps 3 to 5: X = x sqrt(-2 ln t / t), Y likewise; their sums, and the annulus max(|X|, |Y|) rounded down.
 */
HOT static void sum_up(struct ep_lane *l, size_t count)
{
    double sx = 0, sy = 0;
#pragma omp simd reduction(+ : sx, sy)
    for (size_t i = 0; i < count; ++i) {
        double t = l->t[i], factor = sqrt(-2 * log_below_one(t) / t);
        double x = l->x[i] * factor, y = l->y[i] * factor;
        double ax = fabs(x), ay = fabs(y);
        l->annulus[i] = (int32_t)(ax > ay ? ax : ay);
        sx += x;
        sy += y;
    }
    l->sx += sx;
    l->sy += sy;
    for (size_t i = 0; i < count; ++i)
        ++l->counts[l->annulus[i]];
}

static void run_batches(struct ep_lane *l, struct share batches)
{
    uint64_t x = SEED * npb_power(NPB_MULTIPLIER, 2 * PAIRS * (uint64_t)batches.first) & NPB_MASK;
    l->sx = l->sy = 0;
    memset(l->counts, 0, sizeof l->counts);
    for (int64_t b = 0; b < batches.count; ++b) {
        npb_fill(&x, NPB_MULTIPLIER, 2 * PAIRS, l->numbers);
        sum_up(l, accept(l));
    }
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

static int solve(void *state)
{
    struct ep *ep = state;
    struct kernel_env *env = ep->env;
    int threads = env->threads;
    phase_begin(env->phases);
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int i = 0; i < threads; ++i) {
        struct share mine = share_of(ep->batches.count, threads, i);
        mine.first += ep->batches.first;
        run_batches(&ep->lanes[i], mine);
    }
    ep->sums[0] = ep->sums[1] = 0;
    memset(ep->counts, 0, sizeof ep->counts);
    for (int i = 0; i < threads; ++i) {
        ep->sums[0] += ep->lanes[i].sx;
        ep->sums[1] += ep->lanes[i].sy;
        for (int k = 0; k < ANNULI; ++k)
            ep->counts[k] += ep->lanes[i].counts[k];
    }
    kernel_spoil(env, &ep->sums[0]);
    kernel_spoil(env, &ep->sums[1]);
    phase_end(env->phases, PHASE_PAIRS);
    int err = comm_sum(&env->comm, ep->sums, 2);
    if (!err)
        err = comm_sum_ints(&env->comm, ep->counts, ANNULI);
    phase_end(env->phases, PHASE_SUM);
    return err;
}

static int reset(void *state)
{
    struct ep *ep = state;
    ep->sums[0] = ep->sums[1] = 0;
    return 0;
}

/* Among 2^m pairs, pi / 4 are accepted, within many standard deviations: a count that was lost shows. */
static int check_counts(const struct ep *ep)
{
    const double PI = 3.14159265358979323846, SIGMAS = 8;
    double pairs = ldexp(1, exponents[npb_class(ep->env->params)]), accepted = 0, share = PI / 4;
    for (int k = 0; k < ANNULI; ++k)
        accepted += (double)ep->counts[k];
    if (fabs(accepted - share * pairs) <= SIGMAS * sqrt(pairs * share * (1 - share)))
        return 0;
    return err_say(ERR_WRONG, "npb.ep class %s: %.0f pairs are counted, of %.0f some %.0f should be",
                   npb_classes[npb_class(ep->env->params)], accepted, pairs, share * pairs);
}

static int answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    const struct ep *ep = state;
    values[0] = ep->sums[0];
    values[1] = ep->sums[1];
    *count = 2;
    return check_counts(ep);
}

static int64_t batch_count(const struct kernel_env *env)
{
    return (INT64_C(1) << exponents[npb_class(env->params)]) / PAIRS;
}

static int ranks(const struct kernel_env *env)
{
    int64_t most = batch_count(env) / env->threads;
    return env->comm.size <= most
               ? 0
               : err_say(ERR_UNSUPPORTED,
                         "npb.ep class %s is %lld batches: it takes any number of ranks up to that",
                         npb_classes[npb_class(env->params)], (long long)most);
}

static double memory(const struct kernel_env *env)
{
    return (double)env->threads * sizeof(struct ep_lane);
}

static void close_ep(void *state)
{
    struct ep *ep = state;
    free(ep->lanes);
    free(ep);
}

static int open_ep(struct kernel_env *env, void **state)
{
    struct ep *ep = calloc(1, sizeof *ep);
    if (!ep)
        return err_say(ERR_NOMEM, "no memory for the state of a kernel");
    ep->env = env;
    ep->batches = share_of(batch_count(env), env->comm.size, env->comm.rank);
    int err = kernel_alloc(env, (size_t)env->threads, sizeof *ep->lanes, &ep->lanes);
    if (err)
        close_ep(ep);
    else
        *state = ep;
    return err;
}

static const struct npb_answer references[NPB_CLASSES] = {
    [NPB_S] = {{-3247.83465203474, -6958.407078382297}},
    [NPB_W] = {{-2863.319731645753, -6320.053679109499}},
    [NPB_A] = {{-4295.875165629892, -15807.32573678431}},
    [NPB_B] = {{40338.15542441498, -26606.69192809235}},
    [NPB_C] = {{47643.67927995374, -80840.72988043731}},
    [NPB_D] = {{198248.1200946593, -102059.6636361769}},
    [NPB_E] = {{-531971.744153, -368883.4557731}},
};

static const double *expected(const double *chosen)
{
    return references[npb_class(chosen)].values;
}

static double work(const double *chosen)
{
    return ldexp(1, exponents[npb_class(chosen)] + 1); /* random numbers */
}

static const char *const names[] = {"the sum of X", "the sum of Y", NULL};
static const char *const backends[] = {"collective", NULL};
static const struct param params[] = {NPB_PARAMS(backends), {0}};

const struct kernel npb_ep = {
    .name = "npb.ep",
    .summary = "NAS EP: pairs of Gaussian deviates, hardly any communication",
    .params = params,
    .phases = phases,
    .ranks = ranks,
    .memory = memory,
    .open = open_ep,
    .close = close_ep,
    .reset = reset,
    .solve = solve,
    .answer = answer,
    .tolerance = 1e-8,
    .value_names = names,
    .expected = expected,
    .work = work,
};
