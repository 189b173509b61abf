/* What the mpi.mt.* ops share. */
#ifndef OPS_MPI_MT_H
#define OPS_MPI_MT_H

#include "core/op.h"

/* Whether the threads of the op may call MPI at once. ERR_UNSUPPORTED and what to do; ERR_MPI. */
int mt_allowed(const struct op_env *env);

#endif
