/* mpi.type.pingpong, mpi.pack, mpi.unpack, mpi.type_commit: data with gaps between them. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/common/data.h"
#include "ops/mpi/p2p/type_layout.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { HOW = LAYOUT_PARAMS };
enum { TAG = 1 };

static const char *const hows[] = {"type", "pack", "copy", NULL};

static const struct param params[] = {LAYOUT_ROWS, BUFFERS_PARAMS, {0}};
static const struct param pingpong_params[] = {
    LAYOUT_ROWS,
    [HOW] = PARAM_WORDS(
        "how",
        "type: send the datatype; pack: MPI_Pack, send, MPI_Unpack; copy: copy block by block, send, copy",
        hows),
    OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0},
};

struct typed {
    MPI_Comm comm;
    int rank, peer;
    struct type_layout l;
    MPI_Datatype type;
    MPI_Datatype item; /* what is sent: the type; or no double, for MPICH 4.0's MPI_Unpack divides by the */
    int items;         /* size of an empty type */
    char *send, *recv; /* with gaps */
    char *out, *in;    /* packed */
    int packed, used;  /* bytes of room for packed data; bytes that the last MPI_Pack took */
    bool planted;
    bool came;      /* a message has arrived since the receive buffer was poisoned */
    int generation; /* number of the check, which the data depend on */
    int (*all)(struct typed *s, int64_t reps);
    int (*send_one)(struct typed *s), (*recv_one)(struct typed *s); /* MPI's codes */
};

static int run(void *state, int64_t reps)
{
    struct typed *s = state;
    s->came = true;
    return s->all(s, reps);
}

static void teardown(void *state)
{
    struct typed *s = state;
    if (s->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&s->type);
    layout_close(&s->l);
    free(s);
}

/* Room for the data packed with the type or by element, whichever needs more. It is never empty, because Open
 * MPI's MPI_Pack wants a buffer even for no data. */
static int pack_size(struct typed *s)
{
    int elements = 0, type = 0, rc = layout_pack_size(&s->l, s->comm, &elements);
    if (rc == MPI_SUCCESS)
        rc = MPI_Pack_size(s->items, s->item, s->comm, &type);
    s->packed = type > elements ? type : elements;
    s->packed = s->packed > 0 ? s->packed : 1;
    return team_mpi_err(rc, "MPI_Pack_size");
}

/* The memory of a rank that takes part. */
static int open(const struct op_env *env, struct typed *s)
{
    int err = team_mpi_err(s->l.make(&s->l, &s->type), "making a datatype");
    s->items = s->l.blocks > 0;
    s->item = s->items ? s->type : MPI_DOUBLE;
    err = err ? err : pack_size(s);
    err = err ? err : buffers_take(env->buffers, 1, s->l.room, (void **)&s->send);
    err = err ? err : buffers_take(env->buffers, 1, s->l.room, (void **)&s->recv);
    err = err ? err : buffers_take(env->buffers, 1, (size_t)s->packed, (void **)&s->out);
    err = err ? err : buffers_take(env->buffers, 1, (size_t)s->packed, (void **)&s->in);
    return err;
}

static int setup_with(const struct op_env *env, int (*all)(struct typed *s, int64_t reps), bool takes_part,
                      struct typed **made)
{
    struct typed *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *s = (struct typed){.comm = team_comm(env->team),
                        .rank = env->team->rank,
                        .peer = env->team->rank,
                        .type = MPI_DATATYPE_NULL,
                        .planted = env->planted,
                        .all = all};
    int err = layout_open(&s->l, env);
    if (!err && takes_part)
        err = open(env, s);
    if (err)
        teardown(s);
    else
        *made = s;
    return err;
}

/* ---- mpi.type.pingpong ---- */

static int send_type(struct typed *s)
{
    return MPI_Send(s->send, s->items, s->item, s->peer, TAG, s->comm);
}

static int recv_type(struct typed *s)
{
    return MPI_Recv(s->recv, s->items, s->item, s->peer, TAG, s->comm, MPI_STATUS_IGNORE);
}

static int send_packed(struct typed *s)
{
    s->used = 0;
    int rc = MPI_Pack(s->send, s->items, s->item, s->out, s->packed, &s->used, s->comm);
    return rc == MPI_SUCCESS ? MPI_Send(s->out, s->used, MPI_PACKED, s->peer, TAG, s->comm) : rc;
}

