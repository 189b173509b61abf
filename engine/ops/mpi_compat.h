/* All that an older MPI lacks, in one place: the calls exist, fail, and say which MPI has them. */
#ifndef OPS_MPI_COMPAT_H
#define OPS_MPI_COMPAT_H

#include <mpi.h>

#if MPI_VERSION >= 4
#define MPI4_MISSING NULL
#else
#define MPI4_MISSING "needs MPI 4.0, which the MPI that this engine was built with does not have"
#define STEELYARD_NO_MPI4 MPI_ERR_OTHER
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
#define MPI_Exscan_init(...) STEELYARD_NO_MPI4
#define MPI_Gatherv_init(...) STEELYARD_NO_MPI4
#define MPI_Scatterv_init(...) STEELYARD_NO_MPI4
#define MPI_Allgatherv_init(...) STEELYARD_NO_MPI4
#define MPI_Alltoallv_init(...) STEELYARD_NO_MPI4
#define MPI_Alltoallw_init(...) STEELYARD_NO_MPI4
#define MPI_Reduce_scatter_block_init(...) STEELYARD_NO_MPI4
#define MPI_Neighbor_allgather_init(...) STEELYARD_NO_MPI4
#define MPI_Neighbor_allgatherv_init(...) STEELYARD_NO_MPI4
#define MPI_Neighbor_alltoall_init(...) STEELYARD_NO_MPI4
#define MPI_Neighbor_alltoallv_init(...) STEELYARD_NO_MPI4
#define MPI_Neighbor_alltoallw_init(...) STEELYARD_NO_MPI4
#endif

/* SimGrid declares the neighbourhood collectives and ends the simulation when one is called. */
#ifdef SMPI_HELPERS_H
#define NEIGHBOURS_MISSING "SimGrid has no neighbourhood collectives"
#else
#define NEIGHBOURS_MISSING NULL
#endif

#endif
