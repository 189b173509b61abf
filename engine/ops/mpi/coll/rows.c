/* mpi.*, all ranks together: each collective in its blocking, nonblocking and persistent form, and
 * mpi.overlap.*: the latter two with work between start and completion.
 *
 * To add one: a row in rows.h. */
#include "ops/families.h"

#include "ops/mpi/coll/coll.h"

/* Compositions: what a library's own call must not be slower than, for it could do the same (Traeff, Gropp
 * and Thakur, Self-consistent MPI performance requirements, IEEE TPDS 21, 2010). Their root is rank 0. */

static int allreduce_by_reduce_bcast(const struct coll *c)
{
    int rc = MPI_Reduce(c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, 0, c->comm);
    return rc == MPI_SUCCESS ? MPI_Bcast(c->turn.recv, c->count, c->type, 0, c->comm) : rc;
}

static int allgather_by_gather_bcast(const struct coll *c)
{
    int rc = MPI_Gather(c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, 0, c->comm);
    return rc == MPI_SUCCESS ? MPI_Bcast(c->turn.recv, c->recv.all, c->type, 0, c->comm) : rc;
}

COLL_PARAMS(barrier_params, COLL_SEED);
COLL_PARAMS(bcast_params, COLL_ROOTED, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(reduce_params, COLL_IN_PLACE, COLL_ROOTED, COLL_REDUCED, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(allreduce_params, COLL_IN_PLACE, COLL_REDUCED, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(reduce_scatter_params, COLL_IN_PLACE, COLL_REDUCED, COLL_COUNTS, COLL_BUFFERS);
COLL_PARAMS(gather_params, COLL_IN_PLACE, COLL_ROOTED, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(gatherv_params, COLL_IN_PLACE, COLL_ROOTED, COLL_TYPE, COLL_COUNTS, COLL_BUFFERS);
COLL_PARAMS(allgather_params, COLL_IN_PLACE, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(allreduce_by_params, COLL_REDUCED, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(allgather_by_params, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(allgatherv_params, COLL_IN_PLACE, COLL_TYPE, COLL_COUNTS, COLL_BUFFERS);

#define ALL_SEND(n) .send_root = n, .send_other = n
#define ALL_RECV(n) .recv_root = n, .recv_other = n

#define COLLECTIVE(lower, Upper, args, ...) COLL_CALLS(lower, Upper, args)
#include "ops/mpi/coll/rows.h"
#undef COLLECTIVE

#define COLLECTIVE(lower, Upper, args, ...) {COLL_CALLED(lower), __VA_ARGS__},
static const struct coll_row rows[] = {
#include "ops/mpi/coll/rows.h"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct coll_row composed[] = {
    {.name = "allreduce_by_reduce_bcast",
     .call = allreduce_by_reduce_bcast,
     .summary = "MPI_Allreduce composed of MPI_Reduce and MPI_Bcast",
     .answer = OVER_ALL,
     .flow = FLOW_ALL,
     .params = allreduce_by_params,
     ALL_SEND(ONE),
     ALL_RECV(ONE)},
    {.name = "allgather_by_gather_bcast",
     .call = allgather_by_gather_bcast,
     .summary = "MPI_Allgather composed of MPI_Gather and MPI_Bcast",
     .answer = FROM_BLOCK,
     .flow = FLOW_ALL,
     .params = allgather_by_params,
     .at_once = true,
     ALL_SEND(ONE),
     ALL_RECV(ALL)},
};

static void op_at(size_t i, struct op *op)
{
    coll_op_at(rows, i, op);
    op->family = "coll";
}

static void overlap_at(size_t i, struct op *op)
{
    coll_overlap_at(rows, i, op);
}

static void composed_at(size_t i, struct op *op)
{
    coll_op_at(composed, i * COLL_FORMS, op);
    op->family = "coll";
}

const struct op_family mpi_composed_ops = {.count = sizeof composed / sizeof composed[0],
                                           .op_at = composed_at};

const struct op_family mpi_coll_ops = {.count = ROWS * COLL_FORMS, .op_at = op_at};

const struct op_family mpi_overlap_coll_ops = {.count = ROWS * COLL_OVERLAPS, .op_at = overlap_at};
