/* mpi.message_rate: how many messages a second ranks exchange with several peers, in the four forms of
 * Sandia's SMB (Barrett, Hemmert 2009: "An application based MPI message throughput benchmark").
 *
 * single: ranks 0 .. P/2-1 send, the others receive, and answer each sender with an empty message when all
 * have arrived. The other forms are on a ring, where a rank sends to the next ones and receives from those
 * before it: pairs, one peer after the other; allstart, all peers at once; preposted, as allstart, but the
 * receives of a repetition are posted at the end of the one before, in a second set of buffers. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/p2p/pair.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { FORM, PEERS, MESSAGES };
enum { SINGLE, PAIRS, PREPOSTED, ALLSTART };
static const char *const forms[] = {"single", "pairs", "preposted", "allstart", NULL};

static const struct param params[] = {
    [FORM] = PARAM_WORDS("form", "who sends to whom, and when receives are posted", forms),
    [PEERS] = {"peers", "", "ranks that each rank sends to", 1, 1, 65536},
    [MESSAGES] = {"messages", "", "messages to each peer in a repetition", 128, 1, 65536},
    BUFFERS_PARAMS,
    {0},
};

enum { SETS = 2, ANSWER_TAG = 2 };

struct rate {
    MPI_Comm comm;
    int rank, size, peers, messages, count;
    size_t bytes, stride;
    int sends, recvs; /* messages of this rank in a repetition */
    int *to, *from;   /* peers */
    int (*all)(struct rate *s, int64_t reps);
    char *send, *recv[SETS]; /* a buffer for each message */
    MPI_Request *send_requests, *recv_requests[SETS];
    int sets, set; /* of receives; the one that comes next */
    bool posted;   /* that one is pending */
    bool planted;
    int generation; /* of the data: that of one check is not that of another */
};

/* ---- parts of a repetition ---- */

static int post_recvs(struct rate *s, int set, int peer)
{
    int rc = MPI_SUCCESS;
    for (int m = peer * s->messages; m < (peer + 1) * s->messages && rc == MPI_SUCCESS; ++m)
        rc = MPI_Irecv(s->recv[set] + (size_t)m * s->stride, s->count, MPI_BYTE, s->from[peer], P2P_TAG,
                       s->comm, &s->recv_requests[set][m]);
    return rc;
}

static int post_sends(struct rate *s, int peer)
{
    int rc = MPI_SUCCESS;
    for (int m = peer * s->messages; m < (peer + 1) * s->messages && rc == MPI_SUCCESS; ++m)
        rc = MPI_Isend(s->send + (size_t)m * s->stride, s->count, MPI_BYTE, s->to[peer], P2P_TAG, s->comm,
                       &s->send_requests[m]);
    return rc;
}

static int post_all_recvs(struct rate *s, int set)
{
    int rc = MPI_SUCCESS;
    for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k)
        rc = post_recvs(s, set, k);
    return rc;
}

static int post_all_sends(struct rate *s)
{
    int rc = MPI_SUCCESS;
    for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k)
        rc = post_sends(s, k);
    return rc;
}

static int wait_both(struct rate *s, int set)
{
    int rc = MPI_Waitall(s->recvs, s->recv_requests[set], statuses_ignored());
    return rc == MPI_SUCCESS ? MPI_Waitall(s->sends, s->send_requests, statuses_ignored()) : rc;
}

/* ---- the forms ---- */

static int single_send(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = post_all_sends(s);
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(s->sends, s->send_requests, statuses_ignored());
        for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k)
            rc = MPI_Recv(NULL, 0, MPI_BYTE, s->to[k], ANSWER_TAG, s->comm, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, "MPI_Isend, MPI_Waitall or MPI_Recv");
}

static int single_recv(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = post_all_recvs(s, 0);
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(s->recvs, s->recv_requests[0], statuses_ignored());
        for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k)
            rc = MPI_Send(NULL, 0, MPI_BYTE, s->from[k], ANSWER_TAG, s->comm);
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Waitall or MPI_Send");
}

/* The odd rank out. */
static int single_idle(struct rate *s, int64_t reps)
{
    (void)s, (void)reps;
    return 0;
}

