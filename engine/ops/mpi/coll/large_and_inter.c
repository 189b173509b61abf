/* Calls of collectives that have no other form here: with counts greater than an int (MPI 4.0), beyond 2 GiB
 * too; and over the two groups of an intercommunicator, the lower half of the ranks and the upper one. Each
 * block is checked byte by byte.
 *
 * To add one: a row, with the call and what its blocks must be. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOT, TARGET }; /* of a broadcast; of a put of the root */
enum { TAG = 1 };

static const struct param params[] = {BUFFERS_PARAMS, {0}};

struct call {
    MPI_Comm comm, group, inter; /* of all; my half; both halves, if the row is over two */
    int rank, size;              /* mine in `comm`, or in my half */
    int first, others;           /* the ranks whose blocks come to me: the first of them, and how many */
    bool is_lower;               /* half */
    size_t bytes;                /* of a block */
    MPI_Count count;
    int narrow;        /* the same as an int; 0: of a call that takes more */
    char *send, *recv; /* NULL where the row has no blocks there */
    MPI_Win window;    /* of a put; else MPI_WIN_NULL */
    bool planted;
    const struct row *row;
};

/* Blocks of a rank's buffer: EACH is one for each of the others. */
enum blocks { NONE, ONE, EACH };
enum over { ALL, TWO_GROUPS, WINDOW };

struct row {
    const char *name, *summary, *calls;
    enum over over;
    enum blocks send, recv;
    enum op_flow flow;
    int (*once)(struct call *c);
    void (*fill)(struct call *c);
    int (*check)(struct call *c);
};

/* ---- calls: macros stand for those that an older MPI lacks, and use none of their arguments ---------- */

#define CALL(name, ...)                                                                                      \
    static int name(struct call *c)                                                                          \
    {                                                                                                        \
        (void)c;                                                                                             \
        return __VA_ARGS__;                                                                                  \
    }

CALL(bcast_c, MPI_Bcast_c(c->recv, c->count, MPI_BYTE, ROOT, c->comm))
CALL(allreduce_c, MPI_Allreduce_c(c->send, c->recv, c->count, MPI_BYTE, MPI_BXOR, c->comm))
CALL(allgather_c, MPI_Allgather_c(c->send, c->count, MPI_BYTE, c->recv, c->count, MPI_BYTE, c->comm))
CALL(reduce_c, MPI_Reduce_c(c->send, c->recv, c->count, MPI_BYTE, MPI_BXOR, ROOT, c->comm))
CALL(gather_c, MPI_Gather_c(c->send, c->count, MPI_BYTE, c->recv, c->count, MPI_BYTE, ROOT, c->comm))
CALL(scatter_c, MPI_Scatter_c(c->send, c->count, MPI_BYTE, c->recv, c->count, MPI_BYTE, ROOT, c->comm))
CALL(alltoall_c, MPI_Alltoall_c(c->send, c->count, MPI_BYTE, c->recv, c->count, MPI_BYTE, c->comm))
CALL(inter_barrier, MPI_Barrier(c->inter))
CALL(inter_allreduce, MPI_Allreduce(c->send, c->recv, c->narrow, MPI_BYTE, MPI_BXOR, c->inter))
CALL(inter_allgather, MPI_Allgather(c->send, c->narrow, MPI_BYTE, c->recv, c->narrow, MPI_BYTE, c->inter))
CALL(inter_alltoall, MPI_Alltoall(c->send, c->narrow, MPI_BYTE, c->recv, c->narrow, MPI_BYTE, c->inter))

static int put_c(struct call *c)
{
    if (c->rank != ROOT)
        return MPI_SUCCESS;
    const int locked = MPI_Win_lock(MPI_LOCK_SHARED, TARGET, 0, c->window);
    if (locked != MPI_SUCCESS)
        return locked;
    const int put = MPI_Put_c(c->send, c->count, MPI_BYTE, TARGET, 0, c->count, MPI_BYTE, c->window);
    const int unlocked = MPI_Win_unlock(TARGET, c->window); /* or the target never gets its own lock */
    return put != MPI_SUCCESS ? put : unlocked;
}

static int inter_bcast(struct call *c)
{
    const int root = !c->is_lower ? ROOT : c->rank == ROOT ? MPI_ROOT : MPI_PROC_NULL;
    return MPI_Bcast(c->recv, c->narrow, MPI_BYTE, root, c->inter);
}

