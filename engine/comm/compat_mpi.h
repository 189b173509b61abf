/* Calls that older MPIs lack, in one place: they exist, fail, and say which MPI has them. */
#ifndef COMM_COMPAT_MPI_H
#define COMM_COMPAT_MPI_H

#include <mpi.h>

/* Some libraries have a small number for an array to be ignored (MPICH: MPI_STATUSES_IGNORE is the address 1;
 * Open MPI: MPI_UNWEIGHTED is 2). gcc then warns of an array that is too small, so the address is hidden from
 * it. This costs no instruction beyond loading the address. */
static inline void *compat_hide(void *address)
{
    __asm__("" : "+r"(address));
    return address;
}

static inline MPI_Status *statuses_ignored(void)
{
    return compat_hide(MPI_STATUSES_IGNORE);
}

static inline int *unweighted(void)
{
    return compat_hide(MPI_UNWEIGHTED);
}

/* SimGrid's MPI_Mprobe ends the simulation. */
#ifdef SMPI_H
#define MPROBE_MISSING "SimGrid has no MPI_Mprobe; use recv=probe"
#else
#define MPROBE_MISSING NULL
#endif

/* MPI4_INIT(Bcast, ...) is MPI_Bcast_init(...). */
#if MPI_VERSION >= 4
#define MPI4_MISSING NULL
#define MPI4_INIT(Upper, ...) MPI_##Upper##_init(__VA_ARGS__)
#else
#define MPI4_INIT(Upper, ...) STEELYARD_NO_MPI4
#define MPI4_MISSING "needs MPI 4.0, which the MPI that this engine was built with does not have"
#define STEELYARD_NO_MPI4 MPI_ERR_OTHER
#define MPI_Send_c(...) STEELYARD_NO_MPI4
#define MPI_Recv_c(...) STEELYARD_NO_MPI4
#define MPI_Isend_c(...) STEELYARD_NO_MPI4
#define MPI_Irecv_c(...) STEELYARD_NO_MPI4
#define MPI_Bcast_c(...) STEELYARD_NO_MPI4
#define MPI_Allreduce_c(...) STEELYARD_NO_MPI4
#define MPI_Allgather_c(...) STEELYARD_NO_MPI4
#define MPI_Alltoall_c(...) STEELYARD_NO_MPI4
#define MPI_Scatter_c(...) STEELYARD_NO_MPI4
#define MPI_Gather_c(...) STEELYARD_NO_MPI4
#define MPI_Reduce_c(...) STEELYARD_NO_MPI4
#define MPI_Put_c(...) STEELYARD_NO_MPI4
#define MPI_Get_c(...) STEELYARD_NO_MPI4
#define MPI_Accumulate_c(...) STEELYARD_NO_MPI4
#define MPI_Type_contiguous_c(...) STEELYARD_NO_MPI4
#define MPI_Type_create_hindexed_c(...) STEELYARD_NO_MPI4
#define MPI_Type_size_c(...) STEELYARD_NO_MPI4
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
#define STATUS_ALL_MISSING NULL
#else
#define STATUS_ALL_MISSING                                                                                   \
    "MPI_Request_get_status_all needs MPI 4.1, which the MPI that this engine was built with does not have"
#define MPI_Request_get_status_all(...) MPI_ERR_OTHER
#endif

/* Numbers of 16 bits are extensions of MPICH: IEEE's half, and the upper half of a float. MPICH 4.0 declares
 * the first alone, and ends a job that sends it. */
#ifdef MPIX_BFLOAT16
#define COMPAT_FLOAT16 MPIX_C_FLOAT16
#define COMPAT_BFLOAT16 MPIX_BFLOAT16
#else
#define COMPAT_FLOAT16 MPI_DATATYPE_NULL
#define COMPAT_BFLOAT16 MPI_DATATYPE_NULL
#endif

/* Why an extension of MPICH is missing; `since` is the version that has it. */
#ifdef MPI_ABI_VERSION
#define EXTENSION_MISSING(channel, call, since)                                                              \
    "channel=" channel " needs " call ", an extension of MPICH, and the standard ABI of MPI has none; give " \
    "channel=comms, or --engine of an engine for MPICH's own libmpi"
