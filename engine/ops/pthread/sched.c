/* pthread.switch, pthread.slice, pthread.yield, pthread.migrate: how the scheduler treats threads. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "ops/pthread/team.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct param params[] = {THREADS_PARAMS, {0}};
static const struct param slice_params[] = {THREADS_EXTRA_PARAMS, {0}};

struct sched {
    struct thread_team l;
    _Alignas(LINE_PAIR) atomic_int turn; /* the lane that may go */
    cpu_set_t before, cpu[2];            /* migrate: the CPUs of the caller before, and the two that it is
                                            moved between */
};

/* switch: two threads on one CPU yield it to each other. When this thread has its turn again, the other has
 * run. So each hand-over is a switch, however often the kernel returned at once. It does not call
 * sched_yield(), which a launch may have replaced for a what-if (base/yield.h). */

THREADS_INLINE switch_over(void *lanes, int lane, enum inside what)
{
    struct sched *s = lanes;
    for (int64_t i = 0; i < s->l.reps; ++i) {
        while (atomic_load_explicit(&s->turn, memory_order_acquire) != lane)
            syscall(SYS_sched_yield);
        threads_inside(&s->l, lane, what);
        atomic_store_explicit(&s->turn, 1 - lane, memory_order_release);
    }
}
THREADS_WORK(switch_over)

/* slice: as switch, but no thread yields: the turn passes when the kernel takes the CPU away. The length of a
 * turn is the time that a busy thread keeps a CPU that another one wants. */

THREADS_INLINE hold_on(void *lanes, int lane, enum inside what)
{
    struct sched *s = lanes;
    for (int64_t i = 0; i < s->l.reps; ++i) {
        while (atomic_load_explicit(&s->turn, memory_order_acquire) != lane)
            ;
        threads_inside(&s->l, lane, what);
        atomic_store_explicit(&s->turn, 1 - lane, memory_order_release);
    }
}
THREADS_WORK(hold_on)

/* yield: no other thread wants the CPU. */

THREADS_INLINE yield_to_nobody(void *lanes, int lane, enum inside what)
{
    struct thread_team *l = lanes;
    int rc = 0;
    for (int64_t i = 0; i < l->reps; ++i) {
        rc |= syscall(SYS_sched_yield) != 0;
        threads_inside(l, lane, what);
    }
    threads_note(l, rc != 0 ? ENOSYS : 0);
}
THREADS_WORK(yield_to_nobody)

/* migrate: the caller is moved to the other CPU and back. It has the CPUs of lanes 0 and 1. There is no lane
 * 1, which would be in its way. */

static int migrate_open(struct thread_team *l)
{
    struct sched *s = (struct sched *)l;
    int cpus[2];
    int err = two_cpus(l->pool, cpus);
    if (err)
        return err;
    pool_close(l->pool);
    l->pool = NULL;
    err = pool_open(1, &l->pool);
    for (int i = 0; i < 2; ++i) {
        CPU_ZERO(&s->cpu[i]);
        CPU_SET((size_t)cpus[i], &s->cpu[i]);
    }
    if (!err && sched_getaffinity(0, sizeof s->before, &s->before) != 0)
        err = err_say(ERR_SYSTEM, "which CPUs this thread may use is not known");
    return err;
}

static void migrate_close(struct thread_team *l)
{
    const struct sched *s = (struct sched *)l;
    sched_setaffinity(0, sizeof s->before, &s->before);
}

THREADS_INLINE migrate(void *lanes, int lane, enum inside what)
{
    struct sched *s = lanes;
    int rc = 0;
    for (int64_t i = 0; i < 2 * s->l.reps; ++i) {
        rc |= sched_setaffinity(0, sizeof s->cpu[0], &s->cpu[1 - i % 2]) != 0;
        if (what == INSIDE_COUNT)
            threads_saw(&s->l, lane, CPU_ISSET((size_t)sched_getcpu(), &s->cpu[1 - i % 2]));
        else
            threads_inside(&s->l, lane, what);
    }
    threads_note(&s->l, rc != 0 ? EPERM : 0);
}
THREADS_WORK(migrate)

#define SCHED .family = "pthread", .size = sizeof(struct sched)
#define OF_TWO .least_threads = 2, .most_threads = 2, .parts = 2

static const struct thread_row rows[] = {
    {.name = "pthread.switch",
     .summary = "active context switch: a hand-over between two threads on one CPU by sched_yield",
     SCHED,
     OF_TWO,
     .params = params,
     .delays = DELAYS_ONE,
     .same_cpu = true,
     .turns = true,
     .counts = "turns",
     THREADS_DO(switch_over)},
    {.name = "pthread.slice",
     .summary = "time slice: the time that one of two busy threads keeps their CPU",
     SCHED,
     OF_TWO,
     .params = slice_params,
     .same_cpu = true,
     .turns = true,
     .counts = "turns",
     .checked = 3,
     THREADS_DO(hold_on)},
    {.name = "pthread.yield",
     .reference = "self.call",
     .summary = "sched_yield without another thread on the CPU: one system call",
     SCHED,
     .params = params,
     .delays = DELAYS_ONE,
     .counts = "calls",
     THREADS_DO(yield_to_nobody)},
    {.name = "pthread.migrate",
     .summary = "a move of the running thread to another CPU by sched_setaffinity",
     SCHED,
     OF_TWO,
     .params = params,
     .delays = DELAYS_ONE,
     .counts = "moves",
     .open = migrate_open,
     .close = migrate_close,
     THREADS_DO(migrate)},
};

static void op_at(size_t i, struct op *op)
{
    threads_op(&rows[i], op);
}

const struct op_family pthread_sched_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
