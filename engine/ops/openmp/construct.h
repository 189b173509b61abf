/* What the files omp_*.c share: a team of threads, the body that stands inside every construct, and how a row
 * becomes an op.
 *
 * A row is the loop that repeats a construct. Inside the construct it calls a body, through a pointer: one
 * that does nothing or waits a known time when it is timed, and one that writes down who was there, when and
 * in which order when it is verified. So what is verified is the very code that is timed. The same call of
 * the same body by all threads at once, without the construct, is `omp.reference`: what a construct takes
 * beyond that is its overhead (Bull, Measuring synchronisation and scheduling overheads in OpenMP, EWOMP
 * 1999; there the reference is one thread's). */
#ifndef OPS_OPENMP_CONSTRUCT_H
#define OPS_OPENMP_CONSTRUCT_H

#include "base/err.h"
#include "core/op.h"
#include "ops/common/delay.h"
#include "ops/openmp/compat.h"

enum { OMP_CACHE_LINE = 64 };

struct omp;

/* A table of loops. */
#define OMP_LOOPS(...) ((void (*const[])(struct omp *o, int64_t reps)){__VA_ARGS__})

/* NAME_loop: all threads of a region do the bodies, with a directive BEFORE or AFTER each. */
#define OMP_LOOP(name, before, after)                                                                        \
    static void name##_loop(struct omp *o, int64_t reps)                                                     \
    {                                                                                                        \
        OMP_DO(omp parallel num_threads(o->threads))                                                         \
        for (int64_t i = 0; i < reps; ++i) {                                                                 \
            before o->body(o, i);                                                                            \
            after                                                                                            \
        }                                                                                                    \
    }

/* What one repetition must have done. A share is o->share bodies. */
enum omp_marks {
    MARKS_EACH,      /* a share by each thread */
    MARKS_FENCED,    /* the same, and none begins the next before all have done this */
    MARKS_ORDERED,   /* one body, by anybody, in the order of the repetitions */
    MARKS_EXCLUSIVE, /* one body, by anybody, and never two at once */
    MARKS_ALL,       /* a share for each thread, whoever does them */
    MARKS_SOME,      /* from one to a share for each thread: it was cancelled on the way */
};

struct omp_row {
    const char *name, *summary, *reference;
    void (*const *loops)(
        struct omp *o,
        int64_t reps); /* one, or one for each value of the parameter FORM; or as `pick` says */
    const struct param *params;
    enum omp_marks marks;
    enum op_delays delays;
    const char *missing;
    const char *default_bytes;
    bool inside; /* the loop stands inside a region, which is entered once in a sample */
    int (*pick)(const struct op_env *env);
    int (*open)(struct omp *o);                /* after the rest of setup; may change marks and share */
    void (*close)(struct omp *o);              /* also after a failed `open` */
    int (*check)(struct omp *o, int64_t reps); /* of data, after `reps` repetitions with marks */
    int (*verify)(void *state);                /* NULL: with the usual marks */
};

enum { OMP_SPIN, OMP_FORM }; /* the first parameters of every row that has them */
#define OMP_SPIN_PARAM [OMP_SPIN] = DELAY_PARAM
extern const struct param omp_spin_params[];

struct omp_slot { /* one for each thread, on a cache line of its own */
    _Alignas(OMP_CACHE_LINE) int64_t count;
    int64_t wrong; /* marks that should not have been possible */
    int64_t value; /* for the row */
};

struct omp_index { /* of a shared loop: who did it last, and how often it was done */
    int64_t thread, times;
};

struct omp {
    const struct op_env *env;
    const struct omp_row *row;
    void (*loop)(struct omp *o, int64_t reps);
    void (*body)(struct omp *o, int64_t index);
    struct omp_slot *slots;
    int threads;
    int team; /* threads in the innermost region around a body */
    int64_t share;
    int64_t length; /* iterations of a loop that is shared; elements of an array */
    enum omp_marks marks;
    struct delay delay;
    void *own;                                     /* the row's */
    struct omp_index *indexes;                     /* `length` of them; NULL where nobody asks */
    bool failed;                                   /* what an op that calls the system met in `run` */
    _Alignas(OMP_CACHE_LINE) int64_t inside, next; /* of marks that exclude each other or have an order */
};

/* This thread's share of `reps` repetitions, which are dealt to all threads. */
static inline int64_t omp_dealt(const struct omp *o, int64_t reps)
{
    const int64_t thread = omp_get_thread_num(), threads = o->threads;
    return reps * (thread + 1) / threads - reps * thread / threads;
}

/* An array that the compiler must take for used and changed. */
static inline void omp_escape(void *array)
{
    __asm__ volatile("" : : "r"(array) : "memory");
}

/* Memory that stands on cache lines of its own; zero. NULL without. */
void *omp_lines(size_t bytes);

/* Run the loop with marks, and check them; the bodies are `mark`, or the usual one for NULL. */
int omp_verify_with(struct omp *o, int64_t reps, void (*mark)(struct omp *o, int64_t index));

/* The usual mark, for rows that add to it. `thread` stands for its slot. */
void omp_mark_at(struct omp *o, int64_t index, int thread);

/* The op of a row. */
void omp_row_op(const struct omp_row *row, struct op *op);

#endif
