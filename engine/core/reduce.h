/* What is known of samples over all ranks, reduced along a tree: of one size on every rank, however many
 * there are. */
#ifndef CORE_REDUCE_H
#define CORE_REDUCE_H

#include "core/chunk.h"
#include "core/stop.h"
#include "sync/sync.h"
#include "time/clock.h"

/* One sample. A synchronised method's instants are on the reference clock; any other's count from each
 * rank's own start, so that a stop is that rank's duration. */
struct extent {
    double first_start_ns, last_start_ns, first_stop_ns;
    double last_stop_ns, cost_ns; /* of the rank that stopped last: its stop, what a reading costs it */
    int64_t slowest;              /* that rank: cost subtracted, the lowest of several */
    int64_t late;                 /* 1 where any rank started late */
};

/* A chunk, but for its samples. */
struct tally {
    int64_t yields;
    int64_t back_ns, back_rank; /* by how much a clock jumped back at the most, and whose; 0: none did */
};

struct reduced {
    struct tally tally;
    struct extent samples[CHUNK_MOST];
};

/* Everybody's chunk reduced into `r->reduced`, which is whole on rank 0. `before` and `after` are this
 * rank's, around the chunk; NULL where the method is not synchronised. ERR_NOMEM. */
int reduce_chunk(struct room *room, const struct team *team, const struct clock *clock, int64_t count,
                 bool windows, const struct clock_map *before, const struct clock_map *after);

/* What this rank's samples of a reduced chunk took it are added to `own`, but for those of a lower bound and
 * those that any rank started late, of which rank 0 tells all. ERR_NOMEM. */
int reduce_own(struct room *room, const struct team *team, const struct clock *clock, int64_t count,
               bool windows, struct series *own);

/* Timestamps of chosen ranks of one sample, as in an extent: of the i-th of them at [2 * i] the start, at
 * [2 * i + 1] the stop. `stamps` has room for all of them on rank 0, and is NULL elsewhere. */
int reduce_keep(const struct room *room, const struct team *team, int64_t k, double *stamps);

/* Medians of ranks in buckets, each 2 % wider than the one before, from 1 ns on: sketches that merge by
 * adding, with quantiles right to 1 % (the idea is DDSketch's: Masson, Rim, Lee, VLDB 2019). */
enum { SKETCH_BUCKETS = 1400 }; /* up to 1000 s */
extern const double sketch_width;

/* What a rank says of its own durations, less what its clock costs, and of its waits, at the end of a point.
 */
struct own_words {
    double median_ns, mean_ns;
    struct spun spun;
};

/* A point, over all ranks. */
struct standing {
    int64_t count; /* samples, those that were late or of a lower bound not among them */
    double least_mean_ns, mean_sum_ns, most_mean_ns;
    struct spun worst_spun; /* of the rank that lost the largest share of its waits */
    int64_t worst_rank;
    int64_t sketch[SKETCH_BUCKETS];
    const struct own_words *kept; /* of chosen ranks, on rank 0; NULL: none are */
};

/* Everybody's own durations, and what was added up of waits; rank 0 has the whole. `kept` has room for
 * the words of chosen ranks on rank 0, where they are wanted. */
int reduce_standing(const struct team *team, const struct series *own, const struct spun *spun, bool keeps,
                    struct own_words *kept, struct standing *standing);

#endif
