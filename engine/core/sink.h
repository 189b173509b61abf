/* Where records go: JSON Lines in production (sink/jsonl.h), an array in tests. Rank 0 alone has one. */
#ifndef CORE_SINK_H
#define CORE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bench;
struct extent;
struct ranks_kept;
struct lane_time;
struct point;
struct probed;
struct spun;
struct standing;
struct sync;
struct sync_point;
struct used;

/* A chunk of samples: sample k of rank r is at [r * count + k]. If not every rank is kept, values of ranks
 * are only rank 0's. */
struct chunk {
    int64_t first; /* index of its first sample in the point */
    int64_t count;
    int ranks;
    const struct ranks_kept *ranks_kept; /* what is kept of ranks; NULL: every rank's timestamps */
    const struct extent *extents;        /* of each sample, over all ranks */
    int64_t all_yields;                  /* the sum over ranks */
    int64_t kept;                        /* the sample of chosen timestamps; -1: none */
    const double *kept_ns; /* of the i-th chosen rank its start at [2 * i], its stop behind it */
    const int64_t *start_ns, *stop_ns;
    const int64_t *yields; /* a sum per rank */
    const int64_t *low;    /* of each sample: 1 if it is of the lower bound; NULL: none is */

    /* For an op that counts: counter c of sample k of rank r is at [(r * count + k) * counters + c]. */
    const int64_t *counts;

    const struct used *used;     /* of each rank, while samples were taken; NULL: in simulation */
    const struct probed *probed; /* the look at the machine after it; NULL: there was none */

    /* For a method with windows; else NULL. */
    const int64_t *target_ns; /* of each sample, in reference time */
    int64_t window_ns;
    const struct spun *spun; /* of each rank: its waits for the windows */

    /* For a synchronised method; else NULL. */
    const struct sync_point *before; /* around the chunk; if both are the same: extrapolate */
    const struct sync_point *after;
    int64_t before_index, after_index; /* -1: not synchronised */
};

/* The phases of ranks in a chunk of samples, as sums. Column c of the r-th rank is at [r * columns + c]: ns
 * of each phase, then calls of each, then the counters in the order of phase_counters[]. They are all `of`
 * ranks, or chosen ones. */
struct phase_chunk {
    int64_t first, count;
    int ranks, of, phases, columns;
    const int64_t *values;
};

/* The times of each thread's own calls: thread t of rank r is at [r * count + t]. Sums over `reps`
 * repetitions. */
struct lane_times {
    int ranks, count;
    int64_t reps;
    const struct lane_time *values;
};

/* What is known before the first sample. */
struct opening {
    int ranks, parts;          /* unit operations in a repetition */
    int64_t reps;              /* repetitions in a sample */
    int64_t warm_up_reps;      /* run before, and not recorded */
    const char *report;        /* "root", "slowest", or "message": from rank 0 to rank 1 and back,
                                  alternately */
    int64_t start_ns;          /* now */
    double moved;              /* bytes that a repetition moves */
    double work;               /* operations of a repetition; 0: they are not counted */
    const char *below;         /* the op that does the same without a library; NULL: there is none */
    const struct bench *bench; /* whose method describes its state */
};

struct end {
    const char *status; /* "ok", "failed", "skipped" */
    const char *why;    /* NULL when ok */
    const char *flag;   /* SETTLED, UNSETTLED, TIME; NULL without samples */
    int64_t count, rejected, stop_ns;
    bool verified;     /* the answers before and after were checked, and right */
    const void *state; /* the op's, with its answer; NULL: it has none */
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
