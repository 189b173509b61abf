#include "core/value.h"

#include "core/sink.h"
#include "sync/sync.h"

#include <math.h>

double value_local(const struct chunk *c, int64_t k, enum op_report report)
{
    int64_t longest = c->stop_ns[k] - c->start_ns[k];
    for (int i = 1; i < c->ranks && report == OP_SLOWEST; ++i) {
        int64_t duration = c->stop_ns[i * c->count + k] - c->start_ns[i * c->count + k];
        longest = duration > longest ? duration : longest;
    }
    return (double)longest;
}

double value_global(const struct chunk *c, int64_t k, int ranks)
{
    double first = INFINITY, last = -INFINITY;
    for (int i = 0; i < ranks; ++i) {
        int64_t start = c->start_ns[i * c->count + k], stop = c->stop_ns[i * c->count + k];
        const struct clock_map *before = &c->before[i].map, *after = &c->after[i].map;
        first = fmin(first, (double)start - map_between(before, after, start));
        last = fmax(last, (double)stop - map_between(before, after, stop));
    }
    return last - first;
}
