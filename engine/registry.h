/* Every op of this engine. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "core/op.h"

/* The caller frees `ops`. ERR_NOMEM. */
int registry_ops(struct op **ops, size_t *count);

/* What a process does that an op has started with that word; its exit code. Only an engine with MPI has such
 * ops. */
int registry_spawned(const char *word);

#endif
