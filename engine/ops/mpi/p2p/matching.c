/* mpi.matching: a ping-pong past receives that wait for other messages, and past messages that no receive has
 * asked for (Underwood, Brightwell 2004: "The impact of MPI queue usage on message latency").
 *
 * Both queues are filled at the first check, when all ranks are known to have set up. Every entry has a tag
 * of its own, so that none matches the ping-pong or another entry. MPI_Probe finds each of the other's
 * messages: a rank then knows that all are in its queue. A barrier would not show that. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/mpi/p2p/pair.h"
#include "team/team_mpi.h"

#include <stdlib.h>

/* Tags go up to 32767 in every MPI, which is enough for these two queues. */
enum { MOST = 16000, FIRST_POSTED = P2P_TAG + 1, FIRST_UNEXPECTED = FIRST_POSTED + MOST };

enum { POSTED, UNEXPECTED };

static const struct param params[] = {
    [POSTED] = {"posted", "", "receives in each rank's queue that match nothing", 0, 0, MOST},
    [UNEXPECTED] = {"unexpected", "", "empty messages in each rank's queue that match no receive", 0, 0,
                    MOST},
    OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0},
};

struct matching {
    struct p2p_pair p;
    int posted, unexpected;
    MPI_Request *recvs, *sends; /* of the queues */
    bool laid;
    int (*half)(struct p2p_pair *p, int64_t reps);
};

static int send_one(struct p2p_pair *p)
{
    return MPI_Send(p->send, p->count, MPI_BYTE, p->peer, P2P_TAG, p->comm);
}

static int recv_one(struct p2p_pair *p)
{
    return MPI_Recv(p->recv, p->count, MPI_BYTE, p->peer, P2P_TAG, p->comm, MPI_STATUS_IGNORE);
}

static int ping(struct p2p_pair *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = send_one(p);
        if (rc == MPI_SUCCESS)
            rc = recv_one(p);
    }
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

static int pong(struct p2p_pair *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = recv_one(p);
        if (rc == MPI_SUCCESS)
            rc = send_one(p);
    }
    return team_mpi_err(rc, "MPI_Recv or MPI_Send");
}

static int nothing(struct p2p_pair *p, int64_t reps)
{
    (void)p, (void)reps;
    return 0;
}

static int run(void *state, int64_t reps)
{
    struct matching *s = state;
    s->p.moved += reps;
    return s->half(&s->p, reps);
}

static int turn(void *state, int64_t message)
{
    struct matching *s = state;
    const bool sends = message % 2 == s->p.rank;
    if (s->p.rank > 1)
        return 0;
    s->p.moved += !sends;
    return team_mpi_err(sends ? send_one(&s->p) : recv_one(&s->p), "MPI_Send or MPI_Recv");
}

/* ---- the queues ---- */

static int lay(struct matching *s)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < s->posted && rc == MPI_SUCCESS; ++i)
        rc = MPI_Irecv(NULL, 0, MPI_BYTE, p->peer, FIRST_POSTED + i, p->comm, &s->recvs[i]);
    for (int i = 0; i < s->unexpected && rc == MPI_SUCCESS; ++i)
        rc = MPI_Isend(NULL, 0, MPI_BYTE, p->peer, FIRST_UNEXPECTED + i, p->comm, &s->sends[i]);
    for (int i = 0; i < s->unexpected && rc == MPI_SUCCESS; ++i)
        rc = MPI_Probe(p->peer, FIRST_UNEXPECTED + i, p->comm, MPI_STATUS_IGNORE);
    s->laid = rc == MPI_SUCCESS;
    return team_mpi_err(rc, "laying the queues");
}

/* Check that both queues are as long as they were: no receive is complete, every message is there. */
static int check_queues(const struct matching *s)
{
    const struct p2p_pair *p = &s->p;
    int index = 0, complete = 0, there = 1, rc = MPI_SUCCESS;
    if (s->posted > 0)
        rc = MPI_Testany(s->posted, s->recvs, &index, &complete, MPI_STATUS_IGNORE);
    for (int i = 0; i < s->unexpected && rc == MPI_SUCCESS && there; ++i)
        rc = MPI_Iprobe(p->peer, FIRST_UNEXPECTED + i, p->comm, &there, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS && complete)
        return err_say(ERR_WRONG, "receive %d of %d completed, though no message has its tag", index,
                       s->posted);
    if (rc == MPI_SUCCESS && !there)
        return err_say(ERR_WRONG, "one of %d messages that nobody received is gone", s->unexpected);
    return team_mpi_err(rc, "MPI_Testany or MPI_Iprobe");
}

static void clear(struct matching *s)
{
    const struct p2p_pair *p = &s->p;
    for (int i = 0; i < s->posted; ++i)
        MPI_Cancel(&s->recvs[i]);
    MPI_Waitall(s->posted, s->recvs, statuses_ignored());
    for (int i = 0; i < s->unexpected; ++i)
        MPI_Recv(NULL, 0, MPI_BYTE, p->peer, FIRST_UNEXPECTED + i, p->comm, MPI_STATUS_IGNORE);
    MPI_Waitall(s->unexpected, s->sends, statuses_ignored());
}

/* ---- setup, verify ---- */

static void teardown(void *state)
{
    struct matching *s = state;
    if (s->laid)
        clear(s);
    free(s->recvs);
    free(s->sends);
    free(s);
}

static int setup(const struct op_env *env, void **state)
{
    struct matching *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    int err = p2p_open(&s->p, env, 1, 1);
    s->posted = (int)env->params[POSTED];
    s->unexpected = (int)env->params[UNEXPECTED];
    s->half = s->p.rank > 1 ? nothing : s->p.rank == 0 ? ping : pong;
    s->recvs = malloc(MOST * sizeof *s->recvs);
    s->sends = malloc(MOST * sizeof *s->sends);
    if (!err && (!s->recvs || !s->sends))
        err = err_say(ERR_NOMEM, "no memory for %d requests", 2 * MOST);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static void fill(void *state)
{
    struct matching *s = state;
    p2p_fill(&s->p);
    p2p_poison_all(&s->p);
}

static int look(void *state)
{
    const struct matching *s = state;
    return s->p.moved > 0 ? p2p_check(&s->p, s->p.recvs) : 0;
}

static void poison(void *state)
{
    p2p_poison_all(&((struct matching *)state)->p);
}

static const struct data_round a_round = {fill, run, look, poison};

static int verify(void *state)
{
    struct matching *s = state;
    if (s->p.rank > 1)
        return 0;
    int err = s->laid ? 0 : lay(s);
    err = err ? err : data_verify(&a_round, s, 1);
    return err ? err : check_queues(s);
}

static int check(void *state)
{
    return data_check_left(&a_round, state);
}

static double moved(const struct op_env *env)
{
    return 2 * (double)env->bytes;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = (struct op){
        .name = "mpi.matching",
        .summary = "a ping-pong past posted receives and unexpected messages that do not match; one way",
        .parts = 2,
        .default_bytes = "0,8",
        .params = params,
        .setup = setup,
        .run = run,
        .turn = turn,
        .verify = verify,
        .check = check,
        .teardown = teardown,
        .moved = moved,
    };
    p2p_op(op);
}

const struct op_family mpi_p2p_match_ops = {.count = 1, .op_at = op_at};
