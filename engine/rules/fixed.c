/* fixed: so many samples and no more. */
#include "core/stop.h"

enum { COUNT, MOST_SECONDS };

static const struct param params[] = {
    [COUNT] = {"count", "", "number of samples", 100, 1, 1e7},
    [MOST_SECONDS] = {"most_seconds", "s", "time limit", 60, 0, 86400},
    {0},
};

static enum stop done(struct series *s, const double *p)
{
    s->next_look = (size_t)p[COUNT];
    s->limit_s = p[MOST_SECONDS];
    if (s->count >= s->next_look)
        return STOP_SETTLED;
    return s->seconds >= s->limit_s ? STOP_TIME : STOP_NOT_YET;
}

const struct stop_rule stop_fixed = {
    .name = "fixed", .summary = "ends after a fixed number of samples", .params = params, .done = done};
