#include "core/estimate.h"

#include "core/method.h"
#include "core/reduce.h"
#include "core/sink.h"
#include "sync/sync.h"

#include <math.h>

double estimate_sample(const struct bench *b, const struct method *m, const struct chunk *c, int64_t k)
{
    if (m->value)
        return m->value(b, c, k);
    return m->sync != SYNC_NEVER ? estimate_global(c, k) : estimate_local(c, k, b->report);
}

double estimate_local(const struct chunk *c, int64_t k, enum op_report report)
{
    return report == OP_SLOWEST ? c->extents[k].last_stop_ns : (double)(c->stop_ns[k] - c->start_ns[k]);
}

double estimate_global(const struct chunk *c, int64_t k)
{
    return c->extents[k].last_stop_ns - c->extents[k].first_start_ns;
}

/* The stop of a rank, on the reference clock. */
static double stop_of(const struct chunk *c, int64_t k, int rank)
{
    const int64_t stop = c->stop_ns[rank * c->count + k];
    return (double)stop - map_between(&c->before[rank].map, &c->after[rank].map, stop);
}

double estimate_messages(const struct chunk *c, int64_t k, const int64_t *partners)
{
    double sum = 0;
    int pairs = 0;
    for (int i = 0; i < c->ranks; ++i)
        if (partners[i] > i) { /* a message has one instant on either side */
            sum += fabs(stop_of(c, k, (int)partners[i]) - stop_of(c, k, i));
            ++pairs;
        }
    return pairs > 0 ? sum / pairs : 0;
}