static int pairs(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k) {
            const int first = k * s->messages;
            rc = post_recvs(s, 0, k);
            if (rc == MPI_SUCCESS)
                rc = post_sends(s, k);
            if (rc == MPI_SUCCESS)
                rc = MPI_Waitall(s->messages, s->recv_requests[0] + first, statuses_ignored());
            if (rc == MPI_SUCCESS)
                rc = MPI_Waitall(s->messages, s->send_requests + first, statuses_ignored());
        }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}

static int preposted(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = post_all_sends(s);
        if (rc == MPI_SUCCESS)
            rc = wait_both(s, s->set);
        s->set = 1 - s->set;
        if (rc == MPI_SUCCESS)
            rc = post_all_recvs(s, s->set);
    }
    return team_mpi_err(rc, "MPI_Isend, MPI_Waitall or MPI_Irecv");
}

static int allstart(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = post_all_recvs(s, 0);
        if (rc == MPI_SUCCESS)
            rc = post_all_sends(s);
        if (rc == MPI_SUCCESS)
            rc = wait_both(s, 0);
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}

static int run(void *state, int64_t reps)
{
    struct rate *s = state;
    return s->all(s, reps);
}

/* ---- setup ---- */

static void teardown(void *state)
{
    struct rate *s = state;
    for (int m = 0; s->posted && m < s->recvs; ++m)
        MPI_Cancel(&s->recv_requests[s->set][m]);
    if (s->posted)
        MPI_Waitall(s->recvs, s->recv_requests[s->set], statuses_ignored());
    for (int i = 0; i < SETS; ++i) {
        free(s->recv_requests[i]);
    }
    free(s->send_requests);
    free(s->to);
    free(s->from);
    free(s);
}

/* What all ranks can see is wrong. */
static int refuse(const struct op_env *env, int form)
{
    const int size = env->team->size, peers = (int)env->params[PEERS],
              most = form == SINGLE ? size / 2 : size - 1;
    if (peers > most)
        return err_say(ERR_INPUT,
                       "form=%s on %d ranks gives each at most %d peers, not %d; use %d ranks or more",
                       forms[form], size, most, peers, form == SINGLE ? 2 * peers : peers + 1);
    if (env->params[MESSAGES] * peers > 1 << 24)
        return err_say(ERR_INPUT, "%d peers times %g messages are more than 16777216 requests; use fewer",
                       peers, env->params[MESSAGES]);
    return 0;
}

/* Who my peers are, and whether I send or receive. */
static void choose_peers(struct rate *s, int form)
{
    const int half = s->size / 2, many = s->peers * s->messages;
    const bool upper = s->rank >= half, idle = form == SINGLE && s->rank >= 2 * half;
    s->sends = idle || (form == SINGLE && upper) ? 0 : many;
    s->recvs = idle || (form == SINGLE && !upper) ? 0 : many;
    for (int k = 0; k < s->peers; ++k) {
        s->to[k] = form == SINGLE ? half + (s->rank + k) % half : (s->rank + k + 1) % s->size;
        s->from[k] = form == SINGLE ? (s->rank - half + s->size * half - k) % half
                                    : (s->rank - k - 1 + s->size) % s->size;
    }
    int (*const all[])(struct rate *, int64_t) = {[SINGLE] = upper ? single_recv : single_send,
                                                  [PAIRS] = pairs,
                                                  [PREPOSTED] = preposted,
                                                  [ALLSTART] = allstart};
    s->all = idle ? single_idle : all[form];
}

static int alloc_requests(struct buffers *store, int count, MPI_Request **requests)
{
    buffers_count(store, (size_t)count * sizeof **requests);
    *requests = malloc((size_t)(count > 0 ? count : 1) * sizeof **requests);
    if (!*requests)
        return err_say(ERR_NOMEM, "no memory for %d requests; use fewer messages or peers", count);
    for (int i = 0; i < count; ++i)
        (*requests)[i] = MPI_REQUEST_NULL;
    return 0;
}

