/* Shared by the back ends of an exchange: exchange_mpi.c has those of messages and of collectives,
 * exchange_rma_mpi.c those of windows. */
#ifndef COMM_EXCHANGE_OWN_MPI_H
#define COMM_EXCHANGE_OWN_MPI_H

#include "comm/exchange_mpi.h"

#include <mpi.h>
#include <stdbool.h>

/* One direction of a link that has a partner, in MPI's terms. */
struct half {
    void *data;
    int count, peer, tag;
    int partitions;
};

struct exchange;

struct back {
    const char *calls; /* for sentences */
    const char *missing;
    int (*prepare)(struct exchange *x); /* on this rank alone; NULL: nothing to do */
    int (*connect)(struct exchange *x); /* when all ranks have prepared */
    int (*start)(const struct exchange *x);
    int (*finish)(const struct exchange *x);
    int (*whole)(const struct exchange *x);
};

/* The arguments of a neighbourhood collective: counts, displacements from the lowest buffer, and for
 * alltoallw the same again in its types. */
struct sides {
    int *peers, *counts, *offsets;
    MPI_Aint *far_offsets;
    MPI_Datatype *types;
    char *base;
};

struct remote; /* of the back ends of windows */

/* Consecutive things. */
struct part {
    int first, count;
};

struct exchange {
    const struct back *back;
    MPI_Comm comm, graph;
    struct exchange_link *links; /* for MPI_Sendrecv, which wants both ends */
    size_t count;
    struct half *out, *in;
    int outs, ins;
    MPI_Request *requests; /* of the ins, then of the outs */
    int requested;         /* to be freed */
    struct sides send, recv;
    struct remote *remote;
    struct exchange **lanes; /* those of several movers; then there is nothing else */
    int lane_count;
    int movers;    /* of one window: threads that put */
    bool own_comm; /* then we must free it */
};

extern const struct back exchange_fence, exchange_pscw, exchange_lock, exchange_flush;
void exchange_remote_close(struct exchange *x); /* collective; nothing if there is none */

/* movers_mpi.c: x->lanes, as exchange_open(). */
int movers_open(struct exchange *x, const struct exchange_ask *ask, const struct exchange_link *links,
                size_t count, int failed);
void movers_close(struct exchange *x);
int movers_start(const struct exchange *x);
int movers_finish(const struct exchange *x);
int movers_whole(const struct exchange *x);

/* Run `part` in each of several threads; an error of one of them, or MPI_SUCCESS. */
int movers_run(int movers, int (*part)(const void *of, int mover), const void *of);

/* The movers of one of several messages: one, or several if there are fewer messages than movers. Several cut
 * it into as many pieces: piece k begins at mover_cut(), and the last one ends there. */
struct part movers_of(int movers, int messages, int message, size_t bytes);
size_t mover_cut(size_t bytes, int pieces, int piece);

#endif
