/* shmem.pingpong: a put until the other rank sees it. Data and a flag go to the other rank, which waits for
 * the flag and sends the same back. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/common/blocks.h"
#include "ops/shmem/lanes.h"
#include "team/compat_shmem.h"

#include <string.h>

static const char *const signal_words[] = {"flag", "put_signal", "put_signal_nbi", NULL};
static const char *const wait_words[] = {"wait_until",
                                         "test",
                                         "wait_until_all",
                                         "test_all",
                                         "wait_until_any",
                                         "test_any",
                                         "wait_until_some",
                                         "test_some",
                                         "signal_wait_until",
                                         "signal_fetch",
                                         NULL};
enum { BY_FLAG };
enum { WAITS_OF_14 = 2, WAITS = 10, FLAGS_MOST = 64 };
enum { SIGNAL, WAIT, FLAGS, CONTEXT, CHECK };

static const struct param params[] = {
    [SIGNAL] =
        PARAM_WORDS("signal",
                    "how the other rank hears of the data. flag: a put, a fence, a put of a number for "
                    "each flag; put_signal, put_signal_nbi: one call, of OpenSHMEM 1.5",
                    signal_words),
    [WAIT] = PARAM_WORDS(
        "wait",
        "how it waits for the flags: shmem_wait_until, or shmem_test again and again, of one after "
        "the other; of several at once by OpenSHMEM 1.5: until all, any or some have come; "
        "signal_wait_until, "
        "or signal_fetch again and again, of 1.5",
        wait_words),
    [FLAGS] = {"flags", "", "flags that are put and waited for", 1, 1, FLAGS_MOST},
    [CONTEXT] = SHMEM_CONTEXT_PARAM,
    [CHECK] = OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0}};

struct visible {
    struct shmem_lane lane; /* its window: the data, then lines with the flags */
    struct blocks blocks;
    uint64_t *flag, last; /* the flags; their last number, of either rank */
    size_t flags;
    int seen[FLAGS_MOST];     /* those that have come */
    size_t found[FLAGS_MOST]; /* room for the answer of some */
    void (*loop)(struct visible *s, int64_t reps);
};

static inline void put_flag(struct visible *s)
{
    shmem_ctx_putmem(s->lane.ctx, s->lane.base.window, s->blocks.local, s->blocks.bytes, s->lane.base.peer);
    shmem_ctx_fence(s->lane.ctx);
    for (size_t i = 0; i < s->flags; ++i)
        shmem_ctx_uint64_p(s->lane.ctx, &s->flag[i], s->last, s->lane.base.peer);
}

static inline void put_signal(struct visible *s)
{
    SHMEM15(shmem_ctx_putmem_signal(s->lane.ctx, s->lane.base.window, s->blocks.local, s->blocks.bytes,
                                    s->flag, s->last, SHMEM_SIGNAL_SET, s->lane.base.peer));
    (void)s;
}

static inline void put_signal_nbi(struct visible *s)
{
    SHMEM15(shmem_ctx_putmem_signal_nbi(s->lane.ctx, s->lane.base.window, s->blocks.local, s->blocks.bytes,
                                        s->flag, s->last, SHMEM_SIGNAL_SET, s->lane.base.peer));
    (void)s;
}

static inline void wait_until(struct visible *s)
{
    for (size_t i = 0; i < s->flags; ++i)
        shmem_uint64_wait_until(&s->flag[i], SHMEM_CMP_EQ, s->last);
}

static inline void test_until(struct visible *s)
{
    for (size_t i = 0; i < s->flags; ++i)
        while (!shmem_uint64_test(&s->flag[i], SHMEM_CMP_EQ, s->last))
            ;
}

/* The calls of OpenSHMEM 1.5, which look at all flags at once, without those that have been seen. */
#define ALL_FLAGS s->flag, s->flags
#define ARE_THERE s->seen, SHMEM_CMP_EQ, s->last

static inline void wait_until_all(struct visible *s)
{
    SHMEM15(shmem_uint64_wait_until_all(ALL_FLAGS, ARE_THERE));
    (void)s;
}

static inline void test_all(struct visible *s)
{
    SHMEM15(while (!shmem_uint64_test_all(ALL_FLAGS, ARE_THERE)));
    (void)s;
}

static inline void wait_until_any(struct visible *s)
{
    for (size_t i = 0; i < s->flags; ++i)
        SHMEM15(s->seen[shmem_uint64_wait_until_any(ALL_FLAGS, ARE_THERE)] = 1);
    memset(s->seen, 0, sizeof s->seen);
}

static inline void test_any(struct visible *s)
{
    for (size_t i = 0, at = 0; i < s->flags; ++i) {
        SHMEM15(while ((at = shmem_uint64_test_any(ALL_FLAGS, ARE_THERE)) == SIZE_MAX));
        s->seen[at] = 1;
    }
    memset(s->seen, 0, sizeof s->seen);
}

static inline void mark(struct visible *s, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        s->seen[s->found[i]] = 1;
}

static inline void wait_until_some(struct visible *s)
{
    for (size_t i = 0, count = s->flags; i < s->flags; i += count) {
        SHMEM15(count = shmem_uint64_wait_until_some(ALL_FLAGS, s->found, ARE_THERE));
        mark(s, count);
    }
    memset(s->seen, 0, sizeof s->seen);
}

