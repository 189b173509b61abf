/* pthread.barrier, pthread.sem*, pthread.once*, pthread.futex.pingpong: other ways for threads to wait for
 * each other. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "ops/pthread/team.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct param params[] = {THREADS_PARAMS, {0}};

struct sleep_line { /* a word that one lane sleeps on */
    _Alignas(LINE_PAIR) atomic_uint word;
};

struct meeting {
    struct thread_team l;
    pthread_barrier_t barrier;
    sem_t sem[2]; /* of each lane */
    pthread_once_t once;
    struct sleep_line futex[2];     /* of each lane: 1 if it may go */
    atomic_int_fast64_t arrived[2]; /* barrier, counted: in even and odd rounds */
    atomic_int_fast64_t last;       /* barrier, counted: how often a lane was the serial thread */
};

/* barrier */

static int barrier_open(struct thread_team *l)
{
    struct meeting *m = (struct meeting *)l;
    int rc = pthread_barrier_init(&m->barrier, NULL, (unsigned)l->env->threads);
    return rc == 0 ? 0 : err_say(ERR_SYSTEM, "no barrier of %d threads: %s", l->env->threads, strerror(rc));
}

static void barrier_close(struct thread_team *l)
{
    pthread_barrier_destroy(&((struct meeting *)l)->barrier);
}

static void barrier_reset(struct thread_team *l)
{
    struct meeting *m = (struct meeting *)l;
    atomic_store(&m->arrived[0], 0);
    atomic_store(&m->arrived[1], 0);
    atomic_store(&m->last, 0);
}

static void barrier_look(struct thread_team *l)
{
    l->wrong += atomic_load(&((struct meeting *)l)->last) != l->reps;
}

/* Counted, each lane adds itself to its round, and sees behind the barrier that all are in that round. A lane
 * in the next round counts elsewhere. In each round one lane is the serial thread. */
THREADS_INLINE meet(void *lanes, int lane, enum inside what)
{
    struct meeting *m = lanes;
    const int64_t all = m->l.env->threads;
    int64_t last = 0;
    int rc = 0;
    for (int64_t i = 0; i < m->l.reps; ++i) {
        if (what == INSIDE_DELAY)
            delay_do(&m->l.delay);
        if (what == INSIDE_COUNT)
            atomic_fetch_add_explicit(&m->arrived[i % 2], 1, memory_order_relaxed);
        int told = pthread_barrier_wait(&m->barrier);
        last += told == PTHREAD_BARRIER_SERIAL_THREAD;
        rc |= told == PTHREAD_BARRIER_SERIAL_THREAD ? 0 : told;
        if (what == INSIDE_COUNT)
            threads_saw(&m->l, lane,
                        atomic_load_explicit(&m->arrived[i % 2], memory_order_relaxed) == (i / 2 + 1) * all);
    }
    threads_note(&m->l, rc);
    if (what == INSIDE_COUNT)
        atomic_fetch_add(&m->last, last);
}
THREADS_WORK(meet)

/* sem: post and wait by one thread; pingpong: by two, each on its own semaphore. */

static int sem_open_both(struct thread_team *l)
{
    struct meeting *m = (struct meeting *)l;
    sem_init(&m->sem[0], 0, 0);
    sem_init(&m->sem[1], 0, 0);
    return 0;
}

static void sem_close_both(struct thread_team *l)
{
    struct meeting *m = (struct meeting *)l;
    sem_destroy(&m->sem[0]);
    sem_destroy(&m->sem[1]);
}

static inline int sem_take(sem_t *sem)
{
    while (sem_wait(sem) != 0)
        if (errno != EINTR)
            return errno;
    return 0;
}

THREADS_INLINE post_wait(void *lanes, int lane, enum inside what)
{
    struct meeting *m = lanes;
    int rc = 0;
    for (int64_t i = 0; i < m->l.reps; ++i) {
        rc |= sem_post(&m->sem[0]);
        threads_inside(&m->l, lane, what);
        rc |= sem_take(&m->sem[0]);
    }
    threads_note(&m->l, rc != 0 ? EOVERFLOW : 0);
}
THREADS_WORK(post_wait)

/* As many were taken as were posted. */
static void sem_look(struct thread_team *l)
{
    struct meeting *m = (struct meeting *)l;
    l->wrong += sem_trywait(&m->sem[0]) == 0;
    l->wrong += sem_post(&m->sem[0]) != 0 || sem_trywait(&m->sem[0]) != 0;
}

THREADS_INLINE sem_hand_over(void *lanes, int lane, enum inside what)
{
    struct meeting *m = lanes;
    sem_t *mine = &m->sem[lane], *others = &m->sem[1 - lane];
    int rc = lane == 0 ? sem_post(mine) : 0;
    for (int64_t i = 0; i < m->l.reps; ++i) {
        rc |= sem_take(mine);
        threads_inside(&m->l, lane, what);
        rc |= sem_post(others);
    }
    rc |= lane == 1 ? 0 : sem_take(mine); /* the other lane's last post */
    threads_note(&m->l, rc != 0 ? EOVERFLOW : 0);
}
THREADS_WORK(sem_hand_over)

