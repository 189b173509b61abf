/* Every way to send a message and every way to receive one, behind two functions chosen at setup. */
#ifndef OPS_MPI_P2P_WAYS_H
#define OPS_MPI_P2P_WAYS_H

#include "ops/mpi/p2p/pair.h"

/* The words of the parameters `send` and `recv`, for PARAM_WORDS; the first of each is MPI_Send, MPI_Recv. */
extern const char *const ways_send_words[8], *const ways_recv_words[7];

struct ways {
    struct p2p_pair p;
    int (*send)(struct ways *s), (*recv)(struct ways *s); /* one message; MPI's code */
    char calls[64];                                       /* their names, for a sentence */
    MPI_Request send_request;                             /* persistent */
    MPI_Request recv_request[2];                          /* persistent; or the pending one of each buffer */
    bool ahead;                                           /* the next receive is pending, in buffer `next` */
    int next;
    void *attached; /* for MPI_Bsend */
};

/* ERR_INPUT if messages all go one way and need answers: `ahead`, a receive that was posted before, or the
 * buffer that is sent is that which receives. */
int ways_check_answers(const struct op_env *env, bool ahead);

/* Choose by the indices of the words. ERR_INPUT for a pair that MPI forbids. Call ways_close() after a
 * failure, too. */
int ways_open(struct ways *s, const struct op_env *env, int send, int recv, int match);
void ways_close(struct ways *s);

/* For buffer=written: write, then send. */
int ways_send_written(struct ways *s);

/* Rounds of an op whose state begins with this, and in whose repetitions each of the two ranks receives one
 * message. */
void ways_fill(void *state);
int ways_look(void *state);
void ways_poison(void *state);
int ways_verify(struct ways *s, const struct data_round *round);

#endif
