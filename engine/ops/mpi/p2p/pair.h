/* Ranks 0 and 1 and the buffers of their messages: what the ops of two ranks share. */
#ifndef OPS_MPI_P2P_PAIR_H
#define OPS_MPI_P2P_PAIR_H

#include "core/op.h"
#include "ops/common/data.h"

#include <mpi.h>

enum { P2P_TAG = 1 }; /* of the messages with data, or the first of theirs */

struct p2p_pair {
    MPI_Comm comm;
    int rank, peer;
    int label;     /* the tag of all messages: P2P_TAG, and the thread where several share the communicator */
    int from, tag; /* what a receive asks for: the peer and `label`, or any */
    int count;     /* the bytes of a message as MPI's int */
    size_t bytes, stride;
    int sends, recvs;  /* buffers, a stride apart; whole cache lines, so that none is in two of them */
    char *send, *recv; /* one and the same with DATA_SAME */
    enum data_state state;
    bool planted;
    int generation; /* of the data: that of one check is not that of another */
    int source;    /* whose data this rank receives: with DATA_SAME those of the lower rank come back to it */
    int64_t moved; /* repetitions, or messages that came, since data were fresh or what came was poisoned */
};

/* What a receive asks for: the words of a parameter `match`. */
extern const char *const p2p_matches[5];
void p2p_match(struct p2p_pair *p, int word);

/* A size as MPI's int. ERR_UNSUPPORTED, and which ops have larger messages. */
int p2p_count(const struct op_env *env, int *count);

/* This rank with so many buffers each way and a peer, in the state that the parameter `buffer` says, if there
 * is one. */
int p2p_open_to(struct p2p_pair *p, const struct op_env *env, int peer, int sends, int recvs);

/* Ranks 0 and 1; the others have no buffers. p2p_open_large() sets no count, for calls that take a size of
 * any length. */
int p2p_open(struct p2p_pair *p, const struct op_env *env, int sends, int recvs);
int p2p_open_large(struct p2p_pair *p, const struct op_env *env, int sends, int recvs);

/* Fresh data for the peer in every buffer; poison where data are to arrive, which no pending receive may
 * have. With DATA_SAME only the lower rank has data, which both send; the other's are to be poisoned. */
void p2p_fill(struct p2p_pair *p);
void p2p_poison(struct p2p_pair *p, int buffer);
void p2p_poison_all(struct p2p_pair *p);

/* Where what was received is what is sent next, at the same time both ways: whose it is after `moved`. */
void p2p_follow(struct p2p_pair *p);

/* What buffer b holds in this generation, for data_check(): for both ranks the same number. */
int p2p_number(const struct p2p_pair *p, int b);

/* The first `used` buffers hold what the peer filled in, or one of them does. */
int p2p_check(const struct p2p_pair *p, int used);
int p2p_check_one(const struct p2p_pair *p, int buffer, int sent);

/* What an op of two ranks has in common with the others. */
void p2p_op(struct op *op);

#endif
