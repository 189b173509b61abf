/* What the MPI ops need of an MPI team. */
#ifndef TEAM_TEAM_MPI_H
#define TEAM_TEAM_MPI_H

#include "team/team.h"

#include <mpi.h>
#include <stdbool.h>

/* The communicator of the ops: the same ranks as the team, errors returned, no message of the team in it. */
MPI_Comm team_comm(const struct team *team);

/* The same ranks once more, for a thread of each that measures beside others: with a communicator of its own
 * for the messages of the team, and one for those of the ops where it is to have one. Collective, in the same
 * order on all ranks. ERR_MPI, ERR_NOMEM. */
int team_lane_open(const struct team *team, bool own_comm, struct team *lane);
void team_lane_close(struct team *lane);

/* 0 for MPI_SUCCESS; otherwise keeps the sentence "CALL failed: what the library says" and returns ERR_MPI,
 * or ERR_UNSUPPORTED where that is what the library says. */
int team_mpi_err(int code, const char *call);

/* Whether so many threads may call MPI at once: 0, or ERR_UNSUPPORTED and a sentence that says what `op` was
 * provided and what to do. One thread always may. */
int team_threads_allowed(const char *op, int threads);

#endif
