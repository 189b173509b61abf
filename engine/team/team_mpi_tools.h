/* What the MPI library says of itself through MPI's tools interface (MPI 4.0, chapter 15). */
#ifndef TEAM_TEAM_MPI_TOOLS_H
#define TEAM_TEAM_MPI_TOOLS_H

#include <mpi.h>

struct json;
struct tools;

/* NULL where there is no such interface. Before MPI_Init: Open MPI looks at each of its components once for
 * both then, and for another 0.2 s afterwards. */
struct tools *tools_open(int thread_level);

/* After MPI_Init: watch what the library counts of queues, on `comm` where it counts for a communicator. */
void tools_watch(struct tools *tools, MPI_Comm comm);
void tools_close(struct tools *tools);

/* "cvars": the values of control variables of protocols; "pvars": the names of what is watched. */
void tools_write(const struct tools *tools, struct json *j);

/* "pvars": {name: value}: of a high-water mark the highest over the peers, of all else the sum. */
void tools_values(const struct tools *tools, struct json *j);

#endif
