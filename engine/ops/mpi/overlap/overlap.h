/* mpi.overlap.*: between the start of communication and its completion, a known amount of work. The middle of
 * a repetition, which is the same for all of them. */
#ifndef OPS_MPI_OVERLAP_OVERLAP_H
#define OPS_MPI_OVERLAP_OVERLAP_H

#include "core/op.h"

#include <mpi.h>

enum { OVERLAP_WORK_US, OVERLAP_TESTS, OVERLAP_WAITER, OVERLAP_FORM };

/* Rows of parameters for a family's own table, which may have further ones. */
#define OVERLAP_PARAMS                                                                                       \
    [OVERLAP_WORK_US] =                                                                                      \
        {"work_us", "us", "calibrated work between start and completion; 0: none", 0, 0, 1e7},               \
    [OVERLAP_TESTS] =                                                                                        \
        {"tests", "", "pieces of the work, with an MPI_Test after each; 0: no test", 0, 0, 1e6},             \
    [OVERLAP_WAITER] = PARAM_WORDS(                                                                          \
        "waiter", "the thread that waits. self: the one that works; thread: another one meanwhile",          \
        overlap_waiters)

extern const char *const overlap_waiters[3];

struct pool;

struct overlap {
    MPI_Request *requests;            /* the caller's; they may change in each repetition */
    int count;                        /* of requests: 1 or 2 */
    int (*finish)(struct overlap *o); /* completes started requests; returns MPI's code */
    int (*test)(struct overlap *o, int *done), (*wait)(struct overlap *o);
    int64_t steps, piece, rest; /* of all work, of a piece, and the remainder of the pieces */
    int pieces;
    uint64_t x, checked; /* the result of the work; and its value at overlap_mark */
    struct pool *pool;
    int rc; /* of the thread that waits */
};

/* Read the parameters in `env`, which begin with OVERLAP_PARAMS, with `count` requests. On failure nothing is
 * left behind. ERR_INPUT, ERR_UNSUPPORTED, ERR_SYSTEM, ERR_NOMEM. */
int overlap_open(const struct op_env *env, int count, MPI_Request *requests, struct overlap *o);

void overlap_close(struct overlap *o);

/* Around a verified repetition: were all steps of the work done? */
void overlap_mark(struct overlap *o);
int overlap_check(const struct overlap *o);

#endif
