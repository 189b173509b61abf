/* mpi.message_rate: how many messages a second ranks exchange with several peers, in the four forms of
 * Sandia's SMB (Barrett, Hemmert 2009: "An application based MPI message throughput benchmark").
 *
 * single: ranks 0 .. P/2-1 send, the others receive. A receiver answers each sender with an empty message
 * when all its messages have arrived. The other forms are on a ring, where a rank sends to the next ones and
 * receives from those before it. pairs: one peer after the other. allstart: all peers at once. preposted: as
 * allstart, but the receives of a repetition are posted at the end of the one before, in a second set of
 * buffers. With two sets a rank on a ring can also send on the data that it received in the repetition
 * before. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/p2p/pair.h"
#include "ops/mpi/p2p/rate.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { FORM, PEERS, MESSAGES, STATE };
enum { SINGLE, PAIRS, PREPOSTED, ALLSTART };
static const char *const forms[] = {"single", "pairs", "preposted", "allstart", NULL};

static const struct param params[] = {
    [FORM] = PARAM_WORDS("form", "who sends to whom, and when receives are posted", forms),
    [PEERS] = {"peers", "", "ranks that each rank sends to", 1, 1, 65536, .all = "peers"},
    [MESSAGES] = {"messages", "", "messages to each peer in a repetition", 128, 1, 65536},
    [STATE] = DATA_STATE_PARAM,
    OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0},
};

static int run(void *state, int64_t reps)
{
    struct rate *s = state;
    s->moved += reps;
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
    for (int i = 0; i < RATE_SETS; ++i) {
        free(s->recv_requests[i]);
    }
    free(s->send_requests);
    free(s->to);
    free(s->from);
    free(s);
}

/* Parameters that every rank can see are wrong. */
static int refuse(const struct op_env *env, int form)
{
    const int size = env->team->size, peers = (int)env->params[PEERS],
              most = form == SINGLE ? size / 2 : size - 1;
    if (peers > most)
        return err_say(ERR_INPUT,
                       "form=%s on %d ranks gives each at most %d peers, not %d; use %d ranks or more",
                       forms[form], size, most, peers, form == SINGLE ? 2 * peers : peers + 1);
    if (form == SINGLE && data_state_of(env) == DATA_SAME)
        return err_say(ERR_INPUT,
                       "form=single sends one way, so nothing comes that could be sent again; give "
                       "buffer=apart or written, or another form");
    if (env->params[MESSAGES] * peers > 1 << 24)
        return err_say(ERR_INPUT, "%d peers times %g messages are more than 16777216 requests; use fewer",
                       peers, env->params[MESSAGES]);
    return 0;
}

/* Find my peers, and whether I send or receive. */
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
    int (*const all[])(struct rate *, int64_t) = {[SINGLE] = upper ? rate_single_recv : rate_single_send,
                                                  [PAIRS] = rate_pairs,
                                                  [PREPOSTED] = rate_preposted,
                                                  [ALLSTART] = rate_allstart};
    s->all = idle ? rate_idle : all[form];
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
    int err = alloc_requests(env->buffers, s->sends, &s->send_requests);
    for (int i = 0; i < s->sets && !err; ++i) {
        err = buffers_take(env->buffers, (size_t)s->recvs, s->stride, (void **)&s->recv[i]);
        err = err ? err : alloc_requests(env->buffers, s->recvs, &s->recv_requests[i]);
    }
    if (!err && !s->same)
        err = buffers_take(env->buffers, (size_t)s->sends, s->stride, (void **)&s->send[0]);
    for (int i = 0; i < s->sets && !err; ++i) {
        s->next[i] = s->sets - 1 - i;
        s->send[i] = s->same ? s->recv[s->next[i]] : s->send[0];
    }
    return err;
}

static int setup(const struct op_env *env, void **state)
{
    enum { LINE = 64 };
    const int form = (int)env->params[FORM];
    const enum data_state data = data_state_of(env);
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
                       .sets = form == PREPOSTED || data == DATA_SAME ? RATE_SETS : 1,
                       .same = data == DATA_SAME,
                       .post_sends = data == DATA_WRITTEN ? rate_write_and_send : rate_send,
                       .planted = env->planted};
    s->to = calloc((size_t)s->peers, sizeof *s->to);
    s->from = calloc((size_t)s->peers, sizeof *s->from);
    if (!s->to || !s->from)
        err = err_say(ERR_NOMEM, "no memory for %d peers", s->peers);
    else
        choose_peers(s, form);
    err = err ? err : alloc(env, s);
    if (!err && form == PREPOSTED) {
        err = team_mpi_err(rate_post_recvs(s, 0), "MPI_Irecv");
        s->posted = !err;
    }
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

/* ---- what is checked ---- */

/* The contents of message m in this generation. */
static int number(const struct rate *s, int m)
{
    return (int)((unsigned)s->generation << 24) + m;
}

/* The set that messages last arrived in: not one with pending receives, nor the one that is sent next. */
static void poison(void *state)
{
    struct rate *s = state;
    if (s->same)
        return;
    data_poison(s->recv[s->next[s->set]], (size_t)s->recvs * s->stride);
    s->moved = 0;
}

/* A set with pending receives was poisoned before they were posted, or holds data of another generation. */
static void fill(void *state)
{
    struct rate *s = state;
    ++s->generation;
    s->moved = 0;
    for (int m = 0; m < s->sends && s->bytes > 0; ++m)
        data_fill(s->send[s->set] + (size_t)m * s->stride, s->bytes, s->rank, number(s, m));
    poison(s);
    if (s->same && !s->posted)
        data_poison(s->recv[s->set], (size_t)s->recvs * s->stride);
}

/* The rank whose data peer k has sent: data that are sent on have gone round the ring. */
static int source(const struct rate *s, int k)
{
    const int64_t steps = (k + 1) * (s->moved % s->size);
    return s->same ? (int)((s->rank + s->size - steps % s->size) % s->size) : s->from[k];
}

static int look(void *state)
{
    struct rate *s = state;
    char *came = s->recv[s->next[s->set]];
    int err = 0;
    if (s->recvs == 0 || s->bytes == 0)
        return 0;
    data_arrived(came, (size_t)(s->recvs - 1) * s->stride + s->bytes, s->planted);
    for (int m = 0; m < s->recvs && !err; ++m)
        err = data_check(came + (size_t)m * s->stride, s->bytes, source(s, m / s->messages), number(s, m), m);
    return err;
}

static const struct data_round a_round = {fill, run, look, poison};

static int verify(void *state)
{
    return data_verify(&a_round, state, ((struct rate *)state)->sets);
}

static int check(void *state)
{
    return data_check_left(&a_round, state);
}

/* The number of messages that all ranks send. */
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
        .check = check,
        .teardown = teardown,
        .moved = moved,
        .work = messages,
    };
}

const struct op_family mpi_p2p_rate_ops = {.count = 1, .op_at = op_at};
