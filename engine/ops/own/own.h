/* Operations out of shared libraries of the user: public/steelyard/op.h. */
#ifndef OPS_OWN_OWN_H
#define OPS_OWN_OWN_H

#include "base/err.h"
#include "core/op.h"

#include <stddef.h>

/* A library that was asked for. */
struct own_library {
    char *path;
    char why[ERR_TEXT_MAX]; /* it was not loaded; "": it was */
    struct op *ops;
    size_t count;
    struct own_op *own; /* what the ops are made of, one for each */
};

struct own_libraries {
    struct own_library *rows;
    size_t count;
};

/* Load what `paths` names, separated by ':'; NULL: nothing. `mpi` is what this engine was compiled for, "":
 * no MPI; a library whose family one of `ours` has is not loaded, nor one whose struct does not fit.
 * ERR_NOMEM. The code of a library stays until the process ends. */
int own_load(const char *paths, const char *mpi, const struct op *ours, size_t our_count,
             struct own_libraries *libraries);
void own_close(struct own_libraries *libraries);

/* Raise the sentence of the first that was not loaded. ERR_INPUT. */
int own_expect(const struct own_libraries *libraries);

/* "not_loaded": [{"library", "why"}, ...]. */
void own_describe(const struct own_libraries *libraries, struct json *j);

#endif
