/* Does a library of operations fit this engine? */
#ifndef OPS_OWN_FIT_H
#define OPS_OWN_FIT_H

#include "core/op.h"
#include "ops/own/own.h"
#include "public/steelyard/op.h"

#include <stddef.h>

/* Where it is to be loaded: the MPI of the engine, its own ops, and the libraries loaded before. */
struct own_place {
    const char *mpi;
    const struct op *ours;
    size_t our_count;
    const struct own_libraries *before;
};

/* ERR_INPUT: it does not, and the sentence says what to do. */
int own_fits(const char *path, const struct steelyard_library *library, const struct own_place *place);

#endif
