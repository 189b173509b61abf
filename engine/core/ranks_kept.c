#include "core/ranks_kept.h"

#include "base/err.h"
#include "core/method.h"
#include "core/op.h"
#include "core/point.h"

#include <stdlib.h>
#include <string.h>

void ranks_kept_open(struct ranks_kept *k, const struct point *p, int ranks)
{
    const enum keep keep = keep_of(p->keep, ranks);
    const bool needs_all = p->method->messages || op_counters(p->op) > 0 || p->op->role == ROLE_NOISE;
    *k = (struct ranks_kept){.whole = needs_all || keep == KEEP_RANKS || keep == KEEP_BOTH};
    k->reduces = !needs_all && keep != KEEP_RANKS;
    k->chooses = k->reduces && keep != KEEP_SLOWEST;
}

void ranks_kept_close(struct ranks_kept *k)
{
    series_free(&k->own);
}

static void add_spun(struct spun *sum, const struct spun *one)
{
    sum->ns += one->ns;
    sum->lost_ns += one->lost_ns;
    sum->longest_ns = one->longest_ns > sum->longest_ns ? one->longest_ns : sum->longest_ns;
}

void ranks_kept_open_block(struct ranks_kept *k, struct room *room, const struct bench *bench)
{
    const struct sync *sync = bench->sync;
    used_begin(&room->meter, bench->clock);
    k->before_index = sync ? sync->count - 1 : -1;
    if (sync)
        k->before = sync->mine.map;
    if (sync && k->whole && sync->team->rank == 0)
        memcpy(room->before, sync->all, (size_t)sync->team->size * sizeof *room->before);
}

void ranks_kept_close_block(struct room *room, const struct bench *bench)
{
    used_end(&room->meter, bench->clock, room->mine.used);
    *room->mine.spun = bench->spun;
}

int ranks_kept_take(struct ranks_kept *k, struct room *room, const struct team *team,
                    const struct bench *bench, bool windows, int64_t *kept)
{
    const struct clock *clock = bench->clock;
    const struct sync *sync = bench->sync;
    const int64_t count = bench->count, chosen = kept_sample(k->chunks++, count);
    int err = reduce_chunk(room, team, clock, count, windows, sync ? &k->before : NULL,
                           sync ? &sync->mine.map : NULL);
    const struct tally *tally = &room->reduced->tally;
    if (tally->back_ns > room->back_ns) {
        room->back_ns = tally->back_ns;
        room->back_rank = (int)tally->back_rank;
    }
    *kept = k->chooses ? chosen : -1;
    if (!err && k->whole)
        err = room_gather(room, team, count, windows);
    if (!err && k->reduces)
        err = reduce_own(room, team, clock, count, windows, &k->own);
    if (!err && k->chooses)
        err = reduce_keep(room, team, chosen, room->kept);
    if (windows)
        add_spun(&k->spun, room->mine.spun);
    return err;
}

int ranks_kept_tell(struct ranks_kept *k, const struct team *team, const struct point *point,
                    struct sink *sink)
{
    struct standing standing;
    if (!k->reduces)
        return 0;
    int err = reduce_standing(team, &k->own, &k->spun, k->chooses, k->words, &standing);
    return !err && sink && sink->standing ? sink->standing(sink, point, &standing, team->size) : err;
}
