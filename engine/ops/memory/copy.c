/* mem.copy: memcpy of a message's bytes, the least that moving it within a host can take. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/common/data.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 64 };
enum { BUFFERS };

static const struct param params[] = {
    [BUFFERS] = {"buffers", "", "pairs of buffers, copied in turn; 1: hot in cache", 1, 1, 65536},
    BUFFERS_PARAMS,
    {0},
};

struct copy {
    size_t bytes, stride;
    int rank, buffers, next; /* the next pair */
    char *from, *to;
    bool planted;
    int generation; /* number of the check, which the data depend on */
};

static int run(void *state, int64_t reps)
{
    struct copy *c = state;
    int b = c->next;
    for (int64_t i = 0; i < reps; ++i) {
        memcpy(c->to + (size_t)b * c->stride, c->from + (size_t)b * c->stride, c->bytes);
        __asm__ volatile("" ::: "memory");
        b = b + 1 == c->buffers ? 0 : b + 1;
    }
    c->next = b;
    return 0;
}

/* The data of pair b in this generation. */
static int number(const struct copy *c, int b)
{
    return (int)((unsigned)c->generation << 20) + b;
}

static int verify(void *state)
{
    struct copy *c = state;
    ++c->generation;
    c->next = 0;
    for (int b = 0; b < c->buffers && c->bytes > 0; ++b)
        data_fill(c->from + (size_t)b * c->stride, c->bytes, c->rank, number(c, b));
    data_poison(c->to, (size_t)c->buffers * c->stride);
    int err = run(c, c->buffers);
    if (c->bytes > 0)
        data_arrived(c->to, (size_t)(c->buffers - 1) * c->stride + c->bytes, c->planted);
    for (int b = 0; b < c->buffers && !err; ++b)
        err = data_check(c->to + (size_t)b * c->stride, c->bytes, c->rank, number(c, b), b);
    return err;
}

static int setup(const struct op_env *env, void **state)
{
    struct copy *c = calloc(1, sizeof *c);
    if (!c)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *c = (struct copy){.bytes = env->bytes,
                       .stride = env->bytes > 0 ? (env->bytes + LINE - 1) / LINE * LINE : LINE,
                       .rank = env->team->rank,
                       .buffers = (int)env->params[BUFFERS],
                       .planted = env->planted};
    int err = buffers_take(env->buffers, (size_t)c->buffers, c->stride, (void **)&c->from);
    err = err ? err : buffers_take(env->buffers, (size_t)c->buffers, c->stride, (void **)&c->to);
    if (err)
        free(c);
    else
        *state = c;
    return err;
}

static double moved(const struct op_env *env)
{
    return (double)env->bytes;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = (struct op){
        .name = "mem.copy",
        .family = "memory",
        .summary = "memcpy of a message's bytes, counted once",
        .class = OP_LOCAL,
        .role = ROLE_LATENCY,
        .layer = LAYER_COPY,
        .report = OP_SLOWEST,
        .parts = 1,
        .default_bytes = "1..4Mi",
        .params = params,
        .setup = setup,
        .run = run,
        .verify = verify,
        .teardown = free,
        .moved = moved,
    };
}

const struct op_family mem_copy_ops = {.count = 1, .op_at = op_at};
