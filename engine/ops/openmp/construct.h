/* Shared by the files omp_*.c: a team of threads, the body inside every construct, and the conversion of a
 * row to an op.
 *
 * A row is the loop that repeats a construct. Inside the construct it calls a body, through a pointer. The
 * timed body does nothing, or waits a known time. The verifying body notes thread, time and order. So the
 * verified code is the timed code. The same call of the same body by all threads at once, without the
 * construct, is `omp.reference`: the rest of a construct's time is its overhead (Bull, Measuring
 * synchronisation and scheduling overheads in OpenMP, EWOMP 1999; there the reference is one thread's). */
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

/* The right result of one repetition. A share is o->share bodies. */
enum omp_marks {
    MARKS_EACH,      /* a share by each thread */
    MARKS_FENCED,    /* the same, and none begins the next before all have finished this */
    MARKS_ORDERED,   /* one body, by any thread, in the order of the repetitions */
    MARKS_EXCLUSIVE, /* one body, by any thread, and never two at once */
    MARKS_ALL,       /* a share for each thread, done by any */
    MARKS_SOME,      /* from one to a share for each thread: it was cancelled */
};

struct omp_row {
    const char *name, *summary, *reference;
    void (*const *loops)(
        struct omp *o,
        int64_t reps); /* one, or one for each value of the parameter FORM; or the choice of `pick` */
    const struct param *params;
    enum omp_marks marks;
    enum op_delays delays;
    const char *missing;
    const char *default_bytes;
    bool inside; /* the loop is inside a region, which is entered once in a sample */
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
    int64_t wrong; /* impossible marks */
    int64_t value; /* for the row */
};

struct omp_index { /* of a shared loop: the last thread that did it, and how often it was done */
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
    int64_t length; /* iterations of a shared loop; elements of an array */
    enum omp_marks marks;
    struct delay delay;
    void *own;                                     /* the row's */
    struct omp_index *indexes;                     /* `length` of them; NULL if not needed */
    bool failed;                                   /* an error in `run` of an op that calls the system */
    _Alignas(OMP_CACHE_LINE) int64_t inside, next; /* of marks that exclude each other or have an order */
};

/* This thread's share of `reps` repetitions, which are divided among all threads. */
static inline int64_t omp_dealt(const struct omp *o, int64_t reps)
{
    const int64_t thread = omp_get_thread_num(), threads = o->threads;
    return reps * (thread + 1) / threads - reps * thread / threads;
}

/* Make the compiler assume that an array is used and changed. */
static inline void omp_escape(void *array)
{
    __asm__ volatile("" : : "r"(array) : "memory");
}

/* Memory on cache lines of its own; zero. NULL for lack of memory. */
void *omp_lines(size_t bytes);

/* Run the loop with marks, and check them; the bodies are `mark`, or the usual one for NULL. */
int omp_verify_with(struct omp *o, int64_t reps, void (*mark)(struct omp *o, int64_t index));

/* The usual mark, for rows that add to it. `thread` selects its slot. */
void omp_mark_at(struct omp *o, int64_t index, int thread);

/* The op of a row. */
void omp_row_op(const struct omp_row *row, struct op *op);

#endif
