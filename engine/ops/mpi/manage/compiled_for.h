/* The MPI that this engine was compiled for, in the words of public/steelyard/op.h. */
#ifndef OPS_MPI_MANAGE_COMPILED_FOR_H
#define OPS_MPI_MANAGE_COMPILED_FOR_H

const char *mpi_compiled_for(void);

#endif
