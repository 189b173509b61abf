/* omp.for, omp.parallel_for: iterations distributed by each schedule. */
#include "ops/families.h"
#include "ops/openmp/construct.h"

#include <stdlib.h>

enum { FOR_SCHEDULE = 1, FOR_CHUNK, FOR_ITERATIONS };
enum {
    STATIC,
    DYNAMIC,
    GUIDED,
    AUTO,
    MONOTONIC_DYNAMIC,
    MONOTONIC_GUIDED,
    RUNTIME,
    STATIC_CHUNKS /* static, where a chunk is given */
};
static const char *const schedule_words[] = {
    "static", "dynamic", "guided", "auto", "monotonic_dynamic", "monotonic_guided", "runtime", NULL};

static const struct param for_params[] = {
    OMP_SPIN_PARAM,
    [FOR_SCHEDULE] = PARAM_WORDS("schedule",
                                 "how iterations are assigned to threads; runtime: a static schedule that is "
                                 "looked up when the loop begins",
                                 schedule_words),
    [FOR_CHUNK] = {"chunk", "", "iterations that a thread takes at a time; 0: the schedule's choice", 0, 0,
                   1e6},
    [FOR_ITERATIONS] = {"iterations", "", "iterations for each thread", 1, 1, 1e6},
    {0},
};

/* The schedule outside, which `runtime` changes. */
struct outside {
    omp_sched_t kind;
    int chunk;
};

static int for_pick(const struct op_env *env)
{
    const int schedule = (int)env->params[FOR_SCHEDULE];
    return schedule == STATIC && env->params[FOR_CHUNK] > 0 ? STATIC_CHUNKS : schedule;
}

static int for_open(struct omp *o)
{
    const double *p = o->env->params;
    o->share = (int64_t)p[FOR_ITERATIONS];
    o->length = o->share * o->threads;
    if (p[FOR_CHUNK] > 0 && (int)p[FOR_SCHEDULE] == AUTO)
        return err_say(ERR_UNSUPPORTED, "the schedule auto has no chunk; leave chunk out");
    const int pick = for_pick(o->env);
    const bool even = pick == STATIC || (pick == RUNTIME && p[FOR_CHUNK] <= 0);
    o->marks = even ? MARKS_FENCED : MARKS_ALL;
    struct outside *outside = calloc(1, sizeof *outside);
    o->indexes = calloc((size_t)o->length, sizeof *o->indexes);
    o->own = outside;
    if (!outside || !o->indexes)
        return err_say(ERR_NOMEM, "no memory for %lld iterations", (long long)o->length);
    omp_get_schedule(&outside->kind, &outside->chunk);
    if (pick == RUNTIME)
        omp_set_schedule(omp_sched_static, (int)p[FOR_CHUNK]);
    return 0;
}

static void for_close(struct omp *o)
{
    const struct outside *outside = o->own;
    if (outside && o->indexes && for_pick(o->env) == RUNTIME)
        omp_set_schedule(outside->kind, outside->chunk);
    free(o->own);
}

static inline int64_t chunk_of(const struct op_env *env)
{
    return env->params[FOR_CHUNK] > 0 ? (int64_t)env->params[FOR_CHUNK] : 1;
}

/* A loop under one schedule. The macro holds no control flow but the loops that all schedules share. */
#define FOR_LOOP(name, pragma)                                                                               \
    static void name##_loop(struct omp *o, int64_t reps)                                                     \
    {                                                                                                        \
        const int64_t length = o->length, chunk = chunk_of(o->env);                                          \
        (void)chunk;                                                                                         \
        _Pragma("omp parallel num_threads(o->threads)") for (int64_t i = 0; i < reps; ++i)                   \
        {                                                                                                    \
            pragma for (int64_t k = 0; k < length; ++k) o->body(o, k);                                       \
        }                                                                                                    \
    }

FOR_LOOP(static, _Pragma("omp for schedule(static)"))
FOR_LOOP(static_chunks, _Pragma("omp for schedule(static, chunk)"))
FOR_LOOP(dynamic, _Pragma("omp for schedule(dynamic, chunk)"))
FOR_LOOP(guided, _Pragma("omp for schedule(guided, chunk)"))
FOR_LOOP(auto, _Pragma("omp for schedule(auto)"))
FOR_LOOP(monotonic_dynamic, _Pragma("omp for schedule(monotonic : dynamic, chunk)"))
FOR_LOOP(monotonic_guided, _Pragma("omp for schedule(monotonic : guided, chunk)"))
FOR_LOOP(runtime, _Pragma("omp for schedule(runtime)"))

