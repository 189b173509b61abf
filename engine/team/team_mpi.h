/* Functions of an MPI team for MPI ops. */
#ifndef TEAM_TEAM_MPI_H
#define TEAM_TEAM_MPI_H

#include "team/team.h"

#include <mpi.h>
#include <stdbool.h>

/* The communicator of the ops: the team's ranks, errors are returned, and it carries no message of the
 * team. */
MPI_Comm team_comm(const struct team *team);

/* The same ranks as a second team, for a thread of each that measures beside others: with a communicator for
 * the messages of the team, and one for those of the ops if `own_comm`. Collective, in the same order on all
 * ranks. ERR_MPI, ERR_NOMEM. */
int team_lane_open(const struct team *team, bool own_comm, struct team *lane);
void team_lane_close(struct team *lane);

/* Use another communicator for the lane's ops, which team_lane_close() frees if it is `owned`. The one of its
 * own is freed. ERR_MPI. */
int team_lane_use(struct team *lane, MPI_Comm comm, bool owned);

/* 0 for MPI_SUCCESS; otherwise keeps the sentence "CALL failed: the library's message" and returns ERR_MPI,
 * or ERR_UNSUPPORTED if the library says so. */
int team_mpi_err(int code, const char *call);

/* May so many threads call MPI at once? 0, or ERR_UNSUPPORTED and a sentence with the provided level and what
 * to do. A single thread always may. */
int team_threads_allowed(const char *op, int threads);

#endif
