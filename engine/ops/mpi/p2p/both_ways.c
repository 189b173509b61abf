/* mpi.pingping, mpi.sendrecv, mpi.sendrecv_replace: ranks 0 and 1 send to each other at the same time.
 * mpi.self: a rank sends to itself. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/mpi/p2p/pair.h"
#include "team/team_mpi.h"

#include <stdlib.h>
#include <string.h>

enum { MATCH };

static const struct param match_params[] = {
    [MATCH] = PARAM_WORDS("match", "what receives match: exactly, or with wildcards", p2p_matches),
    OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0},
};

enum { CALLS };

static const char *const self_words[] = {"irecv_send", "isend_recv", "sendrecv", NULL};

static const struct param self_params[] = {
    [CALLS] = PARAM_WORDS("calls", "order of calls: receive first, send first, or both at once", self_words),
    OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0},
};

struct both_ways {
    struct p2p_pair p;
    int (*all)(struct p2p_pair *p, int64_t reps); /* of all ranks that take part */
    bool replaces;                                /* arriving data overwrite those that are sent */
};

/* ---- each call, repeated ---- */

static int isend_recv_all(struct p2p_pair *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Request request;
        rc = MPI_Isend(p->send, p->count, MPI_BYTE, p->peer, p->label, p->comm, &request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Recv(p->recv, p->count, MPI_BYTE, p->from, p->tag, p->comm, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, "MPI_Isend, MPI_Recv or MPI_Wait");
}

static int irecv_send_all(struct p2p_pair *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Request request;
        rc = MPI_Irecv(p->recv, p->count, MPI_BYTE, p->from, p->tag, p->comm, &request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Send(p->send, p->count, MPI_BYTE, p->peer, p->label, p->comm);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Send or MPI_Wait");
}

static int sendrecv_all(struct p2p_pair *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = MPI_Sendrecv(p->send, p->count, MPI_BYTE, p->peer, p->label, p->recv, p->count, MPI_BYTE,
                          p->from, p->tag, p->comm, MPI_STATUS_IGNORE);
    return team_mpi_err(rc, "MPI_Sendrecv");
}

static int sendrecv_replace_all(struct p2p_pair *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = MPI_Sendrecv_replace(p->recv, p->count, MPI_BYTE, p->peer, p->label, p->from, p->tag, p->comm,
                                  MPI_STATUS_IGNORE);
    return team_mpi_err(rc, "MPI_Sendrecv_replace");
}

static int nothing(struct p2p_pair *p, int64_t reps)
{
    (void)p, (void)reps;
    return 0;
}

/* In the order of the words of mpi.self. */
static int (*const self_calls[])(struct p2p_pair *p, int64_t reps) = {irecv_send_all, isend_recv_all,
                                                                      sendrecv_all};

/* ---- what all rows have in common ---- */

static int run(void *state, int64_t reps)
{
    struct both_ways *s = state;
    s->p.moved += reps;
    return s->all(&s->p, reps);
}

static void teardown(void *state)
{
    struct both_ways *s = state;
    free(s);
}

static int alloc(const struct op_env *env, struct both_ways **s)
{
    *s = calloc(1, sizeof **s);
    return *s ? 0 : err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
}

/* What is particular to a row. */
struct kind {
    int (*all)(struct p2p_pair *p, int64_t reps);
    bool replaces;
};

static int setup(const struct op_env *env, void **state)
{
    const struct kind *kind = env->op->row;
    struct both_ways *s = NULL;
    int err = alloc(env, &s);
    if (err)
        return err;
    err = p2p_open(&s->p, env, 1, 1);
    p2p_match(&s->p, (int)env->params[MATCH]);
    s->all = env->team->rank > 1 ? nothing : kind->all;
    s->replaces = kind->replaces;
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static int self_setup(const struct op_env *env, void **state)
{
    struct both_ways *s = NULL;
    int count = 0, err = alloc(env, &s);
    if (err)
        return err;
    err = p2p_count(env, &count);
    err = err ? err : p2p_open_to(&s->p, env, env->team->rank, 1, 1);
    s->p.count = count;
    s->all = self_calls[(int)env->params[CALLS]];
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static void fill(void *state)
{
    struct both_ways *s = state;
    p2p_fill(&s->p);
    p2p_poison_all(&s->p);
    if (s->replaces && s->p.recvs > 0 && s->p.bytes > 0)
        memcpy(s->p.recv, s->p.send, s->p.bytes);
}

static int look(void *state)
{
    struct both_ways *s = state;
    if (s->replaces)
        p2p_follow(&s->p);
    return p2p_check(&s->p, s->p.recvs);
}

static void poison(void *state)
{
    struct both_ways *s = state;
    if (!s->replaces)
        p2p_poison_all(&s->p);
}

static const struct data_round a_round = {fill, run, look, poison};

static int verify(void *state)
{
    return data_verify(&a_round, state, 1);
}

static int check(void *state)
{
    return data_check_left(&a_round, state);
}

static double moved_both(const struct op_env *env)
{
    return 2 * (double)env->bytes;
}

static double moved_one(const struct op_env *env)
{
    return (double)env->bytes;
}

static const struct op rows[] = {
    {.name = "mpi.pingping",
     .summary = "a message each way at once between ranks 0 and 1: MPI_Isend, MPI_Recv, MPI_Wait",
     .row = &(const struct kind){.all = isend_recv_all}},
    {.name = "mpi.sendrecv",
     .summary = "a message each way at once between ranks 0 and 1: MPI_Sendrecv",
     .row = &(const struct kind){.all = sendrecv_all}},
    {.name = "mpi.sendrecv_replace",
     .summary = "a swap of a buffer between ranks 0 and 1: MPI_Sendrecv_replace",
     .row = &(const struct kind){.all = sendrecv_replace_all, .replaces = true}},
    {.name = "mpi.self",
     .summary = "a message from each rank to itself",
     .class = OP_LOCAL,
     .params = self_params,
     .setup = self_setup,
     .moved = moved_one},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    if (rows[i].setup) { /* mpi.self */
        op->family = "p2p";
        op->role = ROLE_LATENCY;
    } else {
        p2p_op(op);
        op->params = match_params;
        op->setup = setup;
        op->moved = moved_both;
    }
    op->parts = 1;
    op->default_bytes = "0,1..4Mi";
    op->run = run;
    op->verify = verify;
    op->check = check;
    op->teardown = teardown;
}

const struct op_family mpi_p2p_exchange_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
