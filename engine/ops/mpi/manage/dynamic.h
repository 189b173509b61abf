/* The work of a process that mpi.spawn has started. */
#ifndef OPS_MPI_MANAGE_DYNAMIC_H
#define OPS_MPI_MANAGE_DYNAMIC_H

#include <stdbool.h>

/* Begin; answer a message of each parent, if `greets`; end. Returns the process's exit code. */
int mpi_spawned(bool greets);

#endif
