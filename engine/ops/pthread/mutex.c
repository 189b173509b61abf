/* pthread.mutex*: mutexes of every kind, by one thread or several. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "ops/pthread/team.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KIND = THREADS_OWN, COUNT };
enum { RING = 3 }; /* mutexes that two threads need to take turns */

/* The attributes of each kind. */
struct kind {
    int type, robust, protocol, shared;
};
static const char *const kind_names[] = {"normal", "recursive", "errorcheck", "adaptive",
                                         "robust", "inherit",   "shared",     NULL};
static const struct kind kinds[] = {
    {.type = PTHREAD_MUTEX_NORMAL},     {.type = PTHREAD_MUTEX_RECURSIVE},
    {.type = PTHREAD_MUTEX_ERRORCHECK}, {.type = PTHREAD_MUTEX_ADAPTIVE_NP},
    {.robust = PTHREAD_MUTEX_ROBUST},   {.protocol = PTHREAD_PRIO_INHERIT},
    {.shared = PTHREAD_PROCESS_SHARED},
};
#define KIND_PARAM                                                                                           \
    [KIND] = PARAM_WORDS("kind", "kind of mutex; inherit: priority inheritance, shared: between processes",  \
                         kind_names)

static const struct param params[] = {THREADS_PARAMS, KIND_PARAM, {0}};
static const struct param array_params[] = {
    THREADS_PARAMS,
    KIND_PARAM,
    [COUNT] = {"mutexes", "", "number of mutexes, each on a cache line of its own", 64, 1, 1e6},
    {0}};

struct mutex { /* nothing else on its cache lines */
    _Alignas(LINE_PAIR) pthread_mutex_t mutex;
};

struct mutexes {
    struct thread_team l;
    struct mutex *mutex;
    int count;
    atomic_bool over; /* trylock.held: the holder may unlock */
};

static void mutexes_close(struct thread_team *l)
{
    struct mutexes *m = (struct mutexes *)l;
    for (int i = 0; i < m->count; ++i)
        pthread_mutex_destroy(&m->mutex[i].mutex);
    free(m->mutex);
}

static int mutexes_make(struct mutexes *m, int count)
{
    const int which = (int)m->l.env->params[KIND];
    const struct kind *kind = &kinds[which];
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    int rc = pthread_mutexattr_settype(&attributes, kind->type);
    rc = rc != 0 ? rc : pthread_mutexattr_setrobust(&attributes, kind->robust);
    rc = rc != 0 ? rc : pthread_mutexattr_setprotocol(&attributes, kind->protocol);
    rc = rc != 0 ? rc : pthread_mutexattr_setpshared(&attributes, kind->shared);
    for (m->count = 0; rc == 0 && m->count < count; ++m->count)
        if ((rc = pthread_mutex_init(&m->mutex[m->count].mutex, &attributes)) != 0)
            break;
    pthread_mutexattr_destroy(&attributes);
    return rc == 0 ? 0
                   : err_say(ERR_UNSUPPORTED, "this system makes no mutex of the kind %s: %s",
                             kind_names[which], strerror(rc));
}

static int mutexes_open(struct thread_team *l, int count)
{
    struct mutexes *m = (struct mutexes *)l;
    m->mutex = aligned_alloc(LINE_PAIR, (size_t)count * sizeof *m->mutex);
    if (!m->mutex)
        return err_say(ERR_NOMEM, "no memory for %d mutexes", count);
    int err = mutexes_make(m, count);
    if (err)
        mutexes_close(l);
    return err;
}

static int one_open(struct thread_team *l)
{
    return mutexes_open(l, 1);
}

static int ring_open(struct thread_team *l)
{
    return mutexes_open(l, RING);
}

static int array_open(struct thread_team *l)
{
    return mutexes_open(l, (int)l->env->params[COUNT]);
}

/* mutex: each lane locks and unlocks the one that all share. */

THREADS_INLINE lock_unlock(void *lanes, int lane, enum inside what)
{
    struct mutexes *m = lanes;
    pthread_mutex_t *mutex = &m->mutex[0].mutex;
    int rc = 0;
    for (int64_t i = 0; i < m->l.reps; ++i) {
        rc |= pthread_mutex_lock(mutex);
        threads_inside(&m->l, lane, what);
        rc |= pthread_mutex_unlock(mutex);
    }
    threads_note(&m->l, rc);
}
THREADS_WORK(lock_unlock)

/* mutex.array: each in turn, so that a core may begin with the next before it has finished with this one. */

THREADS_INLINE lock_each(void *lanes, int lane, enum inside what)
{
    struct mutexes *m = lanes;
    int rc = 0, at = 0;
    for (int64_t i = 0; i < m->l.reps; ++i) {
        rc |= pthread_mutex_lock(&m->mutex[at].mutex);
        threads_inside(&m->l, lane, what);
        rc |= pthread_mutex_unlock(&m->mutex[at].mutex);
        at = at + 1 == m->count ? 0 : at + 1;
    }
    threads_note(&m->l, rc);
}
THREADS_WORK(lock_each)

/* mutex.trylock: of a free mutex. */

