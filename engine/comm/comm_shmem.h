/* Shared by the groups of comm_shmem.c and the plans of plan_shmem.c. */
#ifndef COMM_COMM_SHMEM_H
#define COMM_COMM_SHMEM_H

#include "comm/comm.h"

/* To each rank of the comm and from each, in the order of ranks; what goes to oneself is `own`'s. */
void comm_pass_pieces(const struct comm *comm, const struct comm_pieces *send,
                      const struct comm_pieces *recv);

#endif
