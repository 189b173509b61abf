/* shm.put, ucx.get, ofi.fetch_add, ...: one-sided calls without MPI, a row for each library and form. */
#include "ops/link/direct.h"

#include "base/err.h"
#include "base/wait.h"
#include "ops/common/data.h"
#include "ops/families.h"
#include "ops/link/compat.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER = sizeof(uint64_t) };

struct link direct_ends(const struct lanes *lanes)
{
    return (struct link){.team = lanes->team, .rank = lanes->team->rank, .peer = 1 - lanes->team->rank};
}

struct direct *direct_at(const struct lanes *lanes, int t)
{
    return (struct direct *)lane_at(lanes, t);
}

/* ---- the loops --------------------------------------------------------------------------------------- */

static _Atomic uint64_t *flag_of(const struct direct *s)
{
    return (_Atomic uint64_t *)(void *)(s->lane.window + s->flag_at);
}

static void tell(struct direct *s)
{
    ++s->told;
    s->library->tell(s, s->flag_at, &s->told);
}

/* Until the other rank has told this number, or one beyond it: it may be ahead. */
static void await(struct direct *s, uint64_t number)
{
    for (int looks = 0; atomic_load_explicit(flag_of(s), memory_order_acquire) < number && !s->lane.failed;) {
        s->library->look(s);
        wait_a_little(&looks);
    }
}

/* The calls, and then the other rank, which has brought them forward meanwhile, hears of the end. Nothing
 * after that may need it: it has left. */
static inline __attribute__((always_inline)) void each(struct direct *s, int64_t reps,
                                                       void (*calls)(struct direct *s))
{
    if (s->lane.acts) {
        for (int64_t r = 0; r < reps; ++r)
            calls(s);
        tell(s);
    } else {
        await(s, ++s->told);
    }
}

static inline void put_blocks(struct direct *s)
{
    const struct blocks *b = &s->blocks;
    for (int i = 0; i < b->count; ++i)
        s->library->put(s, (size_t)i * b->stride, b->local + (size_t)i * b->stride, b->bytes);
    s->library->quiet(s);
}

static inline void get_blocks(struct direct *s)
{
    const struct blocks *b = &s->blocks;
    for (int i = 0; i < b->count; ++i)
        s->library->get(s, b->local + (size_t)i * b->stride, (size_t)i * b->stride, b->bytes);
    s->library->quiet(s);
}

static inline void add_once(struct direct *s)
{
    s->fetched = s->library->add(s, 0, s->added);
}

static void put_loop(struct lane *lane, int64_t reps)
{
    each((struct direct *)lane, reps, put_blocks);
}

static void get_loop(struct lane *lane, int64_t reps)
{
    each((struct direct *)lane, reps, get_blocks);
}

static void add_loop(struct lane *lane, int64_t reps)
{
    each((struct direct *)lane, reps, add_once);
}

/* Data and a flag; who sees the flag has the data, and sends the same back. */
static void ping_loop(struct lane *lane, int64_t reps)
{
    struct direct *s = (struct direct *)lane;
    const struct blocks *b = &s->blocks;
    const bool first = lane->rank == 0;
    for (int64_t r = 0; r < reps; ++r) {
        if (!first)
            await(s, s->told + 1);
        s->library->put(s, 0, b->local, b->bytes);
        s->library->fence(s);
        tell(s);
        if (first)
            await(s, s->told);
    }
}

/* ---- data -------------------------------------------------------------------------------------------- */

static void blocks_of(struct lane *lane)
{
    blocks_fresh(&((struct direct *)lane)->blocks);
}

static int check_blocks(struct lane *lane, int64_t reps)
{
    (void)reps;
    return blocks_check(&((struct direct *)lane)->blocks);
}

static void number_of(struct lane *lane)
{
    struct direct *s = (struct direct *)lane;
    const uint64_t mixed = hash_mix((lane->generation << 20) ^ (uint64_t)lane->thread);
    s->first = mixed & UINT32_MAX;
    s->added = (mixed >> 32) | 1;
    memcpy(lane->window, &s->first, sizeof s->first);
}

static int check_number(struct lane *lane, int64_t reps)
{
    struct direct *s = (struct direct *)lane;
    const uint64_t after = s->first + s->added * (uint64_t)reps;
    uint64_t is = s->fetched;
    if (lane->is_target)
        memcpy(&is, lane->window, sizeof is);
    data_arrived(&is, sizeof is, lane->planted);
    const uint64_t right = lane->is_target ? after : after - s->added;
    return is == right ? 0
                       : err_say(ERR_WRONG, "%s is 0x%llx, should be 0x%llx",
                                 lane->is_target ? "the number" : "what was fetched", (unsigned long long)is,
                                 (unsigned long long)right);
}

/* ---- forms ------------------------------------------------------------------------------------------- */

#define CALLS_PARAM                                                                                          \
    {.name = "calls",                                                                                        \
     .unit = "",                                                                                             \
     .summary = "calls in a repetition, each at a place of its own",                                         \
     .normal = 64,                                                                                           \
     .least = 1,                                                                                             \
     .most = 65536}
static const struct param calls_params[] = {CALLS_PARAM}, common_params[] = {OP_CHECKS_PARAM, BUFFERS_PARAMS};

