/* mpi.bandwidth, mpi.bibandwidth: a window of messages in flight from rank 0 to rank 1, or both ways at once.
 *
 * One way, an empty answer says that all messages of a window have arrived. Both ways need no answer: a rank
 * has finished a window when the other's has arrived. Only with both ways can received data be sent next.
 * Then two sets of buffers take turns, because MPI forbids receiving into a buffer that is being sent. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/mpi/p2p/complete.h"
#include "ops/mpi/p2p/pair.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>

enum { WINDOW, BUFFERS, STATE, COMPLETE, SEND, RECV };

static const char *const send_words[] = {"isend", "start", NULL};
static const char *const recv_words[] = {"irecv", "start", NULL};

#define WINDOW_PARAMS                                                                                        \
    [WINDOW] = {"window", "", "messages in flight", 64, 1, 65536},                                           \
    [BUFFERS] = {"buffers", "", "buffers that a window uses in turn; 1: hot in cache, as in OSU and IMB",    \
                 1,         1,  65536},                                                                      \
    [STATE] = DATA_STATE_PARAM,                                                                              \
    [COMPLETE] = PARAM_WORDS(                                                                                \
        "complete",                                                                                          \
        "the calls that complete a window: one for all requests, one for each in order, or those that "      \
        "find which have completed, called until all have; tests are called without a pause",                \
        complete_words)

static const struct param params[] = {
    WINDOW_PARAMS,
    [SEND] = PARAM_WORDS("send", "the call that sends; start: persistent requests, MPI_Startall", send_words),
    [RECV] =
        PARAM_WORDS("recv", "the call that receives; start: persistent requests, MPI_Startall", recv_words),
    OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0},
};

static const struct param params_large[] = {WINDOW_PARAMS, OP_CHECKS_PARAM, BUFFERS_PARAMS, {0}};

struct window {
    struct p2p_pair p;
    int messages;
    bool persistent_sends, persistent_recvs;
    MPI_Request *recvs, *sends; /* the sends stand behind the receives; NULL if this rank has none */
    int requests;               /* of both */
    MPI_Request *all;           /* the requests of each set of buffers, one set after the other */
    int sets, set;
    struct completion complete;
    /* Post all messages, and return an MPI error. */
    int (*post_recvs)(struct window *s), (*post_sends)(struct window *s);
    int (*post_written)(struct window *s); /* the same for sends whose data are written just before */
    int (*half)(struct window *s, int64_t reps);
};

/* The buffer after b, and the first one after the last. */
static inline int next(int b, int buffers)
{
    return b + 1 == buffers ? 0 : b + 1;
}

static int isend_all(struct window *s)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_SUCCESS;
    for (int w = 0, b = 0; w < s->messages && rc == MPI_SUCCESS; ++w, b = next(b, p->sends))
        rc = MPI_Isend(p->send + (size_t)b * p->stride, p->count, MPI_BYTE, p->peer, p->label, p->comm,
                       &s->sends[w]);
    return rc;
}

static int irecv_all(struct window *s)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_SUCCESS;
    for (int w = 0, b = 0; w < s->messages && rc == MPI_SUCCESS; ++w, b = next(b, p->recvs))
        rc = MPI_Irecv(p->recv + (size_t)b * p->stride, p->count, MPI_BYTE, p->peer, p->label, p->comm,
                       &s->recvs[w]);
    return rc;
}

static int isend_all_large(struct window *s)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_SUCCESS;
    for (int w = 0, b = 0; w < s->messages && rc == MPI_SUCCESS; ++w, b = next(b, p->sends))
        rc = MPI_Isend_c(p->send + (size_t)b * p->stride, (MPI_Count)p->bytes, MPI_BYTE, p->peer, p->label,
                         p->comm, &s->sends[w]);
    return rc;
}

static int irecv_all_large(struct window *s)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_SUCCESS;
    for (int w = 0, b = 0; w < s->messages && rc == MPI_SUCCESS; ++w, b = next(b, p->recvs))
        rc = MPI_Irecv_c(p->recv + (size_t)b * p->stride, (MPI_Count)p->bytes, MPI_BYTE, p->peer, p->label,
                         p->comm, &s->recvs[w]);
    return rc;
}

static int start_sends(struct window *s)
{
    return MPI_Startall(s->messages, s->sends);
}

static int start_recvs(struct window *s)
{
    return MPI_Startall(s->messages, s->recvs);
}

