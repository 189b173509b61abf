/* What two ranks learn about their clocks by messages: the basis of all synchronisation algorithms. */
#ifndef SYNC_PAIR_H
#define SYNC_PAIR_H

#include "sync/sync.h"

enum { PAIR_KEPT = 32 };

/* Exchanges, on the side that asks. The partner read its clock after the question was sent and before the
 * answer came. So each exchange bounds the offset (local minus the partner's time) from both sides, without
 * any assumption; all exchanges together do so, up to the drift of the clocks meanwhile. */
struct clock_pair {
    double low, high;              /* tightest bounds of all exchanges */
    int64_t begin_ns, end_ns;      /* local time of the first question and of the last answer */
    int64_t count, since_shortest; /* exchanges; those after the one with the shortest round trip */
    double shortest_ns, middle;    /* that round trip, and the offset in the middle of its bounds */
    double last_ns;                /* the latest round trip */
    double round_trips[PAIR_KEPT]; /* the first ones */
};

/* The most that two clocks may drift apart: NTP slews a clock by 500 ppm at most, and quartz is some 50 ppm
 * off. A larger drift means that it is no clock. */
extern const double pair_most_drift;

/* No exchange yet. */
extern const struct clock_pair pair_none;
void pair_add(struct clock_pair *pair, int64_t sent_ns, int64_t stamp_ns, int64_t received_ns);

/* The middle of the tightest bounds; the local time at which it is true, because with drift one bound becomes
 * the tightest at the beginning and the other at the end; and its largest error then. */
double pair_offset(const struct clock_pair *pair);
int64_t pair_time(const struct clock_pair *pair);
double pair_bound(const struct clock_pair *pair, int64_t tick_ns);

/* The largest difference of two clocks that count as one. */
double pair_apart(const struct clock_pair *pair, int64_t tick_ns);

/* The part of the bound by which the offset may be off unseen. If round trips scatter, software is on the
 * way, which need not take as long in both directions: a third of the bound means that one way takes twice
 * the other. If they do not scatter, 0. */
double pair_unseen(const struct clock_pair *pair, int64_t tick_ns);

/* By how many ns the exchanges contradict each other beyond drift and tick; not positive if they do not. */
double pair_contradiction(const struct clock_pair *pair, int64_t tick_ns);

/* Exchange timestamps with an answering partner until they are enough. Contradictions become the sync's
 * doubt. */
int pair_ask(struct sync *sync, int partner, bool (*enough)(const struct sync *, const struct clock_pair *),
             struct clock_pair *pair);

/* Answer until the partner has enough, with my time converted by `map`. */
int pair_answer(const struct sync *sync, int partner, const struct clock_map *map);

/* Leader i + bit learns from leader i, for all i that are multiples of 2 * bit, top down, so that each has
 * learned before it teaches. `learn` asks so many `times`, then receives its parent's bound. */
int pair_climb_down(struct sync *sync, int me, int times, int (*learn)(struct sync *sync, int parent));
int pair_parent_bound(const struct sync *sync, int parent, double *bound_ns);

/* Note that I have learned how my clock differs from rank 0's, and the guaranteed bound. */
void sync_learned(struct sync *sync, struct clock_map map, double bound_ns);

#endif
