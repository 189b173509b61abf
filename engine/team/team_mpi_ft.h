/* Calls with which a job lives on after the death of ranks (ULFM, User-Level Failure Mitigation), for MPIs
 * that declare them. With others they exist, and fail. */
#ifndef TEAM_TEAM_MPI_FT_H
#define TEAM_TEAM_MPI_FT_H

#include <mpi.h>

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#if defined(MPIX_ERR_PROC_FAILED)
#define FT_MISSING NULL
#else
#define FT_MISSING                                                                                           \
    "needs MPIX_Comm_revoke, MPIX_Comm_shrink and MPIX_Comm_agree, which the MPI that this engine was "      \
    "built "                                                                                                 \
    "with does not declare; Open MPI 5 does"
#define MPIX_ERR_PROC_FAILED MPI_ERR_OTHER
#define MPIX_ERR_REVOKED MPI_ERR_OTHER
#define MPIX_Comm_revoke(comm) ((void)(comm), MPI_ERR_OTHER)
#define MPIX_Comm_shrink(comm, made) ((void)(comm), (void)(made), MPI_ERR_OTHER)
#define MPIX_Comm_agree(comm, flag) ((void)(comm), (void)(flag), MPI_ERR_OTHER)
#define MPIX_Comm_failure_ack(comm) ((void)(comm), MPI_ERR_OTHER)
#endif

#endif
