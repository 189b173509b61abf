/* mpi.overlap.iCOLL, mpi.overlap.COLL_init: work between the start of a collective and its completion.
 *
 * To add one: a line of CALLS with its arguments, and a row that says who has how many blocks and what each
 * of them must hold. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "ops/data.h"
#include "ops/mpi_compat.h"
#include "ops/mpi_overlap.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOT = 0 };

/* Who has something to send, or receives something; how many blocks: one, or one for each rank. */
enum who { NOBODY, THE_ROOT, OTHERS, EVERYBODY };

struct share {
    enum who who;
    bool each; /* a block for each rank */
};

/* What arrives: block b of rank b's, or one of the root's; sums of doubles over ranks 0 to `last`. */
enum answer { BLOCKS, SUM, SUM_UP_TO_ME };

struct mixed;

struct coll_row {
    const char *name, *summary;
    enum op_flow flow;
    struct share sent, received;
    enum answer answer;
    int (*start)(const struct mixed *m, MPI_Request *request);
    int (*init)(const struct mixed *m, MPI_Request *request);
};

struct mixed {
    struct overlap o;
    const struct coll_row *row;
    int (*start)(struct mixed *m);
    MPI_Comm comm;
    int rank, size, count;
    size_t bytes; /* of a block */
    MPI_Datatype type;
    char *send, *recv, *inout;
    bool planted;
};

#define CALLS(lower, Upper, ...)                                                                             \
    static int lower##_start(const struct mixed *m, MPI_Request *request)                                    \
    {                                                                                                        \
        return MPI_I##lower(__VA_ARGS__, request);                                                           \
    }                                                                                                        \
    static int lower##_init(const struct mixed *m, MPI_Request *request)                                     \
    {                                                                                                        \
        (void)m, (void)request;                                                                              \
        return MPI_##Upper##_init(__VA_ARGS__, MPI_INFO_NULL, request);                                      \
    }

CALLS(barrier, Barrier, m->comm)
CALLS(bcast, Bcast, m->inout, m->count, m->type, ROOT, m->comm)
CALLS(reduce, Reduce, m->send, m->recv, m->count, m->type, MPI_SUM, ROOT, m->comm)
CALLS(allreduce, Allreduce, m->send, m->recv, m->count, m->type, MPI_SUM, m->comm)
CALLS(gather, Gather, m->send, m->count, m->type, m->recv, m->count, m->type, ROOT, m->comm)
CALLS(scatter, Scatter, m->send, m->count, m->type, m->recv, m->count, m->type, ROOT, m->comm)
CALLS(allgather, Allgather, m->send, m->count, m->type, m->recv, m->count, m->type, m->comm)
CALLS(alltoall, Alltoall, m->send, m->count, m->type, m->recv, m->count, m->type, m->comm)
CALLS(reduce_scatter_block, Reduce_scatter_block, m->send, m->recv, m->count, m->type, MPI_SUM, m->comm)
CALLS(scan, Scan, m->send, m->recv, m->count, m->type, MPI_SUM, m->comm)

#define CALLED(lower) .name = #lower, .start = lower##_start, .init = lower##_init

