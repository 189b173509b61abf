/* pthread.cond*: condition variables: a signal without a waiter, a wait that times out, two threads that wake
 * each other, one that wakes many. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/pthread/team.h"

#include <errno.h>
#include <pthread.h>

static const struct param params[] = {THREADS_PARAMS, {0}};

struct conds {
    struct thread_team l;
    pthread_mutex_t mutex;
    pthread_cond_t cond[2]; /* pingpong: of each lane; broadcast: "go", and "all asleep" */
    int turn;               /* pingpong: the lane that may go */
    int asleep;             /* broadcast: waiters for the next one */
    int64_t generation;     /* broadcast: how many there were */
};

static int conds_open(struct thread_team *l)
{
    struct conds *c = (struct conds *)l;
    pthread_mutex_init(&c->mutex, NULL);
    pthread_cond_init(&c->cond[0], NULL);
    pthread_cond_init(&c->cond[1], NULL);
    return 0;
}

static void conds_close(struct thread_team *l)
{
    struct conds *c = (struct conds *)l;
    pthread_cond_destroy(&c->cond[0]);
    pthread_cond_destroy(&c->cond[1]);
    pthread_mutex_destroy(&c->mutex);
}

/* signal: no thread waits. */

THREADS_INLINE signal_nobody(void *lanes, int lane, enum inside what)
{
    struct conds *c = lanes;
    int rc = 0;
    for (int64_t i = 0; i < c->l.reps; ++i) {
        rc |= pthread_cond_signal(&c->cond[0]);
        threads_inside(&c->l, lane, what);
    }
    threads_note(&c->l, rc);
}
THREADS_WORK(signal_nobody)

/* A signal is not kept: a wait whose time is over times out, although there was a signal before. */
static void signal_look(struct thread_team *l)
{
    struct conds *c = (struct conds *)l;
    const struct timespec over = {0};
    pthread_mutex_lock(&c->mutex);
    l->wrong += pthread_cond_timedwait(&c->cond[0], &c->mutex, &over) != ETIMEDOUT;
    pthread_mutex_unlock(&c->mutex);
}

/* timedwait: until a time in 1970, so into the kernel and out again. */

THREADS_INLINE wait_in_vain(void *lanes, int lane, enum inside what)
{
    struct conds *c = lanes;
    const struct timespec over = {0};
    int rc = pthread_mutex_lock(&c->mutex), other = 0;
    for (int64_t i = 0; i < c->l.reps; ++i) {
        int said = pthread_cond_timedwait(&c->cond[0], &c->mutex, &over);
        if (what == INSIDE_COUNT)
            threads_saw(&c->l, lane, said == ETIMEDOUT);
        else
            other |= said ^ ETIMEDOUT;
        if (what == INSIDE_DELAY)
            delay_do(&c->l.delay);
    }
    rc |= pthread_mutex_unlock(&c->mutex);
    threads_note(&c->l, other == 0 ? rc : EPROTO);
}
THREADS_WORK(wait_in_vain)

/* A wait returns with the mutex, so no other thread can have it. */
static void wait_look(struct thread_team *l)
{
    struct conds *c = (struct conds *)l;
    const struct timespec over = {0};
    pthread_mutex_lock(&c->mutex);
    pthread_cond_timedwait(&c->cond[0], &c->mutex, &over);
    l->wrong += pthread_mutex_trylock(&c->mutex) != EBUSY;
    pthread_mutex_unlock(&c->mutex);
}

/* pingpong: each lane waits for its turn and passes it to the other, which is asleep. */

THREADS_INLINE wake_other(void *lanes, int lane, enum inside what)
{
    struct conds *c = lanes;
    pthread_cond_t *mine = &c->cond[lane], *others = &c->cond[1 - lane];
    int rc = pthread_mutex_lock(&c->mutex);
    for (int64_t i = 0; i < c->l.reps; ++i) {
        while (c->turn != lane)
            rc |= pthread_cond_wait(mine, &c->mutex);
        threads_inside(&c->l, lane, what);
        c->turn = 1 - lane;
        rc |= pthread_cond_signal(others);
    }
    rc |= pthread_mutex_unlock(&c->mutex);
    threads_note(&c->l, rc);
}
THREADS_WORK(wake_other)

/* broadcast: lane 0 wakes all others, which are certainly asleep: the last one to sleep has said so. Each
 * takes the mutex, sees its turn, and sleeps again. */

THREADS_INLINE wake_all(struct conds *c)
{
    const int others = c->l.env->threads - 1;
    int rc = pthread_mutex_lock(&c->mutex);
    for (int64_t i = 0; i < c->l.reps; ++i) {
        while (c->asleep < others)
            rc |= pthread_cond_wait(&c->cond[1], &c->mutex);
        c->asleep = 0;
        ++c->generation;
        rc |= pthread_cond_broadcast(&c->cond[0]);
    }
    rc |= pthread_mutex_unlock(&c->mutex);
    threads_note(&c->l, rc);
}

THREADS_INLINE sleep_and_wake(struct conds *c, int lane, enum inside what)
{
    const int others = c->l.env->threads - 1;
    int rc = pthread_mutex_lock(&c->mutex);
    int64_t seen = c->generation;
    for (int64_t i = 0; i < c->l.reps; ++i) {
        if (++c->asleep == others)
            rc |= pthread_cond_signal(&c->cond[1]);
        while (c->generation == seen)
            rc |= pthread_cond_wait(&c->cond[0], &c->mutex);
        threads_inside(&c->l, lane, what);
        if (what == INSIDE_COUNT)
            c->l.slots[lane].wrong += c->generation != seen + 1; /* missed a broadcast */
        seen = c->generation;
    }
    rc |= pthread_mutex_unlock(&c->mutex);
    threads_note(&c->l, rc);
}

THREADS_INLINE broadcast(void *lanes, int lane, enum inside what)
{
    struct conds *c = lanes;
    if (lane == 0)
        wake_all(c);
    else
        sleep_and_wake(c, lane, what);
    if (what == INSIDE_COUNT && lane == 0)
        c->l.slots[0].right = c->l.reps; /* broadcasts; the others count how they woke */
}
THREADS_WORK(broadcast)

#define COND                                                                                                 \
    .family = "pthread", .params = params, .size = sizeof(struct conds), .open = conds_open,                 \
    .close = conds_close

static const struct thread_row rows[] = {
    {.name = "pthread.cond.signal",
     .reference = "self.call",
     .summary = "signal a condition without waiters",
     COND,
     .delays = DELAYS_ONE,
     .counts = "signals",
     .look = signal_look,
     THREADS_DO(signal_nobody)},
    {.name = "pthread.cond.timedwait",
     .summary = "wait for a condition until a time that has passed",
     COND,
     .delays = DELAYS_ONE,
     .counts = "waits",
     .look = wait_look,
     THREADS_DO(wait_in_vain)},
    {.name = "pthread.cond.pingpong",
     .summary = "a hand-over between two threads by conditions: signal until the other runs",
     COND,
     .delays = DELAYS_ONE,
     .least_threads = 2,
     .most_threads = 2,
     .parts = 2,
     .turns = true,
     .counts = "turns",
     THREADS_DO(wake_other)},
    {.name = "pthread.cond.broadcast",
     .summary = "wake the T - 1 other threads by a broadcast, until all have run and wait again",
     COND,
     .delays = DELAYS_OTHERS,
     .least_threads = 2,
     .counts = "wake-ups",
     THREADS_DO(broadcast)},
};

static void op_at(size_t i, struct op *op)
{
    threads_op(&rows[i], op);
}

const struct op_family pthread_cond_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
