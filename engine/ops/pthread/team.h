/* Shared by the pthread.* and atomic.* ops: threads that work together (the lanes of a pool), idle or busy
 * threads beside them, known delays inside, and one way of checking.
 *
 * The work of an op is one function that is inlined three times: with nothing inside its construct, which is
 * measured; with a known delay (ops/common/delay.h); and with a count. The check runs the third: the inside
 * must have been done as often as asked for, and in turn if lanes take turns. */
#ifndef OPS_PTHREAD_TEAM_H
#define OPS_PTHREAD_TEAM_H

#include "base/pool.h"
#include "core/op.h"
#include "ops/common/delay.h"
#include "ops/pthread/extra_threads.h"

#include <stdatomic.h>

/* Far enough apart that no core fetches the neighbour's line with its own. */
enum { LINE_PAIR = 128 };

enum inside { INSIDE_NOTHING, INSIDE_DELAY, INSIDE_COUNT };

struct thread_team;

/* An op, besides its name. A row of zeros has one thread, one part, one delay. */
struct thread_row {
    const char *name, *summary, *family;
    const char *reference;           /* the calls that one lane makes, alone; NULL: there are other parts */
    const struct param *params;      /* begins with THREADS_PARAMS */
    int least_threads, most_threads; /* 0, 0: one; most 0: any number */
    int parts;                       /* 0 is 1 */
    enum op_delays delays;           /* DELAYS_NONE: params lack THREADS_SPIN_NS, their last */
    bool same_cpu;                   /* all lanes on the CPU of the first */
    bool turns;                      /* lanes take turns: 0, 1, ..., 0, 1, ... */
    const char *counts;              /* the name of what `counted` counts, one in each repetition of each
                                        lane */
    int checked;                     /* repetitions in a check; 0: a thousand */
    size_t size;                     /* of the state, which begins with struct thread_team; 0: only that */

    /* One lane's part of a run. */
    void (*plain)(void *lanes, int lane), (*delayed)(void *lanes, int lane),
        (*counted)(void *lanes, int lane);

    int (*open)(struct thread_team *);   /* after the rest of the setup; on failure nothing is left */
    void (*close)(struct thread_team *); /* of what `open` made */

    /* Set the state from which `counted` starts. */
    void (*reset)(struct thread_team *);

    /* Further checks after `counted`: adds to `right` and `wrong`. */
    void (*look)(struct thread_team *);
};

struct slot { /* of one lane */
    _Alignas(LINE_PAIR) int64_t right, wrong;
};

struct thread_team {
    const struct op_env *env;
    const struct thread_row *row;
    struct pool *pool;
    struct beside *beside;
    struct pinned *pinned; /* of `same_cpu` */
    struct slot *slots;    /* what parallel lanes saw */
    struct delay delay;
    void (*work)(void *lanes, int lane);
    void (*within)(struct thread_team *,
                   int lane); /* the inside of constructs that last much longer than a call */
    int64_t reps;
    atomic_int failed; /* the first error of a call */
    _Alignas(LINE_PAIR) atomic_int_fast64_t met;
    /* Counted where only one lane may be at a time; a broken construct shows here. */
    _Alignas(LINE_PAIR) int64_t right;
    int64_t wrong;
};

/* The first rows of every table of parameters. */
enum { THREADS_EXTRA, THREADS_EXTRA_KIND, THREADS_SPIN_NS, THREADS_OWN };
static const char *const threads_extra_kinds[] = {"idle", "busy", NULL};
#define THREADS_EXTRA_PARAMS                                                                                 \
    [THREADS_EXTRA] = {"extra", "", "extra threads beside the measured ones", 0, 0, 1000},                   \
    [THREADS_EXTRA_KIND] =                                                                                   \
        PARAM_WORDS("extra_kind", "idle: blocked; busy: spinning, on CPUs without a measured thread",        \
                    threads_extra_kinds)
#define THREADS_PARAMS THREADS_EXTRA_PARAMS, [THREADS_SPIN_NS] = DELAY_PARAM

/* The three functions of one body, for a row. */
#define THREADS_INLINE static inline __attribute__((always_inline)) void
#define THREADS_WORK(body)                                                                                   \
    static void body##_plain(void *lanes, int lane)                                                          \
    {                                                                                                        \
        body(lanes, lane, INSIDE_NOTHING);                                                                   \
    }                                                                                                        \
    static void body##_delayed(void *lanes, int lane)                                                        \
    {                                                                                                        \
        body(lanes, lane, INSIDE_DELAY);                                                                     \
    }                                                                                                        \
    static void body##_counted(void *lanes, int lane)                                                        \
    {                                                                                                        \
        body(lanes, lane, INSIDE_COUNT);                                                                     \
    }
#define THREADS_DO(body) .plain = body##_plain, .delayed = body##_delayed, .counted = body##_counted

/* Stay inside, sometimes so long that another lane that can enter does so, even on the same CPU. */
void threads_linger(int64_t count);

/* For constructs that take turns or exclude others: the lanes count to 0, 1, 2, ..., in order if they take
 * turns. */
THREADS_INLINE threads_inside(struct thread_team *l, int lane, enum inside what)
{
    __asm__ volatile("" ::: "memory");
    if (what == INSIDE_DELAY)
        delay_do(&l->delay);
    if (what == INSIDE_COUNT) {
        int64_t seen = l->right;
        l->wrong += seen % l->env->threads != lane;
        threads_linger(seen);
        l->right = seen + 1;
    }
}

/* For constructs that may hold several lanes at once: each has seen the right value, or not. */
THREADS_INLINE threads_saw(struct thread_team *l, int lane, bool right)
{
    l->slots[lane].right += right;
    l->slots[lane].wrong += !right;
}

/* Keep the first error of any call, in any thread. */
static inline void threads_note(struct thread_team *l, int rc)
{
    int none = 0;
    if (rc != 0)
        atomic_compare_exchange_strong(&l->failed, &none, rc);
}

/* One poll of many. A lane yields its core if its partner has no CPU of its own. */
void threads_poll(int64_t *polls);

/* Meet all lanes. Costs a few cache lines. */
void threads_meet(struct thread_team *l);

/* A row as an op. */
void threads_op(const struct thread_row *row, struct op *op);

#endif
