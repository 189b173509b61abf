/* One-sided calls among many ranks: each rank calls some and is called by some, by a layout. A link goes from
 * one rank to another: a struct rma at either end, with its own places in the window of the called rank. One
 * window spans all ranks. */
#ifndef OPS_MPI_ONESIDED_MANY_H
#define OPS_MPI_ONESIDED_MANY_H

#include "comm/traffic_patterns.h"
#include "ops/mpi/onesided/rma.h"

struct many {
    struct rma whole; /* this rank's part in epochs of all its links, and the window of all */
    struct rma *links;
    int outs, ins; /* the links on which it calls stand first, then those on which it is called */
    struct rma **targets;
    int target_count; /* a link to each rank that it calls, ranks ascending: locks that all take in one
                         order cannot deadlock */
    int (*loop)(struct many *m, int64_t reps);
    int64_t moved; /* repetitions since the last fresh data */
};

/* ---- who calls whom (links.c) ---- */

/* The ranks that this rank calls, and those that call it, by the parameter `who` or `neighbours`;
 * layout_free() frees them. ERR_NOMEM. */
int rma_many_peers(const struct op_env *env, struct layout_peers *peers);

/* The number of links of all ranks: each rank calls on some of them. */
double rma_many_links(const struct op_env *env);

/* Open all links, in the given room. Collective. ERR_INPUT, ERR_UNSUPPORTED, ERR_NOMEM. */
int rma_many_open(struct many *m, const struct op_env *env, const struct layout_peers *peers);

/* ---- an op's life (many_ranks.c) ---- */

int rma_many_setup(const struct op_env *env, const struct rma_call *call, void **state);
int rma_many_run(void *state, int64_t reps);
int rma_many_verify(void *state);
int rma_many_check_moved(void *state);
void rma_many_describe_end(const void *state, struct json *j);
void rma_many_teardown(void *state);

#endif
