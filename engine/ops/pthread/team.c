#define _GNU_SOURCE
#include "ops/pthread/team.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CHECKED = 1000 };

/* The functions inside, for constructs so long that the call of a function does not matter. */
static void nothing_within(struct thread_team *l, int lane)
{
    (void)l;
    (void)lane;
}

static void delay_within(struct thread_team *l, int lane)
{
    (void)lane;
    delay_do(&l->delay);
}

static void count_within(struct thread_team *l, int lane)
{
    threads_inside(l, lane, INSIDE_COUNT);
}

static void threads_close(void *state)
{
    struct thread_team *l = state;
    beside_close(l->beside);
    pinned_close(l->pinned);
    pool_close(l->pool);
    free(l->slots);
    free(l);
}

static void teardown(void *state)
{
    struct thread_team *l = state;
    if (l->row->close)
        l->row->close(l);
    threads_close(l);
}

static int threads_open(struct thread_team *l)
{
    const double *params = l->env->params;
    const int extra = (int)params[THREADS_EXTRA];
    const bool busy = params[THREADS_EXTRA_KIND] > 0;
    double delay_ns = l->row->delays == DELAYS_NONE ? 0 : params[THREADS_SPIN_NS];
    int err = process_be_threaded();
    if (!err)
        err = pool_open(l->env->threads, &l->pool);
    if (!err && l->row->same_cpu)
        err = pinned_open(l->pool, &l->pinned);
    if (!err && extra > 0)
        err = beside_open(l->env, extra, busy, l->pool, &l->beside);
    if (!err)
        err = delay_open(delay_ns, &l->delay);
    l->work = delay_ns > 0 ? l->row->delayed : l->row->plain;
    l->within = delay_ns > 0 ? delay_within : nothing_within;
    return err;
}

static void *lines_alloc(size_t size)
{
    size = (size + LINE_PAIR - 1) / LINE_PAIR * LINE_PAIR;
    void *lines = aligned_alloc(LINE_PAIR, size);
    return lines ? memset(lines, 0, size) : NULL;
}

static int setup(const struct op_env *env, void **state)
{
    const struct thread_row *row = env->op->row;
    struct thread_team *l = lines_alloc(row->size ? row->size : sizeof *l);
    if (!l)
        return err_say(ERR_NOMEM, "no memory for the state of %s", row->name);
    l->env = env;
    l->row = row;
    l->slots = lines_alloc((size_t)env->threads * sizeof *l->slots);
    int err = l->slots ? threads_open(l) : err_say(ERR_NOMEM, "no memory for %d threads", env->threads);
    if (!err && row->open)
        err = row->open(l);
    if (err)
        threads_close(l);
    else
        *state = l;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct thread_team *l = state;
    l->reps = reps;
    pool_run(l->pool, l->work, l);
    int failed = atomic_load_explicit(&l->failed, memory_order_relaxed);
    return failed ? err_say(ERR_SYSTEM, "a call of %s failed: %s", l->row->name, strerror(failed)) : 0;
}

/* Run the work with counts inside, then check the counts. */
static int verify(void *state)
{
    struct thread_team *l = state;
    void (*work)(void *, int) = l->work;
    void (*within)(struct thread_team *, int) = l->within;
    const int64_t reps = l->row->checked ? l->row->checked : CHECKED, expected = reps * l->env->threads;
    memset(l->slots, 0, (size_t)l->env->threads * sizeof *l->slots);
    l->right = l->wrong = 0;
    if (l->row->reset)
        l->row->reset(l);
    l->work = l->row->counted;
    l->within = count_within;
    int err = run(l, reps);
    if (!l->row->turns)
        l->wrong = 0; /* it was no thread's turn */
    if (!err && l->row->look)
        l->row->look(l);
    l->work = work;
    l->within = within;
    if (err)
        return err;
    for (int i = 0; i < l->env->threads; ++i) {
        l->right += l->slots[i].right;
        l->wrong += l->slots[i].wrong;
    }
    l->right ^= l->env->planted;
    return l->right == expected && l->wrong == 0
               ? 0
               : err_say(ERR_WRONG, "%s: %lld of %lld %s were counted, and %lld that are wrong", l->row->name,
                         (long long)l->right, (long long)expected, l->row->counts, (long long)l->wrong);
}

void threads_linger(int64_t count)
{
    enum { EVERY = 16 };
    if (count % EVERY == 0)
        syscall(SYS_sched_yield);
}

void threads_poll(int64_t *polls)
{
    enum { POLLS_BEFORE_YIELD = 20000 }; /* some 10 us, more than any hand-over between two CPUs */
    if (++*polls % POLLS_BEFORE_YIELD == 0)
        syscall(SYS_sched_yield); /* not sched_yield(): the count in base/yield is the library's */
}

void threads_meet(struct thread_team *l)
{
    const int64_t lanes = l->env->threads;
    const int64_t mine = atomic_fetch_add(&l->met, 1), all = (mine / lanes + 1) * lanes;
    for (int64_t polls = 0; atomic_load(&l->met) < all;)
        threads_poll(&polls);
}

void threads_op(const struct thread_row *row, struct op *op)
{
    *op = (struct op){.family = row->family,
                      .summary = row->summary,
                      .class = OP_LOCAL,
                      .report = OP_SLOWEST,
                      .parts = row->parts ? row->parts : 1,
                      .threaded = row->least_threads > 0,
                      .least_threads = row->least_threads,
                      .most_threads = row->most_threads,
                      .delays = row->delays,
                      .reference = row->reference,
                      .params = row->params,
                      .row = row,
                      .setup = setup,
                      .run = run,
                      .verify = verify,
                      .teardown = teardown};
    strncpy(op->name, row->name, sizeof op->name - 1);
}
