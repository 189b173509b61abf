/* mpi.*, all ranks together: each collective in its blocking, nonblocking and persistent form, and
 * mpi.overlap.*: the latter two with work between start and completion.
 *
 * To add one: a line of COLL_CALLS with its arguments, and a row that says who has how many blocks and what
 * each must hold. */
#include "ops/families.h"

#include "ops/mpi/coll/coll.h"

COLL_CALLS(barrier, Barrier, c->comm)
COLL_CALLS(bcast, Bcast, c->turn.recv, c->count, c->type, c->turn.root, c->comm)
COLL_CALLS(reduce, Reduce, c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, c->turn.root, c->comm)
COLL_CALLS(allreduce, Allreduce, c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, c->comm)
COLL_CALLS(gather, Gather, c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->turn.root,
           c->comm)
COLL_CALLS(gatherv, Gatherv, c->turn.send, c->send.one, c->type, c->turn.recv, c->recv.counts, c->recv.displs,
           c->type, c->turn.root, c->comm)
COLL_CALLS(scatter, Scatter, c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->turn.root,
           c->comm)
COLL_CALLS(scatterv, Scatterv, c->turn.send, c->send.counts, c->send.displs, c->type, c->turn.recv,
           c->recv.one, c->type, c->turn.root, c->comm)
COLL_CALLS(allgather, Allgather, c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->comm)
COLL_CALLS(allgatherv, Allgatherv, c->turn.send, c->send.one, c->type, c->turn.recv, c->recv.counts,
           c->recv.displs, c->type, c->comm)
COLL_CALLS(alltoall, Alltoall, c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->comm)
COLL_CALLS(alltoallv, Alltoallv, c->turn.send, c->send.counts, c->send.displs, c->type, c->turn.recv,
           c->recv.counts, c->recv.displs, c->type, c->comm)
COLL_CALLS(alltoallw, Alltoallw, c->turn.send, c->send.counts, c->send.displs, c->send.types, c->turn.recv,
           c->recv.counts, c->recv.displs, c->recv.types, c->comm)
COLL_CALLS(reduce_scatter, Reduce_scatter, c->turn.send, c->turn.recv, c->send.counts, c->type, c->sum.op,
           c->comm)
COLL_CALLS(reduce_scatter_block, Reduce_scatter_block, c->turn.send, c->turn.recv, c->count, c->type,
           c->sum.op, c->comm)
COLL_CALLS(scan, Scan, c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, c->comm)
COLL_CALLS(exscan, Exscan, c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, c->comm)

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

static const struct coll_row rows[] = {
    {COLL_CALLED(barrier), .summary = "a barrier: no rank leaves before all have entered", .flow = FLOW_ALL,
     .params = barrier_params},
    {COLL_CALLED(bcast), .summary = "a block from the root to all ranks", .answer = FROM_ROOT,
     .flow = FLOW_OUT, .params = bcast_params, .send_root = ONE, .recv_other = ONE},
    {COLL_CALLED(reduce), .summary = "the sum over all ranks at the root", .answer = OVER_ALL,
     .flow = FLOW_IN, .place = PLACE_ROOT_SEND, .params = reduce_params, ALL_SEND(ONE), .recv_root = ONE},
    {COLL_CALLED(allreduce), .summary = "the sum over all ranks at every rank", .answer = OVER_ALL,
     .flow = FLOW_ALL, .place = PLACE_SEND, .params = allreduce_params, ALL_SEND(ONE), ALL_RECV(ONE)},
    {COLL_CALLED(gather), .summary = "a block from each rank to the root", .answer = FROM_BLOCK,
     .flow = FLOW_IN, .place = PLACE_ROOT_SEND, .params = gather_params, ALL_SEND(ONE), .recv_root = ALL},
    {COLL_CALLED(gatherv), .summary = "a block from each rank to the root, of any size", .answer = FROM_BLOCK,
     .shape = BY_RANK, .flow = FLOW_IN, .place = PLACE_ROOT_SEND, .params = gatherv_params, ALL_SEND(ONE),
     .recv_root = ALL},
    {COLL_CALLED(scatter), .summary = "a block of its own from the root to each rank", .answer = MY_FROM_ROOT,
     .flow = FLOW_OUT, .place = PLACE_ROOT_RECV, .params = gather_params, .send_root = ALL, ALL_RECV(ONE)},
    {COLL_CALLED(scatterv), .summary = "a block of its own from the root to each rank, of any size",
     .answer = MY_FROM_ROOT, .shape = BY_RANK, .flow = FLOW_OUT, .place = PLACE_ROOT_RECV,
     .params = gatherv_params, .send_root = ALL, ALL_RECV(ONE)},
    {COLL_CALLED(allgather), .summary = "a block from each rank to every rank", .answer = FROM_BLOCK,
     .flow = FLOW_ALL, .place = PLACE_SEND, .params = allgather_params, ALL_SEND(ONE), ALL_RECV(ALL)},
    {COLL_CALLED(allgatherv), .summary = "a block from each rank to every rank, of any size",
     .answer = FROM_BLOCK, .shape = BY_RANK, .flow = FLOW_ALL, .place = PLACE_SEND,
     .params = allgatherv_params, ALL_SEND(ONE), ALL_RECV(ALL)},
    {COLL_CALLED(alltoall), .summary = "a block of its own from each rank to every rank",
     .answer = MY_FROM_BLOCK, .flow = FLOW_ALL, .place = PLACE_SEND, .params = allgather_params,
     ALL_SEND(ALL), ALL_RECV(ALL)},
    {COLL_CALLED(alltoallv), .summary = "a block of its own from each rank to every rank, of any size",
     .answer = MY_FROM_BLOCK, .shape = BY_PAIR, .flow = FLOW_ALL, .place = PLACE_SEND,
     .params = allgatherv_params, ALL_SEND(ALL), ALL_RECV(ALL)},
    {COLL_CALLED(alltoallw), .summary = "alltoallv with a type for each block and displacements in bytes",
     .answer = MY_FROM_BLOCK, .shape = BY_PAIR, .flow = FLOW_ALL, .place = PLACE_SEND, .in_bytes = true,
     .params = allgatherv_params, ALL_SEND(ALL), ALL_RECV(ALL)},
    {COLL_CALLED(reduce_scatter), .summary = "the sums over all ranks, a block of them at each",
     .answer = OVER_ALL, .shape = BY_RANK, .flow = FLOW_ALL, .place = PLACE_SEND,
     .params = reduce_scatter_params, ALL_SEND(ALL), ALL_RECV(ONE)},
    {COLL_CALLED(reduce_scatter_block), .summary = "the sums over all ranks, a block of one size at each",
     .answer = OVER_ALL, .flow = FLOW_ALL, .place = PLACE_SEND, .params = allreduce_params, ALL_SEND(ALL),
     ALL_RECV(ONE)},
    {COLL_CALLED(scan), .summary = "the sum over ranks 0 to r at each rank r", .answer = UP_TO_ME,
     .flow = FLOW_UP, .place = PLACE_SEND, .params = allreduce_params, ALL_SEND(ONE), ALL_RECV(ONE)},
    {COLL_CALLED(exscan), .summary = "the sum over ranks 0 to r - 1 at each rank r", .answer = BELOW_ME,
     .flow = FLOW_UP, .place = PLACE_SEND, .params = allreduce_params, ALL_SEND(ONE), ALL_RECV(ONE)},
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
