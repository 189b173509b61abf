/* pthread.spin, pthread.rwlock: locks other than mutexes. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "ops/pthread/team.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { READ_SHARE = THREADS_OWN, PREFER };
enum { PATTERN = 100 }; /* a share in percent is exact in so many repetitions */

static const char *const preferred[] = {"readers", "writers", NULL};
static const struct param spin_params[] = {THREADS_PARAMS, {0}};
static const struct param rwlock_params[] = {
    THREADS_PARAMS,
    [READ_SHARE] = {"read_share", "%", "repetitions that lock for reading, evenly spread", 90, 0, 100},
    [PREFER] = PARAM_WORDS("prefer", "who is let in first: readers or writers", preferred),
    {0},
};

struct locks {
    struct thread_team l;
    _Alignas(LINE_PAIR) pthread_spinlock_t spin;
    _Alignas(LINE_PAIR) pthread_rwlock_t rwlock;
    _Alignas(LINE_PAIR) bool reads[PATTERN];
    _Alignas(LINE_PAIR) volatile int64_t first; /* written by writers, so that readers can see whether the
                                                   halves differ */
    volatile int64_t second;
};

static int make_err(int rc, const char *what)
{
    return rc == 0 ? 0 : err_say(ERR_UNSUPPORTED, "this system makes no such %s: %s", what, strerror(rc));
}

/* spin */

static int spin_open(struct thread_team *l)
{
    return make_err(pthread_spin_init(&((struct locks *)l)->spin, PTHREAD_PROCESS_PRIVATE), "spin lock");
}

static void spin_close(struct thread_team *l)
{
    pthread_spin_destroy(&((struct locks *)l)->spin);
}

THREADS_INLINE spin_lock(void *lanes, int lane, enum inside what)
{
    struct locks *k = lanes;
    int rc = 0;
    for (int64_t i = 0; i < k->l.reps; ++i) {
        rc |= pthread_spin_lock(&k->spin);
        threads_inside(&k->l, lane, what);
        rc |= pthread_spin_unlock(&k->spin);
    }
    threads_note(&k->l, rc);
}
THREADS_WORK(spin_lock)

/* rwlock */

/* Reads are spread as evenly as possible: repetition i reads if i times the share passes a whole number. */
static int rwlock_open(struct thread_team *l)
{
    struct locks *k = (struct locks *)l;
    const int share = (int)l->env->params[READ_SHARE];
    for (int i = 0; i < PATTERN; ++i)
        k->reads[i] = (i + 1) * share / PATTERN > i * share / PATTERN;
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    int rc = pthread_rwlockattr_setkind_np(&attributes, l->env->params[PREFER] > 0
                                                            ? PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP
                                                            : PTHREAD_RWLOCK_PREFER_READER_NP);
    rc = rc != 0 ? rc : pthread_rwlock_init(&k->rwlock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    return make_err(rc, "read-write lock");
}

static void rwlock_close(struct thread_team *l)
{
    pthread_rwlock_destroy(&((struct locks *)l)->rwlock);
}

/* Readers may be in together, but not with a writer: the two halves are equal. */
THREADS_INLINE read_inside(struct locks *k, int lane, enum inside what)
{
    if (what != INSIDE_COUNT)
        threads_inside(&k->l, lane, what);
    else {
        int64_t first = k->first;
        threads_saw(&k->l, lane, first == k->second);
    }
}

THREADS_INLINE write_inside(struct locks *k, int lane, enum inside what)
{
    threads_inside(&k->l, lane, what);
    if (what == INSIDE_COUNT) {
        k->first = k->first + 1;
        k->second = k->second + 1;
    }
}

THREADS_INLINE read_write(void *lanes, int lane, enum inside what)
{
    struct locks *k = lanes;
    int rc = 0, at = 0;
    for (int64_t i = 0; i < k->l.reps; ++i) {
        if (k->reads[at]) {
            rc |= pthread_rwlock_rdlock(&k->rwlock);
            read_inside(k, lane, what);
        } else {
            rc |= pthread_rwlock_wrlock(&k->rwlock);
            write_inside(k, lane, what);
        }
        rc |= pthread_rwlock_unlock(&k->rwlock);
        at = at + 1 == PATTERN ? 0 : at + 1;
    }
    threads_note(&k->l, rc);
}
THREADS_WORK(read_write)

#define LOCK .family = "pthread", .size = sizeof(struct locks), .least_threads = 1, .delays = DELAYS_THREADS

static const struct thread_row rows[] = {
    {.name = "pthread.spin",
     .reference = "self.call_pair",
     .summary = "lock and unlock one spin lock, by each of T threads at once",
     LOCK,
     .params = spin_params,
     .counts = "increments under the lock",
     .open = spin_open,
     .close = spin_close,
     THREADS_DO(spin_lock)},
    {.name = "pthread.rwlock",
     .reference = "self.call_pair",
     .summary = "lock a read-write lock, some of the times for reading, and unlock it, by each of T threads",
     LOCK,
     .params = rwlock_params,
     .counts = "reads and increments under the lock",
     .open = rwlock_open,
     .close = rwlock_close,
     THREADS_DO(read_write)},
};

static void op_at(size_t i, struct op *op)
{
    threads_op(&rows[i], op);
}

const struct op_family pthread_lock_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
