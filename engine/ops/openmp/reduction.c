/* omp.reduction, omp.scan: results that all threads contribute to. */
#include "ops/families.h"
#include "ops/openmp/construct.h"

#include <stdlib.h>

enum { REDUCTION_FORM = 1, REDUCTION_WHERE, REDUCTION_ELEMENTS };
enum { FORM_SCALAR, FORM_ARRAY, FORM_USER, FORMS };
enum { WHERE_PARALLEL, WHERE_FOR };
static const char *const form_words[] = {"scalar", "array", "user", NULL};
static const char *const where_words[] = {"parallel", "for", NULL};

static const struct param reduction_params[] = {
    OMP_SPIN_PARAM,
    [REDUCTION_FORM] =
        PARAM_WORDS("form", "an integer, an array of integers, or a declared reduction", form_words),
    [REDUCTION_WHERE] = PARAM_WORDS("where", "the construct that has the clause", where_words),
    [REDUCTION_ELEMENTS] = {"elements", "", "elements of the array", 64, 1, 65536},
    {0},
};

/* `user` combines a sum and a maximum. */
struct both {
    int64_t sum, most;
};

static inline void both_add(struct both *into, struct both from)
{
    into->sum += from.sum;
    into->most = from.most > into->most ? from.most : into->most;
}

#pragma omp declare reduction(both : struct both : both_add(&omp_out, omp_in))                               \
    initializer(omp_priv = (struct both){0, 0})

/* The value that a thread adds in each repetition. */
static inline int64_t mine(void)
{
    return omp_get_thread_num() + 1;
}

static void scalar_parallel_loop(struct omp *o, int64_t reps)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads) reduction(+ : sum)
        {
            o->body(o, i);
            sum += mine();
        }
    }
    *(int64_t *)o->own = sum;
}

static void scalar_for_loop(struct omp *o, int64_t reps)
{
    int64_t sum = 0;
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp for schedule(static) reduction(+ : sum)
        for (int k = 0; k < o->threads; ++k) {
            o->body(o, k);
            sum += k + 1;
        }
    }
    *(int64_t *)o->own = sum;
}

/* Each thread adds to the first element and to the last. The others are combined all the same. */
static inline void array_add(int64_t *array, int64_t length, int64_t value)
{
    array[0] += value;
    array[length - 1] += value;
    omp_escape(array);
}

static void array_parallel_loop(struct omp *o, int64_t reps)
{
    int64_t *sum = o->own;
    const int64_t length = o->length;
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads) reduction(+ : sum[ : length])
        {
            o->body(o, i);
            array_add(sum, length, mine());
        }
    }
}

/* A function, because GCC frees the stack of the threads' copies at the end of the function, not of the
 * construct. */
static __attribute__((noinline)) void array_for_once(struct omp *o, int64_t *sum, int64_t length)
{
#pragma omp for schedule(static) reduction(+ : sum[ : length])
    for (int k = 0; k < o->threads; ++k) {
        o->body(o, k);
        array_add(sum, length, k + 1);
    }
}

static void array_for_loop(struct omp *o, int64_t reps)
{
    int64_t *sum = o->own;
    const int64_t length = o->length;
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i)
        array_for_once(o, sum, length);
}

static void user_parallel_loop(struct omp *o, int64_t reps)
{
    struct both all = {0, 0};
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads) reduction(both : all)
        {
            o->body(o, i);
            both_add(&all, (struct both){mine(), mine()});
        }
    }
    *(struct both *)o->own = all;
}

static void user_for_loop(struct omp *o, int64_t reps)
{
    struct both all = {0, 0};
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp for schedule(static) reduction(both : all)
        for (int k = 0; k < o->threads; ++k) {
            o->body(o, k);
            both_add(&all, (struct both){k + 1, k + 1});
        }
    }
    *(struct both *)o->own = all;
}

static int reduction_pick(const struct op_env *env)
{
    return 2 * (int)env->params[REDUCTION_FORM] + (int)env->params[REDUCTION_WHERE];
}

static int reduction_open(struct omp *o)
{
    const bool is_array = (int)o->env->params[REDUCTION_FORM] == FORM_ARRAY;
    o->length = is_array ? (int64_t)o->env->params[REDUCTION_ELEMENTS] : 2;
    o->own = omp_lines((size_t)o->length * sizeof(int64_t));
    return o->own ? 0 : err_say(ERR_NOMEM, "no memory for %lld elements", (long long)o->length);
}

static void own_free(struct omp *o)
{
    free(o->own);
}

static int result_check(int64_t found, int64_t expected, int64_t element)
{
    return found == expected ? 0
                             : err_say(ERR_WRONG, "element %lld of the reduction is %lld, should be %lld",
                                       (long long)element, (long long)found, (long long)expected);
}

