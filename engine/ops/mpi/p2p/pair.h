/* Ranks 0 and 1 and the buffers of their messages: what the ops of two ranks share. */
#ifndef OPS_MPI_P2P_PAIR_H
#define OPS_MPI_P2P_PAIR_H

#include "core/op.h"

#include <mpi.h>

enum { P2P_TAG = 1 }; /* of the messages with data, or the first of theirs */

/* What happens to the buffer of a message from one to the next: the words of the parameter `buffer`. */
enum p2p_state {
    P2P_APART,  /* written once; what comes lies in another buffer */
    P2P_SAME,   /* what came is what is sent */
    P2P_WRITTEN /* as apart, and the sender writes it again before each send */
};
extern const char *const p2p_states[4];
#define P2P_STATE_PARAM                                                                                      \
    PARAM_WORDS("buffer",                                                                                    \
                "what is sent. apart: a buffer written once, another one receives; same: what was received " \
                "is what is sent; written: the sender writes it again before each send",                     \
                p2p_states)

struct p2p_pair {
    MPI_Comm comm;
    int rank, peer;
    int label;     /* the tag of all messages: P2P_TAG, and the thread where several share the communicator */
    int from, tag; /* what a receive asks for: the peer and `label`, or any */
    int count;     /* the bytes of a message as MPI's int */
    size_t bytes, stride;
    int sends, recvs;  /* buffers, a stride apart; whole cache lines, so that none is in two of them */
    char *send, *recv; /* one and the same with P2P_SAME */
    enum p2p_state state;
    bool planted;
    int generation; /* of the data: that of one check is not that of another */
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
 * have. With P2P_SAME only the lower rank has data, which both send; the other's are to be poisoned. */
void p2p_fill(struct p2p_pair *p);
void p2p_poison(struct p2p_pair *p, int buffer);

/* Write every byte of the first buffer that is sent, with the value that it has: the lines become this core's
 * own, and what is checked stays what it is. */
void p2p_write(const struct p2p_pair *p);

/* The first `used` buffers hold what the peer filled in, or one of them does. */
int p2p_check(const struct p2p_pair *p, int used);
int p2p_check_one(const struct p2p_pair *p, int buffer, int sent);

/* What an op of two ranks has in common with the others. */
void p2p_op(struct op *op);

#endif
