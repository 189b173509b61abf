/* Calls with counts greater than an int (MPI 4.0), beyond 2 GiB too. Each block is checked byte by byte.
 *
 * To add one: a row, with the call and what its blocks must be. */
#include "ops/families.h"

#include "comm/compat_mpi.h"
#include "ops/mpi/coll/block_call.h"

#include <stddef.h>

/* Macros stand for calls that an older MPI lacks, and use none of their arguments. */
#define LARGE_CALL(name, ...)                                                                                \
    static int call_##name(struct call *c)                                                                   \
    {                                                                                                        \
        (void)c;                                                                                             \
        return __VA_ARGS__;                                                                                  \
    }
#define SEND c->send, c->count, c->type
#define RECV c->recv, c->count, c->type
#define WINDOW_BLOCK CALL_TARGET, 0, c->count, c->type
#define SUMMED c->send, c->recv, c->count, c->type, MPI_BXOR

LARGE_CALL(bcast, MPI_Bcast_c(RECV, CALL_ROOT, c->comm))
LARGE_CALL(allreduce, MPI_Allreduce_c(SUMMED, c->comm))
LARGE_CALL(allgather, MPI_Allgather_c(SEND, RECV, c->comm))
LARGE_CALL(reduce, MPI_Reduce_c(SUMMED, CALL_ROOT, c->comm))
LARGE_CALL(gather, MPI_Gather_c(SEND, RECV, CALL_ROOT, c->comm))
LARGE_CALL(scatter, MPI_Scatter_c(SEND, RECV, CALL_ROOT, c->comm))
LARGE_CALL(alltoall, MPI_Alltoall_c(SEND, RECV, c->comm))
LARGE_CALL(put, MPI_Put_c(SEND, WINDOW_BLOCK, c->window))
LARGE_CALL(get, MPI_Get_c(RECV, WINDOW_BLOCK, c->window))
LARGE_CALL(accumulate, MPI_Accumulate_c(SEND, WINDOW_BLOCK, MPI_BXOR, c->window))

static int lock_around(struct call *c, int (*call)(struct call *c))
{
    if (c->rank != CALL_ROOT)
        return MPI_SUCCESS;
    const int locked = MPI_Win_lock(MPI_LOCK_SHARED, CALL_TARGET, 0, c->window);
    if (locked != MPI_SUCCESS)
        return locked;
    const int called = call(c);
    const int unlocked = MPI_Win_unlock(CALL_TARGET, c->window); /* or the target never gets its own lock */
    return called != MPI_SUCCESS ? called : unlocked;
}

static int put_locked(struct call *c)
{
    return lock_around(c, call_put);
}

static int get_locked(struct call *c)
{
    return lock_around(c, call_get);
}

static int accumulate_locked(struct call *c)
{
    return lock_around(c, call_accumulate);
}

#define BEYOND ", also beyond 2 GiB"
#define LOCKED(call) "MPI_Win_lock, " call " or MPI_Win_unlock"

static const struct call_row rows[] = {
    {"mpi.bcast_c", "a block from rank 0 to all by MPI_Bcast_c" BEYOND, "MPI_Bcast_c", CALL_ALL, CALL_NONE,
     CALL_ONE, FLOW_OUT, call_bcast, call_fill_root, call_check_root, CALL_BYTES},
    {"mpi.allreduce_c", "the bits of all ranks combined (BXOR) by MPI_Allreduce_c" BEYOND, "MPI_Allreduce_c",
     CALL_ALL, CALL_ONE, CALL_ONE, FLOW_ALL, call_allreduce, call_fill_one, call_check_bits, CALL_SUMS},
    {"mpi.allgather_c", "a block from each rank to every rank by MPI_Allgather_c" BEYOND, "MPI_Allgather_c",
     CALL_ALL, CALL_ONE, CALL_EACH, FLOW_ALL, call_allgather, call_fill_one, call_check_gathered, CALL_BYTES},
    {"mpi.reduce_c", "the bits of all ranks combined (BXOR) at rank 0 by MPI_Reduce_c" BEYOND, "MPI_Reduce_c",
     CALL_ALL, CALL_ONE, CALL_ONE, FLOW_IN, call_reduce, call_fill_one, call_check_bits_at_root, CALL_SUMS},
    {"mpi.gather_c", "a block from each rank to rank 0 by MPI_Gather_c" BEYOND, "MPI_Gather_c", CALL_ALL,
     CALL_ONE, CALL_EACH, FLOW_IN, call_gather, call_fill_one, call_check_gathered_at_root, CALL_BYTES},
    {"mpi.scatter_c", "a block of its own from rank 0 to every rank by MPI_Scatter_c" BEYOND, "MPI_Scatter_c",
     CALL_ALL, CALL_EACH, CALL_ONE, FLOW_OUT, call_scatter, call_fill_each, call_check_mine, CALL_BYTES},
    {"mpi.alltoall_c", "a block of its own from each rank to every rank by MPI_Alltoall_c" BEYOND,
     "MPI_Alltoall_c", CALL_ALL, CALL_EACH, CALL_EACH, FLOW_ALL, call_alltoall, call_fill_each,
     call_check_each, CALL_BYTES},
    {"mpi.put_c", "a put of rank 0 into rank 1's window by MPI_Put_c, in an epoch of a lock" BEYOND,
     LOCKED("MPI_Put_c"), CALL_INTO_WINDOW, CALL_ONE, CALL_ONE, FLOW_NONE, put_locked, call_fill_one,
     call_check_root, CALL_BYTES},
    {"mpi.get_c", "a get of rank 0 from rank 1's window by MPI_Get_c, in an epoch of a lock" BEYOND,
     LOCKED("MPI_Get_c"), CALL_FROM_WINDOW, CALL_ONE, CALL_ONE, FLOW_NONE, get_locked, call_fill_one,
     call_check_target, CALL_BYTES},
    {"mpi.accumulate_c",
     "the bits of rank 0 combined (BXOR) into rank 1's window by MPI_Accumulate_c, in an epoch of a "
     "lock" BEYOND,
     LOCKED("MPI_Accumulate_c"), CALL_INTO_WINDOW, CALL_ONE, CALL_ONE, FLOW_NONE, accumulate_locked,
     call_fill_sum, call_check_root, CALL_SUMS},
};

static void op_at(size_t i, struct op *op)
{
    call_op(&rows[i], MPI4_MISSING, op);
}

const struct op_family mpi_coll_large_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
