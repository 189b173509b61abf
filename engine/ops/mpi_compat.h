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
#define MPI_Reduce_scatter_block_init(...) STEELYARD_NO_MPI4
#define MPI_Scan_init(...) STEELYARD_NO_MPI4
#define MPI_Exscan_init(...) STEELYARD_NO_MPI4
#define MPI_Gatherv_init(...) STEELYARD_NO_MPI4
#define MPI_Scatterv_init(...) STEELYARD_NO_MPI4
#define MPI_Allgatherv_init(...) STEELYARD_NO_MPI4
#define MPI_Alltoallv_init(...) STEELYARD_NO_MPI4
#define MPI_Alltoallw_init(...) STEELYARD_NO_MPI4
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

/* SimGrid has calls that end the simulation: "not yet implemented". */
#ifdef SMPI_H
#define COMM_IDUP_MISSING "SimGrid does not implement MPI_Comm_idup"
#else
#define COMM_IDUP_MISSING NULL
#endif

/* SimGrid declares what makes processes meet, and ends the simulation when it is called. */
#ifdef SMPI_H
#define DYNAMIC_MISSING "SimGrid has no processes but those that it begins with"
#else
#define DYNAMIC_MISSING NULL
#endif

/* A simulated rank is a thread of the simulation. */
#ifdef SMPI_H
#define THREADS_MISSING "ranks that are simulated have one thread each"
#else
#define THREADS_MISSING NULL
#endif

/* Open MPI 5 says that it is MPI 3.1 and yet has these. */
#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define MPI4_CALLS_MISSING NULL
#else
#define MPI4_CALLS_MISSING MPI4_MISSING
#define MPI_Session int
#define MPI_Session_init(...) STEELYARD_NO_MPI4
#define MPI_Session_finalize(...) STEELYARD_NO_MPI4
#define MPI_Group_from_session_pset(...) STEELYARD_NO_MPI4
#define MPI_Comm_create_from_group(...) STEELYARD_NO_MPI4
#define MPI_Psend_init(...) STEELYARD_NO_MPI4
#define MPI_Precv_init(...) STEELYARD_NO_MPI4
#define MPI_Pready(...) STEELYARD_NO_MPI4
#define MPI_Pready_range(...) STEELYARD_NO_MPI4
#define MPI_Parrived(...) STEELYARD_NO_MPI4
#endif

#endif