static int alloc(const struct op_env *env, struct rate *s)
{
    int err = buffers_take(env->buffers, (size_t)s->sends, s->stride, (void **)&s->send);
    err = err ? err : alloc_requests(env->buffers, s->sends, &s->send_requests);
    for (int i = 0; i < s->sets && !err; ++i) {
        err = buffers_take(env->buffers, (size_t)s->recvs, s->stride, (void **)&s->recv[i]);
        err = err ? err : alloc_requests(env->buffers, s->recvs, &s->recv_requests[i]);
    }
    return err;
}

static int setup(const struct op_env *env, void **state)
{
    enum { LINE = 64 };
    const int form = (int)env->params[FORM];
    int count = 0, err = refuse(env, form);
    err = err ? err : p2p_count(env, &count);
    if (err)
        return err;
    struct rate *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *s = (struct rate){.comm = team_comm(env->team),
                       .rank = env->team->rank,
                       .size = env->team->size,
                       .peers = (int)env->params[PEERS],
                       .messages = (int)env->params[MESSAGES],
                       .count = count,
                       .bytes = env->bytes,
                       .stride = (env->bytes + LINE - 1) / LINE * LINE,
                       .sets = form == PREPOSTED ? SETS : 1,
                       .planted = env->planted};
    s->to = calloc((size_t)s->peers, sizeof *s->to);
    s->from = calloc((size_t)s->peers, sizeof *s->from);
    if (!s->to || !s->from)
        err = err_say(ERR_NOMEM, "no memory for %d peers", s->peers);
    else
        choose_peers(s, form);
    err = err ? err : alloc(env, s);
    if (!err && form == PREPOSTED) {
        err = team_mpi_err(post_all_recvs(s, 0), "MPI_Irecv");
        s->posted = !err;
    }
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

/* ---- verify ---- */

/* What message m is, in this generation, whoever has it. */
static int number(const struct rate *s, int m)
{
    return (int)((unsigned)s->generation << 24) + m;
}

static void fill(struct rate *s)
{
    ++s->generation;
    for (int m = 0; m < s->sends && s->bytes > 0; ++m)
        data_fill(s->send + (size_t)m * s->stride, s->bytes, s->rank, number(s, m));
}

static int check(const struct rate *s, int set)
{
    int err = 0;
    if (s->recvs == 0 || s->bytes == 0)
        return 0;
    data_arrived(s->recv[set], (size_t)(s->recvs - 1) * s->stride + s->bytes, s->planted);
    for (int m = 0; m < s->recvs && !err; ++m)
        err = data_check(s->recv[set] + (size_t)m * s->stride, s->bytes, s->from[m / s->messages],
                         number(s, m), m);
    return err;
}

/* A repetition for each set of receives, the second one after a wrong answer too, for the others wait for it.
 * A set that is pending may not be poisoned, but was before it was posted; and the data are not those of any
 * time before. */
static int verify(void *state)
{
    struct rate *s = state;
    int err = 0, wrong = 0;
    for (int i = 0; i < s->sets && !err; ++i) {
        const int set = s->set, idle = s->posted ? 1 - set : set;
        fill(s);
        data_poison(s->recv[idle], (size_t)s->recvs * s->stride);
        err = s->all(s, 1);
        if (!err && !wrong)
            wrong = check(s, set);
    }
    return err ? err : wrong;
}

/* How many are sent by all ranks. */
static double messages(const struct op_env *env)
{
    const int size = env->team->size, senders = env->params[FORM] == SINGLE ? size / 2 : size;
    return senders * env->params[PEERS] * env->params[MESSAGES];
}

static double moved(const struct op_env *env)
{
    return messages(env) * (double)env->bytes;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = (struct op){
        .name = "mpi.message_rate",
        .family = "p2p",
        .summary = "many messages to each of several peers, in four forms; the time of all of them",
        .class = OP_COLLECTIVE,
        .role = ROLE_RATE,
        .report = OP_SLOWEST,
        .parts = 1,
        .least_ranks = 2,
        .default_bytes = "1..64Ki",
        .params = params,
        .setup = setup,
        .run = run,
        .verify = verify,
        .teardown = teardown,
        .moved = moved,
        .work = messages,
    };
}

const struct op_family mpi_p2p_rate_ops = {.count = 1, .op_at = op_at};