static int recv_packed(struct typed *s)
{
    int position = 0;
    int rc = MPI_Recv(s->in, s->packed, MPI_PACKED, s->peer, TAG, s->comm, MPI_STATUS_IGNORE);
    return rc == MPI_SUCCESS ? MPI_Unpack(s->in, s->packed, &position, s->recv, s->items, s->item, s->comm)
                             : rc;
}

static int send_copied(struct typed *s)
{
    layout_copy_out(&s->l, s->send, s->out);
    return MPI_Send(s->out, (int)s->l.bytes, MPI_BYTE, s->peer, TAG, s->comm);
}

static int recv_copied(struct typed *s)
{
    int rc = MPI_Recv(s->in, (int)s->l.bytes, MPI_BYTE, s->peer, TAG, s->comm, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        layout_copy_in(&s->l, s->in, s->recv);
    return rc;
}

/* In the order of the words. */
static const struct {
    int (*send)(struct typed *s), (*recv)(struct typed *s);
} ways[] = {{send_type, recv_type}, {send_packed, recv_packed}, {send_copied, recv_copied}};

static int ping(struct typed *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = s->send_one(s);
        if (rc == MPI_SUCCESS)
            rc = s->recv_one(s);
    }
    return team_mpi_err(rc, "MPI_Send, MPI_Recv, MPI_Pack or MPI_Unpack");
}

static int pong(struct typed *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = s->recv_one(s);
        if (rc == MPI_SUCCESS)
            rc = s->send_one(s);
    }
    return team_mpi_err(rc, "MPI_Recv, MPI_Send, MPI_Unpack or MPI_Pack");
}

static int nothing(struct typed *s, int64_t reps)
{
    (void)s, (void)reps;
    return 0;
}

static int pingpong_turn(void *state, int64_t message)
{
    struct typed *s = state;
    const bool sends = message % 2 == s->rank;
    if (s->rank > 1)
        return 0;
    s->came = s->came || !sends;
    return team_mpi_err(sends ? s->send_one(s) : s->recv_one(s),
                        "MPI_Send, MPI_Recv, MPI_Pack or MPI_Unpack");
}

static int pingpong_setup(const struct op_env *env, void **state)
{
    const int rank = env->team->rank, how = (int)env->params[HOW];
    struct typed *s = NULL;
    int err = setup_with(env, rank > 1 ? nothing : rank == 0 ? ping : pong, rank < 2, &s);
    if (err)
        return err;
    s->peer = 1 - rank;
    s->send_one = ways[how].send;
    s->recv_one = ways[how].recv;
    *state = s;
    return 0;
}

static void pingpong_poison(void *state)
{
    struct typed *s = state;
    data_poison(s->recv, s->l.room);
    data_poison(s->in, (size_t)s->packed);
    s->came = false;
}

static void pingpong_fill(void *state)
{
    struct typed *s = state;
    layout_fill(&s->l, s->send, s->rank, ++s->generation);
    data_poison(s->out, (size_t)s->packed);
    pingpong_poison(s);
}

static int pingpong_look(void *state)
{
    struct typed *s = state;
    if (!s->came)
        return 0;
    data_arrived(s->recv, s->l.span, s->planted);
    return layout_check(&s->l, s->recv, s->peer, s->generation);
}

static const struct data_round a_round = {pingpong_fill, run, pingpong_look, pingpong_poison};

static int pingpong_verify(void *state)
{
    const struct typed *s = state;
    return s->rank > 1 ? 0 : data_verify(&a_round, state, 1);
}

static int pingpong_check(void *state)
{
    const struct typed *s = state;
    return s->rank > 1 ? 0 : data_check_left(&a_round, state);
}

/* ---- mpi.pack, mpi.unpack, mpi.type_commit ---- */

static int pack_all(struct typed *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        s->used = 0;
        rc = MPI_Pack(s->send, s->items, s->item, s->out, s->packed, &s->used, s->comm);
    }
    return team_mpi_err(rc, "MPI_Pack");
}

static int unpack_all(struct typed *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        int position = 0;
        rc = MPI_Unpack(s->in, s->packed, &position, s->recv, s->items, s->item, s->comm);
    }
    return team_mpi_err(rc, "MPI_Unpack");
}

