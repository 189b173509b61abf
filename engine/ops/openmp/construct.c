#include "ops/openmp/construct.h"

#include "base/binding.h"
#include "base/thread_places.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Entering and leaving the region around a loop costs some us, or some ten with many threads. In samples of
 * this length that is a percent or less. */
static const double INSIDE_NS = 1e6;

const struct param omp_spin_params[] = {OMP_SPIN_PARAM, {0}};

void *omp_lines(size_t bytes)
{
    const size_t size = (bytes + OMP_CACHE_LINE - 1) / OMP_CACHE_LINE * OMP_CACHE_LINE;
    void *memory = aligned_alloc(OMP_CACHE_LINE, size > 0 ? size : OMP_CACHE_LINE);
    return memory ? memset(memory, 0, size) : NULL;
}

static void body_nothing(struct omp *o, int64_t index)
{
    (void)index;
    __asm__ volatile("" : : "r"(o) : "memory");
}

static void body_spin(struct omp *o, int64_t index)
{
    (void)index;
    delay_do(&o->delay);
}

/* Its threads as they are now. Their binding changes only when they are used again. */
static void keep_lanes(const struct omp *o)
{
    struct thread_place *lanes = calloc((size_t)o->threads, sizeof *lanes);
    if (!lanes)
        return;
#pragma omp parallel num_threads(o->threads)
    {
        char meant[LANE_CPUS_MAX];
        const int thread = omp_get_thread_num();
        binding_openmp_meant(meant, sizeof meant);
        if (thread < o->threads)
            lane_look(&lanes[thread], meant);
    }
    thread_places_keep(lanes, o->threads);
    free(lanes);
}

static void teardown(void *state)
{
    struct omp *o = state;
    if (o->threads > 1)
        keep_lanes(o);
    binding_openmp(false);
    if (o->row->close)
        o->row->close(o);
    free(o->indexes);
    free(o->slots);
    free(o);
}

static int setup(const struct op_env *env, void **state)
{
    const struct omp_row *row = env->op->row;
    struct omp *o = omp_lines(sizeof *o);
    if (!o || !(o->slots = omp_lines((size_t)env->threads * sizeof *o->slots))) {
        free(o);
        return err_say(ERR_NOMEM, "no memory for %d threads", env->threads);
    }
    o->env = env;
    o->row = row;
    o->team = o->threads = env->threads;
    o->share = 1;
    o->marks = row->marks;
    o->loop = row->loops[row->pick ? row->pick(env) : 0];
    o->body = env->params[OMP_SPIN] > 0 ? body_spin : body_nothing;
    binding_openmp(true);
    int err = delay_open(env->params[OMP_SPIN], &o->delay);
    if (!err && row->open)
        err = row->open(o);
    if (err)
        teardown(o);
    else
        *state = o;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct omp *o = state;
    o->loop(o, reps);
    return o->failed ? err_say(ERR_SYSTEM, "%s could not make a thread", o->row->name) : 0;
}

/* Whether another thread has done less than must come before this mark. */
static bool somebody_is_behind(const struct omp *o, const struct omp_slot *mine)
{
    const int64_t before = mine->count / o->share * o->share;
    for (int i = 0; i < o->threads; ++i)
        if (__atomic_load_n(&o->slots[i].count, __ATOMIC_ACQUIRE) < before)
            return true;
    return false;
}

/* Long enough for another thread to enter if nothing prevents it, even if both have one CPU. */
static void linger(void)
{
    const struct timespec moment = {.tv_nsec = 1000};
    nanosleep(&moment, NULL);
}

void omp_mark_at(struct omp *o, int64_t index, int thread)
{
    struct omp_slot *mine = &o->slots[thread];
    mine->wrong += omp_get_num_threads() != o->team;
    if (o->marks == MARKS_FENCED)
        mine->wrong += somebody_is_behind(o, mine);
    if (o->marks == MARKS_EXCLUSIVE || o->marks == MARKS_ORDERED)
        mine->wrong += __atomic_fetch_add(&o->inside, 1, __ATOMIC_ACQ_REL) != 0;
    if (o->marks == MARKS_ORDERED)
        mine->wrong += o->next++ != index;
    if (o->indexes && index < o->length) {
        __atomic_store_n(&o->indexes[index].thread, thread, __ATOMIC_RELAXED);
        __atomic_fetch_add(&o->indexes[index].times, 1, __ATOMIC_RELAXED);
    }
    if (o->marks == MARKS_EXCLUSIVE && o->threads > 1)
        linger();
    __atomic_store_n(&mine->count, mine->count + 1, __ATOMIC_RELEASE);
    if (o->marks == MARKS_EXCLUSIVE || o->marks == MARKS_ORDERED)
        __atomic_fetch_sub(&o->inside, 1, __ATOMIC_ACQ_REL);
}

