/* Compositions of reductions. */
#include "ops/mpi/mock/mock.h"

enum { TAG = 3 }; /* tag of the messages of a composition */

/* Reduce the blocks of all ranks, which stand in `blocks`, in the order of ranks into `sum`. */
static int reduce_blocks(const struct coll *c, const char *blocks, void *sum)
{
    int rc = MPI_SUCCESS;
    mock_copy(sum, blocks + (size_t)(c->size - 1) * mock_block(c), mock_block(c));
    for (int b = c->size - 2; b >= 0 && !rc; --b) /* block b, op, the result of the blocks behind it */
        rc = MPI_Reduce_local(blocks + (size_t)b * mock_block(c), sum, c->count, c->type, c->sum.op);
    return rc;
}

/* The sums over all ranks, one part at each rank. The vector is padded so that parts are equal. */
static int reduce_scatter_filled(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    mock_copy(m->a, c->turn.send, mock_block(c));
    return MPI_Reduce_scatter_block(m->a, m->b, m->part, c->type, c->sum.op, c->comm);
}

/* ---- at the root ------------------------------------------------------------------------------------- */

int mock_reduce_by_allreduce(const struct coll *c)
{
    void *const sum = c->rank == c->turn.root ? c->turn.recv : mock_of(c)->a;
    return MPI_Allreduce(c->turn.send, sum, c->count, c->type, c->sum.op, c->comm);
}

int mock_reduce_by_reduce_scatter_block_gather(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    int rc = reduce_scatter_filled(c);
    rc = rc ? rc : MPI_Gather(m->b, m->part, c->type, m->a, m->part, c->type, c->turn.root, c->comm);
    if (c->rank == c->turn.root)
        mock_copy(c->turn.recv, m->a, mock_block(c));
    return rc;
}

int mock_reduce_by_reduce_scatter_gatherv(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    int rc = MPI_Reduce_scatter(c->turn.send, m->b, m->counts, c->type, c->sum.op, c->comm);
    return rc ? rc
              : MPI_Gatherv(m->b, m->counts[c->rank], c->type, c->turn.recv, m->counts, m->displs, c->type,
                            c->turn.root, c->comm);
}

int mock_reduce_by_gather_reduce_local(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    int rc = MPI_Gather(c->turn.send, c->count, c->type, m->a, c->count, c->type, c->turn.root, c->comm);
    return rc || c->rank != c->turn.root ? rc : reduce_blocks(c, m->a, c->turn.recv);
}

int mock_reduce_by_halves(const struct coll *c)
{
    const int half = c->count / 2, root = c->turn.root;
    const size_t first = (size_t)half * c->element;
    const char *const send = c->turn.send;
    char *const recv = c->turn.recv;
    int rc = MPI_Reduce(send, recv, half, c->type, c->sum.op, root, c->comm);
    return rc ? rc
              : MPI_Reduce(send + first, recv ? recv + first : NULL, c->count - half, c->type, c->sum.op,
                           root, c->comm);
}

/* ---- at every rank ----------------------------------------------------------------------------------- */

int mock_allreduce_by_reduce_bcast(const struct coll *c)
{
    int rc = MPI_Reduce(c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, 0, c->comm);
    return rc ? rc : MPI_Bcast(c->turn.recv, c->count, c->type, 0, c->comm);
}

int mock_allreduce_by_reduce_scatter_block_allgather(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    int rc = reduce_scatter_filled(c);
    rc = rc ? rc : MPI_Allgather(m->b, m->part, c->type, m->a, m->part, c->type, c->comm);
    mock_copy(c->turn.recv, m->a, mock_block(c));
    return rc;
}

int mock_allreduce_by_reduce_scatter_allgatherv(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    char *const sum = c->turn.recv;
    int rc =
        MPI_Reduce_scatter(c->turn.send, sum + mock_part(c, c->rank), m->counts, c->type, c->sum.op, c->comm);
    return rc ? rc : MPI_Allgatherv(MPI_IN_PLACE, 0, c->type, sum, m->counts, m->displs, c->type, c->comm);
}

int mock_allreduce_by_allgather_reduce_local(const struct coll *c)
{
    char *const a = mock_of(c)->a;
    int rc = MPI_Allgather(c->turn.send, c->count, c->type, a, c->count, c->type, c->comm);
    return rc ? rc : reduce_blocks(c, a, c->turn.recv);
}

int mock_allreduce_by_halves(const struct coll *c)
{
    const int half = c->count / 2;
    const size_t first = (size_t)half * c->element;
    const char *const send = c->turn.send;
    char *const recv = c->turn.recv;
    int rc = MPI_Allreduce(send, recv, half, c->type, c->sum.op, c->comm);
    return rc ? rc : MPI_Allreduce(send + first, recv + first, c->count - half, c->type, c->sum.op, c->comm);
}

/* ---- a block at each --------------------------------------------------------------------------------- */

int mock_reduce_scatter_block_by_reduce_scatter(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    int rc = MPI_Reduce(c->turn.send, m->a, m->all, c->type, c->sum.op, 0, c->comm);
    return rc ? rc : MPI_Scatter(m->a, c->count, c->type, c->turn.recv, c->count, c->type, 0, c->comm);
}

int mock_reduce_scatter_block_by_allreduce(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    int rc = MPI_Allreduce(c->turn.send, m->a, m->all, c->type, c->sum.op, c->comm);
    mock_copy(c->turn.recv, m->a + (size_t)c->rank * mock_block(c), mock_block(c));
    return rc;
}

int mock_reduce_scatter_block_by_alltoall_reduce_local(const struct coll *c)
{
    char *const a = mock_of(c)->a;
    int rc = MPI_Alltoall(c->turn.send, c->count, c->type, a, c->count, c->type, c->comm);
    return rc ? rc : reduce_blocks(c, a, c->turn.recv);
}

int mock_reduce_scatter_by_reduce_scatterv(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    int rc = MPI_Reduce(c->turn.send, m->a, c->send.all, c->type, c->sum.op, 0, c->comm);
    return rc ? rc
              : MPI_Scatterv(m->a, c->send.counts, c->send.displs, c->type, c->turn.recv, c->recv.one,
                             c->type, 0, c->comm);
}

int mock_reduce_scatter_by_allreduce(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    int rc = MPI_Allreduce(c->turn.send, m->a, c->send.all, c->type, c->sum.op, c->comm);
    mock_copy(c->turn.recv, m->a + c->send.at[c->rank], c->recv.at[1]);
    return rc;
}

/* ---- up to a rank ------------------------------------------------------------------------------------ */

int mock_scan_by_exscan_reduce_local(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    int rc = MPI_Exscan(c->turn.send, m->a, c->count, c->type, c->sum.op, c->comm);
    mock_copy(c->turn.recv, c->turn.send, mock_block(c));
    return rc || c->rank == 0 ? rc : MPI_Reduce_local(m->a, c->turn.recv, c->count, c->type, c->sum.op);
}

int mock_exscan_by_scan_sendrecv(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    const int last = c->size - 1;
    int rc = MPI_Scan(c->turn.send, m->a, c->count, c->type, c->sum.op, c->comm);
    return rc ? rc
              : MPI_Sendrecv(m->a, c->count, c->type, c->rank < last ? c->rank + 1 : MPI_PROC_NULL, TAG,
                             c->turn.recv, c->count, c->type, c->rank > 0 ? c->rank - 1 : MPI_PROC_NULL, TAG,
                             c->comm, MPI_STATUS_IGNORE);
}
