/* Phases: the times of named parts of an op. The op names them, and timestamps where each begins and ends.
 * Their sums over each chunk of samples go into a record.
 *
 * A stamp costs a reading of the launch's clock: fine for tens of phases in a repetition, not for
 * millions. */
#ifndef CORE_PHASE_H
#define CORE_PHASE_H

#include "time/clock.h"

#include <stdbool.h>
#include <stdint.h>

enum { PHASES_MAX = 16 };

/* A row of an op's table of phases, which ends at a row without a name. */
struct phase {
    const char *name;
    bool communicates; /* its time counts as communication */
};

/* The begin and end of a thread's own calls, counted from the start of its rank's threads. */
struct lane_time {
    int64_t start_ns, stop_ns;
};

/* A rank's phases since the last phases_reset(). Phases do not nest. */
struct phases {
    const struct clock *clock;
    const struct phase *rows;
    int count;
    int64_t ns[PHASES_MAX], calls[PHASES_MAX], began_ns;
    int64_t
        moved[PHASES_MAX];   /* bytes that computing had to read and write, each array once; 0: not counted */
    int64_t messages, bytes; /* sent to other ranks, from point to point */
    int64_t collectives, collective_bytes; /* calls of collectives, and the bytes given to them */
    int64_t memory;                        /* bytes allocated by the op; not reset */
    struct lane_time *lanes; /* sums for each thread, if the op's threads note their own times; else NULL */
    int lane_count;
    int64_t lane_reps; /* repetitions in these sums; phases_reset() leaves all three */
};

/* `rows` of at most PHASES_MAX; NULL: none. */
void phases_open(struct phases *phases, const struct clock *clock, const struct phase *rows);
void phases_reset(struct phases *phases);

/* For an op's setup, on all ranks alike: phases are off, so no record says that there were none. */
void phases_none(struct phases *phases);

/* For an op's setup, on all ranks alike: so many threads note their own times, too. ERR_NOMEM. phases_close()
 * frees the memory; lanes_reset() clears it. */
int phases_open_lanes(struct phases *phases, int count);
void lanes_reset(struct phases *phases);
void phases_close(struct phases *phases);

/* The same as columns: ns of each phase, calls of each, what each moved, and what phase_counters[] names.
 * Returns how many, at most PHASE_COLUMNS. */
enum { PHASE_COUNTERS = 6, PHASE_COLUMNS = 3 * PHASES_MAX + PHASE_COUNTERS };
extern const char *const phase_counters[PHASE_COUNTERS + 1];
int phases_columns(const struct phases *phases, int64_t columns[PHASE_COLUMNS]);

/* NULL: phases are off, and nothing is stamped. The end of a phase may begin the next one. */
void phase_begin(struct phases *phases);
void phase_end(struct phases *phases, int phase);

/* Bytes of the data of a phase, as STREAM counts: caches, and lines read before they are written, do not
 * matter. */
void phase_moves(struct phases *phases, int phase, int64_t bytes);

/* The same for threads: each reads the clock, and one of them stamps. */
int64_t phase_now(const struct phases *phases);
void phase_end_at(struct phases *phases, int phase, int64_t now_ns);

/* Add the readings of phase_now() by each of `count` threads in a run of `reps` repetitions, before the run's
 * first phase_end_at(). */
void phase_add_lanes(struct phases *phases, const struct lane_time *now, int count, int64_t reps);

#endif
