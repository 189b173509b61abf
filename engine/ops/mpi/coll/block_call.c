/* Set-up, data and checks of calls on blocks. */
#include "ops/mpi/coll/block_call.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1 };

/* With `type` in front: in what order the words are. */
enum { BYTES, CONTIGUOUS, LAST_FIRST };
const char *const call_types[] = {
    [BYTES] = "bytes", [CONTIGUOUS] = "contiguous", [LAST_FIRST] = "last_first", NULL};
static const struct param params[] = {BUFFERS_PARAMS, {0}};
static const struct param typed_params[] = {
    PARAM_WORDS(
        "type",
        "what a block is to MPI: bytes by their number, one element of MPI_Type_contiguous_c, or one of "
        "MPI_Type_create_hindexed_c whose last byte comes first",
        call_types),
    BUFFERS_PARAMS,
    {0}};

static bool is_one_sided(const struct call *c)
{
    return c->row->over == CALL_INTO_WINDOW || c->row->over == CALL_FROM_WINDOW;
}

/* In an epoch of a lock the library may need the target: it stays in MPI until the root is done. */
static int meet_target(const struct call *c)
{
    if (c->rank == CALL_ROOT)
        return MPI_Send(NULL, 0, MPI_BYTE, CALL_TARGET, TAG, c->comm);
    return c->rank == CALL_TARGET ? MPI_Recv(NULL, 0, MPI_BYTE, CALL_ROOT, TAG, c->comm, MPI_STATUS_IGNORE)
                                  : MPI_SUCCESS;
}

/* ---- data -------------------------------------------------------------------------------------------- */

static int in_all(const struct call *c)
{
    return c->row->over == CALL_TWO_GROUPS && !c->is_lower ? c->rank + c->others : c->rank;
}

void call_fill_nothing(struct call *c)
{
    (void)c;
}

void call_fill_root(struct call *c)
{
    if (in_all(c) == CALL_ROOT)
        data_fill(c->recv, c->bytes, CALL_ROOT, CALL_ROOT);
}

void call_fill_one(struct call *c)
{
    data_fill(c->send, c->bytes, in_all(c), CALL_ROOT);
}

void call_fill_each(struct call *c)
{
    for (int i = 0; i < c->others; ++i)
        data_fill(c->send + (size_t)i * c->bytes, c->bytes, in_all(c), c->first + i);
}

/* The call adds bits to what is there. */
void call_fill_sum(struct call *c)
{
    call_fill_one(c);
    if (c->bytes > 0)
        memset(c->recv, 0, c->bytes);
}

int call_check_nothing(struct call *c)
{
    (void)c;
    return 0;
}

int call_check_root(struct call *c)
{
    const bool gets =
        c->row->over == CALL_INTO_WINDOW ? c->rank == CALL_TARGET : c->row->over == CALL_ALL || !c->is_lower;
    return gets ? data_check(c->recv, c->bytes, CALL_ROOT, CALL_ROOT, 0) : 0;
}

int call_check_bits(struct call *c)
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

int call_check_gathered(struct call *c)
{
    return check_blocks(c, CALL_ROOT);
}

int call_check_bits_at_root(struct call *c)
{
    return c->rank == CALL_ROOT ? call_check_bits(c) : 0;
}

int call_check_gathered_at_root(struct call *c)
{
    return c->rank == CALL_ROOT ? check_blocks(c, CALL_ROOT) : 0;
}

int call_check_target(struct call *c)
{
    return c->rank == CALL_ROOT ? data_check(c->recv, c->bytes, CALL_TARGET, CALL_ROOT, 0) : 0;
}

int call_check_mine(struct call *c)
{
    return data_check(c->recv, c->bytes, CALL_ROOT, c->rank, 0);
}

int call_check_each(struct call *c)
{
    return check_blocks(c, in_all(c));
}

static int run(void *state, int64_t reps)
{
    struct call *c = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = c->row->once(c);
    const int met = is_one_sided(c) ? meet_target(c) : MPI_SUCCESS; /* it waits, also after an error */
    return team_mpi_err(rc != MPI_SUCCESS ? rc : met, c->row->calls);
}

static size_t blocks_of(enum call_blocks blocks, int others)
{
    return blocks == CALL_EACH ? (size_t)others : blocks == CALL_ONE ? 1 : 0;
}

