/* omp.first_parallel, omp.nested, omp.cancel, omp.teams, omp.target: regions of a special kind. */
#include "ops/families.h"
#include "ops/openmp/construct.h"

#include <pthread.h>
#include <stdlib.h>

/* first_parallel: a process has only one first region, so that cannot be repeated. But a run-time system also
 * makes a team when any other thread enters its first region. gcc's libgomp makes a pool of new threads,
 * which ends with the thread. LLVM's uses idle threads after the first time. */

static void *fresh_thread(void *state)
{
    struct omp *o = state;
    o->body(o, 0);
    return NULL;
}

static void *fresh_region(void *state)
{
    struct omp *o = state;
#pragma omp parallel num_threads(o->threads)
    o->body(o, 0);
    return NULL;
}

static void fresh_do(struct omp *o, int64_t reps, void *(*work)(void *state))
{
    for (int64_t i = 0; i < reps && !o->failed; ++i) {
        pthread_t thread;
        o->failed = pthread_create(&thread, NULL, work, o) != 0 || pthread_join(thread, NULL) != 0;
    }
}

static void fresh_thread_loop(struct omp *o, int64_t reps)
{
    fresh_do(o, reps, fresh_thread);
}

static void first_parallel_loop(struct omp *o, int64_t reps)
{
    fresh_do(o, reps, fresh_region);
}

static int fresh_thread_open(struct omp *o)
{
    o->team = 1;
    o->marks = MARKS_ORDERED;
    return 0;
}

static void mark_by_one(struct omp *o, int64_t index)
{
    (void)index;
    omp_mark_at(o, o->next, 0);
}

static int fresh_thread_verify(void *state)
{
    enum { REPS = 5 };
    return omp_verify_with(state, REPS, mark_by_one);
}

/* nested: each thread of a team becomes the first of an inner team. */

enum { NESTED_INNER = 1 };

static const struct param nested_params[] = {
    OMP_SPIN_PARAM,
    [NESTED_INNER] = {"inner", "", "threads of each inner region", 2, 1, 256},
    {0},
};

static void nested_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->team)
        o->body(o, i);
    }
}

static int nested_open(struct omp *o)
{
    o->team = (int)o->env->params[NESTED_INNER];
    o->share = o->team;
    o->own = malloc(sizeof(int));
    if (!o->own)
        return err_say(ERR_NOMEM, "no memory for the levels of regions");
    *(int *)o->own = omp_get_max_active_levels();
    omp_set_max_active_levels(2);
    return 0;
}

static void nested_close(struct omp *o)
{
    if (o->own)
        omp_set_max_active_levels(*(int *)o->own);
    free(o->own);
}

/* Threads of an inner team mark the outer thread's slot, which only one of them uses at a time. */
static void mark_inner(struct omp *o, int64_t index)
{
    const int outer = omp_get_ancestor_thread_num(1);
    (void)index;
    struct omp_slot *slot = &o->slots[outer >= 0 && outer < o->threads ? outer : 0];
    const bool right = omp_get_num_threads() == o->team && omp_get_level() == 2;
    __atomic_fetch_add(&slot->wrong, !right, __ATOMIC_RELAXED);
    __atomic_fetch_add(&slot->count, 1, __ATOMIC_RELAXED);
}

static int nested_verify(void *state)
{
    enum { REPS = 5 };
    return omp_verify_with(state, REPS, mark_inner);
}

/* cancel */

enum { CANCEL_FORM = 1 };
enum { CANCEL_PARALLEL, CANCEL_FOR, CANCEL_TASKGROUP };
static const char *const cancel_words[] = {"parallel", "for", "taskgroup", NULL};

static const struct param cancel_params[] = {
    OMP_SPIN_PARAM,
    [CANCEL_FORM] = PARAM_WORDS("form", "the cancelled construct", cancel_words),
    {0},
};

/* Code that must never be reached counts, and the check reads the count. */
static inline void beyond_cancel(struct omp *o)
{
    __atomic_fetch_add((int64_t *)o->own, 1, __ATOMIC_RELAXED);
}

static void cancel_parallel_loop(struct omp *o, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads)
        {
            o->body(o, i);
#pragma omp cancel parallel
            beyond_cancel(o);
        }
    }
}

static void cancel_for_loop(struct omp *o, int64_t reps)
{
    enum { ROUNDS = 4 }; /* iterations that a thread would do without the cancel */
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads)
        {
#pragma omp for schedule(static, 1)
            for (int k = 0; k < ROUNDS * o->threads; ++k) {
                o->body(o, i);
#pragma omp cancel for
                beyond_cancel(o);
            }
        }
    }
}

static void cancel_taskgroup_loop(struct omp *o, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads)
        {
            OMP_MASKED
            {
#pragma omp taskgroup
                {
                    for (int t = 0; t < o->threads; ++t) {
#pragma omp task
                        {
                            o->body(o, i);
#pragma omp cancel taskgroup
                            beyond_cancel(o);
                        }
                    }
                }
            }
        }
    }
}

