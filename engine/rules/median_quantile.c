/* median, quantile: until an interval for the median, or for another quantile, is narrow enough, from
 * statistics of independent blocks.
 *
 * Consecutive latencies are alike, for milliseconds or seconds, so the order-statistic interval of the plain
 * series covers far less than it states. Batch means after Law and Carson (Operations Research 27, 1979),
 * with quantiles: the series is cut into many small blocks, whose autocorrelation can be estimated well. If
 * that is below a threshold at which blocks eight times as long are nearly independent, Student's interval of
 * the long blocks is used. The rule looks only when the blocks have grown by a good part, so that frequent
 * looks do not stop it by luck. */
#include "core/stop.h"

#include "base/num.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FINE = 128, COARSE = 16, FINE_IN_COARSE = FINE / COARSE };

/* Law and Carson's threshold: at 0.4 between neighbours, blocks of eight neighbours correlate by less than
 * 0.05. */
static const double MOST_CORRELATION = 0.4;

/* A median cannot be known better than to a small share of a tick, however many values there are. */
static const double FINEST_TICK_SHARE = 0.1;

/* So many values of a fine block must lie beyond the quantile, on the side with fewer values. With fewer, a
 * block's quantile is little else than its largest value. Then, with correlated values, blocks without any
 * slow spell are accepted (3 instead of 10: 87 % of intervals hold the truth instead of 93 %). A median needs
 * no such care. */
static const double TAIL_LEAST = 10;

/* An op that lasts a second or a minute is not run 16 times: after this multiple of a point's time, a few
 * samples are enough; launches give the rest. */
static const double PATIENCE = 100;
enum { FEWEST = 3 };

enum { TOLERANCE, LEVEL, LEAST_SECONDS, MOST_SECONDS, MOST_COUNT, QUANTILE };

#define BLOCK_PARAMS(what, least_s, most_s)                                                                  \
    [TOLERANCE] = {"tolerance",                                                                              \
                   "",                                                                                       \
                   "precision to reach: half the width of the interval, relative to the " what,              \
                   0.02,                                                                                     \
                   1e-6,                                                                                     \
                   10},                                                                                      \
    [LEVEL] = {"level", "", "confidence level: 0.9, 0.95 or 0.99", 0.95, 0.9, 0.99},                         \
    [LEAST_SECONDS] = {"least_seconds", "s", "least time, also if most_seconds is shorter",                  \
                       least_s,         0,   86400},                                                         \
    [MOST_SECONDS] = {"most_seconds",                                                                        \
                      "s",                                                                                   \
                      "time limit, if there are 16 samples by then; else 100 times as long, with 3",         \
                      most_s,                                                                                \
                      0,                                                                                     \
                      86400},                                                                                \
    [MOST_COUNT] = {"most_count", "", "limit of samples", 2e5, FINE, 1e8}

static const struct param median_params[] = {BLOCK_PARAMS("median", 0.01, 0.02), {0}};
static const struct param quantile_params[] = {
    BLOCK_PARAMS("quantile", 0.02, 0.1), [QUANTILE] = {"q", "", "the quantile", 0.99, 0.001, 0.9999}, {0}};

/* Student's t for COARSE - 1 = 15 degrees of freedom, two-sided. */
static double student_15(double level)
{
    return level >= 0.985 ? 2.947 : level >= 0.945 ? 2.131 : 1.753;
}

static double clamp(double x, double least, double most)
{
    return fmin(fmax(x, least), most);
}

/* A quantile of values that are rounded to multiples of `tick`, as of grouped data: equal values count as
 * spread evenly over one tick around theirs. So a clock of 10 ns resolves 1 ns if the phase is random.
 * Without a tick, linear between order statistics. */
static double grouped_quantile(const double *sorted, size_t n, double q, double tick)
{
    double last = (double)n - 1, at = q * last;
    if (tick <= 0) {
        size_t low = (size_t)at, high = low + 1 < n ? low + 1 : low;
        return sorted[low] + (at - (double)low) * (sorted[high] - sorted[low]);
    }
    double target = nearbyint(q * (double)n * 1e9) / 1e9; /* 0.99 is not a binary fraction */
    double lower = sorted[(size_t)clamp(ceil(target) - 1, 0, last)];
    double middle = (lower + sorted[(size_t)clamp(floor(target), 0, last)]) / 2;
    size_t below = 0, within = 0;
    for (size_t i = 0; i < n; ++i) {
        below += sorted[i] < middle - tick / 2;
        within += fabs(sorted[i] - middle) <= tick / 2;
    }
    if (within == 0)
        return middle;
    double value = middle - tick / 2 + tick * (target - (double)below) / (double)within;
    return clamp(value, sorted[0], sorted[n - 1]);
}

