/* Shared by the groups of comm_mpi.c and the plans of plan_mpi.c. */
#ifndef COMM_COMM_MPI_H
#define COMM_COMM_MPI_H

#include "comm/comm.h"
#include "comm/compat_mpi.h"
#include "team/team_mpi.h"

/* For one message; counts are ints. */
static const size_t PIECE = (size_t)1 << 30;
enum { TAGS = 256 }; /* an MPI has at least 32767 of them: room for 127 pieces of each */
_Static_assert((int)COMM_TAG_MAX < (int)TAGS, "tags of pieces must not be those of others");

MPI_Comm comm_mpi(const struct comm *comm);

/* One side of an MPI_Alltoallv: counts and displacements in elements of the largest type that fits them. */
struct comm_side {
    void *data;
    int *counts, *offsets;
    MPI_Datatype type;
};

/* ERR_NOMEM, ERR_UNSUPPORTED if no type fits, ERR_MPI; free it in any case. */
int comm_side_fill(struct comm_side *side, const struct comm_pieces *pieces, const struct comm *comm);
void comm_side_free(struct comm_side *side);

#endif
