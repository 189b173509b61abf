/* mpi.first.*: what a job pays once, by ranks: connections that are made when they are needed, buffers that
 * are registered, communicators and windows, the start of the library. Each is timed before anything else is
 * sent (core/first.h), on MPI_COMM_WORLD, so a launch has one sample. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "core/first.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdlib.h>
#include <string.h>

enum { TAG = 1 };

struct early {
    char *send, *recv;
    int count; /* of bytes, or of doubles in a sum */
    MPI_Comm made;
    MPI_Win win;
    char *target; /* of the window */
};

enum { PEER, PEER_USE };
static const struct param message_params[] = {
    [PEER] = {.name = "peer",
              .unit = "",
              .summary = "the rank that answers rank 0",
              .normal = 1,
              .least = 1,
              .most = 1e7,
              .all = "ranks"},
    [PEER_USE] = FIRST_USE_PARAM,
    {0},
};

static const struct param params[] = {FIRST_USE_PARAM, {0}};

static void done(struct first *f)
{
    struct early *e = f->own;
    free(e->send);
    free(e->recv);
    free(e);
    f->own = NULL;
}

/* Buffers of `blocks` times the point's bytes, with a byte at least so that there is an address. */
static int ready_with(struct first *f, size_t blocks)
{
    struct early *e = calloc(1, sizeof *e);
    if (!e)
        return err_say(ERR_NOMEM, "no memory for the state of %s", f->op->name);
    f->own = e;
    e->made = MPI_COMM_NULL;
    e->win = MPI_WIN_NULL;
    e->send = malloc(blocks * f->bytes + 1);
    e->recv = malloc(blocks * f->bytes + 1);
    int err = num_to_int(f->bytes, &e->count);
    if (!err && (!e->send || !e->recv))
        err = err_say(ERR_NOMEM, "no memory for %zu bytes", 2 * blocks * f->bytes);
    if (err) {
        done(f);
        return err;
    }
    data_poison(e->send, blocks * f->bytes + 1); /* pages are there before the clock starts */
    data_poison(e->recv, blocks * f->bytes + 1);
    return 0;
}

/* message: rank 0 sends to a peer, which answers with as much. */

static int message_ready(struct first *f)
{
    int err = ready_with(f, 1);
    if (!err)
        data_fill(((struct early *)f->own)->send, f->bytes, f->rank, f->rank == 0 ? (int)f->params[PEER] : 0);
    return err;
}

static int message_use(struct first *f)
{
    const struct early *e = f->own;
    const int peer = (int)f->params[PEER];
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
    const struct early *e = f->own;
    const int peer = (int)f->params[PEER];
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
    int err = ready_with(f, 1);
    if (!err && f->rank == 0)
        data_fill(((struct early *)f->own)->recv, f->bytes, 0, 0);
    return err;
}

static int bcast_use(struct first *f)
{
    const struct early *e = f->own;
    return team_mpi_err(MPI_Bcast(e->recv, e->count, MPI_BYTE, 0, MPI_COMM_WORLD), "the first MPI_Bcast");
}

static int bcast_after(struct first *f)
{
    const struct early *e = f->own;
    data_arrived(e->recv, f->bytes, f->planted);
    int err = data_check(e->recv, f->bytes, 0, 0, 0);
    if (f->rank != 0)
        data_poison(e->recv, f->bytes);
    return err;
}

/* alltoall: a message from each rank to each. */

static int alltoall_ready(struct first *f)
{
    int err = ready_with(f, (size_t)f->size);
    for (int r = 0; r < f->size && !err; ++r)
        data_fill(((struct early *)f->own)->send + (size_t)r * f->bytes, f->bytes, f->rank, r);
    return err;
}

static int alltoall_use(struct first *f)
{
    const struct early *e = f->own;
    return team_mpi_err(
        MPI_Alltoall(e->send, e->count, MPI_BYTE, e->recv, e->count, MPI_BYTE, MPI_COMM_WORLD),
        "the first MPI_Alltoall");
}

