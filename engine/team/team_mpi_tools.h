/* Data of the MPI library from MPI's tools interface (MPI 4.0, chapter 15). */
#ifndef TEAM_TEAM_MPI_TOOLS_H
#define TEAM_TEAM_MPI_TOOLS_H

#include <mpi.h>

struct json;
struct tools;

/* NULL without such an interface. Call it before MPI_Init: Open MPI then examines each of its components once
 * for both, and for another 0.2 s if it is called later. MPICH fails here for a variable whose value it does
 * not take, says so, and would crash in MPI_Init. */
int tools_open(int thread_level, struct tools **tools);

/* After MPI_Init: watch the library's counts of queues, on `comm` if they belong to a communicator. */
void tools_watch(struct tools *tools, MPI_Comm comm);
void tools_close(struct tools *tools);

/* "cvars": the values of control variables of protocols; "given": the values of those that the environment
 * sets, by its names; "unknown": names there that the library does not know; "pvars": the names of watched
 * counters. */
void tools_write(const struct tools *tools, struct json *j);

/* "pvars": {name: value}: for a high-water mark the highest over the peers, for others the sum. */
void tools_values(const struct tools *tools, struct json *j);

#endif
