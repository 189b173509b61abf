/* Where records go: JSON Lines in production, an array in tests. Rank 0 alone has one. */
#ifndef CORE_SINK_H
#define CORE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json;
struct path;
struct point;
struct probed;
struct spun;
struct sync;
struct sync_point;

/* A chunk of observations: of rank r, observation k stands at [r * count + k]. */
struct chunk {
    int64_t first; /* index of its first observation in the point */
    int64_t count;
    int ranks;
    const int64_t *start_ns, *stop_ns;
    const int64_t *yields; /* a sum per rank */
    const int64_t *low;    /* of each observation: 1 where it is of the lower bound; NULL: none is */

    /* Of an op that counts: of rank r, observation k, counter c at [(r * count + k) * counters + c]. */
    const int64_t *counts;

    const struct probed *probed; /* what a look at the machine after it saw; NULL: there was none */

    /* Of a method with windows; NULL elsewhere. */
    const int64_t *target_ns; /* of each observation, in reference time */
    const int64_t *late;      /* like start_ns: 1 where that rank started late */
    int64_t window_ns;
    const struct spun *spun; /* of each rank: what its waits for the windows saw */

    /* Of a synchronised method; NULL elsewhere. */
    const struct sync_point *before; /* of each rank, around the chunk; one and the same: extrapolate */
    const struct sync_point *after;
    int64_t before_index, after_index;
};

/* Did any rank start observation k late? */
static inline bool chunk_late(const struct chunk *c, int64_t k)
{
    for (int r = 0; r < c->ranks && c->late; ++r)
        if (c->late[r * c->count + k])
            return true;
    return false;
}

/* What the ranks did in the phases of a chunk of observations: all sums over it. Of rank r, column c stands
 * at [r * columns + c]: ns of each phase, then calls of each, then the counters in the order of
 * phase_counters[]. */
struct phase_chunk {
    int64_t first, count;
    int ranks, phases, columns;
    const int64_t *values;
};

/* What is known when the observations begin. */
struct opening {
    int ranks, parts;        /* unit operations in a repetition */
    int64_t reps;            /* repetitions in an observation */
    int64_t warm_up_reps;    /* run before and left out */
    int64_t low_reps;        /* in one of the lower bound; 0: there are none */
    const char *report;      /* "root", "slowest", or "message": from rank 0 to rank 1 and back, by turns */
    int64_t start_ns;        /* now */
    double moved;            /* bytes, by a repetition */
    double work;             /* operations that it does; 0: they are not counted */
    const int64_t *partners; /* of each rank: whom it exchanges messages with; NULL: 0 and 1 do, or none */
    const struct path *path; /* what a method without a common clock watches; NULL elsewhere */
};

struct end {
    const char *status; /* "ok", "failed", "skipped" */
    const char *why;    /* NULL when ok */
    const char *flag;   /* SETTLED, UNSETTLED, TIME; NULL when nothing was observed */
    int64_t count, rejected, stop_ns;
    bool verified; /* the answers were checked before and after, and right */
};

struct sink {
    int (*point)(struct sink *sink, const struct point *point, const struct opening *opening);
    int (*chunk)(struct sink *sink, const struct point *point, const struct chunk *chunk);
    int (*phases)(struct sink *sink, const struct point *point, const struct phase_chunk *chunk);
    int (*sync)(struct sink *sink, const struct sync *sync);
    int (*end)(struct sink *sink, const struct point *point, const struct end *end);
};

/* Records as JSON Lines to a file, flushed one by one, so that a crash loses at most the line in flight. */
struct sink_jsonl;

/* `path` is opened for appending; NULL is stdout. ERR_SYSTEM. */
int sink_jsonl_open(const char *path, struct sink_jsonl **sink);
int sink_jsonl_close(struct sink_jsonl *sink);

/* The sink in it, and a whole document as one more line. */
struct sink *sink_jsonl_sink(struct sink_jsonl *sink);
int sink_jsonl_line(struct sink_jsonl *sink, const struct json *document);

#endif
