/* mpi.*, all ranks together: each collective in its blocking, nonblocking and persistent form. mpi.overlap.*:
 * the last two with work between start and completion.
 *
 * To add one: a row in rows.h. */
#include "ops/families.h"

#include "ops/mpi/coll/coll.h"

COLL_PARAMS(barrier_params, COLL_SEED);
COLL_PARAMS(bcast_params, COLL_ROOTED, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(reduce_params, COLL_IN_PLACE, COLL_ROOTED, COLL_REDUCED, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(allreduce_params, COLL_IN_PLACE, COLL_REDUCED, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(reduce_scatter_params, COLL_IN_PLACE, COLL_REDUCED, COLL_COUNTS, COLL_BUFFERS);
COLL_PARAMS(gather_params, COLL_IN_PLACE, COLL_ROOTED, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(gatherv_params, COLL_IN_PLACE, COLL_ROOTED, COLL_TYPE, COLL_COUNTS, COLL_BUFFERS);
COLL_PARAMS(allgather_params, COLL_IN_PLACE, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(allgatherv_params, COLL_IN_PLACE, COLL_TYPE, COLL_COUNTS, COLL_BUFFERS);

#define COLLECTIVE(lower, Upper, args, ...) COLL_CALLS(lower, Upper, args)
#include "ops/mpi/coll/rows.h"
#undef COLLECTIVE

#define COLLECTIVE(lower, Upper, args, ...) {COLL_CALLED(lower), __VA_ARGS__},
static const struct coll_row rows[] = {
#include "ops/mpi/coll/rows.h"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void op_at(size_t i, struct op *op)
{
    coll_op_at(rows, i, op);
    op->family = "coll";
}

static void overlap_at(size_t i, struct op *op)
{
    coll_overlap_at(rows, i, op);
}

const struct op_family mpi_coll_ops = {.count = ROWS * COLL_FORMS, .op_at = op_at};

const struct op_family mpi_overlap_coll_ops = {.count = ROWS * COLL_OVERLAPS, .op_at = overlap_at};
