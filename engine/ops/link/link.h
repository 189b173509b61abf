/* What is under MPI: ranks 0 and 1 and a link between them that no library owns. What the ops of all links
 * share: buffers, the loops of a ping-pong and of a stream, how the two come to know each other. */
#ifndef OPS_LINK_LINK_H
#define OPS_LINK_LINK_H

#include "core/op.h"
#include "team/hosts.h"

#include <sys/types.h>

/* For a link's state the first member, so that a pointer to it is one to the whole. Ranks above 1 do nothing.
 */
struct link {
    const struct team *team;
    int rank, peer;
    size_t bytes, answer_bytes; /* of a message, and of the answer to a window */
    int window;                 /* messages that are answered by one; 0: a ping-pong */
    char *send, *recv;
    bool planted;
    int generation; /* of the data: that of one check is not that of another */

    /* Send or receive the next message, whole. */
    int (*put)(struct link *f, const void *data, size_t bytes);
    int (*get)(struct link *f, void *data, size_t bytes);
    /* Send `send`, or receive into `recv`, so many times. */
    int (*put_all)(struct link *f, int count);
    int (*get_all)(struct link *f, int count);
    /* Make sure that what was sent leaves although nothing else is called; NULL: it has left. */
    int (*settle)(struct link *f);
    int (*half)(struct link *f, int64_t reps); /* this rank's */
};

/* What a kind of link is made of. */
struct link_kind {
    size_t state_bytes; /* which are 0 at first, and begin with its struct link */
    int (*put)(struct link *f, const void *data, size_t bytes);
    int (*get)(struct link *f, void *data, size_t bytes);
    int (*put_all)(struct link *f, int count); /* NULL: one after the other */
    int (*get_all)(struct link *f, int count);
    int (*settle)(struct link *f);
    size_t answer_bytes; /* of the answer to a window */
    /* Connect ranks 0 and 1, who meet in it even when one of them comes with an error. */
    int (*connect)(void *state, const struct op_env *env, int err);
    void (*teardown)(void *state); /* also of a state that is not connected, or in part */
};

/* The state of an op: buffers, halves (of a stream where the op has a parameter `window`, else of a
 * ping-pong) and what connects them. ERR_NOMEM, and what connecting fails with. */
int link_setup(const struct link_kind *kind, const struct op_env *env, void **state);

/* Ranks 0 and 1 tell each other so many bytes; both fail when one of them comes with an error, and the one
 * that has none has no sentence either, so that the other's is reported. */
int link_meet(const struct link *f, int err, const void *mine, void *theirs, size_t bytes);

/* Where a rank is, as far as it matters to a link. */
struct link_seat {
    struct host host;
    ino_t net, processes; /* of the namespaces */
    pid_t pid;
};
void seat_read(const struct team *team, struct link_seat *seat);

/* Whether two ranks have one network; whether they can reach each other's memory and files. */
bool seat_same_network(const struct link_seat *a, const struct link_seat *b);
bool seat_same_host(const struct link_seat *a, const struct link_seat *b);

/* The sentence for two ranks that do not. ERR_UNSUPPORTED. */
int seat_refuse(const struct op_env *env);

/* A file that a rank of the same host has open, by its number there. ERR_UNSUPPORTED: the system forbids it.
 */
int seat_open_file(const struct link_seat *seat, int number, int flags, int *file);

/* Memory of both ranks, which rank 0 makes: zero at first. Both call it, with an `err` of their own so far.
 */
int link_share(const struct link *f, const struct op_env *env, int err, size_t bytes, void **memory);

/* What the ops of all links have in common; a stream is known by its parameter `window`. */
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
