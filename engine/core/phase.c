#include "core/phase.h"

#include "base/err.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

const char *const phase_counters[PHASE_COUNTERS + 1] = {
    "messages", "bytes", "collectives", "collective_bytes", "memory", "resident", NULL};

void phases_open(struct phases *p, const struct clock *clock, const struct phase *rows)
{
    *p = (struct phases){.clock = clock, .rows = rows};
    while (rows && rows[p->count].name)
        ++p->count;
}

void phases_reset(struct phases *p)
{
    struct phases old = *p;
    *p = (struct phases){.clock = old.clock,
                         .rows = old.rows,
                         .count = old.count,
                         .memory = old.memory,
                         .lanes = old.lanes,
                         .lane_count = old.lane_count,
                         .lane_reps = old.lane_reps};
}

int phases_open_lanes(struct phases *p, int count)
{
    p->lanes = calloc((size_t)count, sizeof *p->lanes);
    p->lane_count = count;
    return p->lanes ? 0 : err_say(ERR_NOMEM, "no memory for the times of %d threads", count);
}

void lanes_reset(struct phases *p)
{
    p->lane_reps = 0;
    if (p->lanes)
        memset(p->lanes, 0, (size_t)p->lane_count * sizeof *p->lanes);
}

void phases_close(struct phases *p)
{
    free(p->lanes);
    p->lanes = NULL;
}

void phases_none(struct phases *p)
{
    p->count = 0;
}

void phase_begin(struct phases *p)
{
    if (p)
        p->began_ns = clock_now(p->clock);
}

void phase_end(struct phases *p, int phase)
{
    if (p)
        phase_end_at(p, phase, clock_now(p->clock));
}

void phase_moves(struct phases *p, int phase, int64_t bytes)
{
    if (p)
        p->moved[phase] += bytes;
}

int64_t phase_now(const struct phases *p)
{
    return clock_now(p->clock);
}

void phase_end_at(struct phases *p, int phase, int64_t now)
{
    p->ns[phase] += now - p->began_ns;
    ++p->calls[phase];
    p->began_ns = now;
}

void phase_add_lanes(struct phases *p, const struct lane_time *now, int count, int64_t reps)
{
    for (int t = 0; p->lanes && t < count; ++t) {
        p->lanes[t].start_ns += now[t].start_ns - p->began_ns;
        p->lanes[t].stop_ns += now[t].stop_ns - p->began_ns;
    }
    p->lane_reps += reps;
}

int phases_columns(const struct phases *p, int64_t columns[PHASE_COLUMNS])
{
    int at = 0;
    for (int i = 0; i < p->count; ++i)
        columns[at++] = p->ns[i];
    for (int i = 0; i < p->count; ++i)
        columns[at++] = p->calls[i];
    for (int i = 0; i < p->count; ++i)
        columns[at++] = p->moved[i];
    const int64_t counters[PHASE_COUNTERS] = {p->messages,         p->bytes,  p->collectives,
                                              p->collective_bytes, p->memory, memory_footprint().resident};
    for (int i = 0; i < PHASE_COUNTERS; ++i)
        columns[at++] = counters[i];
    return at;
}
