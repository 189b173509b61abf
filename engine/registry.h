/* Every op of this engine. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "core/op.h"
#include "ops/own/own.h"

struct registry {
    struct op *ops; /* ours, then those of the user's libraries */
    size_t count;
    struct own_libraries own;
};

/* `load` names libraries of ops, separated by ':'; NULL: none. What cannot be loaded is told there.
 * ERR_NOMEM. */
int registry_open(const char *load, struct registry *registry);
void registry_close(struct registry *registry);

/* What a process does that an op has started with that word; its exit code. Only an engine with MPI has such
 * ops. */
int registry_spawned(const char *word);

#endif
