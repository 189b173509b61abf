/* Compositions of collectives that move data. */
#include "ops/mpi/mock/mock.h"

enum { TAG = 3 }; /* tag of the messages of a composition */

/* ---- barrier ----------------------------------------------------------------------------------------- */

int mock_barrier_by_allreduce(const struct coll *c)
{
    struct mock *m = mock_of(c);
    return MPI_Allreduce(&m->token[0], &m->token[1], 1, MPI_BYTE, MPI_BOR, c->comm);
}

int mock_barrier_by_reduce_bcast(const struct coll *c)
{
    struct mock *m = mock_of(c);
    int rc = MPI_Reduce(&m->token[0], &m->token[1], 1, MPI_BYTE, MPI_BOR, 0, c->comm);
    return rc ? rc : MPI_Bcast(&m->token[1], 1, MPI_BYTE, 0, c->comm);
}

/* Dissemination: Hensgen, Finkel and Manber, Int. J. Parallel Programming 17, 1988. */
int mock_barrier_by_messages(const struct coll *c)
{
    int rc = MPI_SUCCESS;
    for (int far = 1; far < c->size && !rc; far *= 2)
        rc = MPI_Sendrecv(NULL, 0, MPI_BYTE, (c->rank + far) % c->size, TAG, NULL, 0, MPI_BYTE,
                          (c->rank - far + c->size) % c->size, TAG, c->comm, MPI_STATUS_IGNORE);
    return rc;
}

/* ---- broadcast --------------------------------------------------------------------------------------- */

int mock_bcast_by_scatter_allgather(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    const bool is_root = c->rank == c->turn.root;
    if (is_root)
        mock_copy(m->a, c->turn.recv, mock_block(c));
    int rc = MPI_Scatter(m->a, m->part, c->type, m->b, m->part, c->type, c->turn.root, c->comm);
    rc = rc ? rc : MPI_Allgather(m->b, m->part, c->type, m->a, m->part, c->type, c->comm);
    if (!is_root)
        mock_copy(c->turn.recv, m->a, mock_block(c));
    return rc;
}

int mock_bcast_by_scatterv_allgatherv(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    char *const all = c->turn.recv;
    void *const mine = c->rank == c->turn.root ? MPI_IN_PLACE : (void *)(all + mock_part(c, c->rank));
    int rc = MPI_Scatterv(all, m->counts, m->displs, c->type, mine, m->counts[c->rank], c->type, c->turn.root,
                          c->comm);
    return rc ? rc : MPI_Allgatherv(MPI_IN_PLACE, 0, c->type, all, m->counts, m->displs, c->type, c->comm);
}

int mock_bcast_by_allgatherv(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    const bool is_root = c->rank == c->turn.root;
    m->only[c->turn.root] = c->count;
    int rc = MPI_Allgatherv(is_root ? c->turn.recv : NULL, is_root ? c->count : 0, c->type,
                            is_root ? m->a : c->turn.recv, m->only, m->none, c->type, c->comm);
    m->only[c->turn.root] = 0;
    return rc;
}

int mock_bcast_by_halves(const struct coll *c)
{
    const int half = c->count / 2;
    char *const data = c->turn.recv;
    int rc = MPI_Bcast(data, half, c->type, c->turn.root, c->comm);
    return rc ? rc
              : MPI_Bcast(data + (size_t)half * c->element, c->count - half, c->type, c->turn.root, c->comm);
}

/* ---- messages ---------------------------------------------------------------------------------------- */

/* Block b of a side to or from a rank, and the next free request. */
static int send_block(const struct coll *c, int b, int to, MPI_Request *request)
{
    return MPI_Isend(c->turn.out + c->send.at[b], c->send.counts[b], c->type, to, TAG, c->comm, request);
}

static int recv_block(const struct coll *c, int b, int from, MPI_Request *request)
{
    return MPI_Irecv(c->turn.in + c->recv.at[b], c->recv.counts[b], c->type, from, TAG, c->comm, request);
}

/* Copy my own block from the send buffer to the receive buffer. */
static void keep_block(const struct coll *c, int sent, int received)
{
    mock_copy(c->turn.in + c->recv.at[received], c->turn.out + c->send.at[sent],
              c->send.at[sent + 1] - c->send.at[sent]);
}

static int wait_for(const struct coll *c, int rc, int count)
{
    return rc ? rc : MPI_Waitall(count, mock_of(c)->messages, statuses_ignored());
}

static int gather_by_messages(const struct coll *c)
{
    MPI_Request *const messages = mock_of(c)->messages;
    const int root = c->turn.root;
    int rc = MPI_SUCCESS, count = 0;
    if (c->rank != root)
        return wait_for(c, send_block(c, 0, root, messages), 1);
    for (int from = 0; from < c->size && !rc; ++from)
        if (from != root)
            rc = recv_block(c, from, from, &messages[count++]);
    keep_block(c, 0, root);
    return wait_for(c, rc, count);
}