static const struct coll_row rows[] = {
    {CALLED(barrier), .summary = "no rank leaves before all have come", .flow = FLOW_ALL},
    {CALLED(bcast), .summary = "the root's block to all", .flow = FLOW_OUT, .sent = {THE_ROOT},
     .received = {OTHERS}},
    {CALLED(reduce), .summary = "the sum over all ranks at the root", .flow = FLOW_IN, .answer = SUM,
     .sent = {EVERYBODY}, .received = {THE_ROOT}},
    {CALLED(allreduce), .summary = "the sum over all ranks at every rank", .flow = FLOW_ALL, .answer = SUM,
     .sent = {EVERYBODY}, .received = {EVERYBODY}},
    {CALLED(gather), .summary = "a block from each rank to the root", .flow = FLOW_IN, .sent = {EVERYBODY},
     .received = {THE_ROOT, true}},
    {CALLED(scatter), .summary = "a block of its own from the root to each rank", .flow = FLOW_OUT,
     .sent = {THE_ROOT, true}, .received = {EVERYBODY}},
    {CALLED(allgather), .summary = "a block from each rank to every rank", .flow = FLOW_ALL,
     .sent = {EVERYBODY}, .received = {EVERYBODY, true}},
    {CALLED(alltoall), .summary = "a block of its own from each rank to every rank", .flow = FLOW_ALL,
     .sent = {EVERYBODY, true}, .received = {EVERYBODY, true}},
    {CALLED(reduce_scatter_block), .summary = "the sums over all ranks, a block of them at each",
     .flow = FLOW_ALL, .answer = SUM, .sent = {EVERYBODY, true}, .received = {EVERYBODY}},
    {CALLED(scan), .summary = "the sum over ranks 0 to r at each rank r", .flow = FLOW_UP,
     .answer = SUM_UP_TO_ME, .sent = {EVERYBODY}, .received = {EVERYBODY}},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

enum { NONBLOCKING, PERSISTENT, FORMS };

static const struct param params[] = {OVERLAP_PARAMS, {0}};

static bool sized(const struct coll_row *row)
{
    return row->received.who != NOBODY;
}

static size_t blocks(const struct share *share, int rank, int size)
{
    bool has = share->who == EVERYBODY || (share->who == THE_ROOT && rank == ROOT) ||
               (share->who == OTHERS && rank != ROOT);
    return !has ? 0 : share->each ? (size_t)size : 1;
}

static void teardown(void *state)
{
    struct mixed *m = state;
    overlap_close(&m->o);
    free(m->send);
    free(m->recv);
    free(m);
}

static int start_once(struct mixed *m)
{
    return m->row->start(m, &m->o.requests[0]);
}

static int start_again(struct mixed *m)
{
    return MPI_Start(&m->o.requests[0]);
}

static int setup(const struct op_env *env, void **state)
{
    const struct coll_row *row = env->op->row;
    const bool sums = row->answer != BLOCKS;
    const size_t element = sums ? sizeof(double) : 1;
    struct mixed *m = calloc(1, sizeof *m);
    if (!m)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *m = (struct mixed){.row = row,
                        .start = start_once,
                        .comm = team_comm(env->team),
                        .rank = env->team->rank,
                        .size = env->team->size,
                        .bytes = env->bytes,
                        .type = sums ? MPI_DOUBLE : MPI_BYTE,
                        .planted = env->planted};
    int err = env->bytes % element == 0
                  ? num_to_int(env->bytes / element, &m->count)
                  : err_say(ERR_INPUT, "%s adds doubles: %zu bytes are no multiple of 8", env->op->name,
                            env->bytes);
    if (!err)
        err = overlap_open(env, 1, &m->o);
    if (!err)
        err = data_alloc(blocks(&row->sent, m->rank, m->size), m->bytes, (void **)&m->send);
    if (!err)
        err = data_alloc(blocks(&row->received, m->rank, m->size), m->bytes, (void **)&m->recv);
    m->inout = m->rank == ROOT ? m->send : m->recv;
    if (err)
        teardown(m);
    else
        *state = m;
    return err;
}

/* Making a persistent collective is one itself: first all ranks must have come as far. */
static int setup_persistent(const struct op_env *env, void **state)
{
    int64_t worst = setup(env, state);
    const int mine = (int)worst;
    int err = team_max(env->team, &worst);
    if (mine != 0)
        return mine;
    struct mixed *m = *state;
    if (!err && worst != 0)
        err = err_say((enum err)worst, "%s could not be set up on another rank", env->op->name);
    if (!err)
        err = team_mpi_err(m->row->init(m, &m->o.requests[0]), env->op->name);
    m->start = start_again;
    if (err)
        teardown(m);
    return err;
}

static int run(void *state, int64_t reps)
{
    struct mixed *m = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = m->start(m);
        if (rc == MPI_SUCCESS)
            rc = m->o.finish(&m->o);
    }
    return team_mpi_err(rc, m->row->name);
}

