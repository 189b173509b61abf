/* pthread.create*, pthread.cancel: threads that begin and end. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "ops/pthread/team.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

enum { STACK = THREADS_OWN, KIB = 1024, FEW = 20 };

static const struct param params[] = {
    THREADS_PARAMS,
    [STACK] = {"stack", "KiB", "stack of the new thread; 0: the default", 0, 0, 1e6},
    {0},
};

struct created_threads {
    struct thread_team l;
    pthread_attr_t attributes;
    sem_t said;   /* detached: by each thread; chain: by the last */
    sem_t never;  /* cancel: never posted */
    int64_t left; /* chain: threads still to be made */
    pthread_t maker;
};

static int threads_open(struct thread_team *l, int kind)
{
    struct created_threads *t = (struct created_threads *)l;
    const double kib = l->env->params[STACK];
    sem_init(&t->said, 0, 0);
    sem_init(&t->never, 0, 0);
    pthread_attr_init(&t->attributes);
    pthread_attr_setdetachstate(&t->attributes, kind);
    int rc = kib > 0 ? pthread_attr_setstacksize(&t->attributes, (size_t)kib * KIB) : 0;
    if (rc != 0)
        pthread_attr_destroy(&t->attributes);
    return rc == 0
               ? 0
               : err_say(ERR_INPUT, "no thread can have a stack of %.0f KiB: %s; give another stack=", kib,
                         strerror(rc));
}

static int joinable_open(struct thread_team *l)
{
    return threads_open(l, PTHREAD_CREATE_JOINABLE);
}

static int detached_open(struct thread_team *l)
{
    return threads_open(l, PTHREAD_CREATE_DETACHED);
}

static void threads_close(struct thread_team *l)
{
    struct created_threads *t = (struct created_threads *)l;
    sem_destroy(&t->said);
    sem_destroy(&t->never);
    pthread_attr_destroy(&t->attributes);
}

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) != 0)
        ; /* interrupted by a signal */
}

/* Check that this is another thread, with the stack that was asked for. */
static void *see_stack(void *arg)
{
    struct created_threads *t = arg;
    pthread_attr_t mine;
    const size_t asked = (size_t)t->l.env->params[STACK] * KIB;
    size_t size = 0;
    void *lowest = NULL;
    threads_note(&t->l, pthread_getattr_np(pthread_self(), &mine));
    threads_note(&t->l, pthread_attr_getstack(&mine, &lowest, &size));
    pthread_attr_destroy(&mine);
    t->l.wrong += size < asked || pthread_equal(pthread_self(), t->maker);
    sem_post(&t->said);
    return NULL;
}

static void threads_look(struct thread_team *l)
{
    struct created_threads *t = (struct created_threads *)l;
    int kind = PTHREAD_CREATE_JOINABLE;
    pthread_t thread;
    pthread_attr_getdetachstate(&t->attributes, &kind);
    t->maker = pthread_self();
    int rc = pthread_create(&thread, &t->attributes, see_stack, t);
    if (rc == 0) {
        wait_for(&t->said);
        l->wrong += kind == PTHREAD_CREATE_JOINABLE && pthread_join(thread, NULL) != 0;
    }
    l->wrong += rc != 0;
}

/* create: make a thread and join it. */

static void *live(void *arg)
{
    struct created_threads *t = arg;
    t->l.within(&t->l, 0);
    return t;
}

static void create_join(void *lanes, int lane)
{
    struct created_threads *t = lanes;
    (void)lane;
    for (int64_t i = 0; i < t->l.reps; ++i) {
        pthread_t thread;
        void *returned = NULL;
        int rc = pthread_create(&thread, &t->attributes, live, t);
        if (rc == 0)
            rc = pthread_join(thread, &returned);
        if (rc != 0 || returned != t) {
            threads_note(&t->l, rc != 0 ? rc : ECHILD);
            return;
        }
    }
}

/* create.detached: make a thread and wait until it has run. */

static void *live_and_say(void *arg)
{
    struct created_threads *t = arg;
    t->l.within(&t->l, 0);
    sem_post(&t->said);
    return NULL;
}

static void create_detached(void *lanes, int lane)
{
    struct created_threads *t = lanes;
    (void)lane;
    for (int64_t i = 0; i < t->l.reps; ++i) {
        pthread_t thread;
        int rc = pthread_create(&thread, &t->attributes, live_and_say, t);
        if (rc != 0) {
            threads_note(&t->l, rc);
            return;
        }
        wait_for(&t->said);
    }
}

/* create.chain: each thread makes the next one and ends. The last one posts. */

