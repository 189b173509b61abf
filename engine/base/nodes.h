/* The memory of this host that belongs to groups of its CPUs (NUMA nodes). */
#ifndef BASE_NODES_H
#define BASE_NODES_H

#include "base/opt.h"

#include <sched.h>
#include <stddef.h>

/* The node of memory, from the CPUs that use it: any is the system's choice. */
enum node_choice { NODE_ANY, NODE_NEAR, NODE_FAR };
extern const char *const node_words[4];
#define NODE_PARAM                                                                                           \
    PARAM_WORDS("node",                                                                                      \
                "NUMA node of the buffers. any: the system's choice; near: that of the rank's CPUs; far: "   \
                "the farthest from them",                                                                    \
                node_words)

/* Choose a node with memory: that of these CPUs, or the one farthest from it, by the system's distances (the
 * lowest of several). `root` is put before the paths of the kernel's files: "" except in tests.
 * ERR_UNSUPPORTED and what to do, where there is no such node or the CPUs belong to several. */
int node_choose(const char *root, const cpu_set_t *cpus, enum node_choice choice, int *node);

/* Keep pages that have not been touched yet on the node that is chosen for the caller's CPUs; nothing for
 * NODE_ANY. ERR_UNSUPPORTED, also if the kernel refuses. */
int node_keep(enum node_choice choice, void *pages, size_t bytes);

#endif
