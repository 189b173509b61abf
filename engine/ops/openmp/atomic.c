/* omp.atomic: each form of it, relaxed or sequentially consistent, on one variable of all threads or on one
 * of each. A repetition is one operation by every thread. */
#include "ops/families.h"
#include "ops/openmp/construct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ATOMIC_FORM = 1, ATOMIC_ORDER, ATOMIC_USE };
enum { FORM_READ, FORM_WRITE, FORM_UPDATE, FORM_CAPTURE, FORM_COMPARE, FORM_DOUBLE, FORMS };
enum { USE_SHARED, USE_OWN };
static const char *const form_words[] = {"read",    "write",         "update", "capture",
                                         "compare", "update_double", NULL};
static const char *const order_words[] = {"relaxed", "seq_cst", NULL};
static const char *const use_words[] = {"shared", "own", NULL};

static const struct param atomic_params[] = {
    OMP_SPIN_PARAM,
    [ATOMIC_FORM] = {.name = "form",
                     .unit = "",
                     .summary = "the atomic operation",
                     .normal = FORM_UPDATE,
                     .most = FORMS - 1,
                     .words = form_words},
    [ATOMIC_ORDER] = PARAM_WORDS("order", "memory order", order_words),
    [ATOMIC_USE] = PARAM_WORDS("use", "one variable for all threads, or one for each", use_words),
    {0},
};

/* Slots 0 .. T-1 are the threads' targets. If they are `shared`, all point to the first. */
struct targets {
    struct omp_slot *slots;
    bool shared;
};

static inline int64_t *target_mine(const struct omp *o)
{
    const struct targets *t = o->own;
    return &t->slots[t->shared ? 0 : omp_get_thread_num()].value;
}

/* The result of a loop, stored where nothing else is, so that no read can be left out. For reads it is the
 * sum, for captures the sum of the old values. */
static inline void seen_keep(struct omp *o, int64_t seen)
{
    o->slots[omp_get_thread_num()].value = seen;
}

/* A loop of one form. The macro holds no control flow but the loop that all forms share. */
#define ATOMIC_LOOP(name, before, pragma, statement)                                                         \
    static void name##_loop(struct omp *o, int64_t reps)                                                     \
    {                                                                                                        \
        _Pragma("omp parallel num_threads(o->threads)")                                                      \
        {                                                                                                    \
            int64_t *const x = target_mine(o);                                                               \
            int64_t seen = 0, v = 0;                                                                         \
            for (int64_t i = 0; i < reps; ++i) {                                                             \
                o->body(o, i);                                                                               \
                before;                                                                                      \
                pragma statement;                                                                            \
                seen += v;                                                                                   \
            }                                                                                                \
            seen_keep(o, seen);                                                                              \
        }                                                                                                    \
    }

ATOMIC_LOOP(read, , _Pragma("omp atomic read"), v = *x)
ATOMIC_LOOP(read_seq, , _Pragma("omp atomic read seq_cst"), v = *x)
ATOMIC_LOOP(write, v = 1, _Pragma("omp atomic write"), *x = i + 1)
ATOMIC_LOOP(write_seq, v = 1, _Pragma("omp atomic write seq_cst"), *x = i + 1)
ATOMIC_LOOP(update, v = 1, _Pragma("omp atomic update"), *x += 1)
ATOMIC_LOOP(update_seq, v = 1, _Pragma("omp atomic update seq_cst"), *x += 1)
ATOMIC_LOOP(capture, , _Pragma("omp atomic capture"), v = (*x)++)
ATOMIC_LOOP(capture_seq, , _Pragma("omp atomic capture seq_cst"), v = (*x)++)
ATOMIC_LOOP(compare, v = 1, OMP_ATOMIC_COMPARE, *x = *x < i + 1 ? i + 1 : *x)
ATOMIC_LOOP(compare_seq, v = 1, OMP_ATOMIC_COMPARE_SEQ, *x = *x < i + 1 ? i + 1 : *x)

/* The targets hold whole numbers as doubles. No processor can add to a double atomically, so it compares and
 * swaps. */