static int commit_all(struct typed *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Datatype type;
        rc = s->l.make(&s->l, &type);
        if (rc == MPI_SUCCESS)
            rc = MPI_Type_free(&type);
    }
    return team_mpi_err(rc, "making and freeing a datatype");
}

static int local_setup(const struct op_env *env, void **state)
{
    int (*const *all)(struct typed *, int64_t) = env->op->row;
    struct typed *s = NULL;
    int err = setup_with(env, *all, true, &s);
    *state = s;
    return err;
}

/* Pack with the type and unpack by element. Check that the type's data come in its order and that the source
 * is unchanged. */
static int pack_verify(void *state)
{
    struct typed *s = state;
    layout_fill(&s->l, s->send, s->rank, ++s->generation);
    data_poison(s->out, (size_t)s->packed);
    data_poison(s->recv, s->l.room);
    int err = pack_all(s, 1);
    if (err)
        return err;
    data_arrived(s->out, (size_t)s->used, s->planted);
    err = team_mpi_err(layout_unpack(&s->l, s->out, s->packed, s->recv, s->comm), "MPI_Unpack");
    err = err ? err : data_check(s->recv, s->l.bytes, s->rank, s->generation, 0);
    return err ? err : layout_check(&s->l, s->send, s->rank, s->generation);
}

/* Pack by element and unpack with the type. Check that no gap is written to. */
static int unpack_verify(void *state)
{
    struct typed *s = state;
    data_fill(s->send, s->l.bytes, s->rank, ++s->generation);
    data_poison(s->recv, s->l.room);
    int err = team_mpi_err(layout_pack(&s->l, s->send, s->in, s->packed, s->comm), "MPI_Pack");
    err = err ? err : unpack_all(s, 1);
    data_arrived(s->recv, s->l.span, s->planted);
    return err ? err : layout_check(&s->l, s->recv, s->rank, s->generation);
}

/* Check that a new type has the right size and selects the right data. */
static int commit_verify(void *state)
{
    struct typed *s = state;
    int size = 0, err = run(s, 1);
    err = err ? err : team_mpi_err(MPI_Type_free(&s->type), "MPI_Type_free");
    err = err ? err : team_mpi_err(s->l.make(&s->l, &s->type), "making a datatype");
    err = err ? err : team_mpi_err(MPI_Type_size(s->type, &size), "MPI_Type_size");
    s->item = s->items ? s->type : MPI_DOUBLE;
    if (!err && (size_t)size != s->l.bytes)
        err = err_say(ERR_WRONG, "the datatype has %d bytes of data, should have %zu", size, s->l.bytes);
    return err ? err : pack_verify(s);
}

static double moved_both(const struct op_env *env)
{
    return 2 * (double)env->bytes;
}

static double moved_one(const struct op_env *env)
{
    return (double)env->bytes;
}

#define ALL(function) &(int (*const)(struct typed *, int64_t)){function}

static const struct op rows[] = {
    {.name = "mpi.type.pingpong",
     .summary =
         "data with gaps there and back: as a datatype, packed, or copied; one way, half the round trip",
     .class = OP_P2P,
     .role = ROLE_LATENCY,
     .parts = 2,
     .least_ranks = 2,
     .params = pingpong_params,
     .setup = pingpong_setup,
     .turn = pingpong_turn,
     .verify = pingpong_verify,
     .check = pingpong_check,
     .moved = moved_both},
    {.name = "mpi.pack",
     .summary = "MPI_Pack of data with gaps, by each rank for itself",
     .row = ALL(pack_all),
     .verify = pack_verify,
     .moved = moved_one},
    {.name = "mpi.unpack",
     .summary = "MPI_Unpack of data with gaps, by each rank for itself",
     .row = ALL(unpack_all),
     .verify = unpack_verify,
     .moved = moved_one},
    {.name = "mpi.type_commit",
     .summary = "make a datatype for data with gaps, commit and free it",
     .default_bytes = "8,1Ki,128Ki",
     .row = ALL(commit_all),
     .verify = commit_verify},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "type";
    if (!op->setup) { /* local */
        op->class = OP_LOCAL;
        op->parts = 1;
        op->params = params;
        op->setup = local_setup;
    }
    if (!op->default_bytes)
        op->default_bytes = "8..1Mi";
    op->run = run;
    op->teardown = teardown;
}

const struct op_family mpi_type_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
