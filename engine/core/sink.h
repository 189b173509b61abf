/* Where records go: JSON Lines in production (sink/jsonl.h), an array in tests. Rank 0 alone has one. */
#ifndef CORE_SINK_H
#define CORE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench;
struct extent;
struct keeping;
struct lane_time;
struct point;
struct probed;
struct spun;
struct standing;
struct sync;
struct sync_point;

/* A chunk of samples: of rank r, sample k stands at [r * count + k]. Where not every rank is kept, what is of
 * each rank is rank 0's alone. */
struct chunk {
    int64_t first; /* index of its first sample in the point */
    int64_t count;
    int ranks;
    const struct keeping *keeping; /* what is kept of ranks; NULL: every rank's timestamps are */
    const struct extent *extents;  /* of each sample, over all ranks */
    int64_t all_yields;            /* the sum over ranks */
    int64_t kept;                  /* the sample of chosen timestamps; -1: there are none */
    const double *kept_ns;         /* of the i-th chosen rank its start at [2 * i], its stop behind it */
    const int64_t *start_ns, *stop_ns;
    const int64_t *yields; /* a sum per rank */
    const int64_t *low;    /* of each sample: 1 where it is of the lower bound; NULL: none is */

    /* For an op that counts: of rank r, sample k, counter c at [(r * count + k) * counters + c]. */
    const int64_t *counts;

    const struct probed *probed; /* what a look at the machine after it saw; NULL: there was none */

    /* For a method with windows; NULL elsewhere. */
    const int64_t *target_ns; /* of each sample, in reference time */
    int64_t window_ns;
    const struct spun *spun; /* of each rank: what its waits for the windows saw */

    /* For a synchronised method; NULL elsewhere. */
    const struct sync_point *before; /* around the chunk; one and the same: extrapolate */
    const struct sync_point *after;
    int64_t before_index, after_index; /* -1: not synchronised */
};

/* What ranks did in the phases of a chunk of samples: all sums over it. For the r-th of them, column c stands
 * at [r * columns + c]: ns of each phase, then calls of each, then the counters in the order of
 * phase_counters[]. They are all `of` ranks, or chosen ones. */
struct phase_chunk {
    int64_t first, count;
    int ranks, of, phases, columns;
    const int64_t *values;
};

/* What each thread of an op of several took for its own calls: of rank r, thread t stands at [r * count + t].
 * Sums over `reps` repetitions. */
struct lane_times {
    int ranks, count;
    int64_t reps;
    const struct lane_time *values;
};

/* What is known when the samples begin. */
struct opening {
    int ranks, parts;          /* unit operations in a repetition */
    int64_t reps;              /* repetitions in a sample */
    int64_t warm_up_reps;      /* run before and left out */
    const char *report;        /* "root", "slowest", or "message": from rank 0 to rank 1 and back, by turns */
    int64_t start_ns;          /* now */
    double moved;              /* bytes, by a repetition */
    double work;               /* operations that it does; 0: they are not counted */
    const struct bench *bench; /* of which the method describes what it has found out */
};

struct end {
    const char *status; /* "ok", "failed", "skipped" */
    const char *why;    /* NULL when ok */
    const char *flag;   /* SETTLED, UNSETTLED, TIME; NULL when nothing was observed */
    int64_t count, rejected, stop_ns;
    bool verified;     /* the answers were checked before and after, and right */
    const void *state; /* the op's, whose answer is told; NULL: it has none */
};

struct sink {
    int (*point)(struct sink *sink, const struct point *point, const struct opening *opening);
    int (*chunk)(struct sink *sink, const struct point *point, const struct chunk *chunk);
    int (*phases)(struct sink *sink, const struct point *point, const struct phase_chunk *chunk);
    int (*lanes)(struct sink *sink, const struct point *point, const struct lane_times *times);
    int (*sync)(struct sink *sink, const struct sync *sync);
    int (*standing)(struct sink *sink, const struct point *point, const struct standing *standing, int ranks);
    int (*end)(struct sink *sink, const struct point *point, const struct end *end);
};

#endif