ATOMIC_LOOP(update_double, v = 1, _Pragma("omp atomic update"), *(double *)x += 1)
ATOMIC_LOOP(update_double_seq, v = 1, _Pragma("omp atomic update seq_cst"), *(double *)x += 1)

static int atomic_pick(const struct op_env *env)
{
    return 2 * (int)env->params[ATOMIC_FORM] + (int)env->params[ATOMIC_ORDER];
}

static int atomic_open(struct omp *o)
{
    const char *missing = OMP_COMPARE_MISSING;
    if ((int)o->env->params[ATOMIC_FORM] == FORM_COMPARE && missing)
        return err_say(ERR_UNSUPPORTED, "%s", missing);
    struct targets *t = calloc(1, sizeof *t);
    if (!t || !(t->slots = omp_lines((size_t)o->threads * sizeof *t->slots))) {
        free(t);
        return err_say(ERR_NOMEM, "no memory for %d variables", o->threads);
    }
    t->shared = (int)o->env->params[ATOMIC_USE] == USE_SHARED;
    o->own = t;
    return 0;
}

static void atomic_close(struct omp *o)
{
    struct targets *t = o->own;
    if (t)
        free(t->slots);
    free(t);
}

/* The result of `reps` repetitions by each of `writers` threads, from a target that holds `before`. */
static int64_t target_after(int form, int64_t before, int64_t reps, int64_t writers)
{
    switch (form) {
    case FORM_READ:
        return before;
    case FORM_UPDATE:
    case FORM_CAPTURE:
    case FORM_DOUBLE:
        return before + reps * writers;
    default:
        return reps; /* written last, or the greatest */
    }
}

/* Run once more from known values, and check the targets and the values read from them. */
static int atomic_check(struct omp *o, int64_t reps)
{
    enum { BEFORE = 7 };
    const struct targets *t = o->own;
    const int form = (int)o->env->params[ATOMIC_FORM], writers = t->shared ? o->threads : 1;
    const int64_t before = form == FORM_READ ? BEFORE : 0;
    int64_t seen = 0;
    for (int i = 0; i < o->threads; ++i)
        t->slots[i].value = before;
    o->loop(o, reps);
    for (int i = 0; i < o->threads; ++i)
        seen += o->slots[i].value;
    const int64_t after = target_after(form, before, reps, writers);
    for (int i = 0; i < (t->shared ? 1 : o->threads); ++i) {
        if (form == FORM_DOUBLE) {
            double sum = 0;
            memcpy(&sum, &t->slots[i].value, sizeof sum);
            t->slots[i].value = llround(sum);
        }
        if (t->slots[i].value != after)
            return err_say(ERR_WRONG, "%lld atomic %ss by %d threads left %lld, not %lld", (long long)reps,
                           form_words[form], writers, (long long)t->slots[i].value, (long long)after);
    }
    const int64_t all = reps * writers, captured = all * (all - 1) / 2 * (t->shared ? 1 : o->threads);
    const int64_t expected = form == FORM_READ      ? BEFORE * reps * o->threads
                             : form == FORM_CAPTURE ? captured
                                                    : reps * o->threads;
    return seen == expected ? 0
                            : err_say(ERR_WRONG, "values of the atomic %s sum up to %lld, not %lld",
                                      form_words[form], (long long)seen, (long long)expected);
}

static const struct omp_row rows[] = {
    {.name = "omp.atomic",
     .summary = "an atomic construct by each thread",
     .reference = "omp.reference_update",
     .loops = OMP_LOOPS(read_loop, read_seq_loop, write_loop, write_seq_loop, update_loop, update_seq_loop,
                        capture_loop, capture_seq_loop, compare_loop, compare_seq_loop, update_double_loop,
                        update_double_seq_loop),
     .params = atomic_params,
     .inside = true,
     .pick = atomic_pick,
     .open = atomic_open,
     .close = atomic_close,
     .check = atomic_check,
     .marks = MARKS_EACH,
     .delays = DELAYS_ONE},
};

static void op_at(size_t i, struct op *op)
{
    omp_row_op(&rows[i], op);
}

const struct op_family omp_atomic_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
