/* mpi.reduce_local: what a reduction computes on one rank, without any message. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "ops/common/data.h"
#include "ops/mpi/coll/coll.h"
#include "team/team_mpi.h"

#include <stdlib.h>

struct local {
    struct reduction sum; /* the reduction of two blocks: `in` is that of rank 0, `inout` that of rank 1 */
    int count;
    size_t bytes;
    char *in, *inout;
    bool planted;
};

static const struct param params[] = {COLL_REDUCED, BUFFERS_PARAMS, {0}};
enum { OPERATOR, TYPE };

static void teardown(void *state)
{
    struct local *l = state;
    reduction_close(&l->sum);
    free(l);
}

static int setup(const struct op_env *env, void **state)
{
    struct local *l = calloc(1, sizeof *l);
    if (!l)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *l = (struct local){.bytes = env->bytes, .planted = env->planted};
    int err = reduction_open(&l->sum, (int)env->params[OPERATOR], (int)env->params[TYPE]);
    if (!err && l->bytes % l->sum.size != 0)
        err = err_say(ERR_INPUT, "%s takes type=%s: %zu bytes are no multiple of %zu; choose another size",
                      env->op->name, reduce_type_words[(int)env->params[TYPE]], l->bytes, l->sum.size);
    err = err ? err : num_to_int(l->bytes / l->sum.size, &l->count);
    err = err ? err : data_align(env, l->sum.size);
    err = err ? err : buffers_take(env->buffers, 1, l->bytes, (void **)&l->in);
    err = err ? err : buffers_take(env->buffers, 1, l->bytes, (void **)&l->inout);
    if (err) {
        teardown(l);
        return err;
    }
    l->sum.ranks = 2;
    l->sum.first = 2 * env->team->rank;
    *state = l;
    return 0;
}

static int run(void *state, int64_t reps)
{
    struct local *l = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = MPI_Reduce_local(l->in, l->inout, l->count, l->sum.type, l->sum.op);
    return team_mpi_err(rc, "MPI_Reduce_local");
}

static int verify(void *state)
{
    struct local *l = state;
    const size_t count = (size_t)l->count;
    reduction_fill(&l->sum, l->in, count, 0, 0);
    reduction_fill(&l->sum, l->inout, count, 1, 0);
    int err = run(l, 1);
    if (err)
        return err;
    data_arrived(l->inout, l->bytes, l->planted);
    err = reduction_check(&l->sum, l->inout, count, 1, 0);
    reduction_settle(&l->sum, l->in, count); /* else the answer of many repetitions overflows */
    return err;
}

static double moved(const struct op_env *env)
{
    return (double)env->bytes;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = (struct op){.name = "mpi.reduce_local",
                      .family = "coll",
                      .summary = "the reduction of two buffers on each rank, without messages",
                      .class = OP_LOCAL,
                      .report = OP_ROOT,
                      .parts = 1,
                      .default_bytes = "8..1Mi",
                      .params = params,
                      .setup = setup,
                      .run = run,
                      .verify = verify,
                      .teardown = teardown,
                      .moved = moved};
}

const struct op_family mpi_reduce_local_ops = {.count = 1, .op_at = op_at};
