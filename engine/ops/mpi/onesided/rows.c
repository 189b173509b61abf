/* mpi.put, mpi.get, ...: one-sided calls of rank 0 on rank 1's window, each with its completion. Each call is
 * a row, which has five forms: one call; a window of calls one way; the same both ways at once; windows of
 * many ranks by a layout; and windows among neighbours. */
#include "ops/families.h"

#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/onesided/many_ranks.h"
#include "ops/mpi/threads/threads.h"

#include <stdio.h>
#include <string.h>

/* ---- the calls ---- */

#define AT(buffer) s->buffer + (size_t)i * s->stride
#define SEND AT(send), s->count, s->type
#define RECV AT(recv), s->count, s->type
#define THERE s->peer, s->there + (MPI_Aint)((size_t)i * s->apart)
#define TARGET THERE, s->count, s->type
#define REQUEST &s->requests[i]

/* The loops around one call. */
#define RMA_LOOPS(name)                                                                                      \
    static int name##_epochs(struct rma *s, int64_t reps)                                                    \
    {                                                                                                        \
        return rma_epochs(s, reps, name##_one);                                                              \
    }                                                                                                        \
    static int name##_within(struct rma *s, int64_t reps)                                                    \
    {                                                                                                        \
        return rma_within(s, reps, name##_one);                                                              \
    }                                                                                                        \
    static int name##_calls(struct rma *s, int first)                                                        \
    {                                                                                                        \
        return rma_calls(s, first, name##_one);                                                              \
    }

/* One call at place i, without and with rewriting the data that it sends. */
#define RMA_CALL(name, ...)                                                                                  \
    static inline int name##_one(struct rma *s, int i)                                                       \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }                                                                                                        \
    static inline int name##_written_one(struct rma *s, int i)                                               \
    {                                                                                                        \
        data_write_again(AT(send), s->bytes);                                                                \
        return name##_one(s, i);                                                                             \
    }                                                                                                        \
    RMA_LOOPS(name)                                                                                          \
    RMA_LOOPS(name##_written)

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
#define LOOPS(name)                                                                                          \
    .plain = {name##_epochs, name##_within, name##_calls},                                                   \
    .written = {name##_written_epochs, name##_written_within, name##_written_calls}

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

/* ---- parameters: each op has some, in this order ---- */

static const char *const swap_words[] = {"always", "never", NULL};
enum { TYPE_DOUBLE = 0, TYPE_LONG = 3 };

#define CHOSEN(word, text, list, chosen)                                                                     \
    {.name = word,                                                                                           \
     .unit = "",                                                                                             \
     .summary = text,                                                                                        \
     .normal = chosen,                                                                                       \
     .most = sizeof list / sizeof list[0] - 2,                                                               \
     .words = list}

#define EPOCH_PARAMS(by)                                                                                     \
    [RMA_SYNC] = PARAM_WORDS("sync", "what opens and closes the epochs", rma_sync_words),                    \
    [RMA_COMPLETE] =                                                                                         \
        CHOSEN("complete", "what completes a call; close: the end of its epoch", rma_complete_words, by),    \
    [RMA_WINDOW] = WINDOW_PARAM, [RMA_INFO] = WINDOW_INFO_PARAM

static const struct param epoch_params[2][RMA_PARAMS] = {{EPOCH_PARAMS(RMA_BY_FLUSH)},
                                                         {EPOCH_PARAMS(RMA_BY_REQUEST)}};
static const struct param
    stay_params[] = {PARAM_WORDS(
                         "target_does",
                         "what the target of locks does until the origin is done. waits: in MPI; polls: "
                         "tests again and again; computes, sleeps: tests after each time away",
                         rma_stay_words),
                     {.name = "away_us",
                      .unit = "us",
                      .summary = "how long the target computes or sleeps outside MPI",
                      .normal = 1000,
                      .least = 1,
                      .most = 1e7}},
    window_params[] = {{.name = "calls",
                        .unit = "",
                        .summary = "calls in a repetition, each at a place of its own",
                        .normal = 64,
                        .least = 1,
                        .most = 65536},
                       PARAM_WORDS("per", "whether each call is completed by itself, or all together",
                                   rma_per_words)},
    number_params[] = {PARAM_WORDS("operator", "how numbers are combined, a predefined operator of MPI",
                                   rma_operators),
                       PARAM_TYPES("type", "type of the numbers", reduce_type_words, reduce_type_bytes)},
    single_params[] = {PARAM_WORDS("operator", "how numbers are combined, a predefined operator of MPI",
                                   rma_operators),
                       CHOSEN("type", "type of the numbers", reduce_type_words, TYPE_LONG)},
    swap_params[] = {PARAM_WORDS("type", "type of the number", rma_swap_types),
                     PARAM_WORDS("swaps", "whether the number is the expected one in timed calls",
                                 swap_words)},
    thread_params[] =
        {PARAM_WORDS("windows", "one for all threads of a rank, or one for each thread", rma_windows_words),
         PARAM_WORDS("comms", "with windows=thread: a communicator for each window, or one for all",
                     rma_comms_words),
         PARAM_WORDS("target",
                     "how the threads' places lie in the window. disjoint: cache lines of their "
                     "own; line: neighbours share cache lines; word: all have the same places",
                     rma_layout_words),
         MT_PHASES_PARAM},
    who_params[] = {PARAM_WORDS("who", "who calls whom, as in mpi.pattern", who_words)},
    neighbour_params[] = {{.name = "neighbours",
                           .unit = "",
                           .summary = "ranks that each rank calls: one up, one down, two up, ...",
                           .normal = 6,
                           .least = 1,
                           .most = NEIGHBOURS_MOST}},
    buffer_params[] = {DATA_STATE_PARAM, OP_CHECKS_PARAM, BUFFERS_PARAMS};

/* ---- forms ---- */

enum form { ONE, ONE_WAY, BOTH_WAYS, PATTERN, HALO, FORMS, PAIR_FORMS = PATTERN };
static const struct form_row {
    const char *suffix, *summary;
    enum op_role role;
} forms[FORMS] = {[ONE] = {"", "", ROLE_LATENCY},
                  [ONE_WAY] = {".bandwidth", "a window of calls: ", ROLE_BANDWIDTH},
                  [BOTH_WAYS] = {".bibandwidth", "a window of calls each way at once: ", ROLE_BANDWIDTH},
                  [PATTERN] = {".pattern", "a window of calls of many ranks at once: ", ROLE_PATTERN},
                  [HALO] = {".halo", "a window of calls of each rank to each neighbour: ", ROLE_RATE}};

/* For a target that is away. "begun": calls that begin in the first absence of the target in a sample.
 * "early": those of them that are complete before it returns. */
static bool counts(const struct op_env *env)
{
    return rma_stays_away((int)param_value(env->op->params, env->params, "target_does", 0));
}

/* Between two ranks, calls of one element have the first form only, and stand last. */
enum { SINGLES = 2, SIZED = CALLS - SINGLES, OPS = SIZED * PAIR_FORMS + SINGLES };
enum { MANY_FORMS = FORMS - PAIR_FORMS, MANY_OPS = CALLS * MANY_FORMS };

/* Made by op_at(), with the same result each time: an op must always have the same table of parameters. */
static struct made {
    struct rma_row row;
    enum form form;
    char summary[160];
    struct param params[PARAMS_MAX + 1];
} made[2 * OPS], made_of_many[MANY_OPS];

static int setup(const struct op_env *env, void **state)
{
    const struct made *own = env->op->row;
    return rma_setup(env, &own->row, state);
}

static int setup_many(const struct op_env *env, void **state)
{
    const struct made *own = env->op->row;
    return rma_many_setup(env, own->row.call, state);
}

/* ---- rows ---- */

/* The number of all threads together. */
static double calls_of(const struct op_env *env)
{
    const struct made *own = env->op->row;
    return (own->row.both ? 2 : 1) * env->threads * param_value(env->op->params, env->params, "calls", 1);
}

static double moved(const struct op_env *env)
{
    return calls_of(env) * (double)env->bytes;
}

static double calls_of_many(const struct op_env *env)
{
    return rma_many_links(env) * param_value(env->op->params, env->params, "calls", 1);
}

static double moved_by_many(const struct op_env *env)
{
    return calls_of_many(env) * (double)env->bytes;
}

static void add(struct made *own, const struct param *params, size_t count)
{
    memcpy(own->params + param_count(own->params), params, count * sizeof *params);
}

#define ADD(own, list) add(own, list, sizeof list / sizeof list[0])

static bool of_numbers(const struct rma_call *call)
{
    return call->effect == RMA_COMBINE || call->effect == RMA_FETCH;
}

static void make(struct made *own, const struct rma_call *call, enum form form, bool threaded)
{
    *own = (struct made){.row = {call, form == BOTH_WAYS, threaded}, .form = form};
    const bool of_many = form >= PAIR_FORMS;
    snprintf(own->summary, sizeof own->summary, "%s%s%s%s%s", threaded ? "each thread: " : "",
             forms[form].summary, call->call, of_many ? "" : ": ", of_many ? "" : call->summary);
    ADD(own, epoch_params[call->requests]);
    if (threaded)
        ADD(own, thread_params);
    if (form != ONE)
        ADD(own, window_params);
    if (form == PATTERN)
        ADD(own, who_params);
    if (form == HALO)
        ADD(own, neighbour_params);
    if (form == ONE || form == ONE_WAY)
        ADD(own, stay_params);
    if (call->effect == RMA_SWAP)
        ADD(own, swap_params);
    else if (of_numbers(call))
        add(own, call->single ? single_params : number_params, 2);
    ADD(own, buffer_params);
}

/* The opening and closing of an epoch and the last message take some us: one percent of a sample. */
static const double ONCE_MATTERS_NS = 200e3;

/* What all forms have in common. */
static struct op op_of(const struct made *own)
{
    const struct rma_call *call = own->row.call;
    struct op op = {
        .family = "one-sided",
        .summary = own->summary,
        .class = OP_P2P,
        .role = forms[own->form].role,
        .parts = 1,
        .least_ranks = 2,
        .least_ns = ONCE_MATTERS_NS,
        .default_bytes = call->single       ? NULL
                         : of_numbers(call) ? "8..4Mi"
                         : own->form == ONE ? "0,1..4Mi"
                                            : "1..4Mi",
        .params = own->params,
        .row = own,
    };
    snprintf(op.name, sizeof op.name, "mpi.%s%s%s", own->row.threaded ? "mt." : "", call->name,
             forms[own->form].suffix);
    return op;
}

/* A call and its forms between two ranks: with one thread of each, then with several. */
static void op_at(size_t i, struct op *op)
{
    const bool threaded = i >= OPS;
    const size_t n = threaded ? i - OPS : i;
    const bool sized = n < (size_t)SIZED * PAIR_FORMS;
    const enum form form = sized ? (enum form)(n % PAIR_FORMS) : ONE;
    const struct rma_call *call = &calls[sized ? n / PAIR_FORMS : n - (size_t)SIZED * (PAIR_FORMS - 1)];
    struct made *own = &made[i];
    make(own, call, form, threaded);
    *op = op_of(own);
    op->report = OP_ROOT;
    op->setup = setup;
    op->run = rma_run;
    op->verify = rma_verify;
    op->describe_end = rma_describe_end;
    op->check = rma_check_moved;
    op->teardown = rma_teardown;
    op->phases = mt_phases;
    op->counters = rma_counters;
    op->counted = rma_counted;
    op->counts = counts;
    op->moved = call->single ? NULL : moved;
    op->work = form == ONE && !threaded ? NULL : calls_of;
    if (threaded) {
        op->threaded = true;
        op->thread_level = "multiple";
        op->missing = THREADS_MISSING;
    }
}

/* The forms of many ranks. */
static void op_at_many(size_t i, struct op *op)
{
    struct made *own = &made_of_many[i];
    make(own, &calls[i / MANY_FORMS], (enum form)(PAIR_FORMS + i % MANY_FORMS), false);
    *op = op_of(own);
    op->report = OP_SLOWEST;
    op->setup = setup_many;
    op->run = rma_many_run;
    op->verify = rma_many_verify;
    op->describe_end = rma_many_describe_end;
    op->check = rma_many_check_moved;
    op->teardown = rma_many_teardown;
    op->moved = own->row.call->single ? NULL : moved_by_many;
    op->work = calls_of_many;
}

const struct op_family mpi_onesided_ops = {.count = 2 * OPS, .op_at = op_at},
                       mpi_onesided_many_ops = {.count = MANY_OPS, .op_at = op_at_many};
