/* What the calls of a layout say: messages between this rank and those that it calls or that call it.
 *
 * A call is one of the kinds below. A rank with one call that takes turns uses MPI_Send and MPI_Recv, all
 * else nonblocking messages; both may be ends of the same call. */
#ifndef OPS_MPI_MANY_TRAFFIC_H
#define OPS_MPI_MANY_TRAFFIC_H

#include "comm/who.h"

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
    TRAFFIC_KINDS
};

extern const char *const traffic_kinds[TRAFFIC_KINDS + 1]; /* by name, up to NULL */

struct traffic_ask {
    MPI_Comm comm;
    int rank, first; /* mine in the communicator; the one that is rank 0 of the layout */
    size_t bytes;    /* of a message */
    enum traffic_kind kind;
    int window, buffers;   /* of a window: messages in it, and buffers that it goes round in; at least 1 */
    struct buffers *store; /* of the buffers */
    const char *op;        /* for sentences */
};

struct traffic;

/* What this rank says to its peers. ERR_NOMEM, ERR_UNSUPPORTED; nothing is sent. */
int traffic_open(const struct traffic_ask *ask, const struct layout_peers *peers, struct traffic **traffic);
void traffic_close(struct traffic *traffic); /* NULL is fine */

/* `reps` times all calls of this rank. */
int traffic_run(struct traffic *traffic, int64_t reps);

/* Where messages go to and fro between this rank and one other: which, -1 for none; and this rank's side of
 * the next message, the lower rank sending the even ones. traffic_by_turns() says whether that is so. */
bool traffic_by_turns(const struct traffic *traffic);
int traffic_partner(const struct traffic *traffic);
int traffic_turn(struct traffic *traffic, int64_t message);

/* Before and after runs that are checked: fresh data and poison, or poison alone; flip a bit, where planted,
 * and look at each byte that this rank received, if it has received anything since. */
void traffic_fill(struct traffic *traffic);
void traffic_poison(struct traffic *traffic);
int traffic_check(struct traffic *traffic, bool planted);

/* Bytes that one call of a kind moves, both ways. */
double traffic_moved(enum traffic_kind kind, size_t bytes, int window);

#endif
