/* All that an older MPI lacks, in one place: the calls exist, fail, and say which MPI has them. */
#ifndef OPS_MPI_COMPAT_H
#define OPS_MPI_COMPAT_H

#include <mpi.h>

/* Of SimGrid's smpi.h: its MPI_Mprobe ends the simulation. */
#ifdef SMPI_H
#define MPROBE_MISSING "SimGrid has no MPI_Mprobe; use recv=probe"
#else
#define MPROBE_MISSING NULL
#endif

#if MPI_VERSION >= 4
#define MPI4_MISSING NULL
#else
#define MPI4_MISSING "needs MPI 4.0, which the MPI that this engine was built with does not have"
#define STEELYARD_NO_MPI4 MPI_ERR_OTHER
#define MPI_Send_c(...) STEELYARD_NO_MPI4
#define MPI_Recv_c(...) STEELYARD_NO_MPI4
#define MPI_Isend_c(...) STEELYARD_NO_MPI4
#define MPI_Irecv_c(...) STEELYARD_NO_MPI4
#define MPI_Barrier_init(...) STEELYARD_NO_MPI4
#define MPI_Bcast_init(...) STEELYARD_NO_MPI4
#define MPI_Reduce_init(...) STEELYARD_NO_MPI4
#define MPI_Allreduce_init(...) STEELYARD_NO_MPI4
#define MPI_Gather_init(...) STEELYARD_NO_MPI4
#define MPI_Scatter_init(...) STEELYARD_NO_MPI4
#define MPI_Allgather_init(...) STEELYARD_NO_MPI4
#define MPI_Alltoall_init(...) STEELYARD_NO_MPI4
#define MPI_Reduce_scatter_init(...) STEELYARD_NO_MPI4
#define MPI_Scan_init(...) STEELYARD_NO_MPI4
#endif

#endif
