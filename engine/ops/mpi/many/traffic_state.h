/* What traffic.c prepares and traffic_calls.c runs. */
#ifndef OPS_MPI_MANY_TRAFFIC_STATE_H
#define OPS_MPI_MANY_TRAFFIC_STATE_H

#include "ops/mpi/many/traffic.h"

/* The properties of a kind of traffic. */
struct traffic_row {
    bool windowed; /* a window of messages instead of one */
    bool at_once;  /* messages back do not wait for those that arrive */
    bool answered; /* the message back is empty */
    bool one_way;  /* there is no message back */
    bool served;   /* callers are answered one by one */
    bool waits;    /* messages are received one after the other, when all have been sent */
};

extern const struct traffic_row traffic_rows[TRAFFIC_KINDS];

struct message {
    void *data;
    int count, peer, tag;
};

/* Messages in flight at once, all complete before the next phase. */
struct traffic_phase {
    struct message *recv, *send;
    int recvs, sends;
};

/* The buffers of one direction: `buffers` for each peer, one after the other. */
struct slab {
    char *data;
    int *peers, *tags; /* the peer and the tag of each group of buffers */
    int groups;
};

struct traffic {
    MPI_Comm comm;
    int rank, buffers, window;
    size_t bytes, stride; /* of a buffer, rounded up to whole cache lines */
    struct slab out, in;
    struct traffic_phase phases[2]; /* traffic that goes both ways at once has only one */
    MPI_Request *requests;
    int *ended, *left; /* of served calls: receives that have ended; messages that each caller still owes */
    struct message single[2]; /* for a rank with one call: the message there and the one back */
    int (*run)(struct traffic *t, int64_t reps);
    int generation; /* number of the check, which the data depend on */
    bool came;      /* a message has arrived since the receive buffers were poisoned */
};

/* Choose the calls by which the messages of a rank are exchanged. */
void traffic_choose(struct traffic *t, const struct layout_peers *peers, enum traffic_kind kind);

#endif
