/* median: until an interval for the median is narrow enough, from block medians that have become independent.
 *
 * Latencies that follow each other are alike, for milliseconds or seconds, so the order-statistic interval of
 * the plain series covers far less than it says. Batch means after Law and Carson (Operations Research 27,
 * 1979), with medians: the series is cut into many small blocks, whose autocorrelation can be estimated well;
 * when that is below a threshold at which blocks eight times as long are as good as independent, Student's
 * interval of the long blocks is believed. The rule looks only when the blocks have grown by a good part, so
 * that looking often does not stop it by luck. */
#include "core/stop.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FINE = 128, COARSE = 16, FINE_IN_COARSE = FINE / COARSE };

/* Law and Carson's threshold: at 0.4 between neighbours, blocks of eight neighbours correlate by less than
 * 0.05. */
static const double MOST_CORRELATION = 0.4;

/* A median cannot be known to less than a small share of a tick, however many values there are. */
static const double FINEST_TICK_SHARE = 0.1;

enum { TOLERANCE, LEVEL, LEAST_SECONDS, MOST_SECONDS, MOST_COUNT };

static const struct param params[] = {
    [TOLERANCE] = {"tolerance", "", "half the width of the interval, relative to the median", 0.02, 1e-6, 10},
    [LEVEL] = {"level", "", "confidence level: 0.9, 0.95 or 0.99", 0.95, 0.9, 0.99},
    [LEAST_SECONDS] = {"least_seconds", "s", "measure at least this long", 0.02, 0, 86400},
    [MOST_SECONDS] = {"most_seconds", "s", "stop after this time and 16 observations all the same", 0.1, 0,
                      86400},
    [MOST_COUNT] = {"most_count", "", "stop after so many observations all the same", 2e5, FINE, 1e8},
    {0},
};

/* Student's t for COARSE - 1 = 15 degrees of freedom, two-sided. */
static double student_15(double level)
{
    return level >= 0.985 ? 2.947 : level >= 0.945 ? 2.131 : 1.753;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of values that are rounded to multiples of `tick`, as of grouped data: those that share the
 * middle value are taken as spread evenly over one tick around it. So a clock of 10 ns resolves 1 ns where
 * the phase is random. */
static double grouped_median(const double *sorted, size_t n, double tick)
{
    double middle = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    size_t below = 0, within = 0;
    for (size_t i = 0; i < n; ++i) {
        below += sorted[i] < middle - tick / 2;
        within += fabs(sorted[i] - middle) <= tick / 2;
    }
    if (tick <= 0 || within == 0)
        return middle;
    return middle - tick / 2 + tick * ((double)n / 2 - (double)below) / (double)within;
}

static double median_of(const double *values, size_t n, double tick, double *scratch)
{
    memcpy(scratch, values, n * sizeof *values);
    qsort(scratch, n, sizeof *scratch, compare);
    return grouped_median(scratch, n, tick);
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

/* The newest FINE * m values: what does not fill the blocks is left out at the start, where it may be
 * warm-up. */
static bool settled(const struct series *s, const double *p)
{
    size_t m = s->count / FINE;
    const double *values = s->values + (s->count - FINE * m);
    double *scratch = malloc(FINE_IN_COARSE * m * sizeof *scratch);
    double fine[FINE], coarse[COARSE];
    if (!scratch)
        return false;
    for (size_t b = 0; b < FINE; ++b)
        fine[b] = median_of(values + b * m, m, s->tick, scratch);
    for (size_t b = 0; b < COARSE; ++b)
        coarse[b] = median_of(values + b * FINE_IN_COARSE * m, FINE_IN_COARSE * m, s->tick, scratch);
    free(scratch);
    if (correlation(fine, FINE) >= MOST_CORRELATION)
        return false;
    double mean = mean_of(coarse, COARSE), square = 0;
    for (int b = 0; b < COARSE; ++b)
        square += (coarse[b] - mean) * (coarse[b] - mean);
    double half_width = student_15(p[LEVEL]) * sqrt(square / (COARSE - 1) / COARSE);
    return half_width <= fmax(p[TOLERANCE] * fabs(mean), FINEST_TICK_SHARE * s->tick);
}

static enum stop done(struct series *s, const double *p)
{
    size_t m = s->count / FINE;
    if (m > 0 && s->count >= s->next_look && s->seconds >= p[LEAST_SECONDS]) {
        if (settled(s, p))
            return STOP_SETTLED;
        s->next_look = FINE * (m + (m > 1 ? m / 2 : 1));
    }
    if (s->seconds >= p[MOST_SECONDS] && s->count + s->rejected >= COARSE) /* as few as make blocks at all */
        return STOP_TIME;
    return (double)s->count >= p[MOST_COUNT] ? STOP_UNSETTLED : STOP_NOT_YET;
}

const struct stop_rule stop_median = {
    .name = "median",
    .summary = "until the interval of the median is narrow enough, by independent block medians",
    .params = params,
    .done = done,
};
