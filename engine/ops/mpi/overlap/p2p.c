/* mpi.overlap.isend, .send, .recv: work beside messages between ranks 0 and 1.
 *
 * isend: both ranks send, receive and work. send and recv are the sender's and the receiver's side alone, as
 * in Sandia's micro-benchmarks (post, work, wait: Doerfler, Brightwell 2006): only rank 0 works. There rank 1
 * says with an empty message that it is ready, so that a message never arrives before its receive is
 * posted. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "ops/common/data.h"
#include "ops/mpi/overlap/overlap.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { TAG = 1, TAG_READY = 2 };

enum { NONBLOCKING, PERSISTENT };
static const char *const forms[] = {[NONBLOCKING] = "nonblocking", [PERSISTENT] = "persistent", NULL};

static const struct param params[] = {
    OVERLAP_PARAMS,
    [OVERLAP_FORM] =
        PARAM_WORDS("form", "MPI_Isend and MPI_Irecv, or MPI_Start of persistent requests", forms),
    BUFFERS_PARAMS,
    {0},
};

struct overlap_side;

/* What one of the two ranks does in a repetition. */
struct role {
    int requests;
    bool sends, receives;
    int (*round)(struct overlap_side *s);
};

struct overlap_side {
    struct overlap o;
    MPI_Request requests[2];
    const struct role *role;
    int (*start)(struct overlap_side *s);
    MPI_Comm comm;
    int peer, count;
    size_t bytes;
    char *send, *recv;
    bool planted;
};

/* How a message begins, in both forms. */

static int start_send(struct overlap_side *s)
{
    return MPI_Isend(s->send, s->count, MPI_BYTE, s->peer, TAG, s->comm, &s->requests[0]);
}

static int start_recv(struct overlap_side *s)
{
    return MPI_Irecv(s->recv, s->count, MPI_BYTE, s->peer, TAG, s->comm, &s->requests[0]);
}

static int start_both(struct overlap_side *s)
{
    int rc = start_recv(s);
    return rc != MPI_SUCCESS ? rc
                             : MPI_Isend(s->send, s->count, MPI_BYTE, s->peer, TAG, s->comm, &s->requests[1]);
}

static int start_again(struct overlap_side *s)
{
    return MPI_Startall(s->o.count, s->requests);
}

static int make_persistent(struct overlap_side *s)
{
    int rc = MPI_SUCCESS;
    if (s->role->receives)
        rc = MPI_Recv_init(s->recv, s->count, MPI_BYTE, s->peer, TAG, s->comm, &s->requests[0]);
    if (s->role->sends && rc == MPI_SUCCESS)
        rc = MPI_Send_init(s->send, s->count, MPI_BYTE, s->peer, TAG, s->comm,
                           &s->requests[s->role->requests - 1]);
    return team_mpi_err(rc, "MPI_Send_init or MPI_Recv_init");
}

/* A repetition of each role. */

static int exchange(struct overlap_side *s)
{
    int rc = s->start(s);
    return rc == MPI_SUCCESS ? s->o.finish(&s->o) : rc;
}

static int send_when_asked(struct overlap_side *s)
{
    int rc = MPI_Recv(NULL, 0, MPI_BYTE, s->peer, TAG_READY, s->comm, MPI_STATUS_IGNORE);
    return rc == MPI_SUCCESS ? exchange(s) : rc;
}

static int ask_and_receive(struct overlap_side *s)
{
    int rc = s->start(s);
    if (rc == MPI_SUCCESS)
        rc = MPI_Send(NULL, 0, MPI_BYTE, s->peer, TAG_READY, s->comm);
    return rc == MPI_SUCCESS ? s->o.finish(&s->o) : rc;
}

static const struct role both = {.requests = 2, .sends = true, .receives = true, .round = exchange},
                         sender = {.requests = 1, .sends = true, .round = send_when_asked},
                         receiver = {.requests = 1, .receives = true, .round = ask_and_receive};

/* The roles of ranks 0 and 1; whether rank 1 works too. */
struct overlap_pair {
    const struct role *role[2];
    bool both_work;
};

