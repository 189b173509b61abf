/* mpi.pattern.*: many ranks communicate at once. A layout says which ranks do so with each other, a kind of
 * traffic says how.
 *
 * To add one: a row of `layouts` and a row here. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/traffic_patterns.h"
#include "ops/common/data.h"
#include "ops/mpi/many/traffic.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>

/* The first three belong to all patterns; then come those of a layout. */
enum {
    KIND,
    WINDOW,
    BUFFERS,
    OWN,
    DRAW = OWN,
    SHIFT = OWN,
    ROUND = OWN,
    A = OWN,
    B
}; /* SEED is a macro in SimGrid */

#define PARAMS(usual, ...)                                                                                   \
    {[KIND] = {.name = "kind",                                                                               \
               .unit = "",                                                                                   \
               .summary =                                                                                    \
                   "what two ranks do. pingpong: a message there and one back; send, window: one message, "  \
                   "or a window, and an empty answer; exchange, biwindow: one message, or a window, each "   \
                   "way at once; isend: the same by MPI_Isend, then MPI_Recv; sendrecv: MPI_Sendrecv, "      \
                   "nothing comes back; served: a window, and each caller is answered as soon as its own "   \
                   "messages are there",                                                                     \
               .normal = usual,                                                                              \
               .most = TRAFFIC_KINDS - 1,                                                                    \
               .words = traffic_kinds},                                                                      \
     [WINDOW] = {"window", "", "messages in flight between two ranks, for the kinds window and biwindow",    \
                 64, 1, 65536},                                                                              \
     [BUFFERS] = {"buffers", "", "buffers that a window uses in turn; 1: hot in cache", 1, 1, 65536},        \
     __VA_ARGS__}
/* A number that the number of ranks limits, which the row does not know. */
#define OF_RANKS(word, text, usual, lowest, values)                                                          \
    {.name = word,                                                                                           \
     .unit = "",                                                                                             \
     .summary = text,                                                                                        \
     .normal = usual,                                                                                        \
     .least = lowest,                                                                                        \
     .most = 2147483647,                                                                                     \
     .all = values}
#define LAST_PARAMS OP_CHECKS_PARAM, BUFFERS_PARAMS, {0}

/* Whole numbers, held in doubles. */
#define LARGEST_SEED 9007199254740991.0

static const struct param plain[] = PARAMS(TRAFFIC_PINGPONG, LAST_PARAMS);
static const struct param rings[] = PARAMS(TRAFFIC_EXCHANGE, LAST_PARAMS);
static const struct param fans[] = PARAMS(TRAFFIC_SEND, LAST_PARAMS);
static const struct param matchings[] =
    PARAMS(TRAFFIC_PINGPONG, [DRAW] = {"seed", "", "seed of the matching", 1, 0, LARGEST_SEED}, LAST_PARAMS);
static const struct param tournaments[] =
    PARAMS(TRAFFIC_PINGPONG,
           [ROUND] = OF_RANKS("round", "the round: from 1 to P - 1, or to P where P is odd", 1, 1, "rounds"),
           LAST_PARAMS);
static const struct param random_rings[] =
    PARAMS(TRAFFIC_EXCHANGE, [DRAW] = {"seed", "", "seed of the order", 1, 0, LARGEST_SEED}, LAST_PARAMS);
static const struct param shifts[] = PARAMS(
    TRAFFIC_SEND, [SHIFT] = OF_RANKS("d", "the shift: rank i calls rank i + d", 1, 0, "shifts"), LAST_PARAMS);
static const struct param pairs[] =
    PARAMS(TRAFFIC_PINGPONG, [A] = OF_RANKS("a", "the rank that calls", 0, 0, "ranks"),
           [B] = OF_RANKS("b", "the rank that it calls", 1, 0, "ranks"), LAST_PARAMS);