static double quantile_of(const double *values, size_t n, double q, double tick, double *scratch)
{
    memcpy(scratch, values, n * sizeof *values);
    qsort(scratch, n, sizeof *scratch, num_compare_doubles);
    return grouped_quantile(scratch, n, q, tick);
}

static double mean_of(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += x[i];
    return sum / n;
}

static double correlation(const double *x, int n)
{
    double mean = mean_of(x, n), square = 0, product = 0;
    for (int i = 0; i < n; ++i) {
        square += (x[i] - mean) * (x[i] - mean);
        product += i > 0 ? (x[i] - mean) * (x[i - 1] - mean) : 0;
    }
    return square > 0 ? product / square : 0;
}

/* The newest FINE * m values: values that do not fill the blocks are left out at the start, where they may be
 * warm-up. */
static bool settled(const struct series *s, const double *p, double q)
{
    size_t m = s->count / FINE;
    const double *values = s->values + (s->count - FINE * m);
    double *scratch = malloc(FINE_IN_COARSE * m * sizeof *scratch);
    double fine[FINE], coarse[COARSE];
    if (!scratch)
        return false;
    for (size_t b = 0; b < FINE; ++b)
        fine[b] = quantile_of(values + b * m, m, q, s->tick, scratch);
    for (size_t b = 0; b < COARSE; ++b)
        coarse[b] = quantile_of(values + b * FINE_IN_COARSE * m, FINE_IN_COARSE * m, q, s->tick, scratch);
    free(scratch);
    if (correlation(fine, FINE) >= MOST_CORRELATION)
        return false;
    double mean = mean_of(coarse, COARSE), square = 0;
    for (int b = 0; b < COARSE; ++b)
        square += (coarse[b] - mean) * (coarse[b] - mean);
    double half_width = student_15(p[LEVEL]) * sqrt(square / (COARSE - 1) / COARSE);
    return half_width <= fmax(p[TOLERANCE] * fabs(mean), FINEST_TICK_SHARE * s->tick);
}

/* `least` is the least size of a fine block. */
static enum stop done(struct series *s, const double *p, double q, size_t least)
{
    size_t m = s->count / FINE;
    if (m < least)
        s->next_look = FINE * least;
    else if (s->count >= s->next_look && s->seconds >= p[LEAST_SECONDS]) {
        if (settled(s, p, q))
            return STOP_SETTLED;
        s->next_look = FINE * (m + (m > 1 ? m / 2 : 1));
    }
    double taken = (double)(s->count + s->rejected);
    s->limit_s = fmax(p[MOST_SECONDS], p[LEAST_SECONDS]);
    if (s->seconds >= s->limit_s && taken >= COARSE) /* the fewest that make blocks */
        return STOP_TIME;
    if (s->seconds >= PATIENCE * p[MOST_SECONDS] && taken >= FEWEST)
        return STOP_TIME;
    return (double)s->count >= p[MOST_COUNT] ? STOP_UNSETTLED : STOP_NOT_YET;
}

static enum stop median_done(struct series *s, const double *p)
{
    return done(s, p, 0.5, 1);
}

static enum stop quantile_done(struct series *s, const double *p)
{
    double tail = fmin(p[QUANTILE], 1 - p[QUANTILE]);
    return done(s, p, p[QUANTILE], (size_t)ceil(TAIL_LEAST / tail - 1e-6)); /* 10 / (1 - 0.99) is over 1000 */
}

const struct stop_rule stop_median = {
    .name = "median",
    .summary = "ends when the median's interval within the launch reaches the tolerance",
    .params = median_params,
    .done = median_done,
};

const struct stop_rule stop_quantile = {
    .name = "quantile",
    .summary = "ends when the interval of a quantile, such as p99, reaches the tolerance",
    .params = quantile_params,
    .done = quantile_done,
};
