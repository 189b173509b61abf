/* omp.lock, omp.nest_lock: OpenMP's locks, one for all threads or one for each. */
#include "ops/families.h"
#include "ops/openmp/construct.h"

#include <stdlib.h>

struct locks { /* one for each thread, on a cache line of its own */
    _Alignas(OMP_CACHE_LINE) omp_lock_t lock;
    omp_nest_lock_t nest;
};

enum { LOCK_USE = 1, LOCK_HINT, LOCK_LEVELS };
enum { USE_SHARED, USE_OWN };
static const char *const use_words[] = {"shared", "own", NULL};
static const char *const hint_words[] = {"none", "uncontended", "contended", "speculative", NULL};

static const struct param lock_params[] = {
    OMP_SPIN_PARAM,
    [LOCK_USE] =
        PARAM_WORDS("use", "one lock for which all threads queue, or one for each thread", use_words),
    [LOCK_HINT] = PARAM_WORDS("hint", "hint to the run-time system", hint_words),
    {0},
};

static const struct param nest_params[] = {
    OMP_SPIN_PARAM,
    [LOCK_USE] =
        PARAM_WORDS("use", "one lock for which all threads queue, or one for each thread", use_words),
    [LOCK_HINT] = PARAM_WORDS("hint", "hint to the run-time system", hint_words),
    [LOCK_LEVELS] = {"levels", "", "how often its owner sets it, nested", 1, 1, 1000},
    {0},
};

static int lock_pick(const struct op_env *env)
{
    return (int)env->params[LOCK_USE];
}

static int lock_open(struct omp *o)
{
    static const omp_lock_hint_t hints[] = {omp_lock_hint_none, omp_lock_hint_uncontended,
                                            omp_lock_hint_contended, omp_lock_hint_speculative};
    const omp_lock_hint_t hint = hints[(int)o->env->params[LOCK_HINT]];
    const char *missing = OMP_HINTS_MISSING;
    if (hint != omp_lock_hint_none && missing)
        return err_say(ERR_UNSUPPORTED, "%s", missing);
    struct locks *locks = omp_lines((size_t)o->threads * sizeof *locks);
    if (!locks)
        return err_say(ERR_NOMEM, "no memory for %d locks", o->threads);
    for (int i = 0; i < o->threads; ++i) {
        OMP_LOCK_INIT(&locks[i].lock, hint);
        OMP_NEST_LOCK_INIT(&locks[i].nest, hint);
    }
    o->own = locks;
    if ((int)o->env->params[LOCK_USE] == USE_OWN)
        o->marks = MARKS_EACH;
    return 0;
}

static void lock_close(struct omp *o)
{
    struct locks *locks = o->own;
    for (int i = 0; locks && i < o->threads; ++i) {
        omp_destroy_lock(&locks[i].lock);
        omp_destroy_nest_lock(&locks[i].nest);
    }
    free(locks);
}

static inline void lock_pass(struct omp *o, omp_lock_t *lock, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
        omp_set_lock(lock);
        o->body(o, i);
        omp_unset_lock(lock);
    }
}

static inline void nest_pass(struct omp *o, omp_nest_lock_t *lock, int levels, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
        for (int d = 0; d < levels; ++d)
            omp_set_nest_lock(lock);
        o->body(o, i);
        for (int d = 0; d < levels; ++d)
            omp_unset_nest_lock(lock);
    }
}

static void lock_shared_loop(struct omp *o, int64_t reps)
{
    struct locks *locks = o->own;
#pragma omp parallel num_threads(o->threads)
    lock_pass(o, &locks[0].lock, omp_dealt(o, reps));
}

static void lock_own_loop(struct omp *o, int64_t reps)
{
    struct locks *locks = o->own;
#pragma omp parallel num_threads(o->threads)
    lock_pass(o, &locks[omp_get_thread_num()].lock, reps);
}

static void nest_shared_loop(struct omp *o, int64_t reps)
{
    struct locks *locks = o->own;
    const int levels = (int)o->env->params[LOCK_LEVELS];
#pragma omp parallel num_threads(o->threads)
    nest_pass(o, &locks[0].nest, levels, omp_dealt(o, reps));
}

static void nest_own_loop(struct omp *o, int64_t reps)
{
    struct locks *locks = o->own;
    const int levels = (int)o->env->params[LOCK_LEVELS];
#pragma omp parallel num_threads(o->threads)
    nest_pass(o, &locks[omp_get_thread_num()].nest, levels, reps);
}

static const struct omp_row rows[] = {
    {.name = "omp.lock",
     .summary = "set and unset a lock",
     .reference = "omp.reference",
     .loops = OMP_LOOPS([USE_SHARED] = lock_shared_loop, [USE_OWN] = lock_own_loop),
     .params = lock_params,
     .inside = true,
     .pick = lock_pick,
     .open = lock_open,
     .close = lock_close,
     .marks = MARKS_EXCLUSIVE,
     .delays = DELAYS_ONE},
    {.name = "omp.nest_lock",
     .summary = "set and unset a nestable lock",
     .reference = "omp.reference",
     .loops = OMP_LOOPS([USE_SHARED] = nest_shared_loop, [USE_OWN] = nest_own_loop),
     .params = nest_params,
     .inside = true,
     .pick = lock_pick,
     .open = lock_open,
     .close = lock_close,
     .marks = MARKS_EXCLUSIVE,
     .delays = DELAYS_ONE},
};

static void op_at(size_t i, struct op *op)
{
    omp_row_op(&rows[i], op);
}

const struct op_family omp_lock_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