/* Before any message of the window is in flight, because several messages may share a buffer. */
static int write_and_send(struct window *s)
{
    const struct p2p_pair *p = &s->p;
    for (int b = 0; b < p->sends && b < s->messages; ++b)
        data_write_again(p->send + (size_t)b * p->stride, p->bytes);
    return s->post_written(s);
}

/* In the order of the words. */
static int (*const sends[])(struct window *s) = {isend_all, start_sends};
static int (*const recvs[])(struct window *s) = {irecv_all, start_recvs};

/* Convert an MPI error of a window: what was done, and by which calls. */
static int said(const struct window *s, int rc, const char *what, const char *answer)
{
    char calls[96];
    if (rc == MPI_SUCCESS)
        return 0;
    snprintf(calls, sizeof calls, "%s, %s%s", what, s->complete.calls, answer);
    return team_mpi_err(rc, calls);
}

static int send_windows(struct window *s, int64_t reps)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = s->post_sends(s);
        if (rc == MPI_SUCCESS)
            rc = s->complete.all(&s->complete, s->messages, s->sends);
        if (rc == MPI_SUCCESS)
            rc = MPI_Recv(NULL, 0, MPI_BYTE, p->peer, p->label, p->comm, MPI_STATUS_IGNORE);
    }
    return said(s, rc, "sending a window", " or MPI_Recv");
}

static int recv_windows(struct window *s, int64_t reps)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = s->post_recvs(s);
        if (rc == MPI_SUCCESS)
            rc = s->complete.all(&s->complete, s->messages, s->recvs);
        if (rc == MPI_SUCCESS)
            rc = MPI_Send(NULL, 0, MPI_BYTE, p->peer, p->label, p->comm);
    }
    return said(s, rc, "receiving a window", " or MPI_Send");
}

static int exchange_windows(struct window *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = s->post_recvs(s);
        if (rc == MPI_SUCCESS)
            rc = s->post_sends(s);
        if (rc == MPI_SUCCESS)
            rc = s->complete.all(&s->complete, s->requests, s->recvs);
    }
    return said(s, rc, "exchanging windows", "");
}

/* Send the received data, and receive into the buffers that were sent before. */
static void take_turns(struct window *s)
{
    char *received = s->p.recv;
    s->p.recv = s->p.send;
    s->p.send = received;
    s->set = 1 - s->set;
    s->recvs = s->all + s->set * s->requests;
    s->sends = s->recvs + s->messages;
}

static int exchange_in_turns(struct window *s, int64_t reps)
{
    int err = 0;
    for (int64_t i = 0; i < reps && !err; ++i) {
        take_turns(s);
        err = exchange_windows(s, 1);
    }
    return err;
}

static int nothing(struct window *s, int64_t reps)
{
    (void)s, (void)reps;
    return 0;
}

static int run(void *state, int64_t reps)
{
    struct window *s = state;
    s->p.moved += reps;
    return s->half(s, reps);
}

