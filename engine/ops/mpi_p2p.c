/* mpi.*, two ranks: 0 and 1 talk, the others wait. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "ops/mpi_data.h"
#include "team/team_mpi.h"

#include <stdlib.h>

/* MPICH's MPI_STATUSES_IGNORE is the address 1, at which gcc sees an array that is too small. */
#pragma GCC diagnostic ignored "-Wstringop-overflow"

enum { TAG = 1 };

struct p2p {
    MPI_Comm comm;
    int rank, peer, count;
    size_t bytes;
    char *send, *recv;
    bool planted;
    int window, buffers; /* bandwidth */
    size_t stride;       /* between the buffers of a window */
    MPI_Request *requests;
    int (*half[2])(struct p2p *p, int64_t reps); /* what rank 0 and what rank 1 does */
};

/* Both halves of an op. A row's `row` points to one. */
struct halves {
    int (*half[2])(struct p2p *p, int64_t reps);
};

static void teardown(void *state)
{
    struct p2p *p = state;
    free(p->send);
    free(p->recv);
    free(p->requests);
    free(p);
}

static int setup_buffers(const struct op_env *env, int window, int buffers, void **state)
{
    struct p2p *p = calloc(1, sizeof *p);
    if (!p)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    const struct halves *halves = env->op->row;
    *p = (struct p2p){.comm = team_comm(env->team),
                      .rank = env->team->rank,
                      .peer = 1 - env->team->rank,
                      .bytes = env->bytes,
                      .planted = env->planted,
                      .window = window,
                      .buffers = buffers,
                      .half = {halves->half[0], halves->half[1]}};
    p->stride = (env->bytes + 63) / 64 * 64; /* whole cache lines */
    int err = num_to_int(env->bytes, &p->count);
    if (!err && p->rank < 2)
        err = data_alloc((size_t)buffers, p->stride, (void **)&p->send);
    if (!err && p->rank < 2)
        err = data_alloc((size_t)buffers, p->stride, (void **)&p->recv);
    if (!err && !(p->requests = malloc((size_t)window * sizeof(MPI_Request))))
        err = err_say(ERR_NOMEM, "no memory for %d requests", window);
    if (err)
        teardown(p);
    else
        *state = p;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct p2p *p = state;
    return p->rank < 2 ? p->half[p->rank](p, reps) : 0;
}

/* Fresh data in every buffer of a window, one repetition, every byte looked at. `answers`: rank 0 gets data
 * too. */
static int verify_window(struct p2p *p, bool answers)
{
    if (p->rank >= 2)
        return 0;
    for (int b = 0; b < p->buffers && p->bytes > 0; ++b) {
        data_fill(p->send + (size_t)b * p->stride, p->bytes, p->rank, b);
        data_poison(p->recv + (size_t)b * p->stride, p->bytes);
    }
    int err = run(p, 1);
    const int used = p->buffers < p->window ? p->buffers : p->window;
    if (p->bytes > 0 && (answers || p->rank == 1))
        data_arrived(p->recv, (size_t)(used - 1) * p->stride + p->bytes, p->planted);
    for (int b = 0; b < used && !err && p->bytes > 0 && (answers || p->rank == 1); ++b)
        err = data_check(p->recv + (size_t)b * p->stride, p->bytes, p->peer, b, b);
    return err;
}

/* pingpong */

static int pingpong_setup(const struct op_env *env, void **state)
{
    return setup_buffers(env, 1, 1, state);
}

static int ping(struct p2p *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Send(p->send, p->count, MPI_BYTE, p->peer, TAG, p->comm);
        if (rc == MPI_SUCCESS)
            rc = MPI_Recv(p->recv, p->count, MPI_BYTE, p->peer, TAG, p->comm, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

static int pong(struct p2p *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Recv(p->recv, p->count, MPI_BYTE, p->peer, TAG, p->comm, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Send(p->send, p->count, MPI_BYTE, p->peer, TAG, p->comm);
    }
    return team_mpi_err(rc, "MPI_Recv or MPI_Send");
}

static int pingpong_turn(void *state, int64_t message)
{
    struct p2p *p = state;
    if (p->rank >= 2)
        return 0;
    if (message % 2 == p->rank)
        return team_mpi_err(MPI_Send(p->send, p->count, MPI_BYTE, p->peer, TAG, p->comm), "MPI_Send");
    return team_mpi_err(MPI_Recv(p->recv, p->count, MPI_BYTE, p->peer, TAG, p->comm, MPI_STATUS_IGNORE),
                        "MPI_Recv");
}

static int pingpong_verify(void *state)
{
    return verify_window(state, true);
}

static double pingpong_moved(const struct op_env *env)
{
    return 2 * (double)env->bytes;
}

/* bandwidth: a window of nonblocking sends, answered by an empty message when all have arrived. */

enum { WINDOW, BUFFERS };

static const struct param bandwidth_params[] = {
    [WINDOW] = {"window", "", "messages in flight", 64, 1, 65536},
    [BUFFERS] = {"buffers", "", "buffers that the window goes round in; 1 is hot in cache, as in OSU and IMB",
                 1, 1, 65536},
    {0},
};

static int bandwidth_setup(const struct op_env *env, void **state)
{
    return setup_buffers(env, (int)env->params[WINDOW], (int)env->params[BUFFERS], state);
}

static int window_send(struct p2p *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        for (int w = 0, b = 0; w < p->window && rc == MPI_SUCCESS; ++w, b = b + 1 == p->buffers ? 0 : b + 1)
            rc = MPI_Isend(p->send + (size_t)b * p->stride, p->count, MPI_BYTE, p->peer, TAG, p->comm,
                           &p->requests[w]);
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(p->window, p->requests, MPI_STATUSES_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Recv(p->recv, 0, MPI_BYTE, p->peer, TAG, p->comm, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, "MPI_Isend, MPI_Waitall or MPI_Recv");
}

static int window_recv(struct p2p *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        for (int w = 0, b = 0; w < p->window && rc == MPI_SUCCESS; ++w, b = b + 1 == p->buffers ? 0 : b + 1)
            rc = MPI_Irecv(p->recv + (size_t)b * p->stride, p->count, MPI_BYTE, p->peer, TAG, p->comm,
                           &p->requests[w]);
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(p->window, p->requests, MPI_STATUSES_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Send(p->send, 0, MPI_BYTE, p->peer, TAG, p->comm);
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Waitall or MPI_Send");
}

static int bandwidth_verify(void *state)
{
    return verify_window(state, false);
}

static double bandwidth_moved(const struct op_env *env)
{
    return env->params[WINDOW] * (double)env->bytes;
}

static const struct op rows[] = {
    {.name = "mpi.pingpong",
     .summary = "MPI_Send and MPI_Recv there and back; one way, half the round trip",
     .parts = 2,
     .default_bytes = "0,1..4Mi",
     .row = &(const struct halves){{ping, pong}},
     .setup = pingpong_setup,
     .turn = pingpong_turn,
     .verify = pingpong_verify,
     .moved = pingpong_moved},
    {.name = "mpi.bandwidth",
     .summary =
         "a window of MPI_Isend to a window of MPI_Irecv and an empty answer; the time of the whole window",
     .parts = 1,
     .default_bytes = "1..4Mi",
     .params = bandwidth_params,
     .row = &(const struct halves){{window_send, window_recv}},
     .setup = bandwidth_setup,
     .verify = bandwidth_verify,
     .moved = bandwidth_moved},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "p2p";
    op->class = OP_P2P;
    op->report = OP_ROOT;
    op->least_ranks = 2;
    op->run = run;
    op->teardown = teardown;
}

const struct op_family mpi_p2p_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
