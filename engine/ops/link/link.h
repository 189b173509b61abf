/* Links below MPI: ranks 0 and 1 and a link between them without a library. The ops of all links share this:
 * buffers, the loops of a ping-pong and of a stream, and the set-up of the connection. */
#ifndef OPS_LINK_LINK_H
#define OPS_LINK_LINK_H

#include "core/op.h"
#include "team/hosts.h"

#include <sys/types.h>

/* The first member of a link's state, so that a pointer to it is one to the whole. Ranks above 1 do
 * nothing. */
struct link {
    const struct team *team;
    int rank, peer;
    size_t bytes, answer_bytes; /* of a message, and of the answer to a window */
    int window;                 /* messages per answer; 0: a ping-pong */
    char *send, *recv;
    bool planted;
    int generation; /* of the data: each check has another one */

    /* Send or receive the next message, whole. */
    int (*put)(struct link *f, const void *data, size_t bytes);
    int (*get)(struct link *f, void *data, size_t bytes);
    /* Send `send`, or receive into `recv`, so many times. */
    int (*put_all)(struct link *f, int count);
    int (*get_all)(struct link *f, int count);
    /* Make sure that sent data leave although nothing else is called; NULL: they have left. */
    int (*settle)(struct link *f);
    int (*half)(struct link *f, int64_t reps); /* this rank's */
};

/* The parts of a kind of link. */
struct link_kind {
    size_t state_bytes; /* zero at first; they begin with its struct link */
    int (*put)(struct link *f, const void *data, size_t bytes);
    int (*get)(struct link *f, void *data, size_t bytes);
    int (*put_all)(struct link *f, int count); /* NULL: one after the other */
    int (*get_all)(struct link *f, int count);
    int (*settle)(struct link *f);
    size_t answer_bytes; /* of the answer to a window */
    /* Connect ranks 0 and 1; both meet in it even if one of them has an error. */
    int (*connect)(void *state, const struct op_env *env, int err);
    void (*teardown)(void *state); /* also of a state that is connected in part, or not at all */
};

/* Make the state of an op: buffers, halves (of a stream if the op has a parameter `window`, else of a
 * ping-pong) and their connection. ERR_NOMEM, and errors of connecting. */
int link_setup(const struct link_kind *kind, const struct op_env *env, void **state);

/* Exchange so many bytes between ranks 0 and 1. Both fail if one of them has an error; the rank without one
 * has no sentence, so that the other's is reported. */
int link_meet(const struct link *f, int err, const void *mine, void *theirs, size_t bytes);

/* The place of a rank, as far as a link needs it. */
struct link_seat {
    struct host host;
    ino_t net, processes; /* of the namespaces */
    pid_t pid;
};
void seat_read(const struct team *team, struct link_seat *seat);

/* Do two ranks share one network; can they reach each other's memory and files? */
bool seat_same_network(const struct link_seat *a, const struct link_seat *b);
bool seat_same_host(const struct link_seat *a, const struct link_seat *b);

/* Write the sentence for two ranks that do not. ERR_UNSUPPORTED. */
int seat_refuse(const struct op_env *env);

/* Open a file that a rank of the same host has open, by its number there. ERR_UNSUPPORTED: the system forbids
 * it. */
int seat_open_file(const struct link_seat *seat, int number, int flags, int *file);

/* Make memory of both ranks, by rank 0: zero at first. Both call it, with their own `err` so far. */
int link_share(const struct link *f, const struct op_env *env, int err, size_t bytes, void **memory);

/* Fill in what the ops of all links share; a stream has a parameter `window`. */
void link_op(struct op *op, enum op_layer layer, int (*setup)(const struct op_env *env, void **state),
             void (*teardown)(void *state));

/* For a stream. */
#define LINK_WINDOW_PARAM                                                                                    \
    {.name = "window",                                                                                       \
     .unit = "",                                                                                             \
     .summary = "messages in flight, which rank 1 answers with one",                                         \
     .normal = 64,                                                                                           \
     .least = 1,                                                                                             \
     .most = 65536}

#endif
