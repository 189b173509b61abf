/* Ranks 0 and 1 and the buffers of their messages: what the ops of two ranks share. */
#ifndef OPS_MPI_P2P_PAIR_H
#define OPS_MPI_P2P_PAIR_H

#include "core/op.h"

#include <mpi.h>

enum { P2P_TAG = 1 }; /* of the messages with data, or the first of theirs */

struct p2p_pair {
    MPI_Comm comm;
    int rank, peer;
    int label;     /* the tag of all messages: P2P_TAG, and the thread where several share the communicator */
    int from, tag; /* what a receive asks for: the peer and `label`, or any */
    int count;     /* the bytes of a message as MPI's int */
    size_t bytes, stride;
    int sends, recvs; /* buffers, a stride apart; whole cache lines, so that none is in two of them */
    char *send, *recv;
    bool planted;
    int generation; /* of the data: that of one check is not that of another */
};

/* What a receive asks for: the words of a parameter `match`. */
extern const char *const p2p_matches[5];
void p2p_match(struct p2p_pair *p, int word);

/* A size as MPI's int. ERR_UNSUPPORTED, and which ops have larger messages. */
int p2p_count(const struct op_env *env, int *count);

/* This rank with so many buffers each way and a peer. */
int p2p_open_to(struct p2p_pair *p, const struct op_env *env, int peer, int sends, int recvs);

/* Ranks 0 and 1; the others have no buffers. p2p_open_large() sets no count, for calls that take a size of
 * any length. */
int p2p_open(struct p2p_pair *p, const struct op_env *env, int sends, int recvs);
int p2p_open_large(struct p2p_pair *p, const struct op_env *env, int sends, int recvs);

/* Fresh data for the peer in every buffer; poison where data are to arrive, which no pending receive may
 * have. */
void p2p_fill(struct p2p_pair *p);
void p2p_poison(struct p2p_pair *p, int buffer);

/* The first `used` buffers hold what the peer filled in, or one of them does. */
int p2p_check(const struct p2p_pair *p, int used);
int p2p_check_one(const struct p2p_pair *p, int buffer, int sent);

/* What an op of two ranks has in common with the others. */
void p2p_op(struct op *op);

#endif
