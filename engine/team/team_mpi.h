/* What the MPI ops need of an MPI team. */
#ifndef TEAM_TEAM_MPI_H
#define TEAM_TEAM_MPI_H

#include "team/team.h"

#include <mpi.h>

/* The communicator of the ops: the same ranks as the team, errors returned, no message of the team in it. */
MPI_Comm team_comm(const struct team *team);

/* 0 for MPI_SUCCESS; otherwise keeps the sentence "CALL failed: what the library says" and returns ERR_MPI,
 * or ERR_UNSUPPORTED where that is what the library says. */
int team_mpi_err(int code, const char *call);

#endif