static inline void test_some(struct visible *s)
{
    for (size_t i = 0, count = s->flags; i < s->flags; i += count) {
        SHMEM15(count = shmem_uint64_test_some(ALL_FLAGS, s->found, ARE_THERE));
        mark(s, count);
    }
    memset(s->seen, 0, sizeof s->seen);
}

static inline void signal_wait_until(struct visible *s)
{
    for (size_t i = 0; i < s->flags; ++i)
        SHMEM15(shmem_signal_wait_until(&s->flag[i], SHMEM_CMP_EQ, s->last));
}

static inline void signal_fetch(struct visible *s)
{
    for (size_t i = 0; i < s->flags; ++i)
        SHMEM15(while (shmem_signal_fetch(&s->flag[i]) != s->last));
}

static inline __attribute__((always_inline)) void
bounce(struct visible *s, int64_t reps, void (*put)(struct visible *), void (*await)(struct visible *))
{
    const bool first = s->lane.base.rank == 0;
    for (int64_t i = 0; i < reps; ++i) {
        ++s->last;
        if (first)
            put(s);
        await(s);
        if (!first)
            put(s);
    }
    shmem_ctx_quiet(s->lane.ctx);
}

#define WAYS(X, put)                                                                                         \
    X(put, wait_until)                                                                                       \
    X(put, test_until)                                                                                       \
    X(put, wait_until_all)                                                                                   \
    X(put, test_all)                                                                                         \
    X(put, wait_until_any)                                                                                   \
    X(put, test_any)                                                                                         \
    X(put, wait_until_some)                                                                                  \
    X(put, test_some)                                                                                        \
    X(put, signal_wait_until)                                                                                \
    X(put, signal_fetch)
#define BOUNCE(put, await)                                                                                   \
    static void put##_##await(struct visible *s, int64_t reps)                                               \
    {                                                                                                        \
        bounce(s, reps, put, await);                                                                         \
    }
WAYS(BOUNCE, put_flag)
WAYS(BOUNCE, put_signal)
WAYS(BOUNCE, put_signal_nbi)

#define WAY(put, await) put##_##await,
static void (*const loops[][WAITS])(struct visible *s, int64_t reps) = {
    {WAYS(WAY, put_flag)}, {WAYS(WAY, put_signal)}, {WAYS(WAY, put_signal_nbi)}};

static void loop(struct lane *lane, int64_t reps)
{
    struct visible *s = (struct visible *)lane;
    s->loop(s, reps);
}

static void fresh(struct lane *lane)
{
    blocks_fresh(&((struct visible *)lane)->blocks);
}

static int check(struct lane *lane, int64_t reps)
{
    (void)reps;
    return blocks_check(&((struct visible *)lane)->blocks);
}

static size_t flag_bytes(const struct op_env *env)
{
    return lane_lines((size_t)env->params[FLAGS] * sizeof(uint64_t));
}

static int plan(const struct op_env *env, size_t *symmetric)
{
    const bool by_signal = env->params[SIGNAL] > BY_FLAG;
    const char *const signal = signal_words[(int)env->params[SIGNAL]], *const missing = SHMEM15_MISSING;
    *symmetric = flag_bytes(env) + lane_lines(env->bytes);
    if (by_signal && env->params[FLAGS] > 1)
        return err_say(ERR_INPUT, "signal=%s sets one flag; give flags=1", signal);
    if ((by_signal || env->params[WAIT] >= WAITS_OF_14) && missing)
        return err_say(ERR_UNSUPPORTED, "%s=%s: %s", by_signal ? "signal" : "wait",
                       by_signal ? signal : wait_words[(int)env->params[WAIT]], missing);
    return 0;
}

static int open_lane(struct lane *lane, const struct op_env *env)
{
    struct visible *s = (struct visible *)lane;
    s->blocks =
        (struct blocks){.lane = lane, .bytes = env->bytes, .stride = lane_lines(env->bytes), .count = 1};
    s->loop = loops[(int)env->params[SIGNAL]][(int)env->params[WAIT]];
    s->flag = (uint64_t *)(void *)(lane->window + s->blocks.stride);
    s->flags = (size_t)env->params[FLAGS];
    memset(s->flag, 0, flag_bytes(env));
    return blocks_open(&s->blocks, env);
}

static const struct duty duty = {.size = sizeof(struct visible),
                                 SHMEM_DUTY,
                                 .both = true,
                                 .plan = plan,
                                 .open = open_lane,
                                 .loop = loop,
                                 .fresh = fresh,
                                 .check = check};

static int setup(const struct op_env *env, void **state)
{
    return lanes_setup(env, &duty, state);
}

static double moved(const struct op_env *env)
{
    return 2 * (double)env->bytes;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = job_op("pingpong", false);
    op->summary = "data and a flag to the other rank, which sees them and sends them back";
    op->parts = 2;
    op->default_bytes = "1..4Mi";
    op->params = params;
    op->setup = setup;
    op->moved = moved;
}

const struct op_family shmem_visible_ops = {.count = 1, .op_at = op_at};