enum { PARALLEL_FOR_ITERATIONS = 1 };

static const struct param parallel_for_params[] = {
    OMP_SPIN_PARAM,
    [PARALLEL_FOR_ITERATIONS] = {"iterations", "", "iterations for each thread", 1, 1, 1e6},
    {0},
};

static void parallel_for_loop(struct omp *o, int64_t reps)
{
    const int64_t length = o->length;
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel for schedule(static) num_threads(o->threads)
        for (int64_t k = 0; k < length; ++k)
            o->body(o, k);
    }
}

static int parallel_for_open(struct omp *o)
{
    o->share = (int64_t)o->env->params[PARALLEL_FOR_ITERATIONS];
    o->length = o->share * o->threads;
    return 0;
}

/* The thread that has index k under a static schedule. */
static int64_t static_owner(const struct omp *o, int64_t k)
{
    const int64_t chunk = (int64_t)o->env->params[FOR_CHUNK];
    return chunk > 0 ? k / chunk % o->threads : k / o->share;
}

/* The length of the shortest stretch of indexes that one thread did. The last one is left out, because it may
 * be a rest. */
static int64_t shortest_stretch(const struct omp *o)
{
    int64_t shortest = o->length, begin = 0;
    for (int64_t k = 1; k < o->length; ++k)
        if (o->indexes[k].thread != o->indexes[k - 1].thread) {
            shortest = k - begin < shortest ? k - begin : shortest;
            begin = k;
        }
    return shortest;
}

/* Check that each repetition had each index once: by the thread of a static schedule, or in whole chunks. */
static int for_check(struct omp *o, int64_t reps)
{
    const int pick = for_pick(o->env);
    const bool is_static = pick == STATIC || pick == STATIC_CHUNKS || pick == RUNTIME;
    for (int64_t k = 0; k < o->length; ++k) {
        if (o->indexes[k].times != reps)
            return err_say(ERR_WRONG, "iteration %lld was done %lld times in %lld loops", (long long)k,
                           (long long)o->indexes[k].times, (long long)reps);
        if (is_static && o->indexes[k].thread != static_owner(o, k))
            return err_say(ERR_WRONG, "iteration %lld of a static schedule was done by thread %lld, not %lld",
                           (long long)k, (long long)o->indexes[k].thread, (long long)static_owner(o, k));
    }
    const int64_t chunk = chunk_of(o->env), stretch = shortest_stretch(o);
    return pick == AUTO || stretch >= (chunk < o->length ? chunk : o->length)
               ? 0
               : err_say(ERR_WRONG, "a thread did %lld iterations at a time, fewer than the chunk of %lld",
                         (long long)stretch, (long long)chunk);
}

static const struct omp_row rows[] = {
    {.name = "omp.for",
     .summary = "a shared loop, with the barrier at its end",
     .reference = "omp.reference",
     .loops =
         OMP_LOOPS([STATIC] = static_loop, [STATIC_CHUNKS] = static_chunks_loop, [DYNAMIC] = dynamic_loop,
                   [GUIDED] = guided_loop, [AUTO] = auto_loop, [MONOTONIC_DYNAMIC] = monotonic_dynamic_loop,
                   [MONOTONIC_GUIDED] = monotonic_guided_loop, [RUNTIME] = runtime_loop),
     .params = for_params,
     .inside = true,
     .pick = for_pick,
     .open = for_open,
     .close = for_close,
     .check = for_check,
     .delays = DELAYS_ONE},
    {.name = "omp.parallel_for",
     .summary = "a parallel loop: region and shared loop in one",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(parallel_for_loop),
     .params = parallel_for_params,
     .open = parallel_for_open,
     .marks = MARKS_FENCED,
     .delays = DELAYS_ONE},
};

static void op_at(size_t i, struct op *op)
{
    omp_row_op(&rows[i], op);
}

const struct op_family omp_for_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
