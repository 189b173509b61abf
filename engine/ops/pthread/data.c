/* pthread.key*, pthread.tls: data of each thread's own. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/pthread/team.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = THREADS_OWN, KEYS_MOST = 512 };

static const struct param tls_params[] = {THREADS_PARAMS, {0}};
static const struct param key_params[] = {
    THREADS_PARAMS,
    [KEYS] = {"keys", "", "number of keys; the last one is used", 1, 1, KEYS_MOST},
    {0},
};

struct keys {
    struct thread_team l;
    int count;
    pthread_key_t key[KEYS_MOST];
};

static void keys_close(struct thread_team *l)
{
    struct keys *k = (struct keys *)l;
    for (int i = 0; i < k->count; ++i)
        pthread_key_delete(k->key[i]);
}

static int keys_open(struct thread_team *l)
{
    struct keys *k = (struct keys *)l;
    const int count = (int)l->env->params[KEYS];
    for (int rc = 0; k->count < count; ++k->count)
        if ((rc = pthread_key_create(&k->key[k->count], NULL)) != 0) {
            int there = k->count;
            keys_close(l);
            return err_say(ERR_INPUT, "no more than %d keys could be made: %s; give keys=%d", there,
                           strerror(rc), there);
        }
    return 0;
}

/* key.set and key.get: the value of the last key. */

THREADS_INLINE set_value(void *lanes, int lane, enum inside what)
{
    struct keys *k = lanes;
    const pthread_key_t key = k->key[k->count - 1];
    int rc = 0;
    for (int64_t i = 0; i < k->l.reps; ++i) {
        const void *value = &k->key[i % KEYS_MOST];
        rc |= pthread_setspecific(key, value);
        if (what == INSIDE_COUNT)
            threads_saw(&k->l, lane, pthread_getspecific(key) == value);
        else
            threads_inside(&k->l, lane, what);
    }
    threads_note(&k->l, rc);
}
THREADS_WORK(set_value)

THREADS_INLINE get_value(void *lanes, int lane, enum inside what)
{
    struct keys *k = lanes;
    const pthread_key_t key = k->key[k->count - 1];
    const void *mine = &k->l.slots[lane];
    threads_note(&k->l, pthread_setspecific(key, mine));
    for (int64_t i = 0; i < k->l.reps; ++i) {
        const void *got = pthread_getspecific(key);
        __asm__ volatile("" : "+r"(got));
        if (what == INSIDE_COUNT)
            threads_saw(&k->l, lane, got == mine);
        else
            threads_inside(&k->l, lane, what);
    }
}
THREADS_WORK(get_value)

/* key.create: create and delete. */

THREADS_INLINE create_delete(void *lanes, int lane, enum inside what)
{
    struct keys *k = lanes;
    for (int64_t i = 0; i < k->l.reps; ++i) {
        pthread_key_t key;
        int rc = pthread_key_create(&key, NULL);
        if (rc != 0) {
            threads_note(&k->l, rc);
            return;
        }
        if (what == INSIDE_COUNT) /* a new key has no value, and keeps one that it is given */
            threads_saw(&k->l, lane,
                        !pthread_getspecific(key) && pthread_setspecific(key, k) == 0 &&
                            pthread_getspecific(key) == k);
        else
            threads_inside(&k->l, lane, what);
        threads_note(&k->l, pthread_key_delete(key));
    }
}
THREADS_WORK(create_delete)

/* tls: the variable that is measured, one for each thread. */
static _Thread_local int64_t own;

THREADS_INLINE add_to_own(void *lanes, int lane, enum inside what)
{
    struct thread_team *l = lanes;
    own = 0;
    for (int64_t i = 0; i < l->reps; ++i) {
        __asm__ volatile("" : "+m"(own));
        ++own;
        __asm__ volatile("" : "+m"(own));
        if (what == INSIDE_DELAY)
            delay_do(&l->delay);
    }
    if (what == INSIDE_COUNT)
        l->slots[lane].right = own;
}
THREADS_WORK(add_to_own)

#define DATA .family = "pthread", .delays = DELAYS_ONE, .least_threads = 1
#define OF_KEYS                                                                                              \
    DATA, .params = key_params, .size = sizeof(struct keys), .open = keys_open, .close = keys_close

static const struct thread_row rows[] = {
    {.name = "pthread.key.get",
     .reference = "self.call",
     .summary = "pthread_getspecific(), by each of T threads",
     OF_KEYS,
     .counts = "values",
     THREADS_DO(get_value)},
    {.name = "pthread.key.set",
     .reference = "self.call",
     .summary = "pthread_setspecific(), by each of T threads",
     OF_KEYS,
     .counts = "values",
     THREADS_DO(set_value)},
    {.name = "pthread.key.create",
     .summary = "create a key of thread-specific data and delete it, by each of T threads",
     OF_KEYS,
     .counts = "keys",
     THREADS_DO(create_delete)},
    {.name = "pthread.tls",
     .summary = "add to a _Thread_local variable in memory, by each of T threads",
     DATA,
     .params = tls_params,
     .counts = "increments",
     THREADS_DO(add_to_own)},
};

static void op_at(size_t i, struct op *op)
{
    threads_op(&rows[i], op);
}

const struct op_family pthread_data_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
