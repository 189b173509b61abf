/* What first uses share (first.c): their state, and the uses by name. */
#ifndef OPS_MPI_FIRST_FIRST_H
#define OPS_MPI_FIRST_FIRST_H

#include "core/first.h"
#include "team/team_mpi.h"

#include <stddef.h>

struct pool;

struct first_state {
    char *send, *recv;
    int count; /* of bytes, or of doubles in a sum */
    MPI_Comm made;
    MPI_Win win;
    char *target;      /* of the window */
    struct pool *pool; /* of the thread that calls */
    int rc;            /* of its call */
};

/* Make the state, with buffers of `blocks` times the bytes of the point. ERR_NOMEM, ERR_INPUT. */
int first_ready(struct first *f, size_t blocks);
double first_block_memory(const struct first *f);  /* of one block each way */
double first_blocks_memory(const struct first *f); /* of one for each rank */
void first_done(struct first *f);

extern const struct op_first first_message, first_bcast, first_alltoall, first_allreduce, first_barrier,
    first_comm, first_window, first_put, first_init, first_job, first_thread, first_notice, first_revoke,
    first_shrink, first_agree;

/* The place of a message's peer among the parameters of its op. */
enum { FIRST_PEER };

#endif