/* Check every element after one more loop, from zero. */
static int reduction_check(struct omp *o, int64_t reps)
{
    const int form = (int)o->env->params[REDUCTION_FORM];
    const int64_t threads = o->threads, sum = reps * threads * (threads + 1) / 2;
    int64_t *found = o->own;
    for (int64_t k = 0; k < o->length; ++k)
        found[k] = 0;
    o->loop(o, reps);
    if (form == FORM_SCALAR)
        return result_check(found[0], sum, 0);
    if (form == FORM_USER) {
        int err = result_check(found[0], sum, 0);
        return err ? err : result_check(found[1], threads, 1);
    }
    int err = 0;
    for (int64_t k = 0; k < o->length && !err; ++k) {
        const int64_t ends = (k == 0) + (k == o->length - 1);
        err = result_check(found[k], sum * ends, k);
    }
    return err;
}

/* scan: the sums up to each iteration of a shared loop. */

enum { SCAN_FORM = 1, SCAN_ITERATIONS };
static const char *const scan_words[] = {"inclusive", "exclusive", NULL};

static const struct param scan_params[] = {
    OMP_SPIN_PARAM,
    [SCAN_FORM] = PARAM_WORDS(
        "form", "inclusive: an iteration's sum contains its own part; exclusive: it does not", scan_words),
    [SCAN_ITERATIONS] = {"iterations", "", "iterations for each thread", 1, 1, 65536},
    {0},
};

static void inclusive_loop(struct omp *o, int64_t reps)
{
    int64_t sum = 0, *sums = o->own;
    const int64_t length = o->length;
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
        OMP_FOR_INSCAN
        for (int64_t k = 0; k < length; ++k) {
            o->body(o, k);
            sum += k + 1;
            OMP_SCAN_INCLUSIVE
            sums[k] = sum;
        }
    }
}

static void exclusive_loop(struct omp *o, int64_t reps)
{
    int64_t sum = 0, *sums = o->own;
    const int64_t length = o->length;
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
        OMP_FOR_INSCAN
        for (int64_t k = 0; k < length; ++k) {
            sums[k] = sum;
            OMP_SCAN_EXCLUSIVE
            o->body(o, k);
            sum += k + 1;
        }
    }
}

static int scan_pick(const struct op_env *env)
{
    return (int)env->params[SCAN_FORM];
}

static int scan_open(struct omp *o)
{
    o->share = (int64_t)o->env->params[SCAN_ITERATIONS];
    o->length = o->share * o->threads;
    o->own = omp_lines((size_t)o->length * sizeof(int64_t));
    return o->own ? 0 : err_say(ERR_NOMEM, "no memory for %lld sums", (long long)o->length);
}

/* Check the sums of the last repetition, which continue those before it. */
static int scan_check(struct omp *o, int64_t reps)
{
    const int64_t *sums = o->own, length = o->length, before = (reps - 1) * length * (length + 1) / 2;
    const bool inclusive = (int)o->env->params[SCAN_FORM] == 0;
    for (int64_t k = 0; k < length; ++k) {
        const int64_t expected = before + (inclusive ? (k + 1) * (k + 2) : k * (k + 1)) / 2;
        if (sums[k] != expected)
            return err_say(ERR_WRONG, "sum %lld of the scan is %lld, should be %lld", (long long)k,
                           (long long)sums[k], (long long)expected);
    }
    return 0;
}

static const struct omp_row rows[] = {
    {.name = "omp.reduction",
     .summary = "a construct with a reduction to which each thread contributes",
     .reference = "omp.reference_update",
     .loops = OMP_LOOPS(scalar_parallel_loop, scalar_for_loop, array_parallel_loop, array_for_loop,
                        user_parallel_loop, user_for_loop),
     .params = reduction_params,
     .inside = true,
     .pick = reduction_pick,
     .open = reduction_open,
     .close = own_free,
     .check = reduction_check,
     .marks = MARKS_FENCED,
     .delays = DELAYS_ONE},
    {.name = "omp.scan",
     .summary = "a shared loop that computes the sum up to each iteration",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(inclusive_loop, exclusive_loop),
     .params = scan_params,
     .missing = OMP_SCAN_MISSING,
     .inside = true,
     .pick = scan_pick,
     .open = scan_open,
     .close = own_free,
     .check = scan_check,
     .marks = MARKS_ALL,
     .delays = DELAYS_ONE},
};

static void op_at(size_t i, struct op *op)
{
    omp_row_op(&rows[i], op);
}

const struct op_family omp_reduction_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
