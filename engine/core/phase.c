#include "core/phase.h"

#include "base/memory.h"

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
    *p = (struct phases){.clock = old.clock, .rows = old.rows, .count = old.count, .memory = old.memory};
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
                                              p->collective_bytes, p->memory, memory_resident()};
    for (int i = 0; i < PHASE_COUNTERS; ++i)
        columns[at++] = counters[i];
    return at;
}
