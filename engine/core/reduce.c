#include "core/reduce.h"

#include "base/err.h"
#include "base/num.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double sketch_width = 1.02;

/* ---- chunks ------------------------------------------------------------------------------------------ */

static double stopped(const struct extent *e)
{
    return e->last_stop_ns - e->cost_ns;
}

static void merge_extent(struct extent *into, const struct extent *from)
{
    const bool later =
        stopped(from) > stopped(into) || (stopped(from) == stopped(into) && from->slowest < into->slowest);
    into->first_start_ns = fmin(into->first_start_ns, from->first_start_ns);
    into->last_start_ns = fmax(into->last_start_ns, from->last_start_ns);
    into->first_stop_ns = fmin(into->first_stop_ns, from->first_stop_ns);
    into->late |= from->late;
    if (later) {
        into->last_stop_ns = from->last_stop_ns;
        into->cost_ns = from->cost_ns;
        into->slowest = from->slowest;
    }
}

static void merge_chunk(void *into_bytes, const void *from_bytes, size_t bytes)
{
    struct reduced *into = into_bytes;
    const struct reduced *from = from_bytes;
    const size_t count = (bytes - offsetof(struct reduced, samples)) / sizeof into->samples[0];
    into->tally.yields += from->tally.yields;
    if (from->tally.back_ns > into->tally.back_ns) {
        into->tally.back_ns = from->tally.back_ns;
        into->tally.back_rank = from->tally.back_rank;
    }
    for (size_t k = 0; k < count; ++k)
        merge_extent(&into->samples[k], &from->samples[k]);
}

/* A local timestamp on the reference clock. */
static double placed(int64_t stamp, const struct clock_map *before, const struct clock_map *after)
{
    return (double)stamp - map_between(before, after, stamp);
}

int reduce_chunk(struct room *r, const struct team *team, const struct clock *clock, int64_t count,
                 bool windows, const struct clock_map *before, const struct clock_map *after)
{
    struct reduced *reduced = r->reduced;
    const int64_t *starts = r->mine.start_ns, *stops = r->mine.stop_ns;
    reduced->tally = (struct tally){.yields = *r->mine.yields, .back_rank = team->rank};
    reduced->tally.back_ns = room_jumped(r, count);
    for (int64_t k = 0; k < count; ++k) {
        const double start = before ? placed(starts[k], before, after) : 0;
        const double stop = before ? placed(stops[k], before, after) : (double)(stops[k] - starts[k]);
        r->placed[2 * k] = start;
        r->placed[2 * k + 1] = stop;
        reduced->samples[k] = (struct extent){.first_start_ns = start,
                                              .last_start_ns = start,
                                              .first_stop_ns = stop,
                                              .last_stop_ns = stop,
                                              .cost_ns = clock->cost_ns,
                                              .slowest = team->rank,
                                              .late = windows && r->mine.late[k]};
    }
    const size_t bytes = offsetof(struct reduced, samples) + (size_t)count * sizeof reduced->samples[0];
    int err = team_reduce(team, reduced, bytes, merge_chunk);
    return err;
}

int reduce_own(struct room *r, const struct team *team, const struct clock *clock, int64_t count,
               bool windows, struct series *own)
{
    for (int64_t k = 0; k < count && windows && team->rank == 0; ++k)
        r->mine.late[k] = r->reduced->samples[k].late;
    int err = windows ? team_bcast(team, r->mine.late, (size_t)count * sizeof r->mine.late[0]) : 0;
    for (int64_t k = 0; k < count && !err; ++k)
        if (!r->low[k] && !(windows && r->mine.late[k]))
            err = series_add(own, r->placed[2 * k + 1] - r->placed[2 * k] - clock->cost_ns);
    return err;
}

int reduce_keep(const struct room *r, const struct team *team, int64_t k, double *stamps)
{
    return team_gather_chosen(team, &r->placed[2 * k], 2 * sizeof(double), stamps);
}

/* ---- points ------------------------------------------------------------------------------------------ */

static double lost_share(const struct spun *spun)
{
    return spun->ns > 0 ? (double)spun->lost_ns / (double)spun->ns : 0;
}

static void merge_standing(void *into_bytes, const void *from_bytes, size_t bytes)
{
    struct standing *into = into_bytes;
    const struct standing *from = from_bytes;
    (void)bytes;
    into->least_mean_ns = fmin(into->least_mean_ns, from->least_mean_ns);
    into->most_mean_ns = fmax(into->most_mean_ns, from->most_mean_ns);
    into->mean_sum_ns += from->mean_sum_ns;
    if (lost_share(&from->worst_spun) > lost_share(&into->worst_spun)) {
        into->worst_spun = from->worst_spun;
        into->worst_rank = from->worst_rank;
    }
    for (int i = 0; i < SKETCH_BUCKETS; ++i)
        into->sketch[i] += from->sketch[i];
}

static int bucket_of(double ns)
{
    const double at = ns > 1 ? floor(log(ns) / log(sketch_width)) : 0;
    return at < SKETCH_BUCKETS ? (int)at : SKETCH_BUCKETS - 1;
}

static struct own_words words_of(const struct series *own, const struct spun *spun)
{
    struct own_words words = {.spun = *spun};
    double sum = 0;
    for (size_t i = 0; i < own->count; ++i)
        sum += own->values[i];
    if (own->count > 0) {
        qsort(own->values, own->count, sizeof own->values[0], num_compare_doubles);
        words.median_ns = (own->values[(own->count - 1) / 2] + own->values[own->count / 2]) / 2;
        words.mean_ns = sum / (double)own->count;
    }
    return words;
}

int reduce_standing(const struct team *team, const struct series *own, const struct spun *spun, bool keeps,
                    struct own_words *kept, struct standing *standing)
{
    const struct own_words words = words_of(own, spun);
    *standing = (struct standing){.count = (int64_t)own->count,
                                  .least_mean_ns = words.mean_ns,
                                  .mean_sum_ns = words.mean_ns,
                                  .most_mean_ns = words.mean_ns,
                                  .worst_spun = *spun,
                                  .worst_rank = team->rank};
    standing->sketch[bucket_of(words.median_ns)] = 1;
    int err = team_reduce(team, standing, sizeof *standing, merge_standing);
    err = err || !keeps ? err : team_gather_chosen(team, &words, sizeof words, kept);
    standing->kept = keeps ? kept : NULL;
    return err;
}
