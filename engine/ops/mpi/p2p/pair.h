/* Ranks 0 and 1 and the buffers of their messages: what the ops of two ranks share. */
#ifndef OPS_MPI_P2P_PAIR_H
#define OPS_MPI_P2P_PAIR_H

#include "core/op.h"
#include "ops/common/data.h"

#include <mpi.h>

enum { P2P_TAG = 1 }; /* of the messages with data, or the first of their tags */

struct p2p_pair {
    MPI_Comm comm;
    int rank, other; /* in the team: this one and whom it talks to */
    int peer;        /* `other` in `comm`, where its thread may be a rank */
    int label;       /* the tag of all messages: P2P_TAG, and the thread if several share the communicator */
    int from, tag;   /* the arguments of a receive: the peer and `label`, or any */
    int count;       /* the bytes of a message as MPI's int */
    size_t bytes, stride;
    int sends, recvs;  /* buffers, a stride apart; whole cache lines, so that no line is in two of them */
    char *send, *recv; /* the same buffer with DATA_SAME */
    enum data_state state;
    bool planted;
    int generation; /* of the data: each check has another one */
    int source;     /* the rank whose data this rank receives: with DATA_SAME those of the lower rank come
                       back to it */
    int64_t moved;  /* repetitions, or received messages, since fresh data or poison */
};

/* The choices of a receive: the words of a parameter `match`. */
extern const char *const p2p_matches[5];
void p2p_match(struct p2p_pair *p, int word);

/* A size as MPI's int. ERR_UNSUPPORTED, and which ops have larger messages. */
int p2p_count(const struct op_env *env, int *count);

/* Open this rank's buffers, so many each way, and a peer, in the state of the parameter `buffer`, if there is
 * one. */
int p2p_open_to(struct p2p_pair *p, const struct op_env *env, int peer, int sends, int recvs);

/* Ranks 0 and 1; the others have no buffers. p2p_open_large() sets no count, for calls with sizes of any
 * length. */
int p2p_open(struct p2p_pair *p, const struct op_env *env, int sends, int recvs);
int p2p_open_large(struct p2p_pair *p, const struct op_env *env, int sends, int recvs);

/* Fill in fresh data for the peer in every buffer, and poison where data will arrive, which no pending
 * receive may have. With DATA_SAME only the lower rank has data, which both send; the other's are
 * poisoned. */
void p2p_fill(struct p2p_pair *p);
void p2p_poison(struct p2p_pair *p, int buffer);
void p2p_poison_all(struct p2p_pair *p);

/* If received data are sent next, at the same time both ways: whose they are after `moved`. */
void p2p_follow(struct p2p_pair *p);

/* The contents of buffer b in this generation, for data_check(): for both ranks the same number. */
int p2p_number(const struct p2p_pair *p, int b);

/* Check that the first `used` buffers, or one of them, hold the peer's data. */
int p2p_check(const struct p2p_pair *p, int used);
int p2p_check_one(const struct p2p_pair *p, int buffer, int sent);

/* Fill in what ops of two ranks share. */
void p2p_op(struct op *op);

#endif
