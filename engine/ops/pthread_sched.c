/* pthread.switch, pthread.slice, pthread.yield, pthread.migrate: what the scheduler does with threads. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "ops/pthread_lanes.h"

#include <errno.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct param params[] = {LANES_PARAMS, {0}};
static const struct param slice_params[] = {LANES_EXTRA_PARAMS, {0}};

struct sched {
    struct lanes l;
    _Alignas(LINE_PAIR) atomic_int turn; /* the lane that may go */
    cpu_set_t before, cpu[2];            /* migrate: where the caller may be, and is put */
};

/* switch: two threads on one CPU; each gives it to the other. The other has run when the turn is this one's
 * again: so each hand-over is a switch, however often the kernel came straight back. Not sched_yield(), which
 * a launch may have made a what-if (base/yield.h). */

LANES_INLINE switch_over(void *lanes, int lane, enum inside what)
{
    struct sched *s = lanes;
    for (int64_t i = 0; i < s->l.reps; ++i) {
        while (atomic_load_explicit(&s->turn, memory_order_acquire) != lane)
            syscall(SYS_sched_yield);
        lanes_inside(&s->l, lane, what);
        atomic_store_explicit(&s->turn, 1 - lane, memory_order_release);
    }
}
LANES_WORK(switch_over)

/* slice: the same, but nobody gives anything away: the turn is taken when the kernel has taken the CPU. What
 * a turn lasts is what a busy thread keeps a CPU for that another one wants. */

LANES_INLINE hold_on(void *lanes, int lane, enum inside what)
{
    struct sched *s = lanes;
    for (int64_t i = 0; i < s->l.reps; ++i) {
        while (atomic_load_explicit(&s->turn, memory_order_acquire) != lane)
            ;
        lanes_inside(&s->l, lane, what);
        atomic_store_explicit(&s->turn, 1 - lane, memory_order_release);
    }
}
LANES_WORK(hold_on)

/* yield: nobody wants the CPU. */

LANES_INLINE yield_to_nobody(void *lanes, int lane, enum inside what)
{
    struct lanes *l = lanes;
    int rc = 0;
    for (int64_t i = 0; i < l->reps; ++i) {
        rc |= syscall(SYS_sched_yield) != 0;
        lanes_inside(l, lane, what);
    }
    lanes_note(l, rc != 0 ? ENOSYS : 0);
}
LANES_WORK(yield_to_nobody)

/* migrate: the caller is put on the other CPU and back. It has the CPUs of lanes 0 and 1, without lane 1,
 * which would be in its way. */

static int migrate_open(struct lanes *l)
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

static void migrate_close(struct lanes *l)
{
    const struct sched *s = (struct sched *)l;
    sched_setaffinity(0, sizeof s->before, &s->before);
}

LANES_INLINE migrate(void *lanes, int lane, enum inside what)
{
    struct sched *s = lanes;
    int rc = 0;
    for (int64_t i = 0; i < 2 * s->l.reps; ++i) {
        rc |= sched_setaffinity(0, sizeof s->cpu[0], &s->cpu[1 - i % 2]) != 0;
        if (what == INSIDE_COUNT)
            lanes_saw(&s->l, lane, CPU_ISSET((size_t)sched_getcpu(), &s->cpu[1 - i % 2]));
        else
            lanes_inside(&s->l, lane, what);
    }
    lanes_note(&s->l, rc != 0 ? EPERM : 0);
}
LANES_WORK(migrate)

#define SCHED .family = "pthread", .size = sizeof(struct sched)
#define OF_TWO .least_threads = 2, .most_threads = 2, .parts = 2

static const struct lanes_row rows[] = {
    {.name = "pthread.switch",
     .summary = "active context switch: two threads on one CPU give it to each other by sched_yield",
     SCHED,
     OF_TWO,
     .params = params,
     .delays = DELAYS_ONE,
     .same_cpu = true,
     .turns = true,
     .counts = "turns",
     LANES_DO(switch_over)},
    {.name = "pthread.slice",
     .summary = "time slice: how long one of two busy threads on one CPU keeps it",
     SCHED,
     OF_TWO,
     .params = slice_params,
     .same_cpu = true,
     .turns = true,
     .counts = "turns",
     .checked = 3,
     LANES_DO(hold_on)},
    {.name = "pthread.yield",
     .reference = "self.call",
     .summary = "sched_yield where nobody wants the CPU: one system call",
     SCHED,
     .params = params,
     .delays = DELAYS_ONE,
     .counts = "calls",
     LANES_DO(yield_to_nobody)},
    {.name = "pthread.migrate",
     .summary = "a thread moves itself to another CPU by sched_setaffinity: one move",
     SCHED,
     OF_TWO,
     .params = params,
     .delays = DELAYS_ONE,
     .counts = "moves",
     .open = migrate_open,
     .close = migrate_close,
     LANES_DO(migrate)},
};

static void op_at(size_t i, struct op *op)
{
    lanes_op(&rows[i], op);
}

const struct op_family pthread_sched_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
