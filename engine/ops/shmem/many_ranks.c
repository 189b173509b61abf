/* shmem.put.pattern, shmem.get.halo, ...: calls of many ranks at once, by the layouts of MPI's
 * (comm/traffic_patterns.h). A link goes from one rank to another, with places of its own in the window of
 * the called one. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/traffic_patterns.h"
#include "ops/common/blocks.h"
#include "team/team_shmem.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct link {
    struct lane lane; /* its window: in this rank's memory where it is called, there where it calls */
    struct blocks blocks;
};

struct many;
struct call_row {
    const char *name, *call;
    void (*calls)(const struct many *m);
    bool gets;
};

struct many {
    const struct team *team;
    const struct call_row *row;
    struct link *links;
    int outs, ins; /* the links on which it calls stand first, then those on which it is called */
    int64_t moved; /* repetitions since the last fresh data */
};

/* ---- the calls ---- */

#define CALLS(name, call, to, from)                                                                          \
    static void name##_calls(const struct many *m)                                                           \
    {                                                                                                        \
        for (const struct link *s = m->links; s < m->links + m->outs; ++s)                                   \
            for (int i = 0; i < s->blocks.count; ++i)                                                        \
                call(to + (size_t)i * s->blocks.stride, from + (size_t)i * s->blocks.stride,                 \
                     s->blocks.bytes, s->lane.peer);                                                         \
        shmem_quiet();                                                                                       \
    }
CALLS(put, shmem_putmem, s->lane.window, s->blocks.local)
CALLS(put_nbi, shmem_putmem_nbi, s->lane.window, s->blocks.local)
CALLS(get, shmem_getmem, s->blocks.local, s->lane.window)
CALLS(get_nbi, shmem_getmem_nbi, s->blocks.local, s->lane.window)

#define CALLED(word, call) #word, #call, word##_calls
static const struct call_row rows[] = {{CALLED(put, shmem_putmem), false},
                                       {CALLED(put_nbi, shmem_putmem_nbi), false},
                                       {CALLED(get, shmem_getmem), true},
                                       {CALLED(get_nbi, shmem_getmem_nbi), true}};
enum { ROWS = sizeof rows / sizeof rows[0], PATTERN = 0, HALO, FORMS };

/* ---- running and checking ---- */

static int run(void *state, int64_t reps)
{
    struct many *m = state;
    m->moved += reps;
    for (int64_t r = 0; r < reps; ++r)
        m->row->calls(m);
    return 0;
}

static int renew(struct many *m)
{
    for (struct link *s = m->links; s < m->links + m->outs + m->ins; ++s) {
        ++s->lane.generation;
        blocks_fresh(&s->blocks);
    }
    m->moved = 0;
    return team_barrier(m->team);
}

static int check_links(const struct many *m)
{
    char why[ERR_TEXT_MAX];
    for (struct link *s = m->links; s < m->links + m->outs + m->ins && m->moved > 0; ++s) {
        const int err = blocks_check(&s->blocks);
        s->lane.planted = false; /* once is enough */
        if (!err)
            continue;
        snprintf(why, sizeof why, "%s", err_text());
        return err_say((enum err)err, "%s rank %d: %.230s", s->lane.acts ? "calls to" : "calls of",
                       s->lane.peer, why);
    }
    return 0;
}

/* What was moved, and fresh data, on all ranks together: some may have found no error. */
static int check(void *state)
{
    struct many *m = state;
    int err = team_barrier(m->team);
    const int wrong = err ? 0 : check_links(m);
    err = err ? err : renew(m);
    return wrong ? wrong : err;
}

static int verify(void *state)
{
    int err = renew(state);
    err = err ? err : run(state, 1);
    return err ? err : check(state);
}

/* ---- setup ---- */

static double value(const struct op_env *env, const char *name, double absent)
{
    return param_value(env->op->params, env->params, name, absent);
}

static int who_of(const struct op_env *env)
{
    return (int)value(env, "who", WHO_NEIGHBOURS);
}

static int peers_of(const struct op_env *env, int rank, struct layout_peers *peers)
{
    return who_peers(who_of(env), (int)value(env, "neighbours", 1), rank, env->team->size, peers);
}

/* The place among those who call a rank of my `nth` call to it: -1 there is none. */
static int place_of(const struct layout_peers *theirs, int me, int nth)
{
    for (int i = 0; i < theirs->from_count; ++i)
        if (theirs->from[i] == me && nth-- == 0)
            return i;
    return -1;
}

/* The most calls that any rank gets: symmetric memory has one size. */
static int most_callers(const struct op_env *env, int *most)
{
    int err = 0;
    *most = 1;
    for (int r = 0; r < env->team->size && !err; ++r) {
        struct layout_peers peers;
        err = peers_of(env, r, &peers);
        if (!err && peers.from_count > *most)
            *most = peers.from_count;
        if (!err)
            layout_free(&peers);
    }
    return err;
}