#else
#define EXTENSION_MISSING(channel, call, since)                                                              \
    "channel=" channel " needs " call ", which MPICH alone has, from " since " on; give channel=comms"
#endif

/* Streams are an extension of MPICH: the calls of a thread on a communicator of its stream need no lock. */
#ifdef MPIX_STREAM_NULL
#define STREAMS_MISSING NULL
#else
#define STREAMS_MISSING EXTENSION_MISSING("streams", "MPIX_Stream_create", "4.1")
#define MPIX_Stream int
#define MPIX_STREAM_NULL 0
#define MPIX_Stream_create(info, stream) MPI_ERR_OTHER
#define MPIX_Stream_comm_create(comm, stream, made) MPI_ERR_OTHER
#define MPIX_Stream_free(stream) MPI_ERR_OTHER
#endif

/* Threads that are ranks of a communicator. */
#if defined(MPIX_STREAM_NULL) && defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40200000
#define THREADCOMM_MISSING NULL
#else
#define THREADCOMM_MISSING EXTENSION_MISSING("threadcomm", "MPIX_Threadcomm_init", "4.2")
#define MPIX_Threadcomm_init(comm, threads, made) MPI_ERR_OTHER
#define MPIX_Threadcomm_start(comm) MPI_ERR_OTHER
#define MPIX_Threadcomm_finish(comm) MPI_ERR_OTHER
#define MPIX_Threadcomm_free(comm) MPI_ERR_OTHER
#endif

/* SimGrid takes each argument for a right one. */
#ifdef SMPI_H
#define ERRORS_MISSING "what bad calls return was not tried in SimGrid"
#else
#define ERRORS_MISSING NULL
#endif

/* SimGrid declares what makes two groups talk. */
#ifdef SMPI_H
#define INTER_MISSING "communicators of two groups were not tried in SimGrid"
#else
#define INTER_MISSING NULL
#endif

/* SimGrid declares the neighbourhood collectives, but ends the simulation if one is called. */
#ifdef SMPI_HELPERS_H
#define NEIGHBOURS_MISSING "SimGrid has no neighbourhood collectives"
#else
#define NEIGHBOURS_MISSING NULL
#endif

/* These calls of SimGrid end the simulation: "not yet implemented". */
#ifdef SMPI_H
#define COMM_IDUP_MISSING "SimGrid does not implement MPI_Comm_idup"
#else
#define COMM_IDUP_MISSING NULL
#endif

#ifdef SMPI_H
#define WIN_TEST_MISSING "SimGrid does not implement MPI_Win_test"
#else
#define WIN_TEST_MISSING NULL
#endif

/* SimGrid knows no memory model of windows, and ends the simulation if asked for one. */
static inline int compat_win_model(MPI_Win win, int **model, int *told)
{
#ifdef SMPI_H
    (void)win, (void)model;
    *told = 0;
    return MPI_SUCCESS;
#else
    return MPI_Win_get_attr(win, MPI_WIN_MODEL, model, told);
#endif
}

/* Ranks that are simulated take turns at their calls: one that looks at memory until it changes looks for
 * ever. */
#ifdef SMPI_H
#define SHARED_MISSING "ranks that are simulated see no memory change while they look at it"
#else
#define SHARED_MISSING NULL
#endif

/* SimGrid declares the calls by which processes meet, but ends the simulation if one is called. */
#ifdef SMPI_H
#define DYNAMIC_MISSING "SimGrid has no processes but those that it begins with"
#else
#define DYNAMIC_MISSING NULL
#endif

/* SimGrid declares the calls of MPI-IO, and has a file system of its own at most. */
#ifdef SMPI_H
#define IO_MISSING "SimGrid has no files of this machine"
#else
#define IO_MISSING NULL
#endif

/* A simulated rank is a thread of the simulation. */
#ifdef SMPI_H
#define THREADS_MISSING "ranks that are simulated have one thread each"
#else
#define THREADS_MISSING NULL
#endif

/* Open MPI 5 reports MPI 3.1 but has these. */
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