/* In an epoch of a lock the library may need the target: it stays in MPI until the root is done. */
static int meet_target(const struct call *c)
{
    if (c->rank == ROOT)
        return MPI_Send(NULL, 0, MPI_BYTE, TARGET, TAG, c->comm);
    return c->rank == TARGET ? MPI_Recv(NULL, 0, MPI_BYTE, ROOT, TAG, c->comm, MPI_STATUS_IGNORE)
                             : MPI_SUCCESS;
}

/* ---- data -------------------------------------------------------------------------------------------- */

static int in_all(const struct call *c)
{
    return c->row->over == TWO_GROUPS && !c->is_lower ? c->rank + c->others : c->rank;
}

static void fill_nothing(struct call *c)
{
    (void)c;
}

static void fill_root(struct call *c)
{
    if (in_all(c) == ROOT)
        data_fill(c->recv, c->bytes, ROOT, ROOT);
}

static void fill_one(struct call *c)
{
    data_fill(c->send, c->bytes, in_all(c), ROOT);
}

static void fill_each(struct call *c)
{
    for (int i = 0; i < c->others; ++i)
        data_fill(c->send + (size_t)i * c->bytes, c->bytes, in_all(c), c->first + i);
}

static int check_nothing(struct call *c)
{
    (void)c;
    return 0;
}

static int check_root(struct call *c)
{
    const bool gets = c->row->over == WINDOW ? c->rank == TARGET : c->row->over == ALL || !c->is_lower;
    return gets ? data_check(c->recv, c->bytes, ROOT, ROOT, 0) : 0;
}

static int check_bits(struct call *c)
{
    return data_check_bits(c->recv, c->send, c->bytes, c->first, c->others);
}

static int check_blocks(const struct call *c, int to)
{
    int err = 0;
    for (int i = 0; i < c->others && !err; ++i)
        err = data_check(c->recv + (size_t)i * c->bytes, c->bytes, c->first + i, to, i);
    return err;
}

static int check_gathered(struct call *c)
{
    return check_blocks(c, ROOT);
}

static int check_bits_at_root(struct call *c)
{
    return c->rank == ROOT ? check_bits(c) : 0;
}

static int check_gathered_at_root(struct call *c)
{
    return c->rank == ROOT ? check_blocks(c, ROOT) : 0;
}

static int check_mine(struct call *c)
{
    return data_check(c->recv, c->bytes, ROOT, c->rank, 0);
}

static int check_each(struct call *c)
{
    return check_blocks(c, in_all(c));
}

/* ---- rows -------------------------------------------------------------------------------------------- */

#define BEYOND ", also beyond 2 GiB"
#define BETWEEN " of an intercommunicator, the lower half of the ranks and the upper"

