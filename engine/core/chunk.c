#include "core/chunk.h"

#include "base/err.h"
#include "core/sink.h"
#include "sync/sync.h"

#include <stdlib.h>

static bool stamps_alloc(struct stamps *s, size_t ranks, int counters)
{
    if (counters > 0 && !(s->counts = calloc(ranks * CHUNK_MOST * (size_t)counters, sizeof(int64_t))))
        return false;
    s->spun = calloc(ranks, sizeof *s->spun);
    s->start_ns = calloc(ranks * CHUNK_MOST, sizeof(int64_t));
    s->stop_ns = calloc(ranks * CHUNK_MOST, sizeof(int64_t));
    s->yields = calloc(ranks, sizeof(int64_t));
    s->late = calloc(ranks * CHUNK_MOST, sizeof(int64_t));
    return s->start_ns && s->stop_ns && s->yields && s->late && s->spun;
}

static void stamps_free(struct stamps *s)
{
    free(s->start_ns);
    free(s->stop_ns);
    free(s->yields);
    free(s->late);
    free(s->counts);
    free(s->spun);
}

int room_open(const struct team *team, int counters, struct room *r)
{
    const size_t size = (size_t)team->size;
    *r = (struct room){.target_ns = calloc(CHUNK_MOST, sizeof *r->target_ns),
                       .low = calloc(CHUNK_MOST, sizeof *r->low),
                       .before = calloc(size, sizeof *r->before),
                       .last_ns = calloc(size, sizeof *r->last_ns),
                       .counters = (size_t)counters};
    const bool whole =
        stamps_alloc(&r->mine, 1, counters) && (team->rank != 0 || stamps_alloc(&r->all, size, counters));
    return whole && r->target_ns && r->low && r->before && r->last_ns
               ? 0
               : err_say(ERR_NOMEM, "no memory for the timestamps of %d ranks", team->size);
}

void room_close(struct room *r)
{
    stamps_free(&r->mine);
    stamps_free(&r->all);
    free(r->target_ns);
    free(r->low);
    free(r->before);
    free(r->last_ns);
}

int room_gather(const struct room *r, const struct team *team, int64_t count, bool windows)
{
    const size_t bytes = (size_t)count * sizeof(int64_t);
    int err = team_gather(team, r->mine.start_ns, bytes, r->all.start_ns);
    if (!err)
        err = team_gather(team, r->mine.stop_ns, bytes, r->all.stop_ns);
    if (!err)
        err = team_gather(team, r->mine.yields, sizeof *r->mine.yields, r->all.yields);
    if (!err && windows)
        err = team_gather(team, r->mine.late, bytes, r->all.late);
    if (!err && windows)
        err = team_gather(team, r->mine.spun, sizeof *r->mine.spun, r->all.spun);
    if (!err && r->counters > 0)
        err = team_gather(team, r->mine.counts, bytes * r->counters, r->all.counts);
    return err;
}

void room_find_jump(struct room *r, const struct chunk *c)
{
    for (int i = 0; i < c->ranks; ++i)
        for (int64_t k = 0; k < c->count; ++k) {
            int64_t start = c->start_ns[i * c->count + k], stop = c->stop_ns[i * c->count + k];
            int64_t last = k || c->first ? r->last_ns[i] : start;
            int64_t back = last - start > start - stop ? last - start : start - stop;
            r->last_ns[i] = stop;
            if (back > r->back_ns) {
                r->back_ns = back;
                r->back_rank = i;
            }
        }
}