static void mark(struct omp *o, int64_t index)
{
    const int thread = omp_get_thread_num();
    omp_mark_at(o, index, thread < o->threads ? thread : 0);
}

/* The number of bodies in `reps` repetitions, at least and at most, in one thread or in all together. */
static int marks_count_check(const struct omp *o, int64_t reps)
{
    const int64_t each = reps * o->share, all = each * o->threads;
    int64_t sum = 0;
    for (int i = 0; i < o->threads; ++i) {
        const int64_t count = o->slots[i].count;
        sum += count;
        if (count != each && (o->marks == MARKS_EACH || o->marks == MARKS_FENCED))
            return err_say(ERR_WRONG, "thread %d of %d did %lld bodies of %s instead of %lld", i, o->threads,
                           (long long)count, o->row->name, (long long)each);
    }
    const bool one = o->marks == MARKS_ORDERED || o->marks == MARKS_EXCLUSIVE;
    const int64_t most = one ? reps : all, least = o->marks == MARKS_SOME ? reps : most;
    return least <= sum && sum <= most
               ? 0
               : err_say(ERR_WRONG, "%d threads did %lld bodies of %s instead of %lld", o->threads,
                         (long long)sum, o->row->name, (long long)most);
}

static int marks_check(struct omp *o, int64_t reps)
{
    static const char *const wrongs[] = {
        [MARKS_FENCED] = ", or one left it before all others had come",
        [MARKS_ORDERED] = ", or their turns were not in order",
        [MARKS_EXCLUSIVE] = ", or two were inside at once",
        [MARKS_SOME] = "",
    };
    int64_t wrong = 0;
    for (int i = 0; i < o->threads; ++i)
        wrong += o->slots[i].wrong;
    if (wrong > 0)
        return err_say(ERR_WRONG, "%s: the team did not have %d threads%s, %lld times", o->row->name, o->team,
                       wrongs[o->marks] ? wrongs[o->marks] : "", (long long)wrong);
    return marks_count_check(o, reps);
}

int omp_verify_with(struct omp *o, int64_t reps, void (*marks)(struct omp *o, int64_t index))
{
    void (*const body)(struct omp *o, int64_t index) = o->body;
    memset(o->slots, 0, (size_t)o->threads * sizeof *o->slots);
    if (o->indexes)
        memset(o->indexes, 0, (size_t)o->length * sizeof *o->indexes);
    o->inside = o->next = 0;
    o->body = marks ? marks : mark;
    int err = run(o, reps);
    o->body = body;
    if (o->env->planted) /* more than any cancelled construct could make, too */
        o->slots[o->threads - 1].count += 2 * reps * o->share * o->threads + 1;
    if (!err)
        err = marks_check(o, reps);
    return err || !o->row->check ? err : o->row->check(o, reps);
}

static int verify(void *state)
{
    enum { REPS = 24 };
    return omp_verify_with(state, REPS, NULL);
}

void omp_row_op(const struct omp_row *row, struct op *op)
{
    *op = (struct op){
        .family = "omp",
        .summary = row->summary,
        .class = OP_LOCAL,
        .report = OP_SLOWEST,
        .parts = 1,
        .threaded = true,
        .delays = row->delays,
        .reference = row->reference,
        .least_ns = row->inside ? INSIDE_NS : 0,
        .default_bytes = row->default_bytes,
        .params = row->params,
        .missing = row->missing ? row->missing : OMP_MISSING,
        .row = row,
        .setup = setup,
        .run = run,
        .verify = row->verify ? row->verify : verify,
        .teardown = teardown,
    };
    strncpy(op->name, row->name, sizeof op->name - 1);
}
