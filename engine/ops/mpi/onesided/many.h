/* The life of a one-sided op of many ranks, whom a layout or a number of neighbours says to call whom. */
#ifndef OPS_MPI_ONESIDED_MANY_H
#define OPS_MPI_ONESIDED_MANY_H

#include "ops/mpi/onesided/rma.h"

enum { RMA_WHO = 7, RMA_NEIGHBOURS = 26 };

/* The words of the parameter `who`, which some of these ops have; the others have `neighbours`. */
extern const char *const rma_who_words[RMA_WHO + 1];

/* How many links all ranks have: each rank calls along some of them. */
double rma_many_links(const struct op_env *env);

int rma_many_setup(const struct op_env *env, const struct rma_call *call, void **state);
int rma_many_run(void *state, int64_t reps);
int rma_many_verify(void *state);
int rma_many_check_moved(void *state);
void rma_many_teardown(void *state);

#endif
