/* The messages of ranks of mpi.message_rate, and its forms. */
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
    char *send[RATE_SETS]; /* sent while messages arrive in the set of that number */
    MPI_Request *send_requests, *recv_requests[RATE_SETS];
    int sets, set;       /* of receives; the next one */
    int next[RATE_SETS]; /* the set after each, and the one before it */
    int (*post_sends)(struct rate *s, int peer);
    bool same;   /* one set is sent while messages arrive in the other */
    bool posted; /* the next set is pending */
    bool planted;
    int generation; /* of the data: each check has another one */
    int64_t moved;  /* repetitions since the last fresh data */
};

/* Send all messages to a peer: as they are, or each written before. MPI's code. */
int rate_send(struct rate *s, int peer);
int rate_write_and_send(struct rate *s, int peer);

/* Post all receives of a repetition. MPI's code. */
int rate_post_recvs(struct rate *s, int set);

/* `reps` repetitions of each form, and of a rank that has no part. */
int rate_single_send(struct rate *s, int64_t reps);
int rate_single_recv(struct rate *s, int64_t reps);
int rate_idle(struct rate *s, int64_t reps);
int rate_pairs(struct rate *s, int64_t reps);
int rate_preposted(struct rate *s, int64_t reps);
int rate_allstart(struct rate *s, int64_t reps);

#endif
