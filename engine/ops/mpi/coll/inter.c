/* Collectives over the two groups of an intercommunicator, the lower half of the ranks and the upper one.
 * Each block is checked byte by byte.
 *
 * To add one: a row, with the call and what its blocks must be. */
#include "ops/families.h"

#include "comm/compat_mpi.h"
#include "ops/mpi/coll/block_call.h"

#include <stddef.h>

#define INTER_CALL(name, ...)                                                                                \
    static int name(struct call *c)                                                                          \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }
#define SEND c->send, c->narrow, MPI_BYTE
#define RECV c->recv, c->narrow, MPI_BYTE

INTER_CALL(barrier, MPI_Barrier(c->inter))
INTER_CALL(allreduce, MPI_Allreduce(c->send, c->recv, c->narrow, MPI_BYTE, MPI_BXOR, c->inter))
INTER_CALL(allgather, MPI_Allgather(SEND, RECV, c->inter))
INTER_CALL(alltoall, MPI_Alltoall(SEND, RECV, c->inter))

static int bcast(struct call *c)
{
    const int root = !c->is_lower ? CALL_ROOT : c->rank == CALL_ROOT ? MPI_ROOT : MPI_PROC_NULL;
    return MPI_Bcast(c->recv, c->narrow, MPI_BYTE, root, c->inter);
}

#define BETWEEN " of an intercommunicator, the lower half of the ranks and the upper"

static const struct call_row rows[] = {
    {"mpi.inter.barrier", "MPI_Barrier of the two groups" BETWEEN, "MPI_Barrier", CALL_TWO_GROUPS, CALL_NONE,
     CALL_NONE, FLOW_ALL, barrier, call_fill_nothing, call_check_nothing, CALL_BYTES},
    {"mpi.inter.bcast", "a block from rank 0 to the other group" BETWEEN, "MPI_Bcast", CALL_TWO_GROUPS,
     CALL_NONE, CALL_ONE, FLOW_OUT, bcast, call_fill_root, call_check_root, CALL_BYTES},
    {"mpi.inter.allreduce", "the bits of each group combined (BXOR) at the other" BETWEEN, "MPI_Allreduce",
     CALL_TWO_GROUPS, CALL_ONE, CALL_ONE, FLOW_ALL, allreduce, call_fill_one, call_check_bits, CALL_BYTES},
    {"mpi.inter.allgather", "a block from each rank to every rank of the other group" BETWEEN,
     "MPI_Allgather", CALL_TWO_GROUPS, CALL_ONE, CALL_EACH, FLOW_ALL, allgather, call_fill_one,
     call_check_gathered, CALL_BYTES},
    {"mpi.inter.alltoall", "a block of its own from each rank to every rank of the other group" BETWEEN,
     "MPI_Alltoall", CALL_TWO_GROUPS, CALL_EACH, CALL_EACH, FLOW_ALL, alltoall, call_fill_each,
     call_check_each, CALL_BYTES},
};

static void op_at(size_t i, struct op *op)
{
    call_op(&rows[i], INTER_MISSING, op);
}

const struct op_family mpi_coll_inter_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
