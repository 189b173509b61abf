/* mpi.*, all ranks together: each collective in its blocking, nonblocking and persistent form.
 *
 * To add one: a line of CALLS with its arguments, and a row that says who has how many blocks and what each
 * must hold. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "ops/mpi_compat.h"
#include "ops/mpi_data.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROOT = 0 };

enum { BLOCKING, NONBLOCKING, PERSISTENT };

/* How many blocks a buffer has. */
enum blocks { NONE, ONE, ALL };

/* What a block of the answer is: data that one rank had, or sums of doubles over ranks. */
enum answer {
    FROM_ROOT,     /* the root's block for all */
    MY_FROM_ROOT,  /* the root's block for me */
    FROM_BLOCK,    /* block b is what rank b has for all */
    MY_FROM_BLOCK, /* block b is what rank b has for me */
    SUM_ALL,       /* over all ranks; of the block for me, where each sends several */
    SUM_UP_TO_ME   /* over ranks 0 to me */
};

struct coll;

struct coll_row {
    const char *name, *summary;
    enum blocks send_root, send_other, recv_root, recv_other;
    enum answer answer;
    enum op_flow flow;
    int (*call)(const struct coll *c);
    int (*start)(const struct coll *c, MPI_Request *request);
    int (*init)(const struct coll *c, MPI_Request *request);
};

struct coll {
    const struct coll_row *row;
    int (*run)(void *state, int64_t reps); /* of the form */
    MPI_Comm comm;
    int rank, size;
    size_t bytes; /* of a block */
    int count;    /* of elements in a block */
    int *counts;  /* the same for each rank */
    MPI_Datatype type;
    char *send, *recv;
    char *inout; /* of a broadcast: the root's send, the others' recv */
    MPI_Request request;
    bool planted;
};

/* The three calls of a collective from one list of arguments. */
#define CALLS(lower, Upper, ...)                                                                             \
    static int lower##_call(const struct coll *c)                                                            \
    {                                                                                                        \
        return MPI_##Upper(__VA_ARGS__);                                                                     \
    }                                                                                                        \
    static int lower##_start(const struct coll *c, MPI_Request *request)                                     \
    {                                                                                                        \
        return MPI_I##lower(__VA_ARGS__, request);                                                           \
    }                                                                                                        \
    static int lower##_init(const struct coll *c, MPI_Request *request)                                      \
    {                                                                                                        \
        (void)c, (void)request;                                                                              \
        return MPI_##Upper##_init(__VA_ARGS__, MPI_INFO_NULL, request);                                      \
    }

CALLS(barrier, Barrier, c->comm)
CALLS(bcast, Bcast, c->inout, c->count, c->type, ROOT, c->comm)
CALLS(reduce, Reduce, c->send, c->recv, c->count, c->type, MPI_SUM, ROOT, c->comm)
CALLS(allreduce, Allreduce, c->send, c->recv, c->count, c->type, MPI_SUM, c->comm)
CALLS(gather, Gather, c->send, c->count, c->type, c->recv, c->count, c->type, ROOT, c->comm)
CALLS(scatter, Scatter, c->send, c->count, c->type, c->recv, c->count, c->type, ROOT, c->comm)
CALLS(allgather, Allgather, c->send, c->count, c->type, c->recv, c->count, c->type, c->comm)
CALLS(alltoall, Alltoall, c->send, c->count, c->type, c->recv, c->count, c->type, c->comm)
CALLS(reduce_scatter, Reduce_scatter, c->send, c->recv, c->counts, c->type, MPI_SUM, c->comm)
CALLS(scan, Scan, c->send, c->recv, c->count, c->type, MPI_SUM, c->comm)

#define CALLED(lower) .name = #lower, .call = lower##_call, .start = lower##_start, .init = lower##_init

