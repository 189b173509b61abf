/* Clock synchronisation: every rank learns how its clock differs from rank 0's, and the error of that. */
#ifndef SYNC_SYNC_H
#define SYNC_SYNC_H

#include "base/err.h"
#include "team/team.h"
#include "time/clock.h"
#include "time/map.h"

#include <stdbool.h>
#include <stdint.h>

struct json;

/* The result of one synchronisation for one rank. */
struct sync_point {
    struct clock_map map;
    double error_ns; /* stated: from the closure, or `bound_ns` if paths may be asymmetric */
    double bound_ns; /* guaranteed on any paths: half the round trips on the path to rank 0 */
    int64_t true_ns; /* in tests with skewed clocks: the true time of map.at_ns */
};

/* Over ranks: the two largest of each, the larger first, because a latency is between two ranks. */
struct sync_worst {
    double error_ns[2], bound_ns[2];
    double least_drift, most_drift; /* per ns */
};

struct sync {
    const struct sync_algorithm *algorithm;
    bool asymmetric; /* paths may take longer one way than back: only the bound is stated */
    const struct team *team;
    const struct clock *clock;
    int *leaders; /* ranks that synchronise, ascending, rank 0 first: one for each clock domain */
    int leader_count;
    int *led;                  /* on the lowest rank of a host: the leader of each of its ranks */
    int leader;                /* the rank whose clock is mine; myself if I am one */
    double domain_bound_ns;    /* by how much its clock and mine may differ unseen; 0: I lead */
    struct sync_point mine;    /* the latest */
    bool keeps_all;            /* every rank's point goes to rank 0 */
    bool keeps_worst;          /* only the worst of any rank goes to rank 0 */
    struct sync_point *all;    /* on rank 0, if they are kept: the latest of every rank */
    struct sync_worst worst;   /* on rank 0, if it is kept: of the latest */
    int64_t begin_ns, cost_ns; /* of the latest; the cost on rank 0 */
    double unseen_ns;          /* of the latest: the error that the worst of this rank's pairs may hide */
    int64_t count;             /* so far, without refused ones */
    char doubt[ERR_TEXT_MAX];  /* why my clock and another cannot be related; "" if they can */
    struct clock_map anchor;   /* `tree`: where the base line of the drift begins */
    enum sync_history { SYNC_NEW, SYNC_ANCHORED, SYNC_DRIFT_KNOWN } history;
    double shortest_ns; /* `skampi`: round trip to rank 0 so far; 0: there was none */
};

/* How leaders learn their clocks from each other: rows of a table, the first is the default. */
struct sync_algorithm {
    const char *name, *summary;

    /* Give every leader its map and its bound, by sync_learned(). Collective over the leaders, when all have
     * come; `me` is my index among them. */
    int (*learn)(struct sync *sync, int me);

    int64_t base_line_ns; /* if drifts come from earlier synchronisations: how long before the first block
                             one is needed; 0: they do not */
};

extern const struct sync_algorithm *const sync_algorithms[]; /* up to NULL */

/* Set the algorithm (NULL: the default) and whether paths are "symmetric" (NULL) or "asymmetric", before
 * sync_open(). ERR_INPUT. */
int sync_choose(struct sync *sync, const char *algorithm, const char *paths);

/* Find the clock domains and synchronise, twice if the algorithm needs it. Collective. ERR_NOMEM, ERR_MPI;
 * ERR_CLOCK as sync_take(), which may then be tried. */
int sync_open(struct sync *sync, const struct team *team, const struct clock *clock);
void sync_close(struct sync *sync);

/* Synchronise once more. Collective. ERR_MPI; ERR_CLOCK, on all ranks, if clocks cannot be related: the ranks
 * that saw it have the sentence, the others an empty one. */
int sync_take(struct sync *sync);

/* The names: "sync_algorithms". */
void sync_describe(struct json *j);

extern const struct sync_algorithm sync_tree, sync_skampi, sync_netgauge, sync_hca3;

#endif
