/* Mock-ups: a collective composed of the library's other calls, which its own call must not be slower than,
 * for the library could do the same inside (Traeff, Gropp and Thakur, Self-consistent MPI performance
 * requirements, IEEE TPDS 21, 2010; Hunold and Carpen-Amarie, Autotuning MPI collectives using performance
 * guidelines, HPC Asia 2018).
 *
 *   rows.h    a row for each: whose answer, composed of what, with which room aside
 *   mock.c    the room aside, and the ops
 *   move.c    compositions of what moves data
 *   sum.c     compositions of reductions */
#ifndef OPS_MPI_MOCK_MOCK_H
#define OPS_MPI_MOCK_MOCK_H

#include "ops/mpi/coll/coll.h"

#include <string.h>

/* What a composition has besides the buffers of the call that it stands for, made before anything is timed.
 * A vector of `count` elements is cut into as many parts as there are ranks. */
struct mock {
    char *a, *b; /* room aside, zeros before answers are checked */
    size_t a_bytes, b_bytes;
    int part;              /* elements of a part where all are equal: the last one is filled up with zeros */
    int *counts, *displs;  /* elements of parts that add up to `count`, and where they begin */
    int *only, *none;      /* counts that are 0 but for the root's, and displacements for them */
    int all, all_bytes;    /* of the blocks of all ranks: elements, bytes */
    MPI_Request *messages; /* room for two of each rank */
    char token[2];         /* of a barrier: what is sent, what comes */
};

static inline struct mock *mock_of(const struct coll *c)
{
    return c->own;
}

static inline size_t mock_block(const struct coll *c)
{
    return (size_t)c->count * c->element;
}

/* Where part r of a vector begins. */
static inline size_t mock_part(const struct coll *c, int r)
{
    return (size_t)mock_of(c)->displs[r] * c->element;
}

static inline void mock_copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0)
        memcpy(to, from, bytes);
}

#define MOCK(of, by, ...) int mock_##of##_by_##by(const struct coll *c);
#include "ops/mpi/mock/rows.h"
#undef MOCK

#endif
