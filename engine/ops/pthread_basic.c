/* pthread.*: what POSIX threads cost. */
#include "ops/families.h"

#include "base/err.h"
#include "base/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct threads {
    const struct op_env *env;
    struct pool *pool;
    pthread_mutex_t mutex;
    int64_t reps;
    int64_t counted; /* guarded by the mutex, or by join */
};

static void teardown(void *state)
{
    struct threads *t = state;
    pool_close(t->pool);
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

static int setup(const struct op_env *env, void **state)
{
    struct threads *t = calloc(1, sizeof *t);
    if (!t)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    t->env = env;
    pthread_mutex_init(&t->mutex, NULL);
    int err = pool_open(env->op->threaded ? env->threads : 1, &t->pool);
    if (err)
        teardown(t);
    else
        *state = t;
    return err;
}

/* The thread functions keep the first error of any call; it is never expected. */
static int thread_err(int rc, const char *call)
{
    return rc == 0 ? 0 : err_say(ERR_SYSTEM, "%s failed: %s", call, strerror(rc));
}

static void lock_unlock(void *state, int lane)
{
    struct threads *t = state;
    (void)lane;
    for (int64_t i = 0; i < t->reps; ++i) {
        pthread_mutex_lock(&t->mutex);
        __asm__ volatile("" ::: "memory");
        pthread_mutex_unlock(&t->mutex);
    }
}

static int mutex_run(void *state, int64_t reps)
{
    struct threads *t = state;
    t->reps = reps;
    pool_run(t->pool, lock_unlock, t);
    return 0;
}

static void count_locked(void *state, int lane)
{
    struct threads *t = state;
    (void)lane;
    for (int64_t i = 0; i < t->reps; ++i) {
        pthread_mutex_lock(&t->mutex);
        ++t->counted;
        pthread_mutex_unlock(&t->mutex);
    }
}

static int mutex_verify(void *state)
{
    const int64_t reps = 10000;
    struct threads *t = state;
    t->reps = reps;
    t->counted = 0;
    pool_run(t->pool, count_locked, t);
    int64_t expected = reps * t->env->threads;
    return t->counted == expected ? 0
                                  : err_say(ERR_WRONG, "%lld increments under the mutex counted to %lld",
                                            (long long)expected, (long long)t->counted);
}

static void *count_one(void *state)
{
    ++((struct threads *)state)->counted;
    return NULL;
}

static int create_run(void *state, int64_t reps)
{
    struct threads *t = state;
    int rc = 0;
    for (int64_t i = 0; i < reps && rc == 0; ++i) {
        pthread_t thread;
        rc = pthread_create(&thread, NULL, count_one, t);
        if (rc == 0)
            rc = pthread_join(thread, NULL);
    }
    return thread_err(rc, "pthread_create or pthread_join");
}

static int create_verify(void *state)
{
    const int64_t reps = 10;
    struct threads *t = state;
    t->counted = 0;
    int err = create_run(t, reps);
    if (err)
        return err;
    return t->counted == reps
               ? 0
               : err_say(ERR_WRONG, "of %lld threads %lld ran", (long long)reps, (long long)t->counted);
}

static const struct op rows[] = {
    {.name = "pthread.mutex",
     .summary = "lock and unlock one mutex, by each of T threads at once",
     .threaded = true,
     .setup = setup,
     .run = mutex_run,
     .verify = mutex_verify},
    {.name = "pthread.create",
     .summary = "create a thread that ends at once, and join it",
     .setup = setup,
     .run = create_run,
     .verify = create_verify},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "pthread";
    op->class = OP_LOCAL;
    op->report = OP_SLOWEST;
    op->parts = 1;
    op->teardown = teardown;
}

const struct op_family pthread_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
