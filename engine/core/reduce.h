/* Samples reduced over all ranks along a tree: one size on every rank, however many ranks there are. */
#ifndef CORE_REDUCE_H
#define CORE_REDUCE_H

#include "core/chunk.h"
#include "core/stop.h"
#include "sync/sync.h"
#include "time/clock.h"

/* One sample. The instants of a synchronised method are on the reference clock; others count from each rank's
 * own start, so a stop is that rank's duration. */
struct extent {
    double first_start_ns, last_start_ns, first_stop_ns;
    double last_stop_ns, cost_ns; /* of the rank that stopped last: its stop, and the cost of its clock
                                     reading */
    int64_t slowest;              /* that rank, after subtracting the cost; the lowest of several */
    int64_t late;                 /* 1 if any rank started late */
};

/* A chunk, without its samples. */
struct tally {
    int64_t yields;
    int64_t back_ns, back_rank; /* the largest step back of a clock, and its rank; 0: none */
};

struct reduced {
    struct tally tally;
    struct extent samples[CHUNK_MOST];
};

/* Reduce all ranks' chunk into `r->reduced`, which is whole on rank 0. `before` and `after` are this rank's
 * synchronisations around the chunk; NULL if the method is not synchronised. ERR_NOMEM. */
int reduce_chunk(struct room *room, const struct team *team, const struct clock *clock, int64_t count,
                 bool windows, const struct clock_map *before, const struct clock_map *after);

/* Add this rank's times of a reduced chunk to `own`, except samples of a lower bound and those that any rank
 * started late, which rank 0 announces. ERR_NOMEM. */
int reduce_own(struct room *room, const struct team *team, const struct clock *clock, int64_t count,
               bool windows, struct series *own);

/* Gather timestamps of chosen ranks for one sample, as in an extent: of the i-th rank the start at [2 * i],
 * the stop at [2 * i + 1]. `stamps` has room for all of them on rank 0, and is NULL elsewhere. */
int reduce_keep(const struct room *room, const struct team *team, int64_t k, double *stamps);

/* Medians of ranks in buckets, each 2 % wider than the one before, from 1 ns on: sketches that merge by
 * adding, with quantiles right to 1 % (the idea is DDSketch's: Masson, Rim, Lee, VLDB 2019). */
enum { SKETCH_BUCKETS = 1400 }; /* up to 1000 s */
extern const double sketch_width;

/* A rank's own durations, less the cost of its clock, and its waits, at the end of a point. */
struct own_words {
    double median_ns, mean_ns;
    struct spun spun;
};

/* A point, over all ranks. */
struct standing {
    int64_t count; /* samples, without those that were late or of a lower bound */
    double least_mean_ns, mean_sum_ns, most_mean_ns;
    struct spun worst_spun; /* of the rank whose waits lost the largest share */
    int64_t worst_rank;
    int64_t sketch[SKETCH_BUCKETS];
    const struct own_words *kept; /* of chosen ranks, on rank 0; NULL: none are */
};

/* Reduce all ranks' own durations and waits; rank 0 has the result. `kept` has room for chosen ranks' words
 * on rank 0, if they are wanted. */
int reduce_standing(const struct team *team, const struct series *own, const struct spun *spun, bool keeps,
                    struct own_words *kept, struct standing *standing);

#endif
