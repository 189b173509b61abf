/* What a process does that mpi.spawn has started. */
#ifndef OPS_MPI_MANAGE_DYNAMIC_H
#define OPS_MPI_MANAGE_DYNAMIC_H

#include <stdbool.h>

/* Begin; answer a message of each parent, if they greet; end. The process's exit code. */
int mpi_spawned(bool greets);

#endif
