#define _GNU_SOURCE
#include "ops/own/own.h"

#include "base/binding.h"
#include "base/json.h"
#include "ops/own/fit.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an op is given, and what its parameters are translated to. The functions of the library are called
 * directly, so an op of the user costs what one of ours costs; hence the input of its setup lives here. */
struct own_row {
    const struct steelyard_op *op;
    struct steelyard_env *env;
};

struct own_op {
    struct own_row row;
    struct steelyard_env env;
    struct param params[PARAMS_MAX + 1];
};

static int fail(enum steelyard_error kind, const char *format, ...)
{
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return err_say((enum err)kind, "%s", text);
}

static void *buffer(const struct steelyard_env *env, size_t bytes)
{
    const struct op_env *engine = env->engine;
    void *data = NULL;
    return buffers_take(engine->buffers, 1, bytes, &data) ? NULL : data;
}

/* A refusal of the kernel is noted there, for the records. */
static void place_thread(int thread)
{
    const int refused = binding_thread(thread < 0 ? -1 : binding_cpu(thread));
    if (refused)
        binding_refuse(refused);
}

/* What the functions of the library see of the engine's input. */
static struct steelyard_env seen(const struct op_env *env)
{
    return (struct steelyard_env){.rank = env->team->rank,
                                  .ranks = env->team->size,
                                  .threads = env->threads,
                                  .bytes = env->bytes,
                                  .params = env->params,
                                  .planted = env->planted,
                                  .fail = fail,
                                  .buffer = buffer,
                                  .place_thread = place_thread,
                                  .engine = (void *)(uintptr_t)env};
}

static int setup(const struct op_env *env, void **state)
{
    const struct own_row *row = env->op->row;
    *row->env = seen(env);
    return row->op->setup(row->env, state);
}

static double moved(const struct op_env *env)
{
    const struct own_row *row = env->op->row;
    const struct steelyard_env input = seen(env);
    return row->op->bytes_moved(&input);
}

static double work(const struct op_env *env)
{
    const struct own_row *row = env->op->row;
    const struct steelyard_env input = seen(env);
    return row->op->operations(&input);
}

static double last_word(const struct steelyard_param *param)
{
    int words = 0;
    while (param->words[words])
        ++words;
    return words - 1;
}

static void translate_params(const struct steelyard_param *from, struct param *to)
{
    for (; from && from->name; ++from)
        *to++ = (struct param){.name = from->name,
                               .unit = from->unit ? from->unit : "",
                               .summary = from->summary ? from->summary : "",
                               .normal = from->usual,
                               .least = from->words ? 0 : from->least,
                               .most = from->words ? last_word(from) : from->most,
                               .words = from->words};
}

static const enum op_class groups[] = {
    [STEELYARD_EACH] = OP_LOCAL, [STEELYARD_PAIR] = OP_P2P, [STEELYARD_ALL] = OP_COLLECTIVE};

static const enum op_flow flows[] = {[STEELYARD_FLOW_NONE] = FLOW_NONE,
                                     [STEELYARD_FLOW_OUT] = FLOW_OUT,
                                     [STEELYARD_FLOW_IN] = FLOW_IN,
                                     [STEELYARD_FLOW_UP] = FLOW_UP,
                                     [STEELYARD_FLOW_ALL] = FLOW_ALL};

static const enum op_role roles[] = {[STEELYARD_CALL] = ROLE_CALL,
                                     [STEELYARD_LATENCY] = ROLE_LATENCY,
                                     [STEELYARD_BANDWIDTH] = ROLE_BANDWIDTH,
                                     [STEELYARD_RATE] = ROLE_RATE,
                                     [STEELYARD_COLLECTIVE] = ROLE_COLLECTIVE,
                                     [STEELYARD_PATTERN] = ROLE_PATTERN,
                                     [STEELYARD_KERNEL] = ROLE_KERNEL};