int mock_gather_by_messages(const struct coll *c)
{
    return gather_by_messages(c);
}

int mock_gatherv_by_messages(const struct coll *c)
{
    return gather_by_messages(c);
}

int mock_scatter_by_messages(const struct coll *c)
{
    MPI_Request *const messages = mock_of(c)->messages;
    const int root = c->turn.root;
    int rc = MPI_SUCCESS, count = 0;
    if (c->rank != root)
        return wait_for(c, recv_block(c, 0, root, messages), 1);
    for (int to = 0; to < c->size && !rc; ++to)
        if (to != root)
            rc = send_block(c, to, to, &messages[count++]);
    keep_block(c, root, 0);
    return wait_for(c, rc, count);
}

/* Each rank begins with its neighbour, so that not all of them send to rank 0 first. */
static int alltoall_by_messages(const struct coll *c)
{
    MPI_Request *const messages = mock_of(c)->messages;
    int rc = MPI_SUCCESS, count = 0;
    for (int far = 1; far < c->size && !rc; ++far) {
        const int from = (c->rank - far + c->size) % c->size;
        rc = recv_block(c, from, from, &messages[count++]);
    }
    for (int far = 1; far < c->size && !rc; ++far) {
        const int to = (c->rank + far) % c->size;
        rc = send_block(c, to, to, &messages[count++]);
    }
    keep_block(c, c->rank, c->rank);
    return wait_for(c, rc, count);
}

int mock_alltoall_by_messages(const struct coll *c)
{
    return alltoall_by_messages(c);
}

int mock_alltoallv_by_messages(const struct coll *c)
{
    return alltoall_by_messages(c);
}

/* ---- gather and scatter ------------------------------------------------------------------------------ */

int mock_gather_by_allgather(const struct coll *c)
{
    void *const all = c->rank == c->turn.root ? c->turn.recv : mock_of(c)->a;
    return MPI_Allgather(c->turn.send, c->count, c->type, all, c->count, c->type, c->comm);
}

/* My block among zeros, which clear() has written for the blocks of others. */
static const char *among_zeros(const struct coll *c)
{
    char *const a = mock_of(c)->a;
    mock_copy(a + (size_t)c->rank * mock_block(c), c->turn.send, mock_block(c));
    return a;
}

int mock_gather_by_reduce(const struct coll *c)
{
    return MPI_Reduce(among_zeros(c), c->turn.recv, mock_of(c)->all_bytes, MPI_BYTE, MPI_BOR, c->turn.root,
                      c->comm);
}

int mock_scatter_by_bcast(const struct coll *c)
{
    const struct mock *m = mock_of(c);
    char *const all = c->rank == c->turn.root ? c->turn.out : m->a;
    int rc = MPI_Bcast(all, m->all, c->type, c->turn.root, c->comm);
    mock_copy(c->turn.recv, all + (size_t)c->rank * mock_block(c), mock_block(c));
    return rc;
}

/* ---- allgather --------------------------------------------------------------------------------------- */

int mock_allgather_by_gather_bcast(const struct coll *c)
{
    int rc = MPI_Gather(c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, 0, c->comm);
    return rc ? rc : MPI_Bcast(c->turn.recv, mock_of(c)->all, c->type, 0, c->comm);
}

int mock_allgather_by_alltoall(const struct coll *c)
{
    char *const a = mock_of(c)->a;
    for (int to = 0; to < c->size; ++to)
        mock_copy(a + (size_t)to * mock_block(c), c->turn.send, mock_block(c));
    return MPI_Alltoall(a, c->count, c->type, c->turn.recv, c->count, c->type, c->comm);
}

int mock_allgather_by_allreduce(const struct coll *c)
{
    return MPI_Allreduce(among_zeros(c), c->turn.recv, mock_of(c)->all_bytes, MPI_BYTE, MPI_BOR, c->comm);
}

int mock_allgather_by_bcasts(const struct coll *c)
{
    char *const all = c->turn.recv;
    int rc = MPI_SUCCESS;
    mock_copy(all + (size_t)c->rank * mock_block(c), c->turn.send, mock_block(c));
    for (int root = 0; root < c->size && !rc; ++root)
        rc = MPI_Bcast(all + (size_t)root * mock_block(c), c->count, c->type, root, c->comm);
    return rc;
}

int mock_allgatherv_by_gatherv_bcast(const struct coll *c)
{
    int rc = MPI_Gatherv(c->turn.send, c->send.one, c->type, c->turn.recv, c->recv.counts, c->recv.displs,
                         c->type, 0, c->comm);
    return rc ? rc : MPI_Bcast(c->turn.recv, c->recv.all, c->type, 0, c->comm);
}
