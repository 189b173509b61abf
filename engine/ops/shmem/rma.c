/* shmem.put, shmem.get, ...: one-sided calls of rank 0 on rank 1's symmetric memory, each with its
 * completion. Each call is a row, which has three forms: one call; a window of calls one way; the same both
 * ways at once; and each of these by several threads. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/common/blocks.h"
#include "ops/common/data.h"
#include "ops/shmem/lanes.h"

#include <stdio.h>
#include <string.h>

enum rma_effect { RMA_PUT, RMA_GET };

struct rma {
    struct shmem_lane lane;
    struct blocks blocks;
    void (*loop)(struct rma *s, int64_t reps);
};

typedef void rma_loop(struct rma *s, int64_t reps);

/* ---- the calls ---- */

#define LOCAL (s->blocks.local + (size_t)i * s->blocks.stride)
#define WINDOW (s->lane.base.window + (size_t)i * s->blocks.stride)
#define COUNT (s->blocks.bytes / sizeof(long))
#define STEP (ptrdiff_t)s->blocks.step
#define STRIDED STEP, STEP, COUNT, s->lane.base.peer
#define AS_LONG(at) ((long *)(void *)(at))

/* The loop around one call and its completion, all known to the compiler. */
static inline __attribute__((always_inline)) void
repeat(struct rma *s, int64_t reps, void (*one)(struct rma *, int), void (*done)(shmem_ctx_t))
{
    for (int64_t r = 0; r < reps; ++r) {
        for (int i = 0; i < s->blocks.count; ++i)
            one(s, i);
        done(s->lane.ctx);
    }
    shmem_ctx_quiet(s->lane.ctx); /* what is checked is there */
}

static inline void done_never(shmem_ctx_t ctx)
{
    (void)ctx;
}