THREADS_INLINE try_unlock(void *lanes, int lane, enum inside what)
{
    struct mutexes *m = lanes;
    pthread_mutex_t *mutex = &m->mutex[0].mutex;
    int rc = 0;
    for (int64_t i = 0; i < m->l.reps; ++i) {
        rc |= pthread_mutex_trylock(mutex);
        threads_inside(&m->l, lane, what);
        rc |= pthread_mutex_unlock(mutex);
    }
    threads_note(&m->l, rc);
}
THREADS_WORK(try_unlock)

/* mutex.trylock.held: lane 1 holds it, lane 0 tries in vain. */

THREADS_INLINE try_in_vain(void *lanes, int lane, enum inside what)
{
    struct mutexes *m = lanes;
    pthread_mutex_t *mutex = &m->mutex[0].mutex;
    if (lane == 1) {
        atomic_store(&m->over, false);
        threads_note(&m->l, pthread_mutex_lock(mutex));
        threads_meet(&m->l);
        for (int64_t polls = 0; !atomic_load_explicit(&m->over, memory_order_acquire);)
            threads_poll(&polls);
        threads_note(&m->l, pthread_mutex_unlock(mutex));
        m->l.slots[1].right = m->l.reps;
        return;
    }
    int rc = 0;
    threads_meet(&m->l);
    for (int64_t i = 0; i < m->l.reps; ++i) {
        int said = pthread_mutex_trylock(mutex);
        if (what == INSIDE_COUNT)
            threads_saw(&m->l, lane, said == EBUSY);
        else
            rc |= said ^ EBUSY;
        if (what == INSIDE_DELAY)
            delay_do(&m->l.delay);
    }
    threads_note(&m->l, rc == 0 ? 0 : EPROTO);
    atomic_store_explicit(&m->over, true, memory_order_release);
}
THREADS_WORK(try_in_vain)

/* mutex.pingpong: two threads take turns by a ring of three mutexes. Each mutex is unlocked by the thread
 * that locked it.
 *
 * The thread that works in step s (all numbers modulo 3) has held mutex s since its last turn. It locks s -
 * 1, which the other thread unlocks when step s - 1 is done. When its own step is done it unlocks s. The
 * other thread, which holds s + 1, may then begin step s + 1. Mutex s - 1 is kept: it equals s + 2, that of
 * this thread's next turn. */

THREADS_INLINE hand_over(void *lanes, int lane, enum inside what)
{
    struct mutexes *m = lanes;
    pthread_mutex_t *ring[RING] = {&m->mutex[0].mutex, &m->mutex[1].mutex, &m->mutex[2].mutex};
    int mine = lane;
    int rc = pthread_mutex_lock(ring[mine]);
    threads_meet(&m->l);
    for (int64_t i = 0; i < m->l.reps; ++i) {
        int before = mine == 0 ? RING - 1 : mine - 1;
        rc |= pthread_mutex_lock(ring[before]);
        threads_inside(&m->l, lane, what);
        rc |= pthread_mutex_unlock(ring[mine]);
        mine = before;
    }
    rc |= pthread_mutex_unlock(ring[mine]);
    threads_note(&m->l, rc);
}
THREADS_WORK(hand_over)

#define MUTEX .family = "pthread", .size = sizeof(struct mutexes), .close = mutexes_close

static const struct thread_row rows[] = {
    {.name = "pthread.mutex",
     .reference = "self.call_pair",
     .summary = "lock and unlock one mutex, by each of T threads at once",
     MUTEX,
     .params = params,
     .least_threads = 1,
     .delays = DELAYS_THREADS,
     .counts = "increments under the mutex",
     .open = one_open,
     THREADS_DO(lock_unlock)},
    {.name = "pthread.mutex.array",
     .summary = "lock and unlock each of an array of mutexes in turn, by one thread",
     MUTEX,
     .params = array_params,
     .delays = DELAYS_ONE,
     .counts = "increments under mutexes",
     .open = array_open,
     THREADS_DO(lock_each)},
    {.name = "pthread.mutex.trylock",
     .reference = "self.call_pair",
     .summary = "trylock of a free mutex, and unlock",
     MUTEX,
     .params = params,
     .delays = DELAYS_ONE,
     .counts = "increments under the mutex",
     .open = one_open,
     THREADS_DO(try_unlock)},
    {.name = "pthread.mutex.trylock.held",
     .summary = "trylock of a mutex that another thread holds",
     MUTEX,
     .params = params,
     .least_threads = 2,
     .most_threads = 2,
     .delays = DELAYS_ONE,
     .counts = "refusals",
     .open = one_open,
     THREADS_DO(try_in_vain)},
    {.name = "pthread.mutex.pingpong",
     .summary = "a hand-over between two threads by a ring of three mutexes",
     MUTEX,
     .params = params,
     .least_threads = 2,
     .most_threads = 2,
     .parts = 2,
     .delays = DELAYS_ONE,
     .turns = true,
     .counts = "turns",
     .open = ring_open,
     THREADS_DO(hand_over)},
};

static void op_at(size_t i, struct op *op)
{
    threads_op(&rows[i], op);
}

const struct op_family pthread_mutex_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
