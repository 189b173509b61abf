/* omp.*: what OpenMP constructs cost. The value is the construct with all that comes with it; an overhead is
 * a difference between two points, and not taken here. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/omp_compat.h"

#include <stdlib.h>

enum { CACHE_LINE = 64 };

struct slot { /* one for each thread, on a cache line of its own */
    _Alignas(CACHE_LINE) int64_t count;
};

struct omp {
    int threads;
    struct slot *slots;
};

static void teardown(void *state)
{
    struct omp *o = state;
    free(o->slots);
    free(o);
}

static int setup(const struct op_env *env, void **state)
{
    struct omp *o = calloc(1, sizeof *o);
    if (!o || !(o->slots = aligned_alloc(CACHE_LINE, (size_t)env->threads * sizeof *o->slots))) {
        free(o);
        return err_say(ERR_NOMEM, "no memory for %d threads", env->threads);
    }
    o->threads = env->threads;
    *state = o;
    return 0;
}

static int parallel_run(void *state, int64_t reps)
{
    const struct omp *o = state;
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads)
        __asm__ volatile("" ::: "memory");
    }
    return 0;
}

static int barrier_run(void *state, int64_t reps)
{
    const struct omp *o = state;
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp barrier
        __asm__ volatile("" ::: "memory");
    }
    return 0;
}

/* Each thread counts, waits, and looks whether all have counted: so there are as many threads as were asked
 * for, and no barrier lets one through early. */
static int verify(void *state)
{
    const int64_t rounds = 100;
    struct omp *o = state;
    for (int i = 0; i < o->threads; ++i)
        o->slots[i] = (struct slot){.count = 0};
    int64_t early = 0;
#pragma omp parallel num_threads(o->threads) reduction(+ : early)
    for (int64_t round = 1; round <= rounds; ++round) {
        struct slot *mine = &o->slots[omp_get_thread_num()];
        __atomic_store_n(&mine->count, round, __ATOMIC_RELAXED);
#pragma omp barrier
        for (int i = 0; i < o->threads; ++i)
            early += __atomic_load_n(&o->slots[i].count, __ATOMIC_RELAXED) < round;
#pragma omp barrier
    }
    return early == 0 ? 0
                      : err_say(ERR_WRONG, "a team of %d threads was not all there, or left a barrier early",
                                o->threads);
}

static const struct op rows[] = {
    {.name = "omp.parallel",
     .summary = "a parallel region of T threads that does nothing: fork and join",
     .run = parallel_run},
    {.name = "omp.barrier", .summary = "a barrier inside a parallel region of T threads", .run = barrier_run},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "omp";
    op->class = OP_LOCAL;
    op->report = OP_SLOWEST;
    op->parts = 1;
    op->threaded = true;
    op->missing = OMP_MISSING;
    op->setup = setup;
    op->verify = verify;
    op->teardown = teardown;
}

const struct op_family omp_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