/* Element i of what a rank adds to block b: small whole numbers, so that sums are exact in any order. */
static double addend(int rank, int b, size_t i)
{
    return 1 + data_byte(rank, b, i) % 16;
}

static void fill(struct mixed *m)
{
    for (int b = 0; b < (int)blocks(&m->row->sent, m->rank, m->size); ++b) {
        char *block = m->send + (size_t)b * m->bytes;
        double *summand = (double *)(void *)block;
        if (m->row->answer == BLOCKS)
            data_fill(block, m->bytes, m->rank, b);
        for (size_t i = 0; m->row->answer != BLOCKS && i < (size_t)m->count; ++i)
            summand[i] = addend(m->rank, b, i);
    }
    data_poison(m->recv, blocks(&m->row->received, m->rank, m->size) * m->bytes);
}

static int check_sums(const struct mixed *m)
{
    const double *sum = (const double *)(const void *)m->recv;
    const int last = m->row->answer == SUM_UP_TO_ME ? m->rank : m->size - 1;
    const int block = m->row->sent.each ? m->rank : 0;
    for (size_t i = 0; i < (size_t)m->count; ++i) {
        double expected = 0;
        for (int r = 0; r <= last; ++r)
            expected += addend(r, block, i);
        if (sum[i] != expected)
            return err_say(ERR_WRONG, "element %zu of the sum is %g, should be %g", i, sum[i], expected);
    }
    return 0;
}

static int check_blocks(const struct mixed *m, size_t received)
{
    int err = 0;
    for (size_t b = 0; b < received && !err; ++b)
        err = data_check(m->recv + b * m->bytes, m->bytes, m->row->received.each ? (int)b : ROOT,
                         m->row->sent.each ? m->rank : 0, (int)b);
    return err;
}

/* A barrier has no data: that its work was done and that it ends is all that is looked at here. That no rank
 * leaves it early is what mpi.ibarrier and mpi.barrier_init check. */
static int verify(void *state)
{
    struct mixed *m = state;
    const size_t received = blocks(&m->row->received, m->rank, m->size);
    fill(m);
    overlap_mark(&m->o);
    int err = run(m, 1);
    if (!err)
        err = overlap_check(&m->o);
    if (err || received == 0)
        return err;
    data_arrived(m->recv, received * m->bytes, m->planted);
    return m->row->answer == BLOCKS ? check_blocks(m, received) : check_sums(m);
}

/* The larger of the root's two buffers, as for the collectives alone. */
static double moved(const struct op_env *env)
{
    const struct coll_row *row = env->op->row;
    size_t sent = blocks(&row->sent, ROOT, env->team->size),
           received = blocks(&row->received, ROOT, env->team->size);
    return (double)(sent > received ? sent : received) * (double)env->bytes;
}

static void op_at(size_t i, struct op *op)
{
    const struct coll_row *row = &rows[i / FORMS];
    const bool persistent = i % FORMS == PERSISTENT;
    *op = (struct op){
        .family = "overlap",
        .summary = row->summary,
        .class = OP_COLLECTIVE,
        .flow = row->flow,
        .report = OP_SLOWEST,
        .parts = 1,
        .threaded = true,
        .works = true,
        .default_bytes = sized(row) ? "8,1Ki,64Ki" : NULL,
        .params = params,
        .missing = persistent ? MPI4_MISSING : NULL,
        .row = row,
        .setup = persistent ? setup_persistent : setup,
        .run = run,
        .verify = verify,
        .teardown = teardown,
        .moved = sized(row) ? moved : NULL,
    };
    snprintf(op->name, sizeof op->name, persistent ? "mpi.overlap.%s_init" : "mpi.overlap.i%s", row->name);
}

const struct op_family mpi_overlap_coll_ops = {.count = ROWS * FORMS, .op_at = op_at};
