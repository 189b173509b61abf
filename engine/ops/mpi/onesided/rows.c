/* mpi.put, mpi.get, ...: one-sided calls of rank 0 on rank 1's window, each with its completion. Each call is
 * a row, which has three forms: one call; a window of calls one way; the same both ways at once. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "ops/mpi/onesided/rma.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the calls ---- */

#define AT(buffer) s->buffer + (size_t)i * s->stride
#define SEND AT(send), s->count, s->type
#define RECV AT(recv), s->count, s->type
#define THERE s->peer, s->there + (MPI_Aint)((size_t)i * s->stride)
#define TARGET THERE, s->count, s->type
#define REQUEST &s->requests[i]

/* One call at place i, and the loops around it. */
#define RMA_CALL(name, ...)                                                                                  \
    static inline int name##_one(struct rma *s, int i)                                                       \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }                                                                                                        \
    static int name##_epochs(struct rma *s, int64_t reps)                                                    \
    {                                                                                                        \
        return rma_epochs(s, reps, name##_one);                                                              \
    }                                                                                                        \
    static int name##_within(struct rma *s, int64_t reps)                                                    \
    {                                                                                                        \
        return rma_within(s, reps, name##_one);                                                              \
    }

RMA_CALL(put, MPI_Put(SEND, TARGET, s->win))
RMA_CALL(get, MPI_Get(RECV, TARGET, s->win))
RMA_CALL(rput, MPI_Rput(SEND, TARGET, s->win, REQUEST))
RMA_CALL(rget, MPI_Rget(RECV, TARGET, s->win, REQUEST))
RMA_CALL(accumulate, MPI_Accumulate(SEND, TARGET, s->op, s->win))
RMA_CALL(raccumulate, MPI_Raccumulate(SEND, TARGET, s->op, s->win, REQUEST))
RMA_CALL(get_accumulate, MPI_Get_accumulate(SEND, RECV, TARGET, s->op, s->win))
RMA_CALL(rget_accumulate, MPI_Rget_accumulate(SEND, RECV, TARGET, s->op, s->win, REQUEST))
RMA_CALL(fetch_and_op, MPI_Fetch_and_op(AT(send), AT(recv), s->type, THERE, s->op, s->win))
RMA_CALL(compare_and_swap, MPI_Compare_and_swap(AT(send), AT(compare), AT(recv), s->type, THERE, s->win))

#define CALLED(name, upper) #name, "MPI_" #upper
#define LOOPS(name) .epochs = name##_epochs, .within = name##_within

static const struct rma_call calls[] = {
    {CALLED(put, Put), "bytes from rank 0 into rank 1's window", RMA_PUT, LOOPS(put)},
    {CALLED(get, Get), "bytes of rank 1's window to rank 0", RMA_GET, LOOPS(get)},
    {CALLED(rput, Rput), "as mpi.put, with a request", RMA_PUT, .requests = true, LOOPS(rput)},
    {CALLED(rget, Rget), "as mpi.get, with a request", RMA_GET, .requests = true, LOOPS(rget)},
    {CALLED(accumulate, Accumulate), "numbers of rank 0 combined into rank 1's window", RMA_COMBINE,
     LOOPS(accumulate)},
    {CALLED(raccumulate, Raccumulate), "as mpi.accumulate, with a request", RMA_COMBINE, .requests = true,
     LOOPS(raccumulate)},
    {CALLED(get_accumulate, Get_accumulate), "as mpi.accumulate, and what was there before is fetched",
     RMA_FETCH, LOOPS(get_accumulate)},
    {CALLED(rget_accumulate, Rget_accumulate), "as mpi.get_accumulate, with a request", RMA_FETCH,
     .requests = true, LOOPS(rget_accumulate)},
    {CALLED(fetch_and_op, Fetch_and_op), "one number combined into rank 1's window, the old one fetched",
     RMA_FETCH, .single = true, LOOPS(fetch_and_op)},
    {CALLED(compare_and_swap, Compare_and_swap),
     "one number of rank 1's window swapped if it is the expected one", RMA_SWAP, .single = true,
     LOOPS(compare_and_swap)},
};
enum { CALLS = sizeof calls / sizeof calls[0] };

/* ---- parameters: of each op some, in this order ---- */

enum { SYNC, COMPLETE, WINDOW, INFO, OWN };
static const char *const swap_types[] = {"long", "int", NULL};
static const char *const swap_words[] = {"always", "never", NULL};
static const char *const per_words[] = {"batch", "call", NULL};
enum { PER_BATCH, PER_CALL };
enum { TYPE_DOUBLE = 0, TYPE_LONG = 3 };

#define CHOSEN(word, text, list, chosen)                                                                     \
    {.name = word,                                                                                           \
     .unit = "",                                                                                             \
     .summary = text,                                                                                        \
     .normal = chosen,                                                                                       \
     .most = sizeof list / sizeof list[0] - 2,                                                               \
     .words = list}

#define EPOCH_PARAMS(by)                                                                                     \
    [SYNC] = PARAM_WORDS("sync", "what opens and closes the epochs", rma_sync_words),                        \
    [COMPLETE] =                                                                                             \
        CHOSEN("complete", "what completes a call; close: the end of its epoch", rma_complete_words, by),    \
    [WINDOW] = WINDOW_PARAM, [INFO] = WINDOW_INFO_PARAM

static const struct param epoch_params[2][OWN] = {{EPOCH_PARAMS(RMA_BY_FLUSH)},
                                                  {EPOCH_PARAMS(RMA_BY_REQUEST)}};
static const struct param
    window_params[] = {{.name = "calls",
                        .unit = "",
                        .summary = "calls in a repetition, each at a place of its own",
                        .normal = 64,
                        .least = 1,
                        .most = 65536},
                       PARAM_WORDS("per", "how often they are completed", per_words)},
    number_params[] = {PARAM_WORDS("operator", "how numbers are combined, a predefined operator of MPI",
                                   rma_operators),
                       PARAM_TYPES("type", "their type", reduce_type_words, reduce_type_bytes)},
    single_params[] = {PARAM_WORDS("operator", "how numbers are combined, a predefined operator of MPI",
                                   rma_operators),
                       CHOSEN("type", "their type", reduce_type_words, TYPE_LONG)},
    swap_params[] = {PARAM_WORDS("type", "of the number", swap_types),
                     PARAM_WORDS("swaps", "whether the number is the expected one in timed calls",
                                 swap_words)},
    buffer_params[] = {BUFFERS_PARAMS};

/* ---- forms ---- */

enum form { ONE, ONE_WAY, BOTH_WAYS, FORMS };
static const struct form_row {
    const char *suffix, *summary;
    enum op_role role;
} forms[FORMS] = {[ONE] = {"", "", ROLE_LATENCY},
                  [ONE_WAY] = {".bandwidth", "a window of calls: ", ROLE_BANDWIDTH},
                  [BOTH_WAYS] = {".bibandwidth", "a window of calls each way at once: ", ROLE_BANDWIDTH}};

/* Made by op_at(), the same each time: the parameters of an op must be one table. */
static struct made {
    const struct rma_call *call;
    enum form form;
    char summary[128];
    struct param params[PARAMS_MAX + 1];
} made[CALLS * FORMS];

static double value(const struct op_env *env, const char *name)
{
    return param_value(env->op->params, env->params, name, 0);
}

/* ---- an op's life ---- */

static int run(void *state, int64_t reps)
{
    struct rma *s = state;
    if (s->rank > 1)
        return 0;
    int rc = s->loop(s, reps), met = rma_meet(s);
    return team_mpi_err(rc == MPI_SUCCESS ? met : rc, s->row->call);
}

static int verify(void *state)
{
    struct rma *s = state;
    if (s->rank > 1)
        return 0;
    int err = window_make(&s->window, s->comm);
    if (err)
        return err;
    s->win = s->window.win;
    s->there = s->window.first[s->peer];
    return rma_verify(s);
}

static void teardown(void *state)
{
    struct rma *s = state;
    window_free(&s->window);
    if (s->group != MPI_GROUP_NULL)
        MPI_Group_free(&s->group);
    if (s->comm != MPI_COMM_NULL)
        MPI_Comm_free(&s->comm);
    reduction_close(&s->sum);
    free(s->requests);
    free(s);
}

/* A communicator of the two: no other rank is in their epochs. */
static int make_pair(struct rma *s, const struct op_env *env)
{
    int rc = MPI_Comm_split(team_comm(env->team), s->rank > 1 ? MPI_UNDEFINED : 0, s->rank, &s->comm);
    if (rc != MPI_SUCCESS || s->rank > 1)
        return team_mpi_err(rc, "MPI_Comm_split");
    MPI_Group both;
    rc = MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_group(s->comm, &both);
    if (rc != MPI_SUCCESS)
        return team_mpi_err(rc, "MPI_Comm_group");
    rc = MPI_Group_incl(both, 1, &s->peer, &s->group);
    MPI_Group_free(&both);
    return team_mpi_err(rc, "MPI_Group_incl");
}

static int choose_type(struct rma *s, const struct op_env *env)
{
    if (s->row->effect == RMA_COMBINE || s->row->effect == RMA_FETCH)
        return rma_choose_numbers(s, env, (int)value(env, "operator"), (int)value(env, "type"));
    s->type = MPI_BYTE;
    s->count = 1;
    if (!s->row->single)
        return num_to_int(s->bytes, &s->count);
    s->type = reduction_type(swap_types[(int)value(env, "type")], &s->bytes);
    s->swaps = value(env, "swaps") == 0;
    return 0;
}

static int take_memory(struct rma *s, const struct op_env *env)
{
    enum { LINE = 64 };
    const int info = (int)env->params[INFO];
    const bool has = s->role != RMA_ORIGIN || window_is_even(info);
    const size_t places = (size_t)s->places;
    s->stride = s->bytes > 0 ? (s->bytes + LINE - 1) / LINE * LINE : LINE;
    size_t bytes = 0;
    int err = num_multiply(places, s->stride, &bytes);
    err = err ? err
              : window_plan(&s->window, env,
                            &(struct window_ask){.kind = (int)env->params[WINDOW],
                                                 .info = info,
                                                 .locks = s->locks,
                                                 .ranks = 2,
                                                 .bytes = has ? bytes : 0});
    err = err ? err : rma_take_buffers(s, env);
    if (err || !s->row->requests)
        return err;
    s->requests = malloc(places * sizeof(MPI_Request));
    if (!s->requests)
        return err_say(ERR_NOMEM, "no memory for %zu requests", places);
    for (size_t i = 0; i < places; ++i)
        s->requests[i] = MPI_REQUEST_NULL;
    return 0;
}

static int open_pair(struct rma *s, const struct op_env *env)
{
    const bool one_by_one = value(env, "per") == PER_CALL;
    int err = rma_choose_epochs(s, env, (int)env->params[SYNC], (int)env->params[COMPLETE]);
    err = err ? err : choose_type(s, env);
    s->places = (int)param_value(env->op->params, env->params, "calls", 1);
    s->completions = s->role == RMA_TARGET && s->locks ? 0 : one_by_one ? s->places : 1;
    s->batch = s->role == RMA_TARGET ? 0 : one_by_one ? 1 : s->places;
    return err || s->rank > 1 ? err : take_memory(s, env);
}

static int setup(const struct op_env *env, void **state)
{
    const struct made *own = env->op->row;
    struct rma *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *s = (struct rma){.row = own->call,
                      .rank = env->team->rank,
                      .peer = 1 - env->team->rank,
                      .comm = MPI_COMM_NULL,
                      .group = MPI_GROUP_NULL,
                      .window.win = MPI_WIN_NULL,
                      .bytes = env->bytes,
                      .planted = env->planted};
    s->role = own->form == BOTH_WAYS ? RMA_BOTH : s->rank == 0 ? RMA_ORIGIN : RMA_TARGET;
    int err = open_pair(s, env);
    err = err ? err : make_pair(s, env);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

/* ---- rows ---- */

static double calls_of(const struct op_env *env)
{
    const struct made *own = env->op->row;
    return (own->form == BOTH_WAYS ? 2 : 1) * param_value(env->op->params, env->params, "calls", 1);
}

static double moved(const struct op_env *env)
{
    return calls_of(env) * (double)env->bytes;
}

static void add(struct made *own, const struct param *params, size_t count)
{
    memcpy(own->params + param_count(own->params), params, count * sizeof *params);
}

#define ADD(own, list) add(own, list, sizeof list / sizeof list[0])

static void make(struct made *own, const struct rma_call *call, enum form form)
{
    *own = (struct made){.call = call, .form = form};
    snprintf(own->summary, sizeof own->summary, "%s%s: %s", forms[form].summary, call->call, call->summary);
    ADD(own, epoch_params[call->requests]);
    if (form != ONE)
        ADD(own, window_params);
    if (call->effect == RMA_SWAP)
        ADD(own, swap_params);
    else if (call->effect == RMA_COMBINE || call->effect == RMA_FETCH)
        add(own, call->single ? single_params : number_params, 2);
    ADD(own, buffer_params);
}

/* An epoch's opening and closing and the last message, some us, are one percent of a sample. */
static const double ONCE_MATTERS_NS = 200e3;

/* Calls of one element have the first form alone, and stand last. */
static void op_at(size_t i, struct op *op)
{
    enum { SINGLES = 2, SIZED = CALLS - SINGLES };
    const size_t row = i < (size_t)SIZED * FORMS ? i / FORMS : i - (size_t)SIZED * (FORMS - 1);
    const enum form form = i < (size_t)SIZED * FORMS ? (enum form)(i % FORMS) : ONE;
    const struct rma_call *call = &calls[row];
    struct made *own = &made[i];
    make(own, call, form);
    const bool numbers = call->effect == RMA_COMBINE || call->effect == RMA_FETCH;
    *op = (struct op){
        .family = "one-sided",
        .summary = own->summary,
        .class = OP_P2P,
        .role = forms[form].role,
        .report = OP_ROOT,
        .parts = 1,
        .least_ranks = 2,
        .least_ns = ONCE_MATTERS_NS,
        .default_bytes = call->single  ? NULL
                         : numbers     ? "8..4Mi"
                         : form == ONE ? "0,1..4Mi"
                                       : "1..4Mi",
        .params = own->params,
        .row = own,
        .setup = setup,
        .run = run,
        .verify = verify,
        .teardown = teardown,
        .moved = call->single ? NULL : moved,
        .work = form == ONE ? NULL : calls_of,
    };
    snprintf(op->name, sizeof op->name, "mpi.%s%s", call->name, forms[form].suffix);
}

const struct op_family mpi_onesided_ops = {.count = (CALLS - 2) * FORMS + 2, .op_at = op_at};