static void teardown(void *state)
{
    struct window *s = state;
    for (int i = 0; s->all && i < s->sets * s->requests; ++i)
        if (s->all[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&s->all[i]);
    complete_close(&s->complete);
    free(s->all);
    free(s);
}

static int alloc_requests(struct window *s)
{
    const int of_recvs = s->p.recvs > 0 ? s->messages : 0, of_sends = s->p.sends > 0 ? s->messages : 0;
    s->requests = of_recvs + of_sends;
    if (s->requests == 0)
        return 0;
    s->all = malloc((size_t)(s->sets * s->requests) * sizeof(MPI_Request));
    if (!s->all)
        return err_say(ERR_NOMEM, "no memory for a window of %d requests", s->messages);
    for (int i = 0; i < s->sets * s->requests; ++i)
        s->all[i] = MPI_REQUEST_NULL;
    s->recvs = of_recvs > 0 ? s->all : NULL;
    s->sends = of_sends > 0 ? s->all + of_recvs : NULL;
    return 0;
}

static int init_set(struct window *s)
{
    const struct p2p_pair *p = &s->p;
    int rc = MPI_SUCCESS;
    for (int w = 0; s->recvs && s->persistent_recvs && w < s->messages && rc == MPI_SUCCESS; ++w)
        rc = MPI_Recv_init(p->recv + (size_t)(w % p->recvs) * p->stride, p->count, MPI_BYTE, p->peer,
                           p->label, p->comm, &s->recvs[w]);
    for (int w = 0; s->sends && s->persistent_sends && w < s->messages && rc == MPI_SUCCESS; ++w)
        rc = MPI_Send_init(p->send + (size_t)(w % p->sends) * p->stride, p->count, MPI_BYTE, p->peer,
                           p->label, p->comm, &s->sends[w]);
    return team_mpi_err(rc, "MPI_Recv_init or MPI_Send_init");
}

static int init_requests(struct window *s)
{
    int err = init_set(s);
    for (int i = 1; i < s->sets && !err; ++i) {
        take_turns(s);
        err = init_set(s);
    }
    return err;
}

/* What is particular to a row. */
struct kind {
    bool both, large;
};

/* A window both ways at once needs a second set of buffers to receive into. */
static int choose_state(struct window *s, const struct op_env *env)
{
    const enum data_state state = s->p.state;
    s->sets = state == DATA_SAME ? 2 : 1;
    if (state == DATA_WRITTEN) {
        s->post_written = s->post_sends;
        s->post_sends = write_and_send;
    }
    if (state != DATA_SAME || s->p.rank > 1)
        return 0;
    s->half = exchange_in_turns;
    s->p.state = DATA_APART;
    return buffers_take(env->buffers, (size_t)s->p.recvs, s->p.stride, (void **)&s->p.recv);
}

static int setup(const struct op_env *env, void **state)
{
    const struct kind *kind = env->op->row;
    const int rank = env->team->rank, buffers = (int)env->params[BUFFERS];
    if (!kind->both && data_state_of(env) == DATA_SAME)
        return err_say(ERR_INPUT,
                       "%s sends one way, so nothing comes that could be sent again; give buffer=apart or "
                       "written, or mpi.bibandwidth",
                       env->op->name);
    struct window *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    int (*open)(struct p2p_pair *, const struct op_env *, int, int) = kind->large ? p2p_open_large : p2p_open;
    int err = open(&s->p, env, kind->both || rank == 0 ? buffers : 0, kind->both || rank == 1 ? buffers : 0);
    s->messages = (int)env->params[WINDOW];
    s->half = rank > 1 ? nothing : kind->both ? exchange_windows : rank == 0 ? send_windows : recv_windows;
    s->post_sends = kind->large ? isend_all_large : sends[(int)env->params[SEND]];
    s->post_recvs = kind->large ? irecv_all_large : recvs[(int)env->params[RECV]];
    s->persistent_sends = s->post_sends == start_sends;
    s->persistent_recvs = s->post_recvs == start_recvs;
    err = err ? err : choose_state(s, env);
    err = err ? err : alloc_requests(s);
    err = err ? err : init_requests(s);
    err = err ? err : complete_open(&s->complete, (int)env->params[COMPLETE], s->requests);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static void fill(void *state)
{
    struct window *s = state;
    p2p_fill(&s->p);
    p2p_poison_all(&s->p);
    if (s->half == exchange_in_turns)
        take_turns(s); /* as the next repetition does again */
}

static int look(void *state)
{
    struct window *s = state;
    if (s->half == exchange_in_turns)
        p2p_follow(&s->p);
    return p2p_check(&s->p, s->p.recvs < s->messages ? s->p.recvs : s->messages);
}

static void poison(void *state)
{
    struct window *s = state;
    if (s->half != exchange_in_turns)
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

static double moved(const struct op_env *env)
{
    const struct kind *kind = env->op->row;
    return (kind->both ? 2 : 1) * env->params[WINDOW] * (double)env->bytes;
}

static const struct op rows[] = {
    {.name = "mpi.bandwidth",
     .layer = LAYER_MPI,
     .summary = "a window of messages to rank 1 and an empty answer; the time of the whole window",
     .params = params,
     .row = &(const struct kind){0}},
    {.name = "mpi.bibandwidth",
     .summary = "a window of messages each way at once; the time of both windows",
     .params = params,
     .row = &(const struct kind){.both = true}},
    {.name = "mpi.bandwidth_c",
     .summary = "mpi.bandwidth with MPI_Isend_c and MPI_Irecv_c, also beyond 2 GiB",
     .params = params_large,
     .missing = MPI4_MISSING,
     .row = &(const struct kind){.large = true}},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    p2p_op(op);
    op->role = ROLE_BANDWIDTH;
    op->parts = 1;
    op->default_bytes = "1..4Mi";
    op->setup = setup;
    op->run = run;
    op->verify = verify;
    op->check = check;
    op->teardown = teardown;
    op->moved = moved;
}

const struct op_family mpi_p2p_window_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
