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
};

/* `rows` of at most PHASES_MAX; NULL: none. */
void phases_open(struct phases *phases, const struct clock *clock, const struct phase *rows);
void phases_reset(struct phases *phases);

/* For an op's setup, on all ranks alike: nobody asked, and no record is to say that there was nothing. */
void phases_none(struct phases *phases);

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

#endif
