/* An exchange: the data that a rank sends to and receives from its neighbours, again and again, in many ways.
 *
 * Stencils and proxy applications use it. Buffers are the caller's. Between exchanges, received data may be
 * read, and data to send written. */
#ifndef COMM_EXCHANGE_MPI_H
#define COMM_EXCHANGE_MPI_H

#include "team/team.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What goes to one rank and what comes from one, often another: a shift. Between two ranks each tag is used
 * once each way, and links are in the same order on both: messages match by tag, edges of a graph by order.
 * For EXCHANGE_SENDRECV link i of all ranks belongs together, as the shifts of a grid do; else ranks may wait
 * for each other in a circle. */
struct exchange_link {
    int to, from; /* MPI_PROC_NULL: nobody */
    int tag;
    void *send, *recv;
    size_t send_bytes, recv_bytes;
};

enum exchange_back {
    EXCHANGE_NONBLOCKING, /* MPI_Irecv and MPI_Isend of all, MPI_Waitall */
    EXCHANGE_SENDRECV,    /* MPI_Sendrecv, link by link */
    EXCHANGE_PERSISTENT,  /* MPI_Startall, MPI_Waitall */
    EXCHANGE_NEIGHBOR,    /* MPI_Neighbor_alltoallv on a graph of the neighbours */
    EXCHANGE_NEIGHBORW,   /* MPI_Neighbor_alltoallw likewise, which has no limit of 2 GiB between buffers */
    EXCHANGE_PARTITIONED, /* MPI_Psend_init and MPI_Precv_init; all partitions are ready at once */
    EXCHANGE_FENCE,       /* MPI_Put into windows over the receive buffers; MPI_Win_fence before and after */
    EXCHANGE_PSCW,        /* likewise; MPI_Win_post, MPI_Win_start, MPI_Win_complete, MPI_Win_wait */
    EXCHANGE_LOCK,        /* likewise; MPI_Win_lock and MPI_Win_unlock, and empty messages as signals */
    EXCHANGE_FLUSH,       /* likewise; MPI_Win_flush, and empty messages; MPI_Win_lock_all once */
    EXCHANGE_BACKS
};

extern const char *const exchange_backs[EXCHANGE_BACKS + 1]; /* by name, up to NULL */
bool exchange_is_one_sided(enum exchange_back back);         /* does it put into windows? */

struct exchange_ask {
    const struct team *team;
    enum exchange_back back;
    int movers;     /* threads of each rank that move messages at once, each its own neighbours; 0 is 1 */
    bool apart;     /* each of them by its own window or communicator */
    int partitions; /* of a message; one whose bytes do not divide has the greatest common divisor */
    const char *op; /* for sentences */
    const char *param, *word; /* the user's choice: "back" and "fence" */
};

struct exchange;

/* Collective. `failed` is an earlier error of this rank, or 0. If any rank has one, or meets one here, none
 * communicates. Returns this rank's own error; 0 and *exchange NULL if only others have failed, which report
 * it. The links are copied. */
int exchange_open(const struct exchange_ask *ask, const struct exchange_link *links, size_t count, int failed,
                  struct exchange **exchange);
void exchange_close(struct exchange *exchange); /* NULL is fine */

/* `reps` exchanges, each whole. */
int exchange_run(struct exchange *exchange, int64_t reps);

/* The two halves of an exchange, with room for work in between. MPI_Sendrecv does all of it in the first. */
int exchange_start(struct exchange *exchange);
int exchange_finish(struct exchange *exchange);

#endif
