#define _GNU_SOURCE
#include "base/pool.h"

#include "base/binding.h"
#include "base/err.h"
#include "base/thread_places.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Lanes spin for their work, so that a start costs a cache-line transfer and not a system call; after this
 * many empty polls (some 10 us) they give the core away, in case there are fewer cores than lanes. */
enum { POLLS_BEFORE_YIELD = 10000, CACHE_LINE = 64 };

struct pool_lane {
    struct pool *pool;
    pthread_t thread;
    int index;
    int cpu;     /* -1: where the process may run */
    int refusal; /* the kernel's errno, when it was to be bound */
};

struct pool {
    _Alignas(CACHE_LINE) atomic_uint_fast64_t generation; /* raised to start a round */
    _Alignas(CACHE_LINE) atomic_int running;              /* lanes still at work */
    _Alignas(CACHE_LINE) int lanes;
    void (*work)(void *arg, int lane); /* NULL: end */
    void *arg;
    bool keeps_lanes;  /* where they were is of the record */
    bool moves_caller; /* which stays where it is otherwise */
    cpu_set_t before;  /* where the caller was */
    struct pool_lane lane[];
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
    const struct pool_lane *lane = arg;
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

void pool_begin(struct pool *pool, void (*work)(void *arg, int lane), void *arg)
{
    pool->work = work;
    pool->arg = arg;
    atomic_store_explicit(&pool->running, pool->lanes - 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&pool->generation, 1, memory_order_release);
}

/* The first round: each lane to its place. */
static void lane_bind(void *arg, int index)
{
    struct pool *pool = arg;
    struct pool_lane *lane = &pool->lane[index];
    if (index > 0 || pool->moves_caller)
        lane->refusal = binding_thread(lane->cpu);
}

static int bind_all(struct pool *pool)
{
    pool_run(pool, lane_bind, pool);
    for (int i = 0; i < pool->lanes; ++i) {
        if (pool->lane[i].refusal == EINVAL && pool->lane[i].cpu >= 0)
            return err_say(ERR_INPUT, "CPU %d is not on this machine, or the control group does not allow it",
                           pool->lane[i].cpu);
        binding_refuse(pool->lane[i].refusal);
    }
    return 0;
}

static int open_at(int lanes, const int *cpus, bool moves_caller, struct pool **out)
{
    size_t size = sizeof(struct pool) + (size_t)lanes * sizeof(struct pool_lane);
    size = (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
    struct pool *pool = aligned_alloc(CACHE_LINE, size);
    if (!pool)
        return err_say(ERR_NOMEM, "no memory for a pool of %d threads", lanes);
    memset(pool, 0, size);
    pool->moves_caller = moves_caller && sched_getaffinity(0, sizeof pool->before, &pool->before) == 0;
    int err = 0;
    for (int i = 0; i < lanes && !err; ++i) {
        pool->lane[i] = (struct pool_lane){.pool = pool, .index = i, .cpu = cpus ? cpus[i] : binding_cpu(i)};
        int rc = i > 0 ? pthread_create(&pool->lane[i].thread, NULL, lane_main, &pool->lane[i]) : 0;
        if (rc == 0)
            pool->lanes = i + 1;
        else
            err = err_say(ERR_SYSTEM, "thread %d could not be made: %s", i, strerror(rc));
    }
    if (!err)
        err = bind_all(pool);
    if (err)
        pool_close(pool);
    else
        *out = pool;
    return err;
}

int pool_open(int lanes, struct pool **out)
{
    int err = open_at(lanes, NULL, binding_binds_caller(lanes), out);
    if (!err)
        (*out)->keeps_lanes = true;
    return err;
}

int pool_open_on(int lanes, const int *cpus, struct pool **out)
{
    return open_at(lanes, cpus, true, out);
}

struct looks {
    const struct pool *pool;
    struct thread_place *lane;
};

static void look(void *arg, int index)
{
    const struct looks *looks = arg;
    const struct pool_lane *lane = &looks->pool->lane[index];
    const bool is_bound = lane->cpu >= 0 && lane->refusal == 0 && (index > 0 || looks->pool->moves_caller);
    char meant[16] = "";
    if (is_bound)
        snprintf(meant, sizeof meant, "%d", lane->cpu);
    lane_look(&looks->lane[index], meant);
}

/* The last round: each lane says where it is. */
static void keep_lanes(struct pool *pool)
{
    struct looks looks = {.pool = pool, .lane = calloc((size_t)pool->lanes, sizeof *looks.lane)};
    if (!looks.lane)
        return;
    pool_run(pool, look, &looks);
    thread_places_keep(looks.lane, pool->lanes);
    free(looks.lane);
}

void pool_close(struct pool *pool)
{
    if (!pool)
        return;
    if (pool->keeps_lanes && pool->lanes > 1)
        keep_lanes(pool);
    pool_begin(pool, NULL, NULL);
    for (int i = 1; i < pool->lanes; ++i)
        pthread_join(pool->lane[i].thread, NULL);
    if (pool->moves_caller)
        sched_setaffinity(0, sizeof pool->before, &pool->before);
    free(pool);
}

void pool_end(struct pool *pool)
{
    int polls = 0;
    while (atomic_load_explicit(&pool->running, memory_order_acquire) > 0)
        pause_a_little(&polls);
}

void pool_run(struct pool *pool, void (*work)(void *arg, int lane), void *arg)
{
    pool_begin(pool, work, arg);
    work(arg, 0);
    pool_end(pool);
}
