/* First messages and collectives on MPI_COMM_WORLD, and the start of the library. */
#include "ops/mpi/first/first.h"

#include "base/err.h"
#include "base/pool.h"
#include "ops/common/data.h"

#include <string.h>

enum { TAG = 1 };

/* message: rank 0 sends to a peer, which answers with as much. */

static int message_ready(struct first *f)
{
    int err = first_ready(f, 1);
    if (!err)
        data_fill(((struct first_state *)f->own)->send, f->bytes, f->rank,
                  f->rank == 0 ? (int)f->params[FIRST_PEER] : 0);
    return err;
}

static int message_use(struct first *f)
{
    const struct first_state *e = f->own;
    const int peer = (int)f->params[FIRST_PEER];
    int rc = MPI_SUCCESS;
    if (f->rank == 0) {
        rc = MPI_Send(e->send, e->count, MPI_BYTE, peer, TAG, MPI_COMM_WORLD);
        if (rc == MPI_SUCCESS)
            rc = MPI_Recv(e->recv, e->count, MPI_BYTE, peer, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (f->rank == peer) {
        rc = MPI_Recv(e->recv, e->count, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Send(e->send, e->count, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
    return team_mpi_err(rc, "the first message");
}

static int message_after(struct first *f)
{
    const struct first_state *e = f->own;
    const int peer = (int)f->params[FIRST_PEER];
    if (f->rank != 0 && f->rank != peer)
        return 0;
    data_arrived(e->recv, f->bytes, f->planted);
    int err = data_check(e->recv, f->bytes, f->rank == 0 ? peer : 0, f->rank, 0);
    data_poison(e->recv, f->bytes);
    return err;
}

/* bcast: out of rank 0. */

static int bcast_ready(struct first *f)
{
    int err = first_ready(f, 1);
    if (!err && f->rank == 0)
        data_fill(((struct first_state *)f->own)->recv, f->bytes, 0, 0);
    return err;
}

static int bcast_use(struct first *f)
{
    const struct first_state *e = f->own;
    return team_mpi_err(MPI_Bcast(e->recv, e->count, MPI_BYTE, 0, MPI_COMM_WORLD), "the first MPI_Bcast");
}

static int bcast_after(struct first *f)
{
    const struct first_state *e = f->own;
    data_arrived(e->recv, f->bytes, f->planted);
    int err = data_check(e->recv, f->bytes, 0, 0, 0);
    if (f->rank != 0)
        data_poison(e->recv, f->bytes);
    return err;
}

/* alltoall: a message from each rank to each. */

static int alltoall_ready(struct first *f)
{
    int err = first_ready(f, (size_t)f->size);
    for (int r = 0; r < f->size && !err; ++r)
        data_fill(((struct first_state *)f->own)->send + (size_t)r * f->bytes, f->bytes, f->rank, r);
    return err;
}

static int alltoall_use(struct first *f)
{
    const struct first_state *e = f->own;
    return team_mpi_err(
        MPI_Alltoall(e->send, e->count, MPI_BYTE, e->recv, e->count, MPI_BYTE, MPI_COMM_WORLD),
        "the first MPI_Alltoall");
}

static int alltoall_after(struct first *f)
{
    const struct first_state *e = f->own;
    data_arrived(e->recv, (size_t)f->size * f->bytes, f->planted);
    int err = 0;
    for (int r = 0; r < f->size && !err; ++r)
        err = data_check(e->recv + (size_t)r * f->bytes, f->bytes, r, f->rank, r);
    data_poison(e->recv, (size_t)f->size * f->bytes);
    return err;
}

/* allreduce: a sum of doubles; small whole numbers, so that it is exact in any order. */

static int allreduce_ready(struct first *f)
{
    if (f->bytes % sizeof(double) != 0)
        return err_say(ERR_INPUT, "%s sums doubles: give sizes that are multiples of %zu, not %zu",
                       f->op->name, sizeof(double), f->bytes);
    int err = first_ready(f, 1);
    if (err)
        return err;
    struct first_state *e = f->own;
    e->count /= (int)sizeof(double);
    for (int i = 0; i < e->count; ++i) {
        const double value = f->rank + i % 7;
        memcpy(e->send + (size_t)i * sizeof value, &value, sizeof value);
    }
    return 0;
}

static int allreduce_use(struct first *f)
{
    const struct first_state *e = f->own;
    return team_mpi_err(MPI_Allreduce(e->send, e->recv, e->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
                        "the first MPI_Allreduce");
}

static int allreduce_after(struct first *f)
{
    const struct first_state *e = f->own;
    const double ranks = f->size;
    int err = 0;
    data_arrived(e->recv, f->bytes, f->planted);
    for (int i = 0; i < e->count && !err; ++i) {
        const double right = ranks * (ranks - 1) / 2 + ranks * (i % 7);
        double sum = 0;
        memcpy(&sum, e->recv + (size_t)i * sizeof sum, sizeof sum);
        if (sum != right)
            err = err_say(ERR_WRONG, "the sum of element %d is %g, should be %g", i, sum, right);
    }
    data_poison(e->recv, f->bytes);
    return err;
}

/* barrier */

static int barrier_use(struct first *f)
{
    (void)f;
    return team_mpi_err(MPI_Barrier(MPI_COMM_WORLD), "the first MPI_Barrier");
}

/* thread: another thread than the first one sends itself a message. */

static int thread_ready(struct first *f)
{
    int err = team_threads_allowed(f->op->name, 2);
    err = err ? err : first_ready(f, 1);
    if (err)
        return err;
    struct first_state *e = f->own;
    data_fill(e->send, f->bytes, f->rank, f->rank);
    err = pool_open(2, &e->pool);
    if (err)
        first_done(f);
    return err;
}

static void thread_call(void *arg, int lane)
{
    struct first_state *e = arg;
    if (lane > 0)
        e->rc = MPI_Sendrecv(e->send, e->count, MPI_BYTE, 0, TAG, e->recv, e->count, MPI_BYTE, 0, TAG,
                             MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static int thread_use(struct first *f)
{
    struct first_state *e = f->own;
    pool_begin(e->pool, thread_call, e);
    pool_end(e->pool);
    return team_mpi_err(e->rc, "MPI_Sendrecv");
}

static int thread_after(struct first *f)
{
    const struct first_state *e = f->own;
    data_arrived(e->recv, f->bytes, f->planted);
    const int err = data_check(e->recv, f->bytes, f->rank, f->rank, 0);
    data_poison(e->recv, f->bytes);
    return err;
}

static void thread_done(struct first *f)
{
    struct first_state *e = f->own;
    pool_close(e->pool);
    first_done(f);
}

const struct op_first first_thread = {.memory = first_block_memory,
                                      .ready = thread_ready,
                                      .use = thread_use,
                                      .after = thread_after,
                                      .done = thread_done};
const struct op_first first_message = {.memory = first_block_memory,
                                       .ready = message_ready,
                                       .use = message_use,
                                       .after = message_after,
                                       .done = first_done};
const struct op_first first_bcast = {.memory = first_block_memory,
                                     .ready = bcast_ready,
                                     .use = bcast_use,
                                     .after = bcast_after,
                                     .done = first_done};
const struct op_first first_alltoall = {.memory = first_blocks_memory,
                                        .ready = alltoall_ready,
                                        .use = alltoall_use,
                                        .after = alltoall_after,
                                        .done = first_done};
const struct op_first first_allreduce = {.memory = first_block_memory,
                                         .ready = allreduce_ready,
                                         .use = allreduce_use,
                                         .after = allreduce_after,
                                         .done = first_done};
const struct op_first first_barrier = {.use = barrier_use};
const struct op_first first_init = {.from = FIRST_FROM_INIT};
const struct op_first first_job = {.from = FIRST_FROM_MAIN,
                                   .memory = first_block_memory,
                                   .ready = allreduce_ready,
                                   .use = allreduce_use,
                                   .after = allreduce_after,
                                   .done = first_done};