static int alltoall_after(struct first *f)
{
    const struct early *e = f->own;
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
    int err = ready_with(f, 1);
    if (err)
        return err;
    struct early *e = f->own;
    e->count /= (int)sizeof(double);
    for (int i = 0; i < e->count; ++i) {
        const double value = f->rank + i % 7;
        memcpy(e->send + (size_t)i * sizeof value, &value, sizeof value);
    }
    return 0;
}

static int allreduce_use(struct first *f)
{
    const struct early *e = f->own;
    return team_mpi_err(MPI_Allreduce(e->send, e->recv, e->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
                        "the first MPI_Allreduce");
}

static int allreduce_after(struct first *f)
{
    const struct early *e = f->own;
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

/* comm_dup: a communicator, which is freed untimed. */

static int comm_ready(struct first *f)
{
    return ready_with(f, 1);
}

static int comm_use(struct first *f)
{
    struct early *e = f->own;
    return team_mpi_err(MPI_Comm_dup(MPI_COMM_WORLD, &e->made), "the first MPI_Comm_dup");
}

static int comm_after(struct first *f)
{
    struct early *e = f->own;
    int ranks = 0;
    int err = team_mpi_err(MPI_Comm_size(e->made, &ranks), "MPI_Comm_size");
    data_arrived(&ranks, 1, f->planted);
    if (!err && ranks != f->size)
        err = err_say(ERR_WRONG, "the communicator has %d ranks, should have %d", ranks, f->size);
    const int freed = team_mpi_err(MPI_Comm_free(&e->made), "MPI_Comm_free");
    return err ? err : freed;
}

/* window: memory for puts, by MPI_Win_allocate. */

static int window_use(struct first *f)
{
    struct early *e = f->own;
    return team_mpi_err(
        MPI_Win_allocate((MPI_Aint)f->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &e->target, &e->win),
        "the first MPI_Win_allocate");
}

static int window_after(struct first *f)
{
    struct early *e = f->own;
    const int me = f->rank;
    data_fill(e->send, f->bytes, me, me);
    int err = team_mpi_err(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, e->win), "MPI_Win_lock");
    if (!err)
        err =
            team_mpi_err(MPI_Put(e->send, e->count, MPI_BYTE, me, 0, e->count, MPI_BYTE, e->win), "MPI_Put");
    if (!err)
        err = team_mpi_err(MPI_Win_unlock(me, e->win), "MPI_Win_unlock");
    data_arrived(e->target, f->bytes, f->planted);
    err = err ? err : data_check(e->target, f->bytes, me, me, 0);
    const int freed = team_mpi_err(MPI_Win_free(&e->win), "MPI_Win_free");
    return err ? err : freed;
}

/* put: from rank 0 to the last rank's window, until it is there. */

static void put_done(struct first *f)
{
    struct early *e = f->own;
    MPI_Win_unlock_all(e->win);
    MPI_Win_free(&e->win);
    done(f);
}

static int put_ready(struct first *f)
{
    int err = ready_with(f, 1);
    if (err)
        return err;
    struct early *e = f->own;
    data_fill(e->send, f->bytes, 0, f->size - 1);
    err = window_use(f);
    if (!err) {
        data_poison(e->target, f->bytes);
        err = team_mpi_err(MPI_Win_lock_all(0, e->win), "MPI_Win_lock_all");
    }
    if (!err)
        err = team_mpi_err(MPI_Win_sync(e->win), "MPI_Win_sync");
    if (!err)
        err = team_mpi_err(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    return err;
}

static int put_use(struct first *f)
{
    const struct early *e = f->own;
    const int last = f->size - 1;
    if (f->rank != 0)
        return 0;
    int err =
        team_mpi_err(MPI_Put(e->send, e->count, MPI_BYTE, last, 0, e->count, MPI_BYTE, e->win), "MPI_Put");
    return err ? err : team_mpi_err(MPI_Win_flush(last, e->win), "MPI_Win_flush");
}

static int put_after(struct first *f)
{
    const struct early *e = f->own;
    int err = team_mpi_err(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    if (!err)
        err = team_mpi_err(MPI_Win_sync(e->win), "MPI_Win_sync");
    if (err || f->rank != f->size - 1)
        return err;
    data_arrived(e->target, f->bytes, f->planted);
    err = data_check(e->target, f->bytes, 0, f->rank, 0);
    data_poison(e->target, f->bytes);
    return err;
}

/* ---- the rows ---------------------------------------------------------------------------------------- */

#define BUFFERS(name) .ready = name##_ready, .use = name##_use, .after = name##_after, .done = done

static const struct op_first message = {BUFFERS(message)}, bcast = {BUFFERS(bcast)},
                             alltoall = {BUFFERS(alltoall)}, allreduce = {BUFFERS(allreduce)},
                             comm = {BUFFERS(comm)}, barrier = {.use = barrier_use},
                             window = {.ready = comm_ready,
                                       .use = window_use,
                                       .after = window_after,
                                       .done = done},
                             put = {.ready = put_ready, .use = put_use, .after = put_after, .done = put_done},
                             init = {.from = FIRST_FROM_INIT},
                             job = {.from = FIRST_FROM_MAIN, BUFFERS(allreduce)};

static const char sizes[] = "8";

static const struct op rows[] = {
    {.name = "mpi.first.init",
     .summary = "MPI_Init_thread: the slowest rank's own time",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .first = &init},
    {.name = "mpi.first.job",
     .summary = "from main to the end of the first MPI_Allreduce, MPI_Init_thread and all: the time until a "
                "job works together",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .first = &job},
    {.name = "mpi.first.message",
     .summary = "the first message to a rank, and its answer",
     .class = OP_COLLECTIVE,
     .report = OP_ROOT,
     .least_ranks = 2,
     .default_bytes = sizes,
     .params = message_params,
     .first = &message},
    {.name = "mpi.first.barrier",
     .summary = "the first MPI_Barrier",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .params = params,
     .first = &barrier},
    {.name = "mpi.first.bcast",
     .summary = "the first MPI_Bcast",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .params = params,
     .first = &bcast},
    {.name = "mpi.first.allreduce",
     .summary = "the first MPI_Allreduce, a sum of doubles",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .params = params,
     .first = &allreduce},
    {.name = "mpi.first.alltoall",
     .summary = "the first MPI_Alltoall, which makes each rank's connection to each",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .params = params,
     .first = &alltoall},
    {.name = "mpi.first.comm_dup",
     .summary = "the first MPI_Comm_dup",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .params = params,
     .first = &comm},
    {.name = "mpi.first.window",
     .summary = "the first MPI_Win_allocate",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .params = params,
     .first = &window},
    {.name = "mpi.first.put",
     .summary = "the first MPI_Put in a window and MPI_Win_flush, from rank 0 to the last",
     .class = OP_COLLECTIVE,
     .report = OP_ROOT,
     .least_ranks = 2,
     .default_bytes = sizes,
     .params = params,
     .first = &put},
};

/* The use has been timed when the launch began: what is left is to tell whether all went well. */

static int setup(const struct op_env *env, void **state)
{
    int err = first_check(env->first, env->op, env->team);
    if (!err)
        *state = (void *)(uintptr_t)env->first;
    return err;
}

static int verify(void *state)
{
    const struct first *f = state;
    return f->err ? err_say(f->err, "%s", f->why) : 0;
}

static void teardown(void *state)
{
    (void)state; /* it is the launch's */
}

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "first use";
    op->role = ROLE_CALL;
    op->parts = 1;
    op->setup = setup;
    op->verify = verify;
    op->teardown = teardown;
}

const struct op_family mpi_first_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
