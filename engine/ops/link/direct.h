/* One-sided links below MPI: rank 0 reads and writes memory of rank 1, by stores, UCX or libfabric. The ops
 * of all of them share their loops, data and checks. */
#ifndef OPS_LINK_DIRECT_H
#define OPS_LINK_DIRECT_H

#include "ops/common/blocks.h"
#include "ops/link/link.h"

/* A lane. A library's own begins with it. The window has the blocks, and a flag in a line behind them. */
struct direct {
    struct lane lane;
    struct blocks blocks;
    size_t flag_at; /* in the window */
    uint64_t told;  /* the last number of the flags */
    uint64_t added, first,
        fetched; /* of fetch_add: the value, what the number was at first, what came last */
    const struct direct_library *library;
};

/* A library. Places are those in the other rank's window. A call that fails leaves its words in lane.failed.
 */
struct direct_library {
    const char *prefix, *missing; /* missing: why this engine lacks it; NULL if it has it */
    size_t size;                  /* of its lane */
    const struct param *params;   /* of its own, up to NULL: they come first */
    void (*put)(struct direct *s, size_t to, const void *from, size_t bytes); /* may end later */
    void (*get)(struct direct *s, void *to, size_t from, size_t bytes);       /* may end later */
    uint64_t (*add)(struct direct *s, size_t to, uint64_t value);             /* what was there before */
    void (*tell)(struct direct *s, size_t to, const uint64_t *number); /* it leaves, though no call follows */
    void (*fence)(struct direct *s); /* later puts are not seen before earlier ones */
    void (*quiet)(struct direct *s); /* all that was begun is done at the other rank */
    void (*look)(struct direct *s);  /* while this rank waits, for others' calls may need it */
    int (*memory)(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **memory);
    int (*join)(struct lanes *lanes, const struct op_env *env, int err);
    void (*leave)(struct lanes *lanes);
    void (*describe_end)(const void *lanes, struct json *j);
};
extern const struct direct_library direct_shm, direct_ucx, direct_ofi;

/* The two ranks, for link_meet() and link_share(). */
struct link direct_ends(const struct lanes *lanes);
struct direct *direct_at(const struct lanes *lanes, int t);

#endif
