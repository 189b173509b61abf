/* What ranks of mpi.message_rate send to each other, and its forms. */
#ifndef OPS_MPI_P2P_RATE_H
#define OPS_MPI_P2P_RATE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RATE_SETS = 2 };

struct rate {
    MPI_Comm comm;
    int rank, size, peers, messages, count;
    size_t bytes, stride;
    int sends, recvs; /* messages of this rank in a repetition */
    int *to, *from;   /* peers */
    int (*all)(struct rate *s, int64_t reps);
    char *recv[RATE_SETS]; /* a buffer for each message */
    char *send[RATE_SETS]; /* what is sent while messages come to the set of that number */
    MPI_Request *send_requests, *recv_requests[RATE_SETS];
    int sets, set;       /* of receives; the one that comes next */
    int next[RATE_SETS]; /* the set after each, and the one before it */
    int (*post_sends)(struct rate *s, int peer);
    bool same;   /* one set is sent while messages come to the other */
    bool posted; /* the set that comes next is pending */
    bool planted;
    int generation; /* of the data: that of one check is not that of another */
    int64_t moved;  /* repetitions since data were fresh */
};

/* A way to send all messages to a peer: as they are, or each written before. MPI's code. */
int rate_send(struct rate *s, int peer);
int rate_write_and_send(struct rate *s, int peer);

/* All receives of a repetition. MPI's code. */
int rate_post_recvs(struct rate *s, int set);

/* `reps` repetitions of each form, and of a rank that has nothing to do. */
int rate_single_send(struct rate *s, int64_t reps);
int rate_single_recv(struct rate *s, int64_t reps);
int rate_idle(struct rate *s, int64_t reps);
int rate_pairs(struct rate *s, int64_t reps);
int rate_preposted(struct rate *s, int64_t reps);
int rate_allstart(struct rate *s, int64_t reps);

#endif
