/* cpu.fma: multiply-adds of doubles, as many at once as a core can: its peak of floating-point arithmetic. */
#include "ops/families.h"

#include "base/err.h"
#include "base/fma.h"

#include <stdbool.h>
#include <stdlib.h>

/* A repetition takes some us: a whole number of steps of each kernel, long against a reading of the clock. */
enum { MULTIPLY_ADDS = 1000 * FMA_LANES_MOST };

struct fma_state {
    const struct fma *kernel;
    double lanes[FMA_LANES_MOST];
    volatile double one; /* unknown to the compiler */
    bool planted;
};

static int run(void *state, int64_t reps)
{
    struct fma_state *f = state;
    f->kernel->steps(f->lanes, reps * (MULTIPLY_ADDS / f->kernel->lanes), f->one, f->one);
    return 0;
}

/* Each step adds one to each lane, exactly: a step that was left out, or done by another lane, is seen. */
static int verify(void *state)
{
    struct fma_state *f = state;
    const int steps = MULTIPLY_ADDS / f->kernel->lanes;
    for (int i = 0; i < f->kernel->lanes; ++i)
        f->lanes[i] = i;
    run(f, 1);
    f->lanes[f->kernel->lanes - 1] += f->planted;
    for (int i = 0; i < f->kernel->lanes; ++i)
        if (f->lanes[i] != i + steps)
            return err_say(ERR_WRONG, "%d steps of lane %d led to %g, should be %d", steps, i, f->lanes[i],
                           i + steps);
    return 0;
}

static int setup(const struct op_env *env, void **state)
{
    struct fma_state *f = calloc(1, sizeof *f);
    if (!f)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    f->kernel = fma_kernel(0);
    f->one = 1;
    f->planted = env->planted;
    *state = f;
    return 0;
}

static double work(const struct op_env *env)
{
    (void)env;
    return MULTIPLY_ADDS;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = (struct op){
        .name = "cpu.fma",
        .family = "cpu",
        .summary = "the most multiply-adds of doubles that a core can do, each counted as one operation",
        .class = OP_LOCAL,
        .role = ROLE_CALL,
        .report = OP_SLOWEST,
        .parts = 1,
        .setup = setup,
        .run = run,
        .verify = verify,
        .teardown = free,
        .work = work,
    };
}

const struct op_family cpu_fma_ops = {.count = 1, .op_at = op_at};
