/* Data of the MPI library from MPI's tools interface (MPI 4.0, chapter 15). */
#ifndef TEAM_TEAM_MPI_TOOLS_H
#define TEAM_TEAM_MPI_TOOLS_H

#include <mpi.h>

struct json;
struct tools;

/* NULL without such an interface. Call it before MPI_Init: Open MPI then examines each of its components once
 * for both, and for another 0.2 s if it is called later. */
struct tools *tools_open(int thread_level);

/* After MPI_Init: watch the library's counts of queues, on `comm` if they belong to a communicator. */
void tools_watch(struct tools *tools, MPI_Comm comm);
void tools_close(struct tools *tools);

/* "cvars": the values of control variables of protocols; "pvars": the names of watched counters. */
void tools_write(const struct tools *tools, struct json *j);

/* "pvars": {name: value}: for a high-water mark the highest over the peers, for others the sum. */
void tools_values(const struct tools *tools, struct json *j);

#endif
