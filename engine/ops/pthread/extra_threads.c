#define _GNU_SOURCE
#include "ops/pthread/extra_threads.h"

#include "base/err.h"
#include "base/pool.h"
#include "core/op.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *end_at_once(void *arg)
{
    return arg;
}

int process_be_threaded(void)
{
    pthread_t thread;
    int rc = pthread_create(&thread, NULL, end_at_once, NULL);
    if (rc == 0)
        rc = pthread_join(thread, NULL);
    return rc == 0 ? 0 : err_say(ERR_SYSTEM, "no thread could be made: %s", strerror(rc));
}

struct beside {
    int count;
    atomic_bool over;
    sem_t begun, end;
    pthread_t thread[];
};

/* The CPU of each lane. */
struct places {
    int count;
    int cpu[];
};

/* The CPU that a lane is bound to, or the one that it runs on. */
static void say_place(void *arg, int lane)
{
    ((struct places *)arg)->cpu[lane] = sched_getcpu();
}

static void *idle(void *arg)
{
    struct beside *b = arg;
    sem_post(&b->begun);
    while (sem_wait(&b->end) != 0)
        ; /* interrupted by a signal */
    return NULL;
}

static void *busy_loop(void *arg)
{
    struct beside *b = arg;
    sem_post(&b->begun);
    while (!atomic_load_explicit(&b->over, memory_order_relaxed))
        ;
    return NULL;
}

/* The CPUs that busy threads may use. A launch is bound to as many CPUs as it measures on. The process that
 * started it knows the others. With several ranks those may belong to other ranks. */
static int spare_cpus(const struct op_env *env, struct pool *pool, cpu_set_t *spare)
{
    const int lanes = env->threads;
    const pid_t whose = env->team->size == 1 ? getppid() : 0;
    struct places *places = calloc(1, sizeof *places + (size_t)lanes * sizeof places->cpu[0]);
    if (!places)
        return err_say(ERR_NOMEM, "no memory for the places of %d threads", lanes);
    pool_run(pool, say_place, places);
    CPU_ZERO(spare);
    if (sched_getaffinity(whose, sizeof *spare, spare) != 0)
        sched_getaffinity(0, sizeof *spare, spare);
    for (int i = 0; i < lanes; ++i)
        if (places->cpu[i] >= 0)
            CPU_CLR((size_t)places->cpu[i], spare);
    free(places);
    return CPU_COUNT(spare) > 0
               ? 0
               : err_say(ERR_UNSUPPORTED,
                         "busy threads find no CPU beside the %d threads that are measured; give "
                         "fewer --threads, or extra_kind=idle",
                         lanes);
}

static int beside_start(struct beside *b, bool busy, const pthread_attr_t *attributes)
{
    int rc = pthread_create(&b->thread[b->count], attributes, busy ? busy_loop : idle, b);
    if (rc != 0)
        return err_say(ERR_SYSTEM, "extra thread %d could not be made: %s", b->count, strerror(rc));
    ++b->count;
    while (sem_wait(&b->begun) != 0)
        ;
    return 0;
}

int beside_open(const struct op_env *env, int count, bool busy, struct pool *pool, struct beside **out)
{
    pthread_attr_t attributes;
    cpu_set_t spare;
    int err = busy ? spare_cpus(env, pool, &spare) : 0;
    if (err)
        return err;
    struct beside *b = calloc(1, sizeof *b + (size_t)count * sizeof b->thread[0]);
    if (!b)
        return err_say(ERR_NOMEM, "no memory for %d extra threads", count);
    sem_init(&b->begun, 0, 0);
    sem_init(&b->end, 0, 0);
    pthread_attr_init(&attributes);
    if (busy)
        pthread_attr_setaffinity_np(&attributes, sizeof spare, &spare);
    for (int i = 0; i < count && !err; ++i)
        err = beside_start(b, busy, &attributes);
    pthread_attr_destroy(&attributes);
    if (err)
        beside_close(b);
    else
        *out = b;
    return err;
}

void beside_close(struct beside *b)
{
    if (!b)
        return;
    atomic_store(&b->over, true);
    for (int i = 0; i < b->count; ++i)
        sem_post(&b->end);
    for (int i = 0; i < b->count; ++i)
        pthread_join(b->thread[i], NULL);
    sem_destroy(&b->begun);
    sem_destroy(&b->end);
    free(b);
}

struct pinned {
    cpu_set_t before, one;
    atomic_int failed;
};

static void pin(void *arg, int lane)
{
    struct pinned *p = arg;
    (void)lane;
    if (sched_setaffinity(0, sizeof p->one, &p->one) != 0)
        atomic_store(&p->failed, errno);
}

int pinned_open(struct pool *pool, struct pinned **out)
{
    struct pinned *p = calloc(1, sizeof *p);
    if (!p)
        return err_say(ERR_NOMEM, "no memory for the CPU of the threads");
    int cpu = sched_getcpu();
    if (cpu < 0 || sched_getaffinity(0, sizeof p->before, &p->before) != 0) {
        int why = errno;
        free(p);
        return err_say(ERR_SYSTEM, "which CPUs this thread may use is not known: %s", strerror(why));
    }
    CPU_SET((size_t)cpu, &p->one);
    pool_run(pool, pin, p);
    int failed = atomic_load(&p->failed);
    if (failed) {
        pinned_close(p);
        return err_say(ERR_SYSTEM, "the threads could not be bound to CPU %d: %s", cpu, strerror(failed));
    }
    *out = p;
    return 0;
}

void pinned_close(struct pinned *p)
{
    if (!p)
        return;
    sched_setaffinity(0, sizeof p->before, &p->before);
    free(p);
}

int two_cpus(struct pool *pool, int cpus[2])
{
    struct places *places = calloc(1, sizeof *places + 2 * sizeof places->cpu[0]);
    if (!places)
        return err_say(ERR_NOMEM, "no memory for the places of 2 threads");
    pool_run(pool, say_place, places);
    cpus[0] = places->cpu[0];
    cpus[1] = places->cpu[1];
    free(places);
    cpu_set_t mine;
    if (cpus[0] == cpus[1] && sched_getaffinity(0, sizeof mine, &mine) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE && cpus[0] == cpus[1]; ++cpu)
            if (CPU_ISSET((size_t)cpu, &mine)) /* lane 0 is not bound, and was on the CPU of lane 1 */
                cpus[0] = cpu;
    return cpus[0] != cpus[1] && cpus[0] >= 0 && cpus[1] >= 0
               ? 0
               : err_say(ERR_UNSUPPORTED,
                         "a thread can only be moved where there are two CPUs; this launch has only CPU %d",
                         cpus[0]);
}
