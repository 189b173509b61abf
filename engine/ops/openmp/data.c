/* omp.private ... omp.copyin, omp.threadprivate: a clause applied to an array, by its size. */
#include "ops/families.h"
#include "ops/openmp/construct.h"

#include <stdlib.h>
#include <string.h>

static const char SIZES[] = "8,64,1Ki,16Ki,256Ki", OWN_SIZES[] = "8,64,1Ki";

/* Arrays of the threads' own are on their stacks. */
enum { MOST_BYTES = 1024 * 1024 };

/* The array outside: element k is that of `pattern`. */
static int64_t pattern(int64_t k, int64_t turn)
{
    return 3 * k + 7 * turn + 1;
}

struct data {
    int64_t *array;
    int64_t *wrong; /* wrong elements that each thread found, on a line of its own */
    /* What stands in the construct besides the body: nothing when timed, a check of all elements when
     * verified. */
    void (*look)(struct omp *o, const int64_t *array);
};

static void look_away(struct omp *o, const int64_t *array)
{
    (void)o;
    __asm__ volatile("" : : "r"(array) : "memory");
}

static void look_at_all(struct omp *o, const int64_t *array)
{
    struct data *d = o->own;
    int64_t wrong = 0;
    for (int64_t k = 0; k < o->length; ++k)
        wrong += array[k] != pattern(k, 0);
    __atomic_fetch_add(d->wrong, wrong, __ATOMIC_RELAXED);
}

static inline void looked(struct omp *o, const int64_t *array)
{
    ((struct data *)o->own)->look(o, array);
}

static void data_fill(struct omp *o)
{
    int64_t *array = ((struct data *)o->own)->array;
    for (int64_t k = 0; k < o->length; ++k)
        array[k] = pattern(k, 0);
}

static int data_open(struct omp *o)
{
    const size_t bytes = o->env->bytes;
    if (bytes % sizeof(int64_t) != 0 || bytes == 0 || bytes > MOST_BYTES)
        return err_say(ERR_UNSUPPORTED, "the array has a multiple of 8 bytes up to %d, not %zu", MOST_BYTES,
                       bytes);
    struct data *d = o->own = calloc(1, sizeof *d);
    if (!d || !(d->array = omp_lines(bytes)) || !(d->wrong = omp_lines(sizeof *d->wrong)))
        return err_say(ERR_NOMEM, "no memory for an array of %zu bytes", bytes);
    o->length = (int64_t)(bytes / sizeof(int64_t));
    d->look = look_away;
    data_fill(o);
    return 0;
}

static void data_close(struct omp *o)
{
    struct data *d = o->own;
    if (!d)
        return;
    free(d->array);
    free(d->wrong);
    free(d);
}

/* Run once more, with every thread checking every element. The array outside must be unchanged. */
static int data_check(struct omp *o, int64_t reps)
{
    struct data *d = o->own;
    *d->wrong = 0;
    data_fill(o);
    d->look = look_at_all;
    o->loop(o, reps);
    d->look = look_away;
    int64_t outside = 0;
    for (int64_t k = 0; k < o->length; ++k)
        outside += d->array[k] != pattern(k, 0);
    return *d->wrong == 0 && outside == 0
               ? 0
               : err_say(ERR_WRONG, "%lld elements of threads' arrays and %lld of the one outside were wrong",
                         (long long)*d->wrong, (long long)outside);
}

/* private: each thread fills its own array, which must change no other. */
static void private_loop(struct omp *o, int64_t reps)
{
    const struct data *d = o->own;
    const bool looking = d->look == look_at_all;
    const int64_t length = o->length;
    int64_t array[length];
    memcpy(array, d->array, (size_t)length * sizeof array[0]);
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads) private(array)
        {
            omp_escape(array);
            o->body(o, i);
            for (int64_t k = 0; looking && k < length; ++k)
                array[k] = pattern(k, 0);
            looked(o, array);
            array[0] = array[length - 1] = -1;
            omp_escape(array);
        }
    }
    looked(o, array);
}

static void firstprivate_loop(struct omp *o, int64_t reps)
{
    const struct data *d = o->own;
    const int64_t length = o->length;
    int64_t array[length];
    memcpy(array, d->array, (size_t)length * sizeof array[0]);
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads) firstprivate(array)
        {
            o->body(o, i);
            looked(o, array);
            array[0] = array[length - 1] = -1;
            omp_escape(array);
        }
    }
    looked(o, array);
}

/* lastprivate: the last iteration's array is copied out. Those of the others are wrong on purpose. */
static void lastprivate_loop(struct omp *o, int64_t reps)
{
    const struct data *d = o->own;
    const int64_t length = o->length;
    const int threads = o->threads;
    const bool looking = d->look == look_at_all;
    int64_t array[length];
    memcpy(array, d->array, (size_t)length * sizeof array[0]);
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel for schedule(static) num_threads(threads) lastprivate(array)
        for (int k = 0; k < threads; ++k) {
            o->body(o, k);
            for (int64_t e = 0; looking && e < length; ++e)
                array[e] = pattern(e, threads - 1 - k);
            omp_escape(array);
        }
        looked(o, array);
    }
}

