/* What OpenSHMEM's ops between ranks 0 and 1 add to lanes: symmetric memory, and a context for each. */
#ifndef OPS_SHMEM_LANES_H
#define OPS_SHMEM_LANES_H

#include "ops/common/lanes.h"

#include <shmem.h>

struct shmem_lane {
    struct lane base;
    shmem_ctx_t ctx;
    bool owns_ctx, refused;
};

/* The words of the parameter `context`. */
extern const char *const shmem_contexts[5];
#define SHMEM_CONTEXT_PARAM                                                                                  \
    PARAM_WORDS(                                                                                             \
        "context",                                                                                           \
        "what calls are made on. default: the library's own; shared: one that all threads of a rank "        \
        "share; serialized, private: one of that kind for each thread",                                      \
        shmem_contexts)

/* Parts of a duty: its states begin with a struct shmem_lane. */
#define SHMEM_DUTY .memory = job_memory, .join = job_join, .leave = job_leave
int job_memory(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **memory);
int job_join(struct lanes *lanes, const struct op_env *env, int err);
void job_leave(struct lanes *lanes);

/* Their op, `shmem.NAME` or `shmem.mt.NAME`. */
struct op job_op(const char *name, bool threaded);

#endif