/* The op of a row that fits; `own` is zero. */
static struct op translate(const struct own_library *library, const char *family,
                           const struct steelyard_op *from, struct own_op *own)
{
    own->row = (struct own_row){from, &own->env};
    translate_params(from->params, own->params);
    const bool threaded = from->least_threads > 1 || from->most_threads < 0 || from->most_threads > 1;
    const int most = from->most_threads == 0 ? from->least_threads : from->most_threads;
    struct op op = {.family = family,
                    .summary = from->summary,
                    .library = library->path,
                    .class = groups[from->group],
                    .role = roles[from->role],
                    .flow = flows[from->flow],
                    .report = from->report == STEELYARD_ROOT ? OP_ROOT : OP_SLOWEST,
                    .parts = from->parts > 0 ? from->parts : 1,
                    .least_ranks = from->least_ranks,
                    .threaded = threaded,
                    .least_threads = from->least_threads,
                    .most_threads = most < 0 ? 0 : most,
                    .default_bytes = from->default_bytes,
                    .reference = from->reference,
                    .params = own->params,
                    .row = &own->row,
                    .setup = setup,
                    .prepare = from->prepare,
                    .run = from->run,
                    .turn = from->turn,
                    .verify = from->verify,
                    .check = from->check,
                    .teardown = from->teardown,
                    .counters = from->counters,
                    .counted = from->counted,
                    .moved = from->bytes_moved ? moved : NULL,
                    .work = from->operations ? work : NULL};
    snprintf(op.name, sizeof op.name, "%s", from->name);
    return op;
}

static int take(struct own_library *library, const struct steelyard_library *found)
{
    struct own_op *own = calloc(found->count, sizeof *own);
    library->ops = calloc(found->count, sizeof *library->ops);
    if (!own || !library->ops) {
        free(own);
        return err_say(ERR_NOMEM, "no memory for the ops of %s", library->path);
    }
    for (uint32_t i = 0; i < found->count; ++i)
        library->ops[i] = translate(library, found->family, &found->ops[i], &own[i]);
    library->count = found->count;
    library->own = own;
    return 0;
}

/* ERR_INPUT: it cannot be loaded; the reason is the sentence. */
static int load(struct own_library *library, const struct own_place *place)
{
    void *handle = dlopen(library->path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return err_say(ERR_INPUT, "%s cannot be loaded: %s", library->path, dlerror());
    const struct steelyard_library *found = dlsym(handle, "steelyard_library");
    if (!found)
        return err_say(
            ERR_INPUT,
            "%s has no operations for Steelyard; it needs STEELYARD_LIBRARY of <steelyard/op.h> once",
            library->path);
    int err = own_fits(library->path, found, place);
    return err ? err : take(library, found);
}

int own_load(const char *paths, const char *mpi, const struct op *ours, size_t our_count,
             struct own_libraries *libraries)
{
    *libraries = (struct own_libraries){0};
    size_t most = paths && paths[0] ? 1 : 0;
    for (const char *c = paths; c && *c; ++c)
        most += *c == ':';
    libraries->rows = calloc(most + 1, sizeof *libraries->rows);
    char *text = strdup(paths ? paths : ""), *rest = text;
    int err = text && libraries->rows ? 0 : err_say(ERR_NOMEM, "no memory for libraries of ops");
    for (char *path = strsep(&rest, ":"); path && !err; path = strsep(&rest, ":")) {
        if (!path[0])
            continue;
        struct own_library *library = &libraries->rows[libraries->count];
        if (!(library->path = strdup(path))) {
            err = err_say(ERR_NOMEM, "no memory for the name of %s", path);
            break;
        }
        const struct own_place place = {mpi, ours, our_count, libraries};
        err = load(library, &place);
        if (err == ERR_INPUT) {
            snprintf(library->why, sizeof library->why, "%s", err_text());
            err = 0;
        }
        ++libraries->count;
    }
    free(text);
    return err;
}

void own_close(struct own_libraries *libraries)
{
    for (size_t i = 0; i < libraries->count; ++i) {
        free(libraries->rows[i].ops);
        free(libraries->rows[i].own);
        free(libraries->rows[i].path);
    }
    free(libraries->rows);
    *libraries = (struct own_libraries){0};
}

int own_expect(const struct own_libraries *libraries)
{
    for (size_t i = 0; i < libraries->count; ++i)
        if (libraries->rows[i].why[0])
            return err_say(ERR_INPUT, "%s", libraries->rows[i].why);
    return 0;
}

void own_describe(const struct own_libraries *libraries, struct json *j)
{
    json_open(j, "not_loaded", '[');
    for (size_t i = 0; i < libraries->count; ++i)
        if (libraries->rows[i].why[0]) {
            json_open(j, NULL, '{');
            json_string(j, "library", libraries->rows[i].path);
            json_string(j, "why", libraries->rows[i].why);
            json_close(j, '}');
        }
    json_close(j, ']');
}
