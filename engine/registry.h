/* Every op of this engine. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include "core/op.h"

/* The caller frees `ops`. ERR_NOMEM. */
int registry_ops(struct op **ops, size_t *count);

#endif