static const struct row rows[] = {
    {"mpi.bcast_c", "a block from rank 0 to all by MPI_Bcast_c" BEYOND, "MPI_Bcast_c", ALL, NONE, ONE,
     FLOW_OUT, bcast_c, fill_root, check_root},
    {"mpi.allreduce_c", "the bits of all ranks combined (BXOR) by MPI_Allreduce_c" BEYOND, "MPI_Allreduce_c",
     ALL, ONE, ONE, FLOW_ALL, allreduce_c, fill_one, check_bits},
    {"mpi.allgather_c", "a block from each rank to every rank by MPI_Allgather_c" BEYOND, "MPI_Allgather_c",
     ALL, ONE, EACH, FLOW_ALL, allgather_c, fill_one, check_gathered},
    {"mpi.reduce_c", "the bits of all ranks combined (BXOR) at rank 0 by MPI_Reduce_c" BEYOND, "MPI_Reduce_c",
     ALL, ONE, ONE, FLOW_IN, reduce_c, fill_one, check_bits_at_root},
    {"mpi.gather_c", "a block from each rank to rank 0 by MPI_Gather_c" BEYOND, "MPI_Gather_c", ALL, ONE,
     EACH, FLOW_IN, gather_c, fill_one, check_gathered_at_root},
    {"mpi.scatter_c", "a block of its own from rank 0 to every rank by MPI_Scatter_c" BEYOND, "MPI_Scatter_c",
     ALL, EACH, ONE, FLOW_OUT, scatter_c, fill_each, check_mine},
    {"mpi.alltoall_c", "a block of its own from each rank to every rank by MPI_Alltoall_c" BEYOND,
     "MPI_Alltoall_c", ALL, EACH, EACH, FLOW_ALL, alltoall_c, fill_each, check_each},
    {"mpi.put_c", "a put of rank 0 into rank 1's window by MPI_Put_c, in an epoch of a lock" BEYOND,
     "MPI_Win_lock, MPI_Put_c or MPI_Win_unlock", WINDOW, ONE, ONE, FLOW_NONE, put_c, fill_one, check_root},
    {"mpi.inter.barrier", "MPI_Barrier of the two groups" BETWEEN, "MPI_Barrier", TWO_GROUPS, NONE, NONE,
     FLOW_ALL, inter_barrier, fill_nothing, check_nothing},
    {"mpi.inter.bcast", "a block from rank 0 to the other group" BETWEEN, "MPI_Bcast", TWO_GROUPS, NONE, ONE,
     FLOW_OUT, inter_bcast, fill_root, check_root},
    {"mpi.inter.allreduce", "the bits of each group combined (BXOR) at the other" BETWEEN, "MPI_Allreduce",
     TWO_GROUPS, ONE, ONE, FLOW_ALL, inter_allreduce, fill_one, check_bits},
    {"mpi.inter.allgather", "a block from each rank to every rank of the other group" BETWEEN,
     "MPI_Allgather", TWO_GROUPS, ONE, EACH, FLOW_ALL, inter_allgather, fill_one, check_gathered},
    {"mpi.inter.alltoall", "a block of its own from each rank to every rank of the other group" BETWEEN,
     "MPI_Alltoall", TWO_GROUPS, EACH, EACH, FLOW_ALL, inter_alltoall, fill_each, check_each},
};

static int run(void *state, int64_t reps)
{
    struct call *c = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = c->row->once(c);
    const int met = c->row->over == WINDOW ? meet_target(c) : MPI_SUCCESS; /* it waits, also after an error */
    return team_mpi_err(rc != MPI_SUCCESS ? rc : met, c->row->calls);
}

static size_t blocks_of(enum blocks blocks, int others)
{
    return blocks == EACH ? (size_t)others : blocks == ONE ? 1 : 0;
}

static void teardown(void *state)
{
    struct call *c = state;
    if (c->window != MPI_WIN_NULL)
        MPI_Win_free(&c->window);
    if (c->inter != MPI_COMM_NULL)
        MPI_Comm_free(&c->inter);
    if (c->group != MPI_COMM_NULL)
        MPI_Comm_free(&c->group);
    free(c);
}

static int open_groups(struct call *c)
{
    const int lower = c->size / 2;
    c->is_lower = c->rank < lower;
    int rc = MPI_Comm_split(c->comm, c->is_lower, c->rank, &c->group);
    if (rc == MPI_SUCCESS)
        rc = MPI_Intercomm_create(c->group, 0, c->comm, c->is_lower ? lower : 0, TAG, &c->inter);
    return team_mpi_err(rc, "MPI_Comm_split or MPI_Intercomm_create");
}

/* What waits for all: only if each has its memory. */
static int meet(struct call *c, int err)
{
    int worst = 0;
    int rc = MPI_Allreduce(&err, &worst, 1, MPI_INT, MPI_MAX, c->comm);
    if (err)
        return err;
    if (rc != MPI_SUCCESS || worst)
        return worst ? err_say((enum err)worst, "another rank has no room for its blocks")
                     : team_mpi_err(rc, "MPI_Allreduce");
    if (c->row->over == WINDOW)
        rc = MPI_Win_create(c->recv, (MPI_Aint)c->bytes, 1, MPI_INFO_NULL, c->comm, &c->window);
    return c->row->over == TWO_GROUPS ? open_groups(c) : team_mpi_err(rc, "MPI_Win_create");
}

/* The blocks that come to this rank are of all ranks, or of those of the other half. */
static void choose_others(struct call *c)
{
    const int lower = c->size / 2;
    const bool is_lower = c->rank < lower;
    c->others = c->row->over != TWO_GROUPS ? c->size : is_lower ? c->size - lower : lower;
    c->first = c->row->over == TWO_GROUPS && is_lower ? lower : 0;
}

