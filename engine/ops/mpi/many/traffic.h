/* The messages of a layout's calls: between this rank and those that it calls or that call it.
 *
 * A call is one of the kinds below. A rank with a single call that alternates uses MPI_Send and MPI_Recv, all
 * others but `sendrecv` use nonblocking messages; the two ends of a call may differ. */
#ifndef OPS_MPI_MANY_TRAFFIC_H
#define OPS_MPI_MANY_TRAFFIC_H

#include "comm/traffic_patterns.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum traffic_kind {
    TRAFFIC_PINGPONG, /* a message there, one back */
    TRAFFIC_SEND,     /* a message there, an empty answer */
    TRAFFIC_EXCHANGE, /* a message each way, at once */
    TRAFFIC_WINDOW,   /* a window of messages there, an empty answer */
    TRAFFIC_BIWINDOW, /* a window of messages each way, at once */
    TRAFFIC_SENDRECV, /* MPI_Sendrecv: a message there; none comes back */
    TRAFFIC_SERVED,   /* as a window, and each caller is answered as soon as its own messages have come */
    TRAFFIC_ISEND,    /* a message each way, at once, by MPI_Isend; then they are received by MPI_Recv */
    TRAFFIC_KINDS
};

extern const char *const traffic_kinds[TRAFFIC_KINDS + 1]; /* by name, up to NULL */

struct traffic_ask {
    MPI_Comm comm;
    int rank, first; /* mine in the communicator; the one that is rank 0 of the layout */
    size_t bytes;    /* of a message */
    enum traffic_kind kind;
    int window, buffers;   /* of a window: messages in it, and buffers that it uses in turn; at least 1 */
    struct buffers *store; /* of the buffers */
    const char *op;        /* for sentences */
};

struct traffic;

/* Open this rank's messages to its peers. ERR_NOMEM, ERR_UNSUPPORTED; nothing is sent. */
int traffic_open(const struct traffic_ask *ask, const struct layout_peers *peers, struct traffic **traffic);
void traffic_close(struct traffic *traffic); /* NULL is fine */

/* `reps` times all calls of this rank. */
int traffic_run(struct traffic *traffic, int64_t reps);

/* If messages alternate between this rank and one other: that rank, -1 for none; and this rank's side of the
 * next message, of which the lower rank sends the even ones. traffic_by_turns() says whether they do. */
bool traffic_by_turns(const struct traffic *traffic);
int traffic_partner(const struct traffic *traffic);
int traffic_turn(struct traffic *traffic, int64_t message);

/* Before and after checked runs: fresh data and poison, or only poison; flip a bit, if planted, and check
 * each byte that this rank received, if it has received anything since. */
void traffic_fill(struct traffic *traffic);
void traffic_poison(struct traffic *traffic);
int traffic_check(struct traffic *traffic, bool planted);

/* Bytes that one call of a kind moves, both ways. */
double traffic_moved(enum traffic_kind kind, size_t bytes, int window);

#endif
