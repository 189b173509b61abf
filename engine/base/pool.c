#define _GNU_SOURCE
#include "base/pool.h"

#include "base/err.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Lanes spin for their work, so that a start costs a cache-line transfer and not a system call; after this
 * many empty polls (some 10 us) they give the core away, in case there are fewer cores than lanes. */
enum { POLLS_BEFORE_YIELD = 10000, CACHE_LINE = 64 };

struct lane {
    struct pool *pool;
    pthread_t thread;
    int index;
};

struct pool {
    _Alignas(CACHE_LINE) atomic_uint_fast64_t generation; /* raised to start a round */
    _Alignas(CACHE_LINE) atomic_int running;              /* lanes still at work */
    _Alignas(CACHE_LINE) int lanes;
    void (*work)(void *arg, int lane); /* NULL: end */
    void *arg;
    struct lane lane[];
};

static void pause_a_little(int *polls)
{
    if (++*polls < POLLS_BEFORE_YIELD) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
        return;
    }
    syscall(SYS_sched_yield); /* not sched_yield(): the count in base/yield is the library's */
}

static void *lane_main(void *arg)
{
    const struct lane *lane = arg;
    struct pool *pool = lane->pool;
    for (uint_fast64_t seen = 0;; ++seen) {
        int polls = 0;
        while (atomic_load_explicit(&pool->generation, memory_order_acquire) == seen)
            pause_a_little(&polls);
        if (!pool->work)
            return NULL;
        pool->work(pool->arg, lane->index);
        atomic_fetch_sub_explicit(&pool->running, 1, memory_order_release);
    }
}

static void start_round(struct pool *pool, void (*work)(void *arg, int lane), void *arg)
{
    pool->work = work;
    pool->arg = arg;
    atomic_store_explicit(&pool->running, pool->lanes - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->generation, 1, memory_order_release);
}

/* The CPU of lane `index`: the index-th that this process may use; -1 when there are not so many. */
static int lane_cpu(int index)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return -1;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &allowed) && index-- == 0)
            return (int)cpu;
    return -1;
}

static int lane_start(struct lane *lane)
{
    pthread_attr_t attributes;
    int cpu = lane_cpu(lane->index);
    int rc = pthread_attr_init(&attributes);
    if (rc == 0 && cpu >= 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        rc = pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
    }
    if (rc == 0)
        rc = pthread_create(&lane->thread, &attributes, lane_main, lane);
    pthread_attr_destroy(&attributes);
    return rc == 0 ? 0 : err_say(ERR_SYSTEM, "thread %d could not be made: %s", lane->index, strerror(rc));
}

int pool_open(int lanes, struct pool **out)
{
    size_t size = sizeof(struct pool) + (size_t)lanes * sizeof(struct lane);
    size = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct pool *pool = aligned_alloc(CACHE_LINE, size);
    if (!pool)
        return err_say(ERR_NOMEM, "no memory for a pool of %d threads", lanes);
    memset(pool, 0, size);
    pool->lanes = 1;
    for (int i = 1; i < lanes; ++i) {
        pool->lane[i] = (struct lane){.pool = pool, .index = i};
        int err = lane_start(&pool->lane[i]);
        if (err) {
            pool_close(pool);
            return err;
        }
        pool->lanes = i + 1;
    }
    *out = pool;
    return 0;
}

void pool_close(struct pool *pool)
{
    if (!pool)
        return;
    start_round(pool, NULL, NULL);
    for (int i = 1; i < pool->lanes; ++i)
        pthread_join(pool->lane[i].thread, NULL);
    free(pool);
}

void pool_run(struct pool *pool, void (*work)(void *arg, int lane), void *arg)
{
    int polls = 0;
    start_round(pool, work, arg);
    work(arg, 0);
    while (atomic_load_explicit(&pool->running, memory_order_acquire) > 0)
        pause_a_little(&polls);
}
