/* A library of ops, of which -D NAME=... changes a part. mine.count counts its repetitions. */
#include <steelyard/op.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef VERSION
#define VERSION STEELYARD_OP_VERSION
#endif
#ifndef OP_BYTES
#define OP_BYTES sizeof(struct steelyard_op)
#endif
#ifndef MPI_WORD
#define MPI_WORD ""
#endif
#ifndef FAMILY
#define FAMILY "mine"
#endif
#ifndef FIRST
#define FIRST "mine.count"
#endif
#ifndef SECOND
#define SECOND "mine.fault"
#endif
#ifndef PARAM
#define PARAM "kind"
#endif
#ifndef USUAL
#define USUAL 0
#endif
#ifndef VERIFY
#define VERIFY verify
#endif
#ifndef REFERENCE
#define REFERENCE NULL
#endif
#ifndef COUNTED
#define COUNTED counted
#endif
#ifndef COUNT
#define COUNT 2
#endif

struct state {
    const struct steelyard_env *env;
    int64_t done;
};

enum { NONE, WRONG, LIES, CRASH, HANG, EXIT };
static const char *const kinds[] = {"none", "wrong", "lies", "crash", "hang", "exit", NULL};
static const struct steelyard_param params[] = {
    {PARAM, "", "what goes wrong", USUAL, 0, 0, kinds},
    {"amount", "", "what is counted in a repetition", 3, 1, 10, NULL},
    {0},
};

static int setup(const struct steelyard_env *env, void **state)
{
    struct state *s = calloc(1, sizeof *s);
    if (!s)
        return env->fail(STEELYARD_NO_MEMORY, "no memory");
    if (env->params[1] == 7) {
        free(s);
        return env->fail(STEELYARD_UNSUPPORTED, "seven is not for %s", "us");
    }
    s->env = env;
    *state = s;
    return 0;
}

static int run(void *state, int64_t repetitions)
{
    struct state *s = state;
    for (int64_t i = 0; i < repetitions; ++i) {
        s->done += (int64_t)s->env->params[1];
        __asm__ volatile("" ::: "memory");
    }
    return 0;
}

static int verify(void *state)
{
    struct state *s = state;
    const int kind = (int)s->env->params[0];
    const int64_t before = s->done;
    run(s, 1);
    if (kind == CRASH)
        abort();
    if (kind == EXIT)
        _exit(5);
    while (kind == HANG)
        pause();
    if (kind == LIES)
        return -1;
    if (kind == WRONG || s->env->planted)
        s->done += 1;
    const int64_t did = s->done - before;
    return did == (int64_t)s->env->params[1] ? 0
                                             : s->env->fail(STEELYARD_WRONG, "%d was counted, should be %d",
                                                            (int)did, (int)s->env->params[1]);
}

static const char *const counters[] = {"done", NULL};

static void counted(void *state, int64_t *values)
{
    values[0] = ((struct state *)state)->done;
}

static double operations(const struct steelyard_env *env)
{
    return env->params[1];
}

static const struct steelyard_op ops[] = {
    {
        .name = FIRST,
        .summary = "counts",
        .reference = REFERENCE,
        .params = params,
        .setup = setup,
        .run = run,
        .verify = VERIFY,
        .teardown = free,
        .counters = counters,
        .counted = COUNTED,
        .operations = operations,
    },
    {
        .name = SECOND,
        .summary = "fails on purpose",
        .params = params,
        .setup = setup,
        .run = run,
        .verify = verify,
        .teardown = free,
    },
};

__attribute__((visibility("default"))) extern const struct steelyard_library steelyard_library;
const struct steelyard_library steelyard_library = {VERSION,
                                                    sizeof(struct steelyard_library),
                                                    OP_BYTES,
                                                    sizeof(struct steelyard_env),
                                                    sizeof(struct steelyard_param),
                                                    COUNT,
                                                    FAMILY,
                                                    MPI_WORD,
                                                    ops};