static void teardown(void *state)
{
    struct overlap_side *s = state;
    for (int i = 0; i < 2; ++i)
        if (s->requests[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&s->requests[i]);
    overlap_close(&s->o);
    free(s);
}

/* The environment of a rank that does not work: it waits at once. */
static struct op_env idle(const struct op_env *env, double values[PARAMS_MAX])
{
    struct op_env other = *env;
    param_defaults(params, values);
    other.params = values;
    return other;
}

static int setup(const struct op_env *env, void **state)
{
    const struct overlap_pair *pair = env->op->row;
    const int rank = env->team->rank;
    struct overlap_side *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *s = (struct overlap_side){.requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL},
                               .role = rank < 2 ? pair->role[rank] : NULL,
                               .comm = team_comm(env->team),
                               .peer = 1 - rank,
                               .bytes = env->bytes,
                               .planted = env->planted};
    double values[PARAMS_MAX];
    struct op_env without = idle(env, values);
    bool works = rank == 0 || (rank == 1 && pair->both_work);
    int err = num_to_int(env->bytes, &s->count);
    if (!err)
        err = overlap_open(works ? env : &without, s->role ? s->role->requests : 0, s->requests, &s->o);
    if (!err && s->role && s->role->sends)
        err = buffers_take(env->buffers, 1, s->bytes, (void **)&s->send);
    if (!err && s->role && s->role->receives)
        err = buffers_take(env->buffers, 1, s->bytes, (void **)&s->recv);
    if (s->role)
        s->start = s->role->requests == 2 ? start_both : s->role->sends ? start_send : start_recv;
    if ((int)env->params[OVERLAP_FORM] == PERSISTENT) {
        s->start = start_again;
        err = err || !s->role ? err : make_persistent(s);
    }
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct overlap_side *s = state;
    int rc = MPI_SUCCESS;
    if (!s->role)
        return 0;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = s->role->round(s);
    return team_mpi_err(rc, "a message beside work");
}

static int verify(void *state)
{
    struct overlap_side *s = state;
    if (!s->role)
        return 0;
    if (s->role->sends)
        data_fill(s->send, s->bytes, 1 - s->peer, s->peer);
    if (s->role->receives)
        data_poison(s->recv, s->bytes);
    overlap_mark(&s->o);
    int err = run(s, 1);
    if (!err)
        err = overlap_check(&s->o);
    if (err || !s->role->receives)
        return err;
    data_arrived(s->recv, s->bytes, s->planted);
    return data_check(s->recv, s->bytes, s->peer, 1 - s->peer, 0);
}

static double moved(const struct op_env *env)
{
    const struct overlap_pair *pair = env->op->row;
    return (pair->both_work ? 2 : 1) * (double)env->bytes;
}

static const struct op rows[] = {
    {.name = "mpi.overlap.isend",
     .summary = "MPI_Irecv and MPI_Isend by both ranks, work, MPI_Waitall",
     .row = &(const struct overlap_pair){{&both, &both}, .both_work = true}},
    {.name = "mpi.overlap.send",
     .summary = "the sender's side: MPI_Isend, work, MPI_Wait; the receive is posted before",
     .row = &(const struct overlap_pair){{&sender, &receiver}, .both_work = false}},
    {.name = "mpi.overlap.recv",
     .summary = "the receiver's side: MPI_Irecv, work, MPI_Wait; the message is sent after",
     .row = &(const struct overlap_pair){{&receiver, &sender}, .both_work = false}},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "overlap";
    op->class = OP_P2P;
    op->role = ROLE_OVERLAP;
    op->form = FORM_NONBLOCKING;
    op->report = OP_ROOT;
    op->parts = 1;
    op->least_ranks = 2;
    op->threaded = true;
    op->works = true;
    op->default_bytes = "8,1Ki,64Ki,1Mi";
    op->params = params;
    op->setup = setup;
    op->run = run;
    op->verify = verify;
    op->teardown = teardown;
    op->moved = moved;
}

const struct op_family mpi_overlap_p2p_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