#define OF_BLOCKS .fresh = blocks_of, .check = check_blocks
static const struct form {
    const char *name, *summary;
    void (*loop)(struct lane *lane, int64_t reps);
    enum op_role role;
    const char *default_bytes; /* NULL: one number */
    void (*fresh)(struct lane *lane);
    int (*check)(struct lane *lane, int64_t reps);
    bool gets, both, many;
} forms[] = {
    {"put", "bytes from rank 0 into rank 1's memory", put_loop, ROLE_LATENCY, "0,1..4Mi", OF_BLOCKS},
    {"get", "bytes of rank 1's memory to rank 0", get_loop, ROLE_LATENCY, "0,1..4Mi", OF_BLOCKS,
     .gets = true},
    {"put.bandwidth", "a window of puts: bytes from rank 0 into rank 1's memory", put_loop, ROLE_BANDWIDTH,
     "1..4Mi", OF_BLOCKS, .many = true},
    {"get.bandwidth", "a window of gets: bytes of rank 1's memory to rank 0", get_loop, ROLE_BANDWIDTH,
     "1..4Mi", OF_BLOCKS, .gets = true, .many = true},
    {"fetch_add", "a number is added to one of rank 1, and the old one is fetched", add_loop, ROLE_LATENCY,
     NULL, .fresh = number_of, .check = check_number},
    {"put.pingpong", "data and a flag to the other rank, which sees them and sends them back; one way",
     ping_loop, ROLE_LATENCY, "1..4Mi", OF_BLOCKS, .both = true},
};
enum { FORMS = sizeof forms / sizeof forms[0], LIBRARIES = 3 };
static const struct direct_library *const libraries[LIBRARIES] = {&direct_shm, &direct_ucx, &direct_ofi};

/* Made by op_at(), with the same result each time. */
static struct made {
    const struct form *form;
    const struct direct_library *library;
    struct duty duty;
    char summary[160];
    struct param params[PARAMS_MAX + 1];
} made[2 * FORMS * LIBRARIES];

static size_t bytes_of(const struct op_env *env)
{
    const struct made *own = env->op->row;
    return own->form->default_bytes ? env->bytes : NUMBER;
}

static int plan(const struct op_env *env, size_t *each_bytes)
{
    *each_bytes = lane_lines(bytes_of(env)) * (size_t)lanes_param(env, "calls", 1) + LANE_LINE;
    return 0;
}

static int open_lane(struct lane *lane, const struct op_env *env)
{
    const struct made *own = env->op->row;
    struct direct *s = (struct direct *)lane;
    s->library = own->library;
    s->blocks = (struct blocks){.lane = lane,
                                .gets = own->form->gets,
                                .bytes = bytes_of(env),
                                .stride = lane_lines(bytes_of(env)),
                                .count = (int)lanes_param(env, "calls", 1)};
    s->flag_at = s->blocks.stride * (size_t)s->blocks.count;
    if (lane->window)
        atomic_store(flag_of(s), 0);
    return blocks_open(&s->blocks, env);
}

static void close_lane(struct lane *lane)
{
    blocks_close(&((struct direct *)lane)->blocks);
}

static int setup(const struct op_env *env, void **state)
{
    const struct made *own = env->op->row;
    return lanes_setup(env, &own->duty, state);
}

static double calls_of(const struct op_env *env)
{
    return env->threads * lanes_param(env, "calls", 1);
}

static double moved(const struct op_env *env)
{
    const struct made *own = env->op->row;
    return calls_of(env) * (own->form->both ? 2 : 1) * (double)bytes_of(env);
}

static void add(struct made *own, const struct param *params, size_t count)
{
    memcpy(own->params + param_count(own->params), params, count * sizeof *params);
}

static void make(struct made *own, const struct direct_library *library, const struct form *form,
                 bool threaded)
{
    *own = (struct made){.form = form,
                         .library = library,
                         .duty = {.size = library->size,
                                  .both = form->both,
                                  .serves = true,
                                  .plan = plan,
                                  .memory = library->memory,
                                  .open = open_lane,
                                  .join = library->join,
                                  .loop = form->loop,
                                  .fresh = form->fresh,
                                  .check = form->check,
                                  .close = close_lane,
                                  .leave = library->leave}};
    snprintf(own->summary, sizeof own->summary, "%s%s", threaded ? "each thread: " : "", form->summary);
    if (library->params)
        add(own, library->params, param_count(library->params));
    if (form->many)
        add(own, calls_params, 1);
    add(own, common_params, sizeof common_params / sizeof common_params[0]);
}

static void op_at(size_t i, struct op *op)
{
    const bool threaded = i >= FORMS * LIBRARIES;
    const struct form *form = &forms[i % FORMS];
    const struct direct_library *library = libraries[i / FORMS % LIBRARIES];
    struct made *own = &made[i];
    make(own, library, form, threaded);
    *op = lanes_op(library->prefix, form->name, threaded);
    op->family = "floor";
    op->summary = own->summary;
    op->role = form->role;
    op->missing = library->missing ? library->missing : LINK_MISSING;
    op->parts = form->both ? 2 : 1;
    op->default_bytes = form->default_bytes;
    op->params = own->params;
    op->row = own;
    op->setup = setup;
    op->moved = moved;
    op->work = form->both || (!form->many && !threaded) ? NULL : calls_of;
    op->describe_end = library->describe_end;
}

const struct op_family direct_ops = {.count = 2 * FORMS * LIBRARIES, .op_at = op_at};
