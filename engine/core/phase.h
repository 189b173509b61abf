/* Phases: where the time goes inside an op. An op that has some names them, and timestamps where each begins
 * and ends; what they took in each chunk of samples goes into a record.
 *
 * A stamp costs a reading of the launch's clock: for tens of phases in a repetition and not for millions. */
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

/* When a thread of an op of several began its own calls and when it was done with them, since its rank's
 * threads were told to begin. */
struct lane_time {
    int64_t start_ns, stop_ns;
};

/* What a rank has done in its phases since the last phases_reset(). Phases do not nest. */
struct phases {
    const struct clock *clock;
    const struct phase *rows;
    int count;
    int64_t ns[PHASES_MAX], calls[PHASES_MAX], began_ns;
    int64_t
        moved[PHASES_MAX];   /* bytes that computing had to read and write, each array once; 0: not counted */
    int64_t messages, bytes; /* that it has sent to other ranks, from point to point */
    int64_t collectives, collective_bytes; /* calls of collectives, and what it has given to them */
    int64_t memory;                        /* bytes that the op has allocated; not reset */
    struct lane_time *lanes; /* sums of each thread, of an op whose threads note their own; NULL elsewhere */
    int lane_count;
    int64_t lane_reps; /* that they are sums over; phases_reset() leaves all three */
};

/* `rows` of at most PHASES_MAX; NULL: none. */
void phases_open(struct phases *phases, const struct clock *clock, const struct phase *rows);
void phases_reset(struct phases *phases);

/* For an op's setup, on all ranks alike: nobody asked, and no record is to say that there was nothing. */
void phases_none(struct phases *phases);

/* For an op's setup, on all ranks alike: so many threads note their own times, too. ERR_NOMEM. phases_close()
 * frees what is kept of them; lanes_reset() forgets it. */
int phases_open_lanes(struct phases *phases, int count);
void lanes_reset(struct phases *phases);
void phases_close(struct phases *phases);

/* The same as columns: ns of each phase, calls of each, what each moved, and what phase_counters[] names.
 * Returns how many, at most PHASE_COLUMNS. */
enum { PHASE_COUNTERS = 6, PHASE_COLUMNS = 3 * PHASES_MAX + PHASE_COUNTERS };
extern const char *const phase_counters[PHASE_COUNTERS + 1];
int phases_columns(const struct phases *phases, int64_t columns[PHASE_COLUMNS]);

/* NULL: nobody asked, and nothing is stamped. What follows the end of a phase may be the next one, with no
 * other beginning. */
void phase_begin(struct phases *phases);
void phase_end(struct phases *phases, int phase);

/* Bytes that the data of a phase take, as STREAM counts: what a cache keeps, and what is read before it is
 * written, is no matter. */
void phase_moves(struct phases *phases, int phase, int64_t bytes);

/* The same for threads, each of which looks at the clock and leaves the stamp to one of them. */
int64_t phase_now(const struct phases *phases);
void phase_end_at(struct phases *phases, int phase, int64_t now_ns);

/* What each of `count` threads has read of phase_now() in a run of `reps` repetitions, before the first
 * phase_end_at() of it. */
void phase_add_lanes(struct phases *phases, const struct lane_time *now, int count, int64_t reps);

#endif
