/* What is made first: communicators and windows, and the first put into one. */
#include "ops/mpi/first/first.h"

#include "base/err.h"
#include "ops/common/data.h"

/* comm_dup: a communicator, which is freed untimed. */

static int comm_ready(struct first *f)
{
    return first_ready(f, 1);
}

static int comm_use(struct first *f)
{
    struct first_state *e = f->own;
    return team_mpi_err(MPI_Comm_dup(MPI_COMM_WORLD, &e->made), "the first MPI_Comm_dup");
}

static int comm_after(struct first *f)
{
    struct first_state *e = f->own;
    int ranks = 0;
    int err = team_mpi_err(MPI_Comm_size(e->made, &ranks), "MPI_Comm_size");
    data_arrived(&ranks, 1, f->planted);
    if (!err && ranks != f->size)
        err = err_say(ERR_WRONG, "the communicator has %d ranks, should have %d", ranks, f->size);
    const int freed = team_mpi_err(MPI_Comm_free(&e->made), "MPI_Comm_free");
    return err ? err : freed;
}

/* window: memory for puts, by MPI_Win_allocate. */

static double window_memory(const struct first *f)
{
    return first_block_memory(f) + (double)f->bytes;
}

static int window_use(struct first *f)
{
    struct first_state *e = f->own;
    return team_mpi_err(
        MPI_Win_allocate((MPI_Aint)f->bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &e->target, &e->win),
        "the first MPI_Win_allocate");
}

static int window_after(struct first *f)
{
    struct first_state *e = f->own;
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
    struct first_state *e = f->own;
    if (e->win != MPI_WIN_NULL) {
        MPI_Win_unlock_all(e->win);
        MPI_Win_free(&e->win);
    }
    first_done(f);
}

/* All ranks: what each has done with its own memory is done before others' puts, and the other way round. */
static int put_meet(const struct first_state *e)
{
    int err = team_mpi_err(MPI_Win_sync(e->win), "MPI_Win_sync");
    err = err ? err : team_mpi_err(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
    return err ? err : team_mpi_err(MPI_Win_sync(e->win), "MPI_Win_sync");
}

static int put_ready(struct first *f)
{
    int err = first_ready(f, 1);
    if (err)
        return err;
    struct first_state *e = f->own;
    data_fill(e->send, f->bytes, 0, f->size - 1);
    err = window_use(f);
    if (!err) {
        data_poison(e->target, f->bytes);
        err = team_mpi_err(MPI_Win_lock_all(0, e->win), "MPI_Win_lock_all");
    }
    err = err ? err : put_meet(e);
    if (err)
        put_done(f);
    return err;
}

static int put_use(struct first *f)
{
    const struct first_state *e = f->own;
    const int last = f->size - 1;
    if (f->rank != 0)
        return 0;
    int err =
        team_mpi_err(MPI_Put(e->send, e->count, MPI_BYTE, last, 0, e->count, MPI_BYTE, e->win), "MPI_Put");
    return err ? err : team_mpi_err(MPI_Win_flush(last, e->win), "MPI_Win_flush");
}

static int put_after(struct first *f)
{
    const struct first_state *e = f->own;
    int err = put_meet(e), wrong = 0;
    if (!err && f->rank == f->size - 1) {
        data_arrived(e->target, f->bytes, f->planted);
        wrong = data_check(e->target, f->bytes, 0, f->rank, 0);
        data_poison(e->target, f->bytes);
    }
    err = err ? err : put_meet(e); /* rank 0 puts again when this is checked */
    return err ? err : wrong;
}

const struct op_first first_comm = {
    .ready = comm_ready, .use = comm_use, .after = comm_after, .done = first_done};
const struct op_first first_window = {.memory = window_memory,
                                      .ready = comm_ready,
                                      .use = window_use,
                                      .after = window_after,
                                      .done = first_done};
const struct op_first first_put = {
    .memory = window_memory, .ready = put_ready, .use = put_use, .after = put_after, .done = put_done};
