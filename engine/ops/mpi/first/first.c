/* mpi.first.*: what a job pays once, by ranks: connections that are made when they are needed, buffers that
 * are registered, communicators and windows, the start of the library. Each is timed before anything else is
 * sent (core/first.h), on MPI_COMM_WORLD, so a launch has one sample. */
#include "ops/mpi/first/first.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/families.h"
#include "team/team_mpi_ft.h"

#include <stdlib.h>
#include <string.h>

static const struct param message_params[] = {
    [FIRST_PEER] = {.name = "peer",
                    .unit = "",
                    .summary = "the rank that answers rank 0",
                    .normal = 1,
                    .least = 1,
                    .most = 1e7,
                    .all = "ranks"},
    FIRST_USE_PARAM,
    {0},
};

static const struct param params[] = {FIRST_USE_PARAM, {0}};

void first_done(struct first *f)
{
    struct first_state *e = f->own;
    free(e->send);
    free(e->recv);
    free(e);
    f->own = NULL;
}

double first_block_memory(const struct first *f)
{
    return 2.0 * (double)f->bytes;
}

double first_blocks_memory(const struct first *f)
{
    return first_block_memory(f) * f->size;
}

/* There is a byte at least, so that there is an address. */
int first_ready(struct first *f, size_t blocks)
{
    struct first_state *e = calloc(1, sizeof *e);
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
        first_done(f);
        return err;
    }
    data_poison(e->send, blocks * f->bytes + 1); /* pages are there before the clock starts */
    data_poison(e->recv, blocks * f->bytes + 1);
    return 0;
}

static const char sizes[] = "8";

#define LOST(ranks) .class = OP_COLLECTIVE, .report = OP_SLOWEST, .least_ranks = ranks, .missing = FT_MISSING

static const struct op rows[] = {
    {.name = "mpi.first.init",
     .summary = "MPI_Init_thread: the slowest rank's own time",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .first = &first_init},
    {.name = "mpi.first.job",
     .summary = "from main to the end of the first MPI_Allreduce, MPI_Init_thread and all: the time until a "
                "job works together",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .first = &first_job},
    {.name = "mpi.first.message",
     .summary = "the first message to a rank, and its answer",
     .class = OP_COLLECTIVE,
     .report = OP_ROOT,
     .least_ranks = 2,
     .default_bytes = sizes,
     .params = message_params,
     .first = &first_message},
    {.name = "mpi.first.barrier",
     .summary = "the first MPI_Barrier",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .params = params,
     .first = &first_barrier},
    {.name = "mpi.first.bcast",
     .summary = "the first MPI_Bcast",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .params = params,
     .first = &first_bcast},
    {.name = "mpi.first.allreduce",
     .summary = "the first MPI_Allreduce, a sum of doubles",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .params = params,
     .first = &first_allreduce},
    {.name = "mpi.first.alltoall",
     .summary = "the first MPI_Alltoall, which makes each rank's connection to each",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .params = params,
     .first = &first_alltoall},
    {.name = "mpi.first.thread",
     .summary = "the first call of MPI by a thread, a message to itself, by each rank",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .thread_level = "multiple",
     .params = params,
     .missing = THREADS_MISSING,
     .first = &first_thread},
    {.name = "mpi.first.comm_dup",
     .summary = "the first MPI_Comm_dup",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .params = params,
     .first = &first_comm},
    {.name = "mpi.first.window",
     .summary = "the first MPI_Win_allocate",
     .class = OP_COLLECTIVE,
     .report = OP_SLOWEST,
     .default_bytes = sizes,
     .params = params,
     .first = &first_window},
    {.name = "mpi.first.put",
     .summary = "the first MPI_Put in a window and MPI_Win_flush, from rank 0 to the last",
     .class = OP_COLLECTIVE,
     .report = OP_ROOT,
     .least_ranks = 2,
     .default_bytes = sizes,
     .params = params,
     .first = &first_put},
    {.name = "mpi.ft.notice",
     .summary =
         "a rank more than these dies: from its death until a receive from it ends, on the slowest rank",
     LOST(2),
     .first = &first_notice},
    {.name = "mpi.ft.revoke",
     .summary = "after a death: from MPIX_Comm_revoke on rank 0 until the receive of each rank ends by it",
     LOST(2),
     .first = &first_revoke},
    {.name = "mpi.ft.shrink",
     .summary = "after a death: MPIX_Comm_shrink, a communicator of those that are left",
     LOST(1),
     .first = &first_shrink},
    {.name = "mpi.ft.agree",
     .summary = "after a death: MPIX_Comm_agree of those that are left",
     LOST(1),
     .first = &first_agree},
};
#undef LOST

/* The use has been timed when the launch began: what is left is to tell whether all went well. */

static int setup(const struct op_env *env, void **state)
{
    int err = first_check(env->first, env->op, env->team);
    if (!err)
        *state = (void *)(uintptr_t)env->first;
    return err;
}

/* What the use has left in memory on this rank, and what there is in all. */
static const char *const counters[] = {"heap_grown_bytes",   "resident_grown_bytes",
                                       "shared_grown_bytes", "locked_grown_bytes",
                                       "pinned_grown_bytes", "resident_bytes",
                                       "shared_bytes",       "locked_bytes",
                                       "pinned_bytes",       NULL};

static void counted(void *state, int64_t *values)
{
    const struct first *f = state;
    const struct footprint *a = &f->before, *b = &f->after;
    const int64_t of_this[] = {b->heap - a->heap,
                               b->resident - a->resident,
                               b->shared - a->shared,
                               b->locked - a->locked,
                               b->pinned - a->pinned,
                               b->resident,
                               b->shared,
                               b->locked,
                               b->pinned};
    memcpy(values, of_this, sizeof of_this);
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
    op->family = "management";
    op->role = ROLE_CALL;
    op->parts = 1;
    op->setup = setup;
    op->verify = verify;
    op->counters = counters;
    op->counted = counted;
    op->teardown = teardown;
}

const struct op_family mpi_first_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
