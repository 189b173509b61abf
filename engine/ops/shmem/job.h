/* What ops between ranks 0 and 1 share: threads, contexts, memory and the order of checks. Rank 0 calls on
 * symmetric memory of rank 1; if `both`, each calls on the other's. */
#ifndef OPS_SHMEM_JOB_H
#define OPS_SHMEM_JOB_H

#include "core/op.h"

#include <shmem.h>

/* The part of a thread of a rank; an op's own state begins with it. */
struct lane {
    shmem_ctx_t ctx;
    int rank, peer, thread;
    bool acts;           /* it calls */
    bool is_target;      /* its window is read or written by the peer */
    bool planted;        /* a bit of what arrived is to be flipped */
    uint64_t generation; /* of the data: each check has another one, the same on both ranks */
    char *window;        /* symmetric memory of this thread */
    bool owns_ctx, refused;
};

/* An op's side of it. */
struct duty {
    size_t size; /* of its state of a thread */
    bool both;
    /* Bytes of symmetric memory that a thread needs, a multiple of a cache line. ERR_INPUT, on all ranks
     * alike. */
    int (*plan)(const struct op_env *env, size_t *symmetric);
    /* Take buffers. ERR_NOMEM. */
    int (*open)(struct lane *lane, const struct op_env *env);
    void (*loop)(struct lane *lane, int64_t reps);
    void (*fresh)(struct lane *lane); /* before a check: data of its generation */
    /* After so many repetitions since fresh(), checked on the ranks where something arrived. ERR_WRONG. */
    int (*check)(struct lane *lane, int64_t reps);
    void (*close)(struct lane *lane); /* NULL: it has nothing to free */
};

enum { SHMEM_LINE = 64 };

/* The words of the parameter `context`. */
extern const char *const shmem_contexts[5];
#define SHMEM_CONTEXT_PARAM                                                                                  \
    PARAM_WORDS(                                                                                             \
        "context",                                                                                           \
        "what calls are made on. default: the library's own; shared: one that all threads of a rank "        \
        "share; serialized, private: one of that kind for each thread",                                      \
        shmem_contexts)

int job_setup(const struct op_env *env, const struct duty *duty, void **state);
int job_run(void *state, int64_t reps);
int job_verify(void *state);
int job_check(void *state);
void job_teardown(void *state);

/* What all of these ops have in common, with the name `shmem.NAME`, or `shmem.mt.NAME`, which takes several
 * threads. */
struct op job_op(const char *name, bool threaded);

/* The value of a parameter; `absent` if the op has none of that name. */
double job_param(const struct op_env *env, const char *name, double absent);

#endif
