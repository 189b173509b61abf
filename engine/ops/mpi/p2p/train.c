/* mpi.train: messages one after another to rank 1, with work between them, and one message back.
 *
 * Netgauge calls it PRTT(n, d, s): n messages of s bytes that begin d apart (Hoefler, Lichei, Rehm 2007). The
 * models of the package get LogGP's o and g from it. Without work, one message more costs g + (s - 1) G. If
 * the work is longer than the way there and back, one message more costs the work and the o of the side that
 * works. */
#include "ops/families.h"

#include "base/err.h"
#include "base/work.h"
#include "ops/mpi/p2p/pair.h"
#include "team/team_mpi.h"

#include <math.h>
#include <stdlib.h>

enum { MESSAGES, WORK_US, SIDE };
enum { SENDER, RECEIVER };

static const char *const sides[] = {[SENDER] = "sender", [RECEIVER] = "receiver", NULL};

static const struct param params[] = {
    [MESSAGES] = {"messages", "", "messages to rank 1 before it answers", 16, 1, 65536},
    [WORK_US] = {"work_us", "us", "calibrated work before each message but the first; 0: none", 0, 0, 1e7},
    [SIDE] = PARAM_WORDS("side", "who works: rank 0 before it sends, or rank 1 before it receives", sides),
    OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0},
};

struct train {
    struct p2p_pair p;
    int messages;
    int64_t steps; /* work between two messages; 0 on the side without work */
    uint64_t x, checked;
    int (*half)(struct train *s);
};

static int send_train(struct train *s)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_Send(p->send, p->count, MPI_BYTE, p->peer, p->label, p->comm);
    for (int i = 1; i < s->messages && rc == MPI_SUCCESS; ++i) {
        s->x = work_do(s->x, s->steps);
        rc = MPI_Send(p->send, p->count, MPI_BYTE, p->peer, p->label, p->comm);
    }
    if (rc == MPI_SUCCESS)
        rc = MPI_Recv(p->recv, p->count, MPI_BYTE, p->from, p->tag, p->comm, MPI_STATUS_IGNORE);
    return rc;
}

static int receive_train(struct train *s)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_Recv(p->recv, p->count, MPI_BYTE, p->from, p->tag, p->comm, MPI_STATUS_IGNORE);
    for (int i = 1; i < s->messages && rc == MPI_SUCCESS; ++i) {
        s->x = work_do(s->x, s->steps);
        rc = MPI_Recv(p->recv, p->count, MPI_BYTE, p->from, p->tag, p->comm, MPI_STATUS_IGNORE);
    }
    if (rc == MPI_SUCCESS)
        rc = MPI_Send(p->send, p->count, MPI_BYTE, p->peer, p->label, p->comm);
    return rc;
}

static int run(void *state, int64_t reps)
{
    struct train *s = state;
    int rc = MPI_SUCCESS;
    s->p.moved += reps;
    for (int64_t i = 0; s->half && i < reps && rc == MPI_SUCCESS; ++i)
        rc = s->half(s);
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

static void teardown(void *state)
{
    free(state);
}

static int setup(const struct op_env *env, void **state)
{
    const double us = env->params[WORK_US];
    const int rank = env->team->rank, works = (int)env->params[SIDE] == RECEIVER;
    if (us > 0 && env->work_per_us <= 0)
        return err_say(ERR_UNSUPPORTED,
                       "the clock stands still while a rank computes: work has no duration; give work_us=0");
    struct train *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    int err = p2p_open(&s->p, env, 1, 1);
    s->messages = (int)env->params[MESSAGES];
    s->steps = rank == works ? llround(us * env->work_per_us) : 0;
    s->half = rank == 0 ? send_train : rank == 1 ? receive_train : NULL;
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static void fill(void *state)
{
    struct train *s = state;
    p2p_fill(&s->p);
    p2p_poison_all(&s->p);
    s->checked = s->x;
}

/* All steps of work in a repetition. */
static int look(void *state)
{
    struct train *s = state;
    const int64_t all = s->half ? s->p.moved * (s->messages - 1) * s->steps : 0;
    if (s->x != work_after(s->checked, all))
        return err_say(ERR_WRONG, "not all of the %lld steps of work were done", (long long)all);
    return p2p_check(&s->p, s->p.recvs);
}

static void poison(void *state)
{
    struct train *s = state;
    p2p_poison_all(&s->p);
    s->checked = s->x;
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

static double moved(const struct op_env *env)
{
    return (env->params[MESSAGES] + 1) * (double)env->bytes;
}

static const struct op train = {
    .name = "mpi.train",
    .summary = "messages one after another, with work between them, and one back; the time of all",
    .params = params,
};

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = train;
    p2p_op(op);
    op->role = ROLE_CALL;
    op->parts = 1;
    op->works = true;
    op->default_bytes = "1,1Ki..16Ki";
    op->setup = setup;
    op->run = run;
    op->verify = verify;
    op->check = check;
    op->teardown = teardown;
    op->moved = moved;
}

const struct op_family mpi_p2p_train_ops = {.count = 1, .op_at = op_at};
