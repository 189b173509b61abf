/* mpi.pingpong: there and back, with every way to send and every way to receive. mpi.pingpong_c: with counts
 * greater than an int. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/mpi/p2p/ways.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>

enum { SEND, RECV, MATCH, STATE };

static const struct param params[] = {
    [SEND] = PARAM_WORDS("send", "the call that sends; start: a persistent request", ways_send_words),
    [RECV] = PARAM_WORDS("recv", "the call that receives; start: a persistent request", ways_recv_words),
    [MATCH] = PARAM_WORDS("match", "what receives and probes match: exactly, or with wildcards", p2p_matches),
    [STATE] = DATA_STATE_PARAM,
    OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0},
};

static const struct param params_large[] = {DATA_STATE_PARAM, OP_CHECKS_PARAM, BUFFERS_PARAMS, {0}};

struct pingpong {
    struct ways w; /* first: a pointer to it is a pointer to the whole */
    int (*half)(struct ways *s, int64_t reps);
};

/* The default calls are here and not behind a pointer, so that they are inlined below. */

static int send_plain(struct ways *s)
{
    return MPI_Send(s->p.send, s->p.count, MPI_BYTE, s->p.peer, s->p.label, s->p.comm);
}

static int recv_plain(struct ways *s)
{
    return MPI_Recv(s->p.recv, s->p.count, MPI_BYTE, s->p.from, s->p.tag, s->p.comm, MPI_STATUS_IGNORE);
}

static int send_large(struct ways *s)
{
    (void)s;
    return MPI_Send_c(s->p.send, (MPI_Count)s->p.bytes, MPI_BYTE, s->p.peer, s->p.label, s->p.comm);
}

static int recv_large(struct ways *s)
{
    (void)s;
    return MPI_Recv_c(s->p.recv, (MPI_Count)s->p.bytes, MPI_BYTE, s->p.from, s->p.tag, s->p.comm,
                      MPI_STATUS_IGNORE);
}

/* The two halves, written once and inlined with the calls where these are known. */

static inline __attribute__((always_inline)) int ping(struct ways *s, int64_t reps,
                                                      int (*send)(struct ways *), int (*recv)(struct ways *))
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = send(s);
        if (rc == MPI_SUCCESS)
            rc = recv(s);
    }
    return team_mpi_err(rc, s->calls);
}

static inline __attribute__((always_inline)) int pong(struct ways *s, int64_t reps,
                                                      int (*send)(struct ways *), int (*recv)(struct ways *))
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = recv(s);
        if (rc == MPI_SUCCESS)
            rc = send(s);
    }
    return team_mpi_err(rc, s->calls);
}

static int ping_plain(struct ways *s, int64_t reps)
{
    return ping(s, reps, send_plain, recv_plain);
}

static int pong_plain(struct ways *s, int64_t reps)
{
    return pong(s, reps, send_plain, recv_plain);
}

static int ping_large(struct ways *s, int64_t reps)
{
    return ping(s, reps, send_large, recv_large);
}

static int pong_large(struct ways *s, int64_t reps)
{
    return pong(s, reps, send_large, recv_large);
}

static int ping_any(struct ways *s, int64_t reps)
{
    return ping(s, reps, s->send, s->recv);
}

static int pong_any(struct ways *s, int64_t reps)
{
    return pong(s, reps, s->send, s->recv);
}

static int ping_written(struct ways *s, int64_t reps)
{
    return ping(s, reps, ways_send_written, s->recv);
}

static int pong_written(struct ways *s, int64_t reps)
{
    return pong(s, reps, ways_send_written, s->recv);
}

static int nothing(struct ways *s, int64_t reps)
{
    (void)s, (void)reps;
    return 0;
}

/* A repetition of rank 0 and of rank 1. */
enum half { PLAIN, ANY, LARGE, WRITTEN, HALVES };
static int (*const halves[2][HALVES])(struct ways *s, int64_t reps) = {
    {ping_plain, ping_any, ping_large, ping_written}, {pong_plain, pong_any, pong_large, pong_written}};

static void choose_half(struct pingpong *s, const struct op_env *env, enum half half)
{
    const int rank = env->team->rank;
    s->half = rank > 1 ? nothing : halves[rank][data_state_of(env) == DATA_WRITTEN ? WRITTEN : half];
}

static int run(void *state, int64_t reps)
{
    struct pingpong *s = state;
    s->w.p.moved += reps;
    return s->half(&s->w, reps);
}

static int turn(void *state, int64_t message)
{
    struct ways *s = state;
    const bool sends = message % 2 == s->p.rank;
    if (s->p.rank > 1)
        return 0;
    s->p.moved += !sends;
    return team_mpi_err(sends ? s->send(s) : s->recv(s), s->calls);
}

/* Called only if the method can leave the writing out of the time. */
static bool write_payload(void *state)
{
    struct ways *s = state;
    const bool writes = s->p.state == DATA_WRITTEN && s->p.rank < 2;
    if (writes)
        data_write_again(s->p.send, s->p.bytes);
    return writes;
}

static void teardown(void *state)
{
    struct pingpong *s = state;
    ways_close(&s->w);
    free(s);
}

static int setup(const struct op_env *env, void **state)
{
    const int send = (int)env->params[SEND], recv = (int)env->params[RECV];
    struct pingpong *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    int err = ways_open(&s->w, env, send, recv, (int)env->params[MATCH]);
    choose_half(s, env, send == 0 && recv == 0 ? PLAIN : ANY);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static int setup_large(const struct op_env *env, void **state)
{
    struct pingpong *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    s->w = (struct ways){.send = send_large, .recv = recv_large, .calls = "MPI_Send_c or MPI_Recv_c"};
    s->w.send_request = s->w.recv_request[0] = s->w.recv_request[1] = MPI_REQUEST_NULL;
    choose_half(s, env, LARGE);
    int err = ways_check_answers(env, false);
    err = err ? err : p2p_open_large(&s->w.p, env, 1, 1);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static const struct data_round a_round = {ways_fill, run, ways_look, ways_poison};

static int verify(void *state)
{
    return ways_verify(state, &a_round);
}

static int check(void *state)
{
    const struct ways *s = state;
    return s->p.rank > 1 ? 0 : data_check_left(&a_round, state);
}

static double moved(const struct op_env *env)
{
    return 2 * (double)env->bytes;
}

static const struct op rows[] = {
    {.name = "mpi.pingpong",
     .layer = LAYER_MPI,
     .summary = "a message there and back, MPI_Send and MPI_Recv or others; one way, half the round trip",
     .params = params,
     .setup = setup},
    {.name = "mpi.pingpong_c",
     .summary = "a message there and back by MPI_Send_c and MPI_Recv_c, also beyond 2 GiB; one way",
     .params = params_large,
     .missing = MPI4_MISSING,
     .setup = setup_large},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    p2p_op(op);
    op->parts = 2;
    op->default_bytes = "0,1..4Mi";
    op->run = run;
    op->turn = turn;
    op->streams = true;
    op->write = write_payload;
    op->verify = verify;
    op->check = check;
    op->teardown = teardown;
    op->moved = moved;
}

const struct op_family mpi_p2p_pingpong_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
