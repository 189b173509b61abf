/* shmem.pingpong: a put until the other rank sees it. Data and a flag go to the other rank, which waits for
 * the flag and sends the same back. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/common/data.h"
#include "ops/shmem/compat.h"
#include "ops/shmem/job.h"

#include <limits.h>
#include <string.h>

static const char *const signal_words[] = {"flag", "put_signal", NULL};
static const char *const wait_words[] = {"wait_until", "test", NULL};
enum { BY_FLAG, BY_SIGNAL };
enum { SIGNAL, WAIT, CONTEXT, CHECK };

static const struct param params[] = {
    [SIGNAL] = PARAM_WORDS("signal",
                           "how the other rank hears of the data. flag: a put, a fence, a put of a number; "
                           "put_signal: one call, of OpenSHMEM 1.5",
                           signal_words),
    [WAIT] = PARAM_WORDS("wait", "how it waits: shmem_wait_until, or shmem_test again and again", wait_words),
    [CONTEXT] = SHMEM_CONTEXT_PARAM,
    [CHECK] = OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0}};

struct visible {
    struct lane lane; /* its window: a line with the flag, then the data */
    size_t bytes;
    char *send;
    uint64_t *flag, last; /* the last number of either rank */
    void (*loop)(struct visible *s, int64_t reps);
};

static inline void put_flag(struct visible *s)
{
    shmem_ctx_putmem(s->lane.ctx, s->lane.window + SHMEM_LINE, s->send, s->bytes, s->lane.peer);
    shmem_ctx_fence(s->lane.ctx);
    shmem_ctx_uint64_p(s->lane.ctx, s->flag, s->last, s->lane.peer);
}

static inline void put_signal(struct visible *s)
{
    SHMEM15(shmem_ctx_putmem_signal(s->lane.ctx, s->lane.window + SHMEM_LINE, s->send, s->bytes, s->flag,
                                    s->last, SHMEM_SIGNAL_SET, s->lane.peer));
    (void)s;
}

static inline void wait_until(struct visible *s)
{
    shmem_uint64_wait_until(s->flag, SHMEM_CMP_EQ, s->last);
}

static inline void test_until(struct visible *s)
{
    while (!shmem_uint64_test(s->flag, SHMEM_CMP_EQ, s->last))
        ;
}

static inline __attribute__((always_inline)) void
bounce(struct visible *s, int64_t reps, void (*put)(struct visible *), void (*await)(struct visible *))
{
    const bool first = s->lane.rank == 0;
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

#define BOUNCE(put, await)                                                                                   \
    static void put##_##await(struct visible *s, int64_t reps)                                               \
    {                                                                                                        \
        bounce(s, reps, put, await);                                                                         \
    }
BOUNCE(put_flag, wait_until)
BOUNCE(put_flag, test_until)
BOUNCE(put_signal, wait_until)
BOUNCE(put_signal, test_until)

static void (*const loops[][2])(struct visible *s, int64_t reps) = {
    {put_flag_wait_until, put_flag_test_until}, {put_signal_wait_until, put_signal_test_until}};

static void loop(struct lane *lane, int64_t reps)
{
    struct visible *s = (struct visible *)lane;
    s->loop(s, reps);
}

static int number_of(const struct lane *lane)
{
    return (int)(hash_mix(lane->generation) & INT_MAX);
}

static void fresh(struct lane *lane)
{
    const struct visible *s = (struct visible *)lane;
    data_fill(s->send, s->bytes, lane->rank, number_of(lane));
    data_poison(lane->window + SHMEM_LINE, s->bytes);
}

static int check(struct lane *lane, int64_t reps)
{
    const struct visible *s = (struct visible *)lane;
    char *arrived = lane->window + SHMEM_LINE;
    (void)reps;
    data_arrived(arrived, s->bytes, lane->planted);
    return data_check(arrived, s->bytes, lane->peer, number_of(lane), 0);
}

static int plan(const struct op_env *env, size_t *symmetric)
{
    *symmetric = SHMEM_LINE + (env->bytes + SHMEM_LINE - 1) / SHMEM_LINE * SHMEM_LINE;
    if (env->params[SIGNAL] == BY_SIGNAL && SHMEM15_MISSING)
        return err_say(ERR_UNSUPPORTED, "signal=put_signal: %s", SHMEM15_MISSING);
    return 0;
}

static int open_lane(struct lane *lane, const struct op_env *env)
{
    struct visible *s = (struct visible *)lane;
    s->bytes = env->bytes;
    s->loop = loops[(int)env->params[SIGNAL]][(int)env->params[WAIT]];
    s->flag = (uint64_t *)(void *)lane->window;
    *s->flag = 0;
    return buffers_take(env->buffers, 1, env->bytes, (void **)&s->send);
}

static const struct duty duty = {.size = sizeof(struct visible),
                                 .both = true,
                                 .plan = plan,
                                 .open = open_lane,
                                 .loop = loop,
                                 .fresh = fresh,
                                 .check = check};

static int setup(const struct op_env *env, void **state)
{
    return job_setup(env, &duty, state);
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