static void open_link(struct many *m, const struct op_env *env, int at, int peer, int place, char *memory)
{
    struct link *s = &m->links[at];
    const size_t stride = lane_lines(env->bytes);
    const int places = (int)value(env, "calls", 1);
    const bool acts = at < m->outs, arrives = acts == m->row->gets;
    s->lane = (struct lane){.rank = m->team->rank,
                            .peer = peer,
                            .thread = place,
                            .acts = acts,
                            .is_target = !acts,
                            .planted = env->planted && arrives,
                            .window = memory + (size_t)place * (size_t)places * stride};
    s->blocks = (struct blocks){
        .lane = &s->lane, .gets = m->row->gets, .bytes = env->bytes, .stride = stride, .count = places};
}

static int open_links(struct many *m, const struct op_env *env, const struct layout_peers *mine, char *memory)
{
    int err = 0;
    for (int i = 0; i < m->outs && !err; ++i) {
        struct layout_peers theirs;
        int nth = 0;
        for (int k = 0; k < i; ++k)
            nth += mine->to[k] == mine->to[i];
        err = peers_of(env, mine->to[i], &theirs);
        if (err)
            return err;
        open_link(m, env, i, mine->to[i], place_of(&theirs, m->team->rank, nth), memory);
        layout_free(&theirs);
        err = blocks_open(&m->links[i].blocks, env);
    }
    for (int i = 0; i < m->ins; ++i)
        open_link(m, env, m->outs + i, mine->from[i], i, memory);
    return err;
}

static void teardown(void *state)
{
    struct many *m = state;
    free(m->links);
    free(m);
}

static int open_many(struct many *m, const struct op_env *env, const struct layout_peers *mine, char *memory)
{
    const int links = mine->to_count + mine->from_count;
    *m = (struct many){
        .team = env->team, .row = env->op->row, .outs = mine->to_count, .ins = mine->from_count};
    m->links = calloc((size_t)(links > 0 ? links : 1), sizeof *m->links);
    return m->links ? open_links(m, env, mine, memory)
                    : err_say(ERR_NOMEM, "no memory for %d links of %s", links, env->op->name);
}

static int setup(const struct op_env *env, void **state)
{
    struct layout_peers mine;
    void *memory = NULL;
    size_t bytes = 0;
    int most = 0;
    int err = most_callers(env, &most);
    err = err ? err
              : num_multiply((size_t)most * (size_t)value(env, "calls", 1), lane_lines(env->bytes), &bytes);
    err = err ? err : team_symmetric(env->team, bytes, &memory);
    if (err)
        return err;
    buffers_count(env->buffers, bytes);
    err = peers_of(env, env->team->rank, &mine);
    if (err)
        return err;
    struct many *m = malloc(sizeof *m);
    err = m ? open_many(m, env, &mine, memory)
            : err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    layout_free(&mine);
    if (err && m)
        teardown(m);
    else if (!err)
        *state = m;
    return err;
}

/* ---- rows ---- */

#define NUMBER(word, text, usual, to)                                                                        \
    {.name = word, .unit = "", .summary = text, .normal = usual, .least = 1, .most = to}
#define COMMON_PARAMS                                                                                        \
    NUMBER("calls", "calls in a repetition on each link, each at a place of its own", 64, 65536),            \
        OP_CHECKS_PARAM, BUFFERS_PARAMS, {0}
static const struct param params[FORMS][8] = {
    [PATTERN] = {PARAM_WORDS("who", "who calls whom, as in mpi.pattern", who_words), COMMON_PARAMS},
    [HALO] = {
        NUMBER("neighbours", "ranks that each rank calls: one up, one down, two up, ...", 6, NEIGHBOURS_MOST),
        COMMON_PARAMS}};

static double calls_of(const struct op_env *env)
{
    return who_calls(who_of(env), (int)value(env, "neighbours", 1), env->team->size) * value(env, "calls", 1);
}

static double moved(const struct op_env *env)
{
    return calls_of(env) * (double)env->bytes;
}

static void op_at(size_t i, struct op *op)
{
    static char summaries[ROWS * FORMS][96];
    const struct call_row *row = &rows[i / FORMS];
    const bool halo = i % FORMS == HALO;
    snprintf(summaries[i], sizeof summaries[i], "a window of calls of %s: %s",
             halo ? "each rank to each neighbour" : "many ranks at once", row->call);
    *op = (struct op){.family = "openshmem",
                      .summary = summaries[i],
                      .class = OP_P2P,
                      .role = halo ? ROLE_RATE : ROLE_PATTERN,
                      .report = OP_SLOWEST,
                      .parts = 1,
                      .least_ranks = 2,
                      .default_bytes = "1..4Mi",
                      .params = params[i % FORMS],
                      .row = row,
                      .setup = setup,
                      .run = run,
                      .verify = verify,
                      .check = check,
                      .teardown = teardown,
                      .moved = moved,
                      .work = calls_of};
    snprintf(op->name, sizeof op->name, "shmem.%s.%s", row->name, halo ? "halo" : "pattern");
}

const struct op_family shmem_many_ops = {.count = ROWS * FORMS, .op_at = op_at};