#define RMA_CALL(name, ...)                                                                                  \
    static inline void name##_one(struct rma *s, int i)                                                      \
    {                                                                                                        \
        __VA_ARGS__;                                                                                         \
    }                                                                                                        \
    static void name##_quiet(struct rma *s, int64_t reps)                                                    \
    {                                                                                                        \
        repeat(s, reps, name##_one, shmem_ctx_quiet);                                                        \
    }                                                                                                        \
    static void name##_fence(struct rma *s, int64_t reps)                                                    \
    {                                                                                                        \
        repeat(s, reps, name##_one, shmem_ctx_fence);                                                        \
    }                                                                                                        \
    static void name##_none(struct rma *s, int64_t reps)                                                     \
    {                                                                                                        \
        repeat(s, reps, name##_one, done_never);                                                             \
    }

RMA_CALL(put, shmem_ctx_putmem(s->lane.ctx, WINDOW, LOCAL, s->blocks.bytes, s->lane.base.peer))
RMA_CALL(put_nbi, shmem_ctx_putmem_nbi(s->lane.ctx, WINDOW, LOCAL, s->blocks.bytes, s->lane.base.peer))
RMA_CALL(get, shmem_ctx_getmem(s->lane.ctx, LOCAL, WINDOW, s->blocks.bytes, s->lane.base.peer))
RMA_CALL(get_nbi, shmem_ctx_getmem_nbi(s->lane.ctx, LOCAL, WINDOW, s->blocks.bytes, s->lane.base.peer))
RMA_CALL(p, shmem_ctx_long_p(s->lane.ctx, AS_LONG(WINDOW), *AS_LONG(LOCAL), s->lane.base.peer))
RMA_CALL(g, *AS_LONG(LOCAL) = shmem_ctx_long_g(s->lane.ctx, AS_LONG(WINDOW), s->lane.base.peer))
RMA_CALL(iput, shmem_ctx_long_iput(s->lane.ctx, AS_LONG(WINDOW), AS_LONG(LOCAL), STRIDED))
RMA_CALL(iget, shmem_ctx_long_iget(s->lane.ctx, AS_LONG(LOCAL), AS_LONG(WINDOW), STRIDED))

static const char *const complete_words[] = {"quiet", "fence", "none", NULL};
enum { BY_QUIET, BY_FENCE, BY_NOTHING, COMPLETIONS };

#define CALLED(word, call) #word, #call, .loops = {word##_quiet, word##_fence, word##_none}

static const struct rma_row {
    const char *name, *call;
    rma_loop *loops[COMPLETIONS];
    const char *summary;
    enum rma_effect effect;
    bool single, strided;
    int complete; /* by default: a get that blocks needs nothing */
} rows[] = {
    {CALLED(put, shmem_putmem), "bytes from rank 0 into rank 1's symmetric memory", RMA_PUT},
    {CALLED(put_nbi, shmem_putmem_nbi), "as shmem.put, and the call may return before the data are sent",
     RMA_PUT},
    {CALLED(get, shmem_getmem), "bytes of rank 1's symmetric memory to rank 0", RMA_GET,
     .complete = BY_NOTHING},
    {CALLED(get_nbi, shmem_getmem_nbi), "as shmem.get, and the call may return before the data are there",
     RMA_GET},
    {CALLED(p, shmem_long_p), "one number from rank 0 into rank 1's symmetric memory", RMA_PUT,
     .single = true},
    {CALLED(g, shmem_long_g), "one number of rank 1's symmetric memory to rank 0", RMA_GET, .single = true,
     .complete = BY_NOTHING},
    {CALLED(iput, shmem_long_iput), "numbers with gaps between them, as shmem.put", RMA_PUT, .strided = true},
    {CALLED(iget, shmem_long_iget), "numbers with gaps between them, as shmem.get", RMA_GET, .strided = true,
     .complete = BY_NOTHING},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- parameters, in this order ---- */

#define NUMBER(word, text, usual, from, to)                                                                  \
    {.name = word, .unit = "", .summary = text, .normal = usual, .least = from, .most = to}

static const struct param window_params[] = {NUMBER(
    "calls", "calls in a repetition, each at a place of its own", 64, 1, 65536)},
                          strided_params[] = {NUMBER(
                              "step", "from one number to the next, in numbers of 8 bytes", 2, 1, 4096)},
                          common_params[] = {SHMEM_CONTEXT_PARAM, OP_CHECKS_PARAM, BUFFERS_PARAMS};

enum form { ONE, ONE_WAY, BOTH_WAYS, FORMS };
static const struct form_row {
    const char *suffix, *summary;
    enum op_role role;
} forms[FORMS] = {[ONE] = {"", "", ROLE_LATENCY},
                  [ONE_WAY] = {".bandwidth", "a window of calls: ", ROLE_BANDWIDTH},
                  [BOTH_WAYS] = {".bibandwidth", "a window of calls each way at once: ", ROLE_BANDWIDTH}};

/* ---- data ---- */

static void fresh(struct lane *lane)
{
    blocks_fresh(&((struct rma *)lane)->blocks);
}

static int check(struct lane *lane, int64_t reps)
{
    (void)reps;
    return blocks_check(&((struct rma *)lane)->blocks);
}

/* ---- setup ---- */

/* Made by op_at(), with the same result each time. */
static struct made {
    const struct rma_row *row;
    enum form form;
    struct duty duty;
    char summary[160];
    struct param params[PARAMS_MAX + 1];
} made[2 * ROWS * FORMS];

static size_t stride_of(const struct op_env *env, size_t bytes)
{
    const size_t whole = bytes * (size_t)lanes_param(env, "step", 1);
    return lane_lines(whole);
}

static size_t bytes_of(const struct op_env *env)
{
    const struct made *own = env->op->row;
    return own->row->single ? sizeof(long) : env->bytes;
}

static int plan(const struct op_env *env, size_t *symmetric)
{
    const struct made *own = env->op->row;
    *symmetric = stride_of(env, bytes_of(env)) * (size_t)lanes_param(env, "calls", 1);
    if (own->row->strided && env->bytes % sizeof(long) != 0)
        return err_say(ERR_INPUT, "%s moves numbers of %zu bytes: %zu bytes are no multiple; give one",
                       env->op->name, sizeof(long), env->bytes);
    return own->row->single || own->row->strided ? data_align(env, sizeof(long)) : 0;
}

static int open_lane(struct lane *lane, const struct op_env *env)
{
    const struct made *own = env->op->row;
    struct rma *s = (struct rma *)lane;
    s->loop = own->row->loops[(int)lanes_param(env, "complete", 0)];
    s->blocks = (struct blocks){.lane = lane,
                                .gets = own->row->effect == RMA_GET,
                                .bytes = bytes_of(env),
                                .stride = stride_of(env, bytes_of(env)),
                                .step = own->row->strided ? (size_t)lanes_param(env, "step", 1) : 0,
                                .count = (int)lanes_param(env, "calls", 1)};
    return blocks_open(&s->blocks, env);
}

static void loop(struct lane *lane, int64_t reps)
{
    struct rma *s = (struct rma *)lane;
    s->loop(s, reps);
}

static void close_lane(struct lane *lane)
{
    blocks_close(&((struct rma *)lane)->blocks);
}

static int setup(const struct op_env *env, void **state)
{
    const struct made *own = env->op->row;
    return lanes_setup(env, &own->duty, state);
}

/* ---- rows ---- */

/* The number of all threads together. */
static double calls_of(const struct op_env *env)
{
    const struct made *own = env->op->row;
    return (own->duty.both ? 2 : 1) * env->threads * lanes_param(env, "calls", 1);
}

static double moved(const struct op_env *env)
{
    return calls_of(env) * (double)bytes_of(env);
}

static void add(struct made *own, const struct param *params, size_t count)
{
    memcpy(own->params + param_count(own->params), params, count * sizeof *params);
}

#define ADD(own, list) add(own, list, sizeof list / sizeof list[0])

static void make(struct made *own, const struct rma_row *row, enum form form, bool threaded)
{
    *own = (struct made){.row = row,
                         .form = form,
                         .duty = {.size = sizeof(struct rma),
                                  SHMEM_DUTY,
                                  .both = form == BOTH_WAYS,
                                  .plan = plan,
                                  .open = open_lane,
                                  .loop = loop,
                                  .fresh = fresh,
                                  .check = check,
                                  .close = close_lane}};
    snprintf(own->summary, sizeof own->summary, "%s%s%s: %s", threaded ? "each thread: " : "",
             forms[form].summary, row->call, row->summary);
    struct param complete[] = {PARAM_WORDS(
        "complete", "what completes a repetition; none: quiet at the end of a sample", complete_words)};
    complete->normal = row->complete;
    ADD(own, complete);
    if (form != ONE)
        ADD(own, window_params);
    if (row->strided)
        ADD(own, strided_params);
    ADD(own, common_params);
}

static void op_at(size_t i, struct op *op)
{
    const enum form form = (enum form)(i % FORMS);
    const bool threaded = i >= ROWS * FORMS;
    const struct rma_row *row = &rows[i / FORMS % ROWS];
    struct made *own = &made[i];
    make(own, row, form, threaded);
    char name[OP_NAME_MAX];
    snprintf(name, sizeof name, "%s%s", row->name, forms[form].suffix);
    *op = job_op(name, threaded);
    op->summary = own->summary;
    op->role = forms[form].role;
    op->default_bytes = row->single ? NULL : row->strided ? "8..1Mi" : form == ONE ? "0,1..4Mi" : "1..4Mi";
    op->params = own->params;
    op->row = own;
    op->setup = setup;
    op->moved = moved;
    op->work = form == ONE && !threaded ? NULL : calls_of;
}

const struct op_family shmem_rma_ops = {.count = 2 * ROWS * FORMS, .op_at = op_at};
