/* One-sided ops between ranks 0 and 1, by several threads of each: lanes, their memory and the order of
 * checks. Rank 0 calls on memory of rank 1; if `both`, each calls on the other's. */
#ifndef OPS_COMMON_LANES_H
#define OPS_COMMON_LANES_H

#include "core/op.h"

/* The part of a thread of a rank; an op's own state begins with it. */
struct lane {
    int rank, peer, thread;
    bool acts;           /* it calls */
    bool is_target;      /* its window is read or written by the peer */
    bool planted;        /* a bit of what arrived is to be flipped */
    uint64_t generation; /* of the data: each check has another one, the same on both ranks */
    char *window;        /* memory of this thread that the other rank reaches */
    const char *failed;  /* what a library said of a call that failed; it calls no more; NULL: none did */
};

struct lanes;

/* An op's side of it. */
struct duty {
    size_t size; /* of its state of a thread */
    bool both;
    bool serves; /* a lane that does not act runs `loop`, too */
    /* Bytes of memory that a thread needs for the other rank to reach, a multiple of a cache line. ERR_INPUT,
     * on all ranks alike. */
    int (*plan)(const struct op_env *env, size_t *each);
    /* Get that memory for all threads. Called by all ranks, also with an error of their own so far: `err`, or
     * another one. */
    int (*memory)(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **memory);
    /* Take buffers. ERR_NOMEM. */
    int (*open)(struct lane *lane, const struct op_env *env);
    /* Connect all lanes, which are open; called as memory() is. */
    int (*join)(struct lanes *lanes, const struct op_env *env, int err);
    void (*loop)(struct lane *lane, int64_t reps);
    void (*fresh)(struct lane *lane); /* before a check: data of its generation */
    /* After so many repetitions since fresh(), checked on the ranks where something arrived. ERR_WRONG. */
    int (*check)(struct lane *lane, int64_t reps);
    void (*close)(struct lane *lane);   /* NULL: it has nothing to free */
    void (*leave)(struct lanes *lanes); /* before close(): gives back what memory() and join() have made */
};

struct lanes {
    const struct team *team;
    const struct duty *duty;
    int count;
    struct pool *pool; /* NULL: there is only the caller */
    char *states;      /* duty->size bytes each */
    void *shared;      /* what the op has once for all of them */
    int64_t reps;      /* of this run */
    int64_t moved;     /* repetitions since the data were renewed */
};

enum { LANE_LINE = 64 };

/* The number of bytes in whole cache lines, one at least. */
size_t lane_lines(size_t bytes);
struct lane *lane_at(const struct lanes *lanes, int t);

/* On each thread, for what is made there may belong to it. */
void lanes_on_threads(struct lanes *lanes, void (*work)(void *lanes, int t));

int lanes_setup(const struct op_env *env, const struct duty *duty, void **state);
int lanes_run(void *state, int64_t reps);
int lanes_verify(void *state);
int lanes_check(void *state);
void lanes_teardown(void *state);

/* What all of these ops have in common, with the name PREFIX.NAME, or PREFIX.mt.NAME, which takes several
 * threads. */
struct op lanes_op(const char *prefix, const char *name, bool threaded);

/* The value of a parameter; `absent` if the op has none of that name. */
double lanes_param(const struct op_env *env, const char *name, double absent);

#endif
