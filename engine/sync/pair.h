/* What two ranks learn of their clocks by messages: what all algorithms of synchronisation are made of. */
#ifndef SYNC_PAIR_H
#define SYNC_PAIR_H

#include "sync/sync.h"

enum { PAIR_KEPT = 32 };

/* For exchanges, on the side that asks. The partner read its clock after the question was sent and before the
 * answer came, so that each exchange bounds the offset (local minus the partner's time) from both sides,
 * without any assumption; all of them do so together, but for what the clocks drift meanwhile. */
struct clock_pair {
    double low, high;              /* tightest bounds of all exchanges */
    int64_t begin_ns, end_ns;      /* local time of the first question and of the last answer */
    int64_t count, since_shortest; /* exchanges; those after the one with the shortest round trip */
    double shortest_ns, middle;    /* that round trip, and the offset in the middle of its bounds */
    double last_ns;                /* the latest round trip */
    double round_trips[PAIR_KEPT]; /* the first ones */
};

/* What two clocks may drift apart: NTP slews a clock by 500 ppm at most, and quartz is some 50 ppm off. What
 * is more is no clock. */
extern const double pair_most_drift;

/* No exchange yet; one more. */
extern const struct clock_pair pair_none;
void pair_add(struct clock_pair *pair, int64_t sent_ns, int64_t stamp_ns, int64_t received_ns);

/* The middle of the tightest bounds; when it is true, in local time: as the clocks drift, one bound becomes
 * the tightest at the beginning and the other at the end; and by how much it can be wrong then, at most. */
double pair_offset(const struct clock_pair *pair);
int64_t pair_time(const struct clock_pair *pair);
double pair_bound(const struct clock_pair *pair, int64_t tick_ns);

/* By how much two clocks can differ, at most, that are taken for one. */
double pair_apart(const struct clock_pair *pair, int64_t tick_ns);

/* What of the bound the offset may be off by unseen. Where round trips scatter there is software on the way,
 * which need not take as long in one direction as in the other: a third of the bound is one way that takes
 * twice the other. Where they do not, nothing. */
double pair_unseen(const struct clock_pair *pair, int64_t tick_ns);

/* By how many ns the exchanges contradict each other beyond drift and tick; not positive when they do not. */
double pair_contradiction(const struct clock_pair *pair, int64_t tick_ns);

/* Exchange timestamps with a partner that answers, until there are enough of them. Contradictions become the
 * sync's doubt. */
int pair_ask(struct sync *sync, int partner, bool (*enough)(const struct sync *, const struct clock_pair *),
             struct clock_pair *pair);

/* Answer until the partner has enough: with my time as `map` makes it of my clock. */
int pair_answer(const struct sync *sync, int partner, const struct clock_map *map);

/* Leader i + bit learns from leader i, for all i that are multiples of 2 * bit, top down: whoever teaches has
 * learned before. `learn` asks so many `times`, then receives its parent's bound. */
int pair_climb_down(struct sync *sync, int me, int times, int (*learn)(struct sync *sync, int parent));
int pair_parent_bound(const struct sync *sync, int parent, double *bound_ns);

/* I have learned how my clock differs from rank 0's, and what is certain of it. */
void sync_learned(struct sync *sync, struct clock_map map, double bound_ns);

#endif
