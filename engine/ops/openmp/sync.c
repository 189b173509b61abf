/* omp.*: regions, barriers and mutual exclusion. A repetition is what all threads do at once. If they take
 * turns, each turn is a repetition, divided among the threads as in EPCC's syncbench. */
#include "ops/families.h"
#include "ops/openmp/construct.h"

/* reference: the bodies of a construct in every thread at once, without a construct. */

enum { REFERENCE_ITERATIONS = 1, REFERENCE_DEPTH, REFERENCE_COPY };

static const struct param reference_params[] = {
    OMP_SPIN_PARAM,
    [REFERENCE_ITERATIONS] = {"iterations", "", "bodies of each thread in a repetition", 1, 1, 1e6},
    [REFERENCE_DEPTH] = {"depth", "", "doublings: 2 to this power times as many bodies", 0, 0, 20},
    [REFERENCE_COPY] = {"copy", "", "a mark without effect: measures the same once more, to compare", 0, 0,
                        9},
    {0},
};

static int reference_open(struct omp *o)
{
    const double *p = o->env->params;
    o->share = (int64_t)p[REFERENCE_ITERATIONS] << (int)p[REFERENCE_DEPTH];
    return 0;
}

static void reference_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i)
        for (int64_t k = 0; k < o->share; ++k)
            o->body(o, k);
}

/* With an addition to a variable of its own, as an atomic or a reduction has. */
static void reference_update_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel num_threads(o->threads)
    {
        volatile int64_t sum = 0;
        for (int64_t i = 0; i < reps; ++i) {
            o->body(o, i);
            sum = sum + 1;
        }
    }
}

static void parallel_loop(struct omp *o, int64_t reps)
{
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp parallel num_threads(o->threads)
        o->body(o, i);
    }
}

OMP_LOOP(barrier, , OMP_DO(omp barrier))
OMP_LOOP(single, OMP_DO(omp single), )
OMP_LOOP(masked, OMP_MASKED, )

static int masked_check(struct omp *o, int64_t reps)
{
    return o->slots[0].count == reps
               ? 0
               : err_say(ERR_WRONG, "%lld of %lld bodies were done by other threads than the primary one",
                         (long long)(reps - o->slots[0].count), (long long)reps);
}

static void critical_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel num_threads(o->threads)
    {
        const int64_t mine = omp_dealt(o, reps);
        for (int64_t i = 0; i < mine; ++i) {
#pragma omp critical(steelyard)
            o->body(o, i);
        }
    }
}

static void ordered_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel for ordered schedule(static, 1) num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp ordered
        o->body(o, i);
    }
}

/* Iteration i waits for i - 1 by name. */
static void doacross_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp ordered depend(sink : i - 1)
        o->body(o, i);
#pragma omp ordered depend(source)
    }
}

/* There are SECTIONS sections. The first ones, one for each thread, have a body. */
enum { SECTIONS = 16 };

static inline void section_do(struct omp *o, int section)
{
    if (section < o->threads)
        o->body(o, section);
}

static void sections_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp sections
        {
            section_do(o, 0);
#pragma omp section
            section_do(o, 1);
#pragma omp section
            section_do(o, 2);
#pragma omp section
            section_do(o, 3);
#pragma omp section
            section_do(o, 4);
#pragma omp section
            section_do(o, 5);
#pragma omp section
            section_do(o, 6);
#pragma omp section
            section_do(o, 7);
#pragma omp section
            section_do(o, 8);
#pragma omp section
            section_do(o, 9);
#pragma omp section
            section_do(o, 10);
#pragma omp section
            section_do(o, 11);
#pragma omp section
            section_do(o, 12);
#pragma omp section
            section_do(o, 13);
#pragma omp section
            section_do(o, 14);
#pragma omp section
            section_do(o, 15);
        }
    }
}

static int sections_open(struct omp *o)
{
    return o->threads <= SECTIONS ? 0
                                  : err_say(ERR_UNSUPPORTED,
                                            "there are %d sections, and %d threads; give "
                                            "--threads %d at most",
                                            SECTIONS, o->threads, SECTIONS);
}

/* flush */

OMP_LOOP(flush, , OMP_DO(omp flush))
OMP_LOOP(flush_acquire, , OMP_FLUSH_ACQUIRE)
OMP_LOOP(flush_release, , OMP_FLUSH_RELEASE)
OMP_LOOP(flush_acq_rel, , OMP_FLUSH_ACQ_REL)

static const char *const flush_words[] = {"all", "acquire", "release", "acq_rel", NULL};
static const struct param flush_params[] = {
    OMP_SPIN_PARAM,
    [OMP_FORM] =
        PARAM_WORDS("order", "memory order: which accesses stay on which side of the flush", flush_words),
    {0},
};

static int flush_pick(const struct op_env *env)
{
    return (int)env->params[OMP_FORM];
}

static const struct omp_row rows[] = {
    {.name = "omp.reference",
     .summary = "the bodies of the constructs, by every thread at once, without a construct: their reference",
     .loops = OMP_LOOPS(reference_loop),
     .params = reference_params,
     .inside = true,
     .open = reference_open,
     .marks = MARKS_EACH,
     .delays = DELAYS_ONE},
    {.name = "omp.reference_update",
     .summary =
         "the bodies with an addition to a thread's own variable: the reference of atomics and reductions",
     .loops = OMP_LOOPS(reference_update_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_EACH,
     .delays = DELAYS_ONE},
    {.name = "omp.parallel",
     .summary = "a parallel region of T threads: fork and join",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(parallel_loop),
     .params = omp_spin_params,
     .marks = MARKS_FENCED,
     .delays = DELAYS_ONE},
    {.name = "omp.barrier",
     .summary = "a barrier inside a parallel region of T threads",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(barrier_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_FENCED,
     .delays = DELAYS_ONE},
    {.name = "omp.single",
     .summary = "a single construct, with the barrier at its end",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(single_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_ORDERED,
     .delays = DELAYS_ONE},
    {.name = "omp.masked",
     .summary = "a region that only the primary thread enters: " OMP_MASKED_IS,
     .reference = "omp.reference",
     .loops = OMP_LOOPS(masked_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_ORDERED,
     .check = masked_check,
     .delays = DELAYS_ONE},
    {.name = "omp.critical",
     .summary = "a passage through a critical section for which all threads queue",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(critical_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_EXCLUSIVE,
     .delays = DELAYS_ONE},
    {.name = "omp.ordered",
     .summary = "the turn of an iteration in an ordered loop",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(ordered_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_ORDERED,
     .delays = DELAYS_ONE},
    {.name = "omp.doacross",
     .summary = "an iteration that waits for the previous one by depend(sink) and depend(source)",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(doacross_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_ORDERED,
     .delays = DELAYS_ONE},
    {.name = "omp.sections",
     .summary = "a sections construct of 16 sections, with a body for each thread",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(sections_loop),
     .params = omp_spin_params,
     .inside = true,
     .open = sections_open,
     .marks = MARKS_ALL,
     .delays = DELAYS_ONE},
    {.name = "omp.flush",
     .summary = "a flush by each thread",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(flush_loop, flush_acquire_loop, flush_release_loop, flush_acq_rel_loop),
     .params = flush_params,
     .inside = true,
     .pick = flush_pick,
     .marks = MARKS_EACH,
     .delays = DELAYS_ONE},
};

static void op_at(size_t i, struct op *op)
{
    omp_row_op(&rows[i], op);
}

const struct op_family omp_sync_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