static void *live_and_make(void *arg)
{
    struct created_threads *t = arg;
    pthread_t thread;
    t->l.within(&t->l, 0);
    int rc = --t->left > 0 ? pthread_create(&thread, &t->attributes, live_and_make, t) : ECHILD;
    if (rc == 0)
        return NULL;
    if (t->left > 0)
        threads_note(&t->l, rc);
    sem_post(&t->said);
    return NULL;
}

static void create_chain(void *lanes, int lane)
{
    struct created_threads *t = lanes;
    pthread_t thread;
    (void)lane;
    t->left = t->l.reps;
    int rc = pthread_create(&thread, &t->attributes, live_and_make, t);
    if (rc == 0)
        wait_for(&t->said);
    else
        threads_note(&t->l, rc);
}

/* cancel: make a thread that waits for what is never posted, cancel it and join it. */

static void clean_up(void *arg)
{
    struct created_threads *t = arg;
    t->l.within(&t->l, 0);
}

static void *live_on(void *arg)
{
    struct created_threads *t = arg;
    pthread_cleanup_push(clean_up, t);
    wait_for(&t->never);
    pthread_cleanup_pop(0);
    return NULL;
}

static void create_cancel(void *lanes, int lane)
{
    struct created_threads *t = lanes;
    (void)lane;
    for (int64_t i = 0; i < t->l.reps; ++i) {
        pthread_t thread;
        void *returned = NULL;
        int rc = pthread_create(&thread, &t->attributes, live_on, t);
        if (rc == 0) {
            rc = pthread_cancel(thread);
            int joined = pthread_join(thread, &returned);
            rc = rc != 0 ? rc : joined;
        }
        if (rc != 0 || returned != PTHREAD_CANCELED) {
            threads_note(&t->l, rc != 0 ? rc : ECHILD);
            return;
        }
    }
}

/* testcancel: a test for cancellation that nobody has asked for. */

THREADS_INLINE test_cancel(void *lanes, int lane, enum inside what)
{
    struct created_threads *t = lanes;
    for (int64_t i = 0; i < t->l.reps; ++i) {
        threads_inside(&t->l, lane, what);
        pthread_testcancel();
    }
}
THREADS_WORK(test_cancel)

/* Cancelled while that is disabled, so that only the test can end this thread. */
static void *live_until_tested(void *arg)
{
    struct created_threads *t = arg;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    wait_for(&t->said);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_testcancel();
    return NULL;
}

static void testcancel_look(struct thread_team *l)
{
    struct created_threads *t = (struct created_threads *)l;
    pthread_t thread;
    void *returned = NULL;
    int rc = pthread_create(&thread, &t->attributes, live_until_tested, t);
    if (rc == 0) {
        threads_note(l, pthread_cancel(thread));
        sem_post(&t->said);
        rc = pthread_join(thread, &returned);
    }
    l->wrong += rc != 0 || returned != PTHREAD_CANCELED;
}

#define THREADS                                                                                              \
    .family = "pthread", .params = params, .delays = DELAYS_ONE, .size = sizeof(struct created_threads),     \
    .close = threads_close
#define WORK(f) .plain = f, .delayed = f, .counted = f /* what is inside is `within` */

static const struct thread_row rows[] = {
    {.name = "pthread.create",
     .summary = "create a thread that ends at once, and join it",
     .counts = "threads",
     .checked = FEW,
     .open = joinable_open,
     .look = threads_look,
     THREADS,
     WORK(create_join)},
    {.name = "pthread.create.detached",
     .summary = "create a detached thread, and wait until it has run",
     .counts = "threads",
     .checked = FEW,
     .open = detached_open,
     .look = threads_look,
     THREADS,
     WORK(create_detached)},
    {.name = "pthread.create.chain",
     .summary = "a chain of threads, each of which creates the next and ends: one creation",
     .counts = "threads",
     .checked = FEW,
     .open = detached_open,
     .look = threads_look,
     THREADS,
     WORK(create_chain)},
    {.name = "pthread.cancel",
     .summary = "create a thread that waits, cancel it and join it",
     .counts = "handlers of cancelled threads",
     .checked = FEW,
     .open = joinable_open,
     .look = threads_look,
     THREADS,
     WORK(create_cancel)},
    {.name = "pthread.testcancel",
     .reference = "self.call",
     .summary = "pthread_testcancel() in a thread without a pending cancellation",
     .counts = "tests",
     .open = joinable_open,
     .look = testcancel_look,
     THREADS,
     THREADS_DO(test_cancel)},
};

static void op_at(size_t i, struct op *op)
{
    threads_op(&rows[i], op);
}

const struct op_family pthread_thread_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