/* copyprivate: one thread's array to all others. */
static void copyprivate_loop(struct omp *o, int64_t reps)
{
    const struct data *d = o->own;
    const int64_t length = o->length;
    const bool looking = d->look == look_at_all;
#pragma omp parallel num_threads(o->threads)
    {
        int64_t array[length];
        memcpy(array, d->array, (size_t)length * sizeof array[0]);
        for (int64_t i = 0; i < reps; ++i) {
            array[0] = array[length - 1] = -1;
#pragma omp single copyprivate(array)
            {
                o->body(o, i);
                for (int64_t k = 0; looking && k < length; ++k)
                    array[k] = pattern(k, 0);
                omp_escape(array);
            }
            looked(o, array);
        }
    }
}

/* threadprivate: the one construct that needs variables at file scope. They keep nothing from one sample to
 * the next. The table has fixed sizes. There are no larger ones, because every new thread of the process must
 * clear its own copy, which would show in pthread.create. */
#define OWN_OF(words)                                                                                        \
    static int64_t own_##words[words];                                                                       \
    OMP_DO(omp threadprivate(own_##words))                                                                   \
    static void copyin_##words##_loop(struct omp *o, int64_t reps)                                           \
    {                                                                                                        \
        memcpy(own_##words, ((const struct data *)o->own)->array, sizeof own_##words);                       \
        for (int64_t i = 0; i < reps; ++i) {                                                                 \
            OMP_DO(omp parallel num_threads(o->threads) copyin(own_##words))                                 \
            {                                                                                                \
                o->body(o, i);                                                                               \
                looked(o, own_##words);                                                                      \
                if (omp_get_thread_num() > 0)                                                                \
                    own_##words[words - 1] = -1;                                                             \
            }                                                                                                \
        }                                                                                                    \
    }

OWN_OF(1)
OWN_OF(8)
OWN_OF(128)

static const int own_words[] = {1, 8, 128};
enum { OWNS = sizeof own_words / sizeof own_words[0] };

static int copyin_pick(const struct op_env *env)
{
    for (int i = 0; i < OWNS; ++i)
        if (env->bytes == (size_t)own_words[i] * sizeof(int64_t))
            return i;
    return 0;
}

static int copyin_open(struct omp *o)
{
    if (o->env->bytes != (size_t)own_words[copyin_pick(o->env)] * sizeof(int64_t))
        return err_say(ERR_UNSUPPORTED, "there is no threadprivate array of %zu bytes; give one of %s",
                       o->env->bytes, OWN_SIZES);
    return data_open(o);
}

/* threadprivate: an access to a variable of each thread's own, looked up anew each time. */

static int64_t own_count;
#pragma omp threadprivate(own_count)

static void threadprivate_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel num_threads(o->threads)
    {
        own_count = 0;
        for (int64_t i = 0; i < reps; ++i) {
            o->body(o, i);
            own_count += omp_get_thread_num() + 1;
            omp_escape(&own_count);
        }
        o->slots[omp_get_thread_num()].value = own_count;
    }
}

static int threadprivate_check(struct omp *o, int64_t reps)
{
    for (int i = 0; i < o->threads; ++i)
        if (o->slots[i].value != reps * (i + 1))
            return err_say(ERR_WRONG, "thread %d counted to %lld in its own variable, not to %lld", i,
                           (long long)o->slots[i].value, (long long)(reps * (i + 1)));
    return 0;
}

#define ARRAY_ROW                                                                                            \
    .reference = "omp.reference", .params = omp_spin_params, .close = data_close, .check = data_check,       \
    .delays = DELAYS_ONE

static const struct omp_row rows[] = {
    {.name = "omp.private",
     .summary = "a parallel region with a private array",
     .loops = OMP_LOOPS(private_loop),
     .default_bytes = SIZES,
     .open = data_open,
     .marks = MARKS_FENCED,
     ARRAY_ROW},
    {.name = "omp.firstprivate",
     .summary = "a parallel region with a firstprivate array",
     .loops = OMP_LOOPS(firstprivate_loop),
     .default_bytes = SIZES,
     .open = data_open,
     .marks = MARKS_FENCED,
     ARRAY_ROW},
    {.name = "omp.lastprivate",
     .summary = "a parallel shared loop with a lastprivate array",
     .loops = OMP_LOOPS(lastprivate_loop),
     .default_bytes = SIZES,
     .open = data_open,
     .marks = MARKS_FENCED,
     ARRAY_ROW},
    {.name = "omp.copyprivate",
     .summary = "a single construct that gives its array to all threads",
     .loops = OMP_LOOPS(copyprivate_loop),
     .default_bytes = SIZES,
     .inside = true,
     .open = data_open,
     .marks = MARKS_ORDERED,
     ARRAY_ROW},
    {.name = "omp.copyin",
     .summary = "a parallel region that gives the primary thread's threadprivate array to all threads",
     .loops = OMP_LOOPS(copyin_1_loop, copyin_8_loop, copyin_128_loop),
     .default_bytes = OWN_SIZES,
     .pick = copyin_pick,
     .open = copyin_open,
     .marks = MARKS_FENCED,
     ARRAY_ROW},
    {.name = "omp.threadprivate",
     .summary = "an addition to a threadprivate variable",
     .reference = "omp.reference_update",
     .loops = OMP_LOOPS(threadprivate_loop),
     .params = omp_spin_params,
     .inside = true,
     .check = threadprivate_check,
     .marks = MARKS_EACH,
     .delays = DELAYS_ONE},
};

static void op_at(size_t i, struct op *op)
{
    omp_row_op(&rows[i], op);
}

const struct op_family omp_data_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
