#include "ops/shmem/lanes.h"

#include "base/err.h"
#include "team/team_shmem.h"

const char *const shmem_contexts[5] = {"default", "shared", "serialized", "private", NULL};
enum { CONTEXT_DEFAULT, CONTEXT_SHARED, CONTEXT_SERIALIZED, CONTEXT_PRIVATE };

static struct shmem_lane *at(const struct lanes *lanes, int t)
{
    return (struct shmem_lane *)lane_at(lanes, t);
}

/* What all lanes have: the word of `context`. */
static int context_of(const struct op_env *env)
{
    return (int)lanes_param(env, "context", CONTEXT_DEFAULT);
}

int job_memory(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **memory)
{
    void *symmetric = NULL;
    (void)lanes;
    const int refused = team_threads_allowed(env->op->name, env->threads); /* on all ranks alike */
    const int lacks = refused ? refused : team_symmetric(env->team, bytes, &symmetric);
    *memory = symmetric;
    return err ? err : lacks;
}

/* On each thread, for a private context belongs to the thread that made it. */
static void make_context(struct lanes *lanes, int t, long options)
{
    struct shmem_lane *lane = at(lanes, t);
    lane->refused = shmem_ctx_create(options, &lane->ctx) != 0;
    lane->owns_ctx = !lane->refused;
}

static void make_shared(void *lanes, int t)
{
    if (t == 0)
        make_context(lanes, t, 0);
}

static void make_serialized(void *lanes, int t)
{
    make_context(lanes, t, SHMEM_CTX_SERIALIZED);
}

static void make_private(void *lanes, int t)
{
    make_context(lanes, t, SHMEM_CTX_PRIVATE);
}

static void drop_context(void *lanes, int t)
{
    struct shmem_lane *lane = at(lanes, t);
    if (lane->owns_ctx)
        shmem_ctx_destroy(lane->ctx);
    lane->owns_ctx = false;
}

int job_join(struct lanes *lanes, const struct op_env *env, int err)
{
    static void (*const makes[])(void *, int) = {[CONTEXT_SHARED] = make_shared,
                                                 [CONTEXT_SERIALIZED] = make_serialized,
                                                 [CONTEXT_PRIVATE] = make_private};
    const int context = context_of(env);
    int refused = 0;
    for (int t = 0; t < lanes->count; ++t)
        at(lanes, t)->ctx = SHMEM_CTX_DEFAULT;
    if (err || context == CONTEXT_DEFAULT)
        return err;
    lanes_on_threads(lanes, makes[context]);
    for (int t = 0; t < lanes->count; ++t) {
        refused += at(lanes, t)->refused;
        if (context == CONTEXT_SHARED)
            at(lanes, t)->ctx = at(lanes, 0)->ctx;
    }
    return refused == 0 ? 0
                        : err_say(ERR_UNSUPPORTED,
                                  "this OpenSHMEM refuses %d of %d contexts of the kind %s; give fewer "
                                  "threads or another --param context",
                                  refused, lanes->count, shmem_contexts[context]);
}

void job_leave(struct lanes *lanes)
{
    if (lanes->count > 0)
        lanes_on_threads(lanes, drop_context);
}

struct op job_op(const char *name, bool threaded)
{
    struct op op = lanes_op("shmem", name, threaded);
    op.family = "openshmem";
    op.thread_level = threaded ? "multiple" : NULL;
    return op;
}