static int setup(const struct op_env *env, void **state)
{
    struct call *c = calloc(1, sizeof *c);
    if (!c)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *c = (struct call){.comm = team_comm(env->team),
                       .group = MPI_COMM_NULL,
                       .inter = MPI_COMM_NULL,
                       .rank = env->team->rank,
                       .size = env->team->size,
                       .bytes = env->bytes,
                       .count = (MPI_Count)env->bytes,
                       .window = MPI_WIN_NULL,
                       .planted = env->planted,
                       .row = env->op->row};
    choose_others(c);
    int err = c->row->over == TWO_GROUPS ? num_to_int(env->bytes, &c->narrow) : 0;
    err = err ? err
              : buffers_take(env->buffers, blocks_of(c->row->send, c->others), c->bytes, (void **)&c->send);
    err = err ? err
              : buffers_take(env->buffers, blocks_of(c->row->recv, c->others), c->bytes, (void **)&c->recv);
    err = meet(c, err);
    if (!err && c->row->over == TWO_GROUPS)
        c->rank = c->is_lower ? c->rank : c->rank - c->others;
    if (err)
        teardown(c);
    else
        *state = c;
    return err;
}

/* Around a rank's own accesses to its window, which others lock. */
static int own_epoch(const struct call *c, bool opens)
{
    if (c->row->over != WINDOW)
        return 0;
    return opens ? team_mpi_err(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, c->rank, 0, c->window), "MPI_Win_lock")
                 : team_mpi_err(MPI_Win_unlock(c->rank, c->window), "MPI_Win_unlock");
}

static int fill(struct call *c, size_t received)
{
    const int err = own_epoch(c, true);
    if (err)
        return err;
    if (received > 0)
        data_poison(c->recv, received);
    c->row->fill(c);
    return own_epoch(c, false);
}

static int look(struct call *c, size_t received)
{
    int err = own_epoch(c, true);
    if (err)
        return err;
    if (received > 0)
        data_arrived(c->recv, received, c->planted);
    err = c->row->check(c);
    const int left = own_epoch(c, false);
    return err ? err : left;
}

static int verify(void *state)
{
    struct call *c = state;
    const size_t received = blocks_of(c->row->recv, c->others) * c->bytes;
    /* All of it, for others wait; none puts before there is poison, nor looks where a call has failed. */
    const int filled = fill(c, received), begun = team_mpi_err(MPI_Barrier(c->comm), "MPI_Barrier");
    const int ran = run(c, 1), err = filled ? filled : begun ? begun : ran;
    int worst = 0;
    const int rc = MPI_Allreduce(&err, &worst, 1, MPI_INT, MPI_MAX, c->comm);
    if (err || rc != MPI_SUCCESS || worst)
        return err ? err : team_mpi_err(rc, "MPI_Allreduce");
    return look(c, received);
}

static double moved(const struct op_env *env)
{
    const struct row *row = env->op->row;
    const size_t send = blocks_of(row->send, env->team->size), recv = blocks_of(row->recv, env->team->size);
    return (double)(send > recv ? send : recv) * (double)env->bytes;
}

/* The message that ends a sample of puts takes some us: one percent of a sample. */
static const double ONCE_MATTERS_NS = 200e3;

static void op_at(size_t i, struct op *op)
{
    const struct row *row = &rows[i];
    const bool is_two = row->over == TWO_GROUPS, is_put = row->over == WINDOW, moves = row->recv != NONE;
    *op = (struct op){.family = "coll",
                      .summary = row->summary,
                      .class = is_put ? OP_P2P : OP_COLLECTIVE,
                      .role = is_put ? ROLE_LATENCY : ROLE_COLLECTIVE,
                      .flow = row->flow,
                      .report = is_put ? OP_ROOT : OP_SLOWEST,
                      .parts = 1,
                      .least_ranks = is_put || is_two ? 2 : 1,
                      .least_ns = is_put ? ONCE_MATTERS_NS : 0,
                      .default_bytes = moves ? "8,64Ki,4Mi" : NULL,
                      .params = params,
                      .missing = is_two ? INTER_MISSING : MPI4_MISSING,
                      .row = row,
                      .setup = setup,
                      .run = run,
                      .verify = verify,
                      .teardown = teardown,
                      .moved = moves && !is_two ? moved : NULL};
    snprintf(op->name, sizeof op->name, "%s", row->name);
}

const struct op_family mpi_coll_other_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