/* futex.pingpong: the system call under all calls that block, without a library. */

THREADS_INLINE futex_hand_over(void *lanes, int lane, enum inside what)
{
    struct meeting *m = lanes;
    atomic_uint *mine = &m->futex[lane].word, *others = &m->futex[1 - lane].word;
    int rc = 0;
    if (lane == 0)
        atomic_store(mine, 1);
    for (int64_t i = 0; i < m->l.reps; ++i) {
        while (atomic_load(mine) == 0)
            if (syscall(SYS_futex, mine, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0) != 0 && errno != EAGAIN &&
                errno != EINTR)
                rc = errno;
        atomic_store(mine, 0);
        threads_inside(&m->l, lane, what);
        atomic_store(others, 1);
        rc = syscall(SYS_futex, others, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) < 0 ? errno : rc;
    }
    threads_note(&m->l, rc);
}
THREADS_WORK(futex_hand_over)

/* once: of a function that has run already. once.first: of one that has not. */

/* pthread_once() passes no pointer, so its function finds the state here. One thread sets and reads it. */
static _Thread_local struct meeting *beginner;

static void begin(void)
{
    beginner->l.within(&beginner->l, 0);
}

THREADS_INLINE once_again(void *lanes, int lane, enum inside what)
{
    struct meeting *m = lanes;
    int rc = 0;
    for (int64_t i = 0; i < m->l.reps; ++i) {
        rc |= pthread_once(&m->once, begin);
        threads_inside(&m->l, lane, what);
    }
    threads_note(&m->l, rc);
}
THREADS_WORK(once_again)

static void once_first(void *lanes, int lane)
{
    struct meeting *m = lanes;
    const pthread_once_t not_yet = PTHREAD_ONCE_INIT;
    int rc = 0;
    (void)lane;
    beginner = m;
    for (int64_t i = 0; i < m->l.reps; ++i) {
        m->once = not_yet;
        rc |= pthread_once(&m->once, begin);
    }
    threads_note(&m->l, rc);
}

static int once_open(struct thread_team *l)
{
    struct meeting *m = (struct meeting *)l;
    const pthread_once_t not_yet = PTHREAD_ONCE_INIT;
    m->once = not_yet;
    beginner = m;
    return pthread_once(&m->once, begin) == 0 ? 0 : err_say(ERR_SYSTEM, "pthread_once failed");
}

/* Check that the function ran at the first call only, in the thread that called. */
static void once_look(struct thread_team *l)
{
    struct meeting *m = (struct meeting *)l;
    const pthread_once_t not_yet = PTHREAD_ONCE_INIT;
    const int64_t before = l->right;
    beginner = m;
    m->once = not_yet;
    pthread_once(&m->once, begin);
    pthread_once(&m->once, begin);
    l->wrong += l->right - before != 1;
    l->right = before;
}

#define MEETING .family = "pthread", .params = params, .delays = DELAYS_ONE, .size = sizeof(struct meeting)
#define OF_TWO .least_threads = 2, .most_threads = 2, .parts = 2, .turns = true, .counts = "turns"

static const struct thread_row rows[] = {
    {.name = "pthread.barrier",
     .summary = "a barrier of T threads",
     MEETING,
     .least_threads = 1,
     .counts = "arrivals",
     .open = barrier_open,
     .close = barrier_close,
     .reset = barrier_reset,
     .look = barrier_look,
     THREADS_DO(meet)},
    {.name = "pthread.sem",
     .reference = "self.call_pair",
     .summary = "sem_post and sem_wait by one thread",
     MEETING,
     .counts = "posts",
     .open = sem_open_both,
     .close = sem_close_both,
     .look = sem_look,
     THREADS_DO(post_wait)},
    {.name = "pthread.sem.pingpong",
     .summary = "a hand-over between two threads by semaphores",
     MEETING,
     OF_TWO,
     .open = sem_open_both,
     .close = sem_close_both,
     THREADS_DO(sem_hand_over)},
    {.name = "pthread.futex.pingpong",
     .summary = "a hand-over between two threads by the kernel's futex",
     MEETING,
     OF_TWO,
     THREADS_DO(futex_hand_over)},
    {.name = "pthread.once",
     .reference = "self.call",
     .summary = "pthread_once() after the first call",
     MEETING,
     .counts = "calls",
     .open = once_open,
     .look = once_look,
     THREADS_DO(once_again)},
    {.name = "pthread.once.first",
     .summary = "the first pthread_once(), with the call of its function",
     MEETING,
     .counts = "calls",
     .open = once_open,
     .look = once_look,
     .plain = once_first,
     .delayed = once_first,
     .counted = once_first},
};

static void op_at(size_t i, struct op *op)
{
    threads_op(&rows[i], op);
}

const struct op_family pthread_sync_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