static const struct row {
    enum layout_kind layout;
    const struct param *params;
} rows[] = {
    {LAYOUT_NEIGHBOURS, plain},
    {LAYOUT_FIRST_LAST, plain},
    {LAYOUT_BISECTION, plain},
    {LAYOUT_MATCHING, matchings},
    {LAYOUT_PAIR, pairs},
    {LAYOUT_SHIFT, shifts},
    {LAYOUT_ROUND_ROBIN, tournaments},
    {LAYOUT_RING, rings},
    {LAYOUT_RANDOM_RING, random_rings},
    {LAYOUT_FAN_IN, fans},
    {LAYOUT_FAN_OUT, fans},
    {LAYOUT_ALL, rings},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

struct pattern {
    struct traffic *traffic;
    bool planted;
};

static void teardown(void *state)
{
    struct pattern *p = state;
    traffic_close(p->traffic);
    free(p);
}

/* A number that names a rank, or a distance between ranks, must be less than the number of ranks. */
static int whole_below(const struct op_env *env, int index, int64_t *value)
{
    const char *name = env->op->params[index].name;
    *value = (int64_t)env->params[index];
    if ((double)*value != env->params[index])
        return err_say(ERR_INPUT, "%s of %s is a whole number, not %g", name, env->op->name,
                       env->params[index]);
    if (*value >= env->team->size)
        return err_say(ERR_INPUT, "%s=%lld of %s is beyond the last of %d ranks; choose from 0 to %d", name,
                       (long long)*value, env->op->name, env->team->size, env->team->size - 1);
    return 0;
}

static int read_round(const struct op_env *env, int64_t *round)
{
    const double value = env->params[ROUND];
    const int rounds = layout_rounds(env->team->size);
    *round = (int64_t)value;
    if ((double)*round != value || *round > rounds)
        return err_say(ERR_INPUT, "round=%g of %s is none of the rounds of %d ranks; choose from 1 to %d",
                       value, env->op->name, env->team->size, rounds);
    return 0;
}

static int read_ask(const struct op_env *env, struct layout_ask *ask)
{
    const struct row *row = env->op->row;
    *ask = (struct layout_ask){.rank = env->team->rank, .size = env->team->size};
    int err = 0;
    if (row->layout == LAYOUT_SHIFT)
        err = whole_below(env, SHIFT, &ask->shift);
    if (row->layout == LAYOUT_ROUND_ROBIN)
        err = read_round(env, &ask->round);
    if (row->layout == LAYOUT_PAIR)
        err = whole_below(env, A, &ask->a);
    if (!err && row->layout == LAYOUT_PAIR)
        err = whole_below(env, B, &ask->b);
    if (row->layout == LAYOUT_MATCHING || row->layout == LAYOUT_RANDOM_RING)
        ask->seed = (uint64_t)env->params[DRAW];
    return err;
}

static int setup(const struct op_env *env, void **state)
{
    const struct row *row = env->op->row;
    struct layout_ask ask;
    struct layout_peers peers = {0};
    struct pattern *p = calloc(1, sizeof *p);
    int err = p ? read_ask(env, &ask) : err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    if (!err)
        err = layout_alloc(env->team->size, &peers);
    if (!err) {
        layouts[row->layout].peers(&ask, &peers);
        p->planted = env->planted;
        err = traffic_open(&(struct traffic_ask){.comm = team_comm(env->team),
                                                 .rank = env->team->rank,
                                                 .bytes = env->bytes,
                                                 .kind = (enum traffic_kind)env->params[KIND],
                                                 .window = (int)env->params[WINDOW],
                                                 .buffers = (int)env->params[BUFFERS],
                                                 .store = env->buffers,
                                                 .op = env->op->name},
                           &peers, &p->traffic);
    }
    layout_free(&peers);
    if (!err && env->by_turns && !traffic_by_turns(p->traffic)) {
        traffic_close(p->traffic);
        err = err_say(
            ERR_UNSUPPORTED,
            "%s: single messages are timed only where each rank exchanges them with one other alternately: "
            "kind=pingpong in neighbours, first_last, bisection, matching, round_robin or pair",
            env->op->name);
    }
    if (err)
        free(p);
    else
        *state = p;
    return err;
}

static int run(void *state, int64_t reps)
{
    return traffic_run(((struct pattern *)state)->traffic, reps);
}

static int turn(void *state, int64_t message)
{
    return traffic_turn(((struct pattern *)state)->traffic, message);
}

static int partner(void *state)
{
    return traffic_partner(((struct pattern *)state)->traffic);
}

static void fill(void *state)
{
    traffic_fill(((struct pattern *)state)->traffic);
}

static int look(void *state)
{
    const struct pattern *p = state;
    return traffic_check(p->traffic, p->planted);
}

static void poison(void *state)
{
    traffic_poison(((struct pattern *)state)->traffic);
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

/* For all pairs together. */
static double moved(const struct op_env *env)
{
    const struct row *row = env->op->row;
    return (double)layouts[row->layout].calls(env->team->size) *
           traffic_moved((enum traffic_kind)env->params[KIND], env->bytes, (int)env->params[WINDOW]);
}

static void op_at(size_t i, struct op *op)
{
    const struct row *row = &rows[i];
    *op = (struct op){
        .family = "pattern",
        .summary = layouts[row->layout].summary,
        .class = OP_COLLECTIVE,
        .role = ROLE_PATTERN,
        .report = OP_SLOWEST,
        .parts = 1,
        .least_ranks = 2,
        .default_bytes = "1..1Mi",
        .params = row->params,
        .row = row,
        .setup = setup,
        .run = run,
        .turn = turn,
        .streams = true,
        .partner = partner,
        .verify = verify,
        .check = check,
        .teardown = teardown,
        .moved = moved,
    };
    snprintf(op->name, sizeof op->name, "mpi.pattern.%s", layouts[row->layout].name);
}

const struct op_family mpi_pattern_ops = {.count = ROWS, .op_at = op_at};
