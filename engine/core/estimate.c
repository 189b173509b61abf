#include "core/estimate.h"

#include "core/sink.h"
#include "sync/sync.h"

#include <math.h>

double estimate_local(const struct chunk *c, int64_t k, enum op_report report)
{
    int64_t longest = c->stop_ns[k] - c->start_ns[k];
    for (int i = 1; i < c->ranks && report == OP_SLOWEST; ++i) {
        int64_t duration = c->stop_ns[i * c->count + k] - c->start_ns[i * c->count + k];
        longest = duration > longest ? duration : longest;
    }
    return (double)longest;
}

/* When a rank started and stopped, on the reference clock. */
struct span {
    double start, stop;
};

static struct span span_of(const struct chunk *c, int64_t k, int rank)
{
    const int64_t start = c->start_ns[rank * c->count + k], stop = c->stop_ns[rank * c->count + k];
    const struct clock_map *before = &c->before[rank].map, *after = &c->after[rank].map;
    return (struct span){(double)start - map_between(before, after, start),
                         (double)stop - map_between(before, after, stop)};
}

double estimate_global(const struct chunk *c, int64_t k)
{
    double first = INFINITY, last = -INFINITY;
    for (int i = 0; i < c->ranks; ++i) {
        struct span span = span_of(c, k, i);
        first = fmin(first, span.start);
        last = fmax(last, span.stop);
    }
    return last - first;
}

double estimate_messages(const struct chunk *c, int64_t k, const int64_t *partners)
{
    double sum = 0;
    int pairs = 0;
    for (int i = 0; i < c->ranks; ++i)
        if (partners[i] > i) { /* a message has one instant on either side */
            sum += fabs(span_of(c, k, (int)partners[i]).stop - span_of(c, k, i).stop);
            ++pairs;
        }
    return pairs > 0 ? sum / pairs : 0;
}