static void teardown(void *state)
{
    struct call *c = state;
    if (c->window != MPI_WIN_NULL)
        MPI_Win_free(&c->window);
    if (c->type != MPI_BYTE && c->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&c->type);
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

/* Make a block one element of a type. */
static int make_type(struct call *c, int word)
{
    MPI_Count size = 0;
    if (word == BYTES || c->bytes < 2)
        return 0;
    const MPI_Count lengths[] = {1, (MPI_Count)c->bytes - 1}, at[] = {(MPI_Count)c->bytes - 1, 0};
    (void)lengths, (void)at; /* where macros stand for the calls */
    c->count = 1;
    c->type = MPI_DATATYPE_NULL;
    int rc = word == CONTIGUOUS ? MPI_Type_contiguous_c((MPI_Count)c->bytes, MPI_BYTE, &c->type)
                                : MPI_Type_create_hindexed_c(2, lengths, at, MPI_BYTE, &c->type);
    rc = rc == MPI_SUCCESS ? MPI_Type_commit(&c->type) : rc;
    rc = rc == MPI_SUCCESS ? MPI_Type_size_c(c->type, &size) : rc;
    c->stated = size;
    return team_mpi_err(rc, "making a datatype, or MPI_Type_size_c");
}

/* What waits for all: only if each has its memory. */
static int meet(struct call *c, int err)
{
    int worst = 0;
    int rc = MPI_Allreduce(&err, &worst, 1, MPI_INT, MPI_MAX, c->comm);
    if (err)
        return err;
    if (rc != MPI_SUCCESS || worst)
        return worst ? err_say((enum err)worst, "another rank has no room for its blocks, or no datatype")
                     : team_mpi_err(rc, "MPI_Allreduce");
    if (is_one_sided(c))
        rc = MPI_Win_create(c->row->over == CALL_INTO_WINDOW ? c->recv : c->send, (MPI_Aint)c->bytes, 1,
                            MPI_INFO_NULL, c->comm, &c->window);
    return c->row->over == CALL_TWO_GROUPS ? open_groups(c) : team_mpi_err(rc, "MPI_Win_create");
}

/* The blocks that come to this rank are of all ranks, or of those of the other half. */
static void choose_others(struct call *c)
{
    const int lower = c->size / 2;
    const bool is_lower = c->rank < lower;
    c->others = c->row->over != CALL_TWO_GROUPS ? c->size : is_lower ? c->size - lower : lower;
    c->first = c->row->over == CALL_TWO_GROUPS && is_lower ? lower : 0;
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
                       .type = MPI_BYTE,
                       .window = MPI_WIN_NULL,
                       .planted = env->planted,
                       .row = env->op->row};
    choose_others(c);
    int err = c->row->over == CALL_TWO_GROUPS ? num_to_int(env->bytes, &c->narrow) : 0;
    err = err ? err
              : buffers_take(env->buffers, blocks_of(c->row->send, c->others), c->bytes, (void **)&c->send);
    err = err ? err
              : buffers_take(env->buffers, blocks_of(c->row->recv, c->others), c->bytes, (void **)&c->recv);
    err = err || env->op->params == params ? err : make_type(c, (int)env->params[0]);
    err = meet(c, err);
    if (!err && c->row->over == CALL_TWO_GROUPS)
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
    if (!is_one_sided(c))
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

static int check_stated(const struct call *c)
{
    if (c->type == MPI_BYTE || c->stated == (MPI_Count)c->bytes)
        return 0;
    return err_say(ERR_WRONG, "MPI_Type_size_c states %lld bytes for a datatype of %zu", (long long)c->stated,
                   c->bytes);
}

static int look(struct call *c, size_t received)
{
    int err = own_epoch(c, true);
    if (err)
        return err;
    if (received > 0)
        data_arrived(c->recv, received, c->planted);
    err = check_stated(c);
    err = err ? err : c->row->check(c);
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
    const struct call_row *row = env->op->row;
    const size_t send = blocks_of(row->send, env->team->size), recv = blocks_of(row->recv, env->team->size);
    return (double)(send > recv ? send : recv) * (double)env->bytes;
}

/* The message that ends a sample of one-sided calls takes some us: one percent of a sample. */
static const double ONCE_MATTERS_NS = 200e3;

void call_op(const struct call_row *row, const char *missing, struct op *op)
{
    const bool is_two = row->over == CALL_TWO_GROUPS, moves = row->recv != CALL_NONE;
    const bool is_one_sided = row->over == CALL_INTO_WINDOW || row->over == CALL_FROM_WINDOW;
    *op = (struct op){.family = "coll",
                      .summary = row->summary,
                      .class = is_one_sided ? OP_P2P : OP_COLLECTIVE,
                      .role = is_one_sided ? ROLE_LATENCY : ROLE_COLLECTIVE,
                      .flow = row->flow,
                      .report = is_one_sided ? OP_ROOT : OP_SLOWEST,
                      .parts = 1,
                      .least_ranks = is_one_sided || is_two ? 2 : 1,
                      .least_ns = is_one_sided ? ONCE_MATTERS_NS : 0,
                      .default_bytes = moves ? "8,64Ki,4Mi" : NULL,
                      .params = row->data == CALL_SUMS || is_two ? params : typed_params,
                      .missing = missing,
                      .row = row,
                      .setup = setup,
                      .run = run,
                      .verify = verify,
                      .teardown = teardown,
                      .moved = moves && !is_two ? moved : NULL};
    snprintf(op->name, sizeof op->name, "%s", row->name);
}