static int cancel_pick(const struct op_env *env)
{
    return (int)env->params[CANCEL_FORM];
}

static int cancel_open(struct omp *o)
{
    if (!omp_get_cancellation())
        return err_say(ERR_UNSUPPORTED, "cancel does nothing unless OMP_CANCELLATION is true; "
                                        "add --omp cancellation=true");
    o->own = omp_lines(sizeof(int64_t));
    return o->own ? 0 : err_say(ERR_NOMEM, "no memory for a counter");
}

static int cancel_check(struct omp *o, int64_t reps)
{
    (void)reps;
    const int64_t beyond = *(int64_t *)o->own;
    return beyond == 0 ? 0
                       : err_say(ERR_WRONG, "threads continued %lld times after they had cancelled",
                                 (long long)beyond);
}

static void own_free(struct omp *o)
{
    free(o->own);
}

/* teams, target: on the host. */

enum { HOST_FORM = 1 };
static const char *const teams_words[] = {"parallel", "distribute", NULL};
static const char *const target_words[] = {"parallel", "map", NULL};

static const struct param teams_params[] = {
    OMP_SPIN_PARAM,
    [HOST_FORM] = PARAM_WORDS(
        "form", "a parallel region in a league of one team, or a loop distributed to it", teams_words),
    {0},
};

static const struct param target_params[] = {
    OMP_SPIN_PARAM,
    [HOST_FORM] =
        PARAM_WORDS("form", "target parallel, without or with a variable mapped to and from", target_words),
    {0},
};

static void teams_parallel_loop(struct omp *o, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp teams num_teams(1) thread_limit(o->threads)
        {
#pragma omp parallel num_threads(o->threads)
            o->body(o, i);
        }
    }
}

static void teams_distribute_loop(struct omp *o, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp teams distribute parallel for num_teams(1) thread_limit(o->threads) num_threads(o->threads)
        for (int k = 0; k < o->threads; ++k)
            o->body(o, k);
    }
}

static void target_parallel_loop(struct omp *o, int64_t reps)
{
    const int host = omp_get_initial_device(), threads = o->threads;
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp target parallel device(host) num_threads(threads) is_device_ptr(o)
        o->body(o, i);
    }
}

static void target_map_loop(struct omp *o, int64_t reps)
{
    const int host = omp_get_initial_device(), threads = o->threads;
    for (int64_t i = 0; i < reps; ++i) {
        int64_t value = i;
#pragma omp target parallel device(host) num_threads(threads) is_device_ptr(o) map(tofrom : value)
        {
            o->body(o, i);
            omp_escape(&value);
        }
    }
}

static int host_pick(const struct op_env *env)
{
    return (int)env->params[HOST_FORM];
}

static const struct omp_row rows[] = {
    {.name = "omp.fresh_thread",
     .summary = "make a thread and join it: the reference of omp.first_parallel",
     .loops = OMP_LOOPS(fresh_thread_loop),
     .params = omp_spin_params,
     .open = fresh_thread_open,
     .verify = fresh_thread_verify,
     .delays = DELAYS_ONE},
    {.name = "omp.first_parallel",
     .summary = "the first parallel region of a new thread, which makes the team and ends it",
     .reference = "omp.fresh_thread",
     .loops = OMP_LOOPS(first_parallel_loop),
     .params = omp_spin_params,
     .marks = MARKS_FENCED,
     .delays = DELAYS_ONE},
    {.name = "omp.nested",
     .summary = "a parallel region by each of T threads of another one",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(nested_loop),
     .params = nested_params,
     .inside = true,
     .open = nested_open,
     .close = nested_close,
     .verify = nested_verify,
     .marks = MARKS_EACH,
     .delays = DELAYS_ONE},
    {.name = "omp.cancel",
     .summary = "a construct in a region of T threads that the first finished body cancels",
     .reference = "omp.reference",
     .loops = OMP_LOOPS([CANCEL_PARALLEL] = cancel_parallel_loop, [CANCEL_FOR] = cancel_for_loop,
                        [CANCEL_TASKGROUP] = cancel_taskgroup_loop),
     .params = cancel_params,
     .pick = cancel_pick,
     .open = cancel_open,
     .close = own_free,
     .check = cancel_check,
     .marks = MARKS_SOME},
    {.name = "omp.teams",
     .summary = "a parallel region in a teams construct on the host",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(teams_parallel_loop, teams_distribute_loop),
     .params = teams_params,
     .missing = OMP_TEAMS_MISSING,
     .pick = host_pick,
     .marks = MARKS_FENCED,
     .delays = DELAYS_ONE},
    {.name = "omp.target",
     .summary = "a parallel region in a target construct that runs on the host",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(target_parallel_loop, target_map_loop),
     .params = target_params,
     .pick = host_pick,
     .marks = MARKS_FENCED,
     .delays = DELAYS_ONE},
};

static void op_at(size_t i, struct op *op)
{
    omp_row_op(&rows[i], op);
}

const struct op_family omp_region_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
