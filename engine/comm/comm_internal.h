/* Between comm.c, which knows plans, and comm_mpi.c, comm_shmem.c or comm_solo.c, which carry messages. */
#ifndef COMM_COMM_OWN_H
#define COMM_COMM_OWN_H

#include "comm/comm.h"

/* Count a call of a collective to which this rank gives so many bytes; a message of this rank. */
void comm_count(const struct comm *comm, size_t bytes);
void comm_count_message(const struct comm *comm, size_t bytes);

/* A plan of the implementation: an exchange without links of a rank with itself, or a collective. */
struct comm_own_plan;

/* All as comm_plan_exchange(). Ranks in links are those of the comm. */
int comm_own_exchange(const struct comm *comm, enum comm_back back, const struct comm_link *links,
                      size_t count, int failed, struct comm_own_plan **plan);
int comm_own_sum(const struct comm *comm, enum comm_back back, double *values, size_t count, int failed,
                 struct comm_own_plan **plan);
int comm_own_alltoallv(const struct comm *comm, enum comm_back back, const struct comm_pieces *send,
                       const struct comm_pieces *recv, int failed, struct comm_own_plan **plan);
int comm_own_varying(const struct comm *comm, enum comm_back back, size_t unit,
                     const struct comm_pieces *send, const struct comm_pieces *recv, int failed,
                     struct comm_own_plan **plan);
void comm_own_close(struct comm_own_plan *plan);
int comm_own_run(struct comm_own_plan *plan);
int comm_own_start(struct comm_own_plan *plan);
int comm_own_finish(struct comm_own_plan *plan);

#endif