static const struct coll_row rows[] = {
    {CALLED(barrier), .summary = "no rank leaves before all have come", .flow = FLOW_ALL},
    {CALLED(bcast), .summary = "the root's block to all", .answer = FROM_ROOT, .flow = FLOW_OUT,
     .send_root = ONE, .recv_other = ONE},
    {CALLED(reduce), .summary = "the sum over all ranks at the root", .answer = SUM_ALL, .flow = FLOW_IN,
     .send_root = ONE, .send_other = ONE, .recv_root = ONE},
    {CALLED(allreduce), .summary = "the sum over all ranks at every rank", .answer = SUM_ALL,
     .flow = FLOW_ALL, .send_root = ONE, .send_other = ONE, .recv_root = ONE, .recv_other = ONE},
    {CALLED(gather), .summary = "a block from each rank to the root", .answer = FROM_BLOCK, .flow = FLOW_IN,
     .send_root = ONE, .send_other = ONE, .recv_root = ALL},
    {CALLED(scatter), .summary = "a block of its own from the root to each rank", .answer = MY_FROM_ROOT,
     .flow = FLOW_OUT, .send_root = ALL, .recv_root = ONE, .recv_other = ONE},
    {CALLED(allgather), .summary = "a block from each rank to every rank", .answer = FROM_BLOCK,
     .flow = FLOW_ALL, .send_root = ONE, .send_other = ONE, .recv_root = ALL, .recv_other = ALL},
    {CALLED(alltoall), .summary = "a block of its own from each rank to every rank", .answer = MY_FROM_BLOCK,
     .flow = FLOW_ALL, .send_root = ALL, .send_other = ALL, .recv_root = ALL, .recv_other = ALL},
    {CALLED(reduce_scatter), .summary = "the sums over all ranks, a block of them at each", .answer = SUM_ALL,
     .flow = FLOW_ALL, .send_root = ALL, .send_other = ALL, .recv_root = ONE, .recv_other = ONE},
    {CALLED(scan), .summary = "the sum over ranks 0 to r at each rank r", .answer = SUM_UP_TO_ME,
     .flow = FLOW_UP, .send_root = ONE, .send_other = ONE, .recv_root = ONE, .recv_other = ONE},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static bool sized(const struct coll_row *row)
{
    return row->recv_root != NONE || row->recv_other != NONE;
}

static bool sums(const struct coll_row *row)
{
    return row->answer >= SUM_ALL;
}

static size_t blocks_of(enum blocks blocks, int size)
{
    return blocks == ALL ? (size_t)size : blocks == ONE ? 1 : 0;
}

static size_t send_blocks(const struct coll *c)
{
    return blocks_of(c->rank == ROOT ? c->row->send_root : c->row->send_other, c->size);
}

static size_t recv_blocks(const struct coll *c)
{
    return blocks_of(c->rank == ROOT ? c->row->recv_root : c->row->recv_other, c->size);
}

static void teardown(void *state)
{
    struct coll *c = state;
    if (c->request != MPI_REQUEST_NULL)
        MPI_Request_free(&c->request);
    free(c->send);
    free(c->recv);
    free(c->counts);
    free(c);
}

static int setup(const struct op_env *env, void **state)
{
    struct coll *c = calloc(1, sizeof *c);
    if (!c)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *c = (struct coll){.row = env->op->row,
                       .run = env->op->run,
                       .comm = team_comm(env->team),
                       .rank = env->team->rank,
                       .size = env->team->size,
                       .bytes = env->bytes,
                       .type = MPI_BYTE,
                       .planted = env->planted,
                       .request = MPI_REQUEST_NULL};
    size_t element = 1;
    int err = 0;
    if (sums(c->row)) {
        c->type = MPI_DOUBLE;
        element = sizeof(double);
        if (c->bytes % element != 0)
            err = err_say(ERR_INPUT, "%s adds doubles: %zu bytes are no multiple of 8", env->op->name,
                          c->bytes);
    }
    if (!err)
        err = num_to_int(c->bytes / element, &c->count);
    if (!err)
        err = data_alloc(send_blocks(c), c->bytes, (void **)&c->send);
    if (!err)
        err = data_alloc(recv_blocks(c), c->bytes, (void **)&c->recv);
    c->inout = c->rank == ROOT ? c->send : c->recv;
    c->counts = calloc((size_t)c->size, sizeof *c->counts);
    if (!err && !c->counts)
        err = err_say(ERR_NOMEM, "no memory for the counts of %d ranks", c->size);
    for (int r = 0; c->counts && r < c->size; ++r)
        c->counts[r] = c->count;
    if (err)
        teardown(c);
    else
        *state = c;
    return err;
}

static int setup_persistent(const struct op_env *env, void **state)
{
    int err = setup(env, state);
    if (err)
        return err;
    struct coll *c = *state;
    err = team_mpi_err(c->row->init(c, &c->request), env->op->name);
    if (err)
        teardown(c);
    return err;
}

static int run_blocking(void *state, int64_t reps)
{
    const struct coll *c = state;
    int (*const call)(const struct coll *) = c->row->call;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = call(c);
    return team_mpi_err(rc, c->row->name);
}

static int run_nonblocking(void *state, int64_t reps)
{
    const struct coll *c = state;
    int (*const start)(const struct coll *, MPI_Request *) = c->row->start;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Request request;
        rc = start(c, &request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, c->row->name);
}

static int run_persistent(void *state, int64_t reps)
{
    struct coll *c = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Start(&c->request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(&c->request, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, c->row->name);
}

static const struct form {
    const char *name; /* made of the row's */
    int (*setup)(const struct op_env *env, void **state);
    int (*run)(void *state, int64_t reps);
} forms[] = {
    [BLOCKING] = {"mpi.%s", setup, run_blocking},
    [NONBLOCKING] = {"mpi.i%s", setup, run_nonblocking},
    [PERSISTENT] = {"mpi.%s_init", setup_persistent, run_persistent},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

/* Element i of what a rank adds to block b: small whole numbers, so that sums are exact in any order. */
static double addend(int rank, int b, size_t i)
{
    return 1 + data_byte(rank, b, i) % 16;
}

static void fill(const struct coll *c)
{
    for (size_t b = 0; b < send_blocks(c); ++b) {
        char *block = c->send + b * c->bytes;
        if (!sums(c->row))
            data_fill(block, c->bytes, c->rank, (int)b);
        for (size_t i = 0; sums(c->row) && i < (size_t)c->count; ++i)
            ((double *)(void *)block)[i] = addend(c->rank, (int)b, i);
    }
    data_poison(c->recv, recv_blocks(c) * c->bytes);
}

static int check_sums(const struct coll *c)
{
    const double *sum = (const double *)(const void *)c->recv;
    int last = c->row->answer == SUM_UP_TO_ME ? c->rank : c->size - 1;
    int block = send_blocks(c) == 1 ? 0 : c->rank;
    for (size_t i = 0; i < (size_t)c->count; ++i) {
        double expected = 0;
        for (int r = 0; r <= last; ++r)
            expected += addend(r, block, i);
        if (sum[i] != expected)
            return err_say(ERR_WRONG, "element %zu of the sum is %g, should be %g", i, sum[i], expected);
    }
    return 0;
}

static int check_block(const struct coll *c, int b)
{
    bool from_root = c->row->answer == FROM_ROOT || c->row->answer == MY_FROM_ROOT;
    bool mine = c->row->answer == MY_FROM_ROOT || c->row->answer == MY_FROM_BLOCK;
    return data_check(c->recv + (size_t)b * c->bytes, c->bytes, from_root ? ROOT : b, mine ? c->rank : 0, b);
}

/* A barrier has no data. But whoever leaves it while one rank has not come yet is heard of by that rank: each
 * tells it after leaving, and it listens for a while before it comes. That can miss a bad barrier, and never
 * blames a good one. */
static int verify_barrier(struct coll *c)
{
    enum { TAG = 2, ROUNDS = 3, LISTEN_NS = 1000000 };
    int early = 0, err = 0;
    for (int round = 0; round < ROUNDS && !err; ++round) {
        int late = (c->size - 1 + round) % c->size, rc = MPI_SUCCESS;
        if (c->rank == late) {
            nanosleep(&(struct timespec){.tv_nsec = LISTEN_NS}, NULL);
            rc = MPI_Iprobe(MPI_ANY_SOURCE, TAG, c->comm, &early, MPI_STATUS_IGNORE);
        }
        err = team_mpi_err(rc, "MPI_Iprobe");
        if (!err)
            err = c->run(c, 1);
        if (!err && c->rank != late)
            rc = MPI_Send(NULL, 0, MPI_BYTE, late, TAG, c->comm);
        for (int r = 0; !err && c->rank == late && r < c->size && rc == MPI_SUCCESS; ++r)
            if (r != late)
                rc = MPI_Recv(NULL, 0, MPI_BYTE, r, TAG, c->comm, MPI_STATUS_IGNORE);
        err = err ? err : team_mpi_err(rc, "a message after the barrier");
        if (!err && early)
            err = err_say(ERR_WRONG, "a rank left the barrier before rank %d had come", late);
    }
    return err;
}

static int verify(void *state)
{
    struct coll *c = state;
    if (!sized(c->row))
        return verify_barrier(c);
    fill(c);
    int err = c->run(c, 1);
    if (err || recv_blocks(c) == 0)
        return err;
    data_arrived(c->recv, recv_blocks(c) * c->bytes, c->planted);
    if (sums(c->row))
        return check_sums(c);
    for (int b = 0; b < (int)recv_blocks(c) && !err; ++b)
        err = check_block(c, b);
    return err;
}

/* The larger of the root's two buffers: what NCCL's tests call the size of a collective. */
static double moved(const struct op_env *env)
{
    const struct coll_row *row = env->op->row;
    size_t sent = blocks_of(row->send_root, env->team->size),
           received = blocks_of(row->recv_root, env->team->size);
    return (double)(sent > received ? sent : received) * (double)env->bytes;
}

static const char *default_bytes(const struct coll_row *row)
{
    return !sized(row) ? NULL : sums(row) ? "8..1Mi" : "1..1Mi";
}

static void op_at(size_t i, struct op *op)
{
    const struct coll_row *row = &rows[i / FORMS];
    const struct form *form = &forms[i % FORMS];
    *op = (struct op){
        .family = "coll",
        .summary = row->summary,
        .class = OP_COLLECTIVE,
        .flow = row->flow,
        .report = OP_SLOWEST,
        .parts = 1,
        .default_bytes = default_bytes(row),
        .missing = i % FORMS == PERSISTENT ? MPI4_MISSING : NULL,
        .row = row,
        .setup = form->setup,
        .run = form->run,
        .verify = verify,
        .teardown = teardown,
        .moved = sized(row) ? moved : NULL,
    };
    snprintf(op->name, sizeof op->name, form->name, row->name);
}

const struct op_family mpi_coll_ops = {.count = ROWS * FORMS, .op_at = op_at};
