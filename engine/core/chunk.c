#include "core/chunk.h"

#include "base/err.h"
#include "core/reduce.h"
#include "core/sink.h"
#include "sync/sync.h"

#include <stdlib.h>

static bool stamps_alloc(struct stamps *s, size_t ranks, int counters)
{
    if (counters > 0 && !(s->counts = calloc(ranks * CHUNK_MOST * (size_t)counters, sizeof(int64_t))))
        return false;
    s->spun = calloc(ranks, sizeof *s->spun);
    s->used = calloc(ranks, sizeof *s->used);
    s->start_ns = calloc(ranks * CHUNK_MOST, sizeof(int64_t));
    s->stop_ns = calloc(ranks * CHUNK_MOST, sizeof(int64_t));
    s->yields = calloc(ranks, sizeof(int64_t));
    return s->start_ns && s->stop_ns && s->yields && s->spun && s->used;
}

static void stamps_free(struct stamps *s)
{
    free(s->start_ns);
    free(s->stop_ns);
    free(s->yields);
    free(s->late);
    free(s->counts);
    free(s->spun);
    free(s->used);
}

int room_open(const struct team *team, int counters, bool whole, struct room *r)
{
    const size_t size = whole ? (size_t)team->size : 1;
    *r = (struct room){.target_ns = calloc(CHUNK_MOST, sizeof *r->target_ns),
                       .low = calloc(CHUNK_MOST, sizeof *r->low),
                       .before = calloc(size, sizeof *r->before),
                       .reduced = calloc(1, sizeof *r->reduced),
                       .placed = calloc(2 * CHUNK_MOST, sizeof *r->placed),
                       .kept = calloc(2 * TEAM_CHOSEN_MOST, sizeof *r->kept),
                       .counters = (size_t)counters};
    r->mine.late = calloc(CHUNK_MOST, sizeof *r->mine.late);
    used_open("", &r->meter);
    const bool has_all = !whole || team->rank != 0 || stamps_alloc(&r->all, size, counters);
    const bool has_mine = stamps_alloc(&r->mine, 1, counters) && r->mine.late;
    return has_all && has_mine && r->target_ns && r->low && r->before && r->reduced && r->placed && r->kept
               ? 0
               : err_say(ERR_NOMEM, "no memory for the timestamps of %d ranks%s", team->size,
                         whole ? "; give --keep sampled" : "");
}

void room_close(struct room *r)
{
    if (r->mine.used)
        used_close(&r->meter);
    stamps_free(&r->mine);
    stamps_free(&r->all);
    free(r->target_ns);
    free(r->low);
    free(r->before);
    free(r->reduced);
    free(r->placed);
    free(r->kept);
}

int room_gather(const struct room *r, const struct team *team, int64_t count, bool windows)
{
    const size_t bytes = (size_t)count * sizeof(int64_t);
    int err = team_gather(team, r->mine.start_ns, bytes, r->all.start_ns);
    if (!err)
        err = team_gather(team, r->mine.stop_ns, bytes, r->all.stop_ns);
    if (!err)
        err = team_gather(team, r->mine.yields, sizeof *r->mine.yields, r->all.yields);
    if (!err)
        err = team_gather(team, r->mine.used, sizeof *r->mine.used, r->all.used);
    if (!err && windows)
        err = team_gather(team, r->mine.spun, sizeof *r->mine.spun, r->all.spun);
    if (!err && r->counters > 0)
        err = team_gather(team, r->mine.counts, bytes * r->counters, r->all.counts);
    return err;
}

int64_t room_jumped(struct room *r, int64_t count)
{
    int64_t most = 0;
    for (int64_t k = 0; k < count; ++k) {
        const int64_t start = r->mine.start_ns[k], stop = r->mine.stop_ns[k];
        const int64_t last = r->has_last ? r->last_ns : start;
        const int64_t back = last - start > start - stop ? last - start : start - stop;
        most = back > most ? back : most;
        r->last_ns = stop;
        r->has_last = true;
    }
    return most;
}
