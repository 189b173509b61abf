/* omp.task, omp.task_*: tasks that one thread makes, or all. A repetition holds a body for each thread,
 * unless the row says otherwise. */
#include "ops/families.h"
#include "ops/openmp/construct.h"

#include <stdlib.h>

enum { TASK_CREATOR = 1, TASK_CLAUSE };
enum { CREATOR_ALL, CREATOR_ONE, CREATOR_BUSY };
enum { CLAUSE_NONE, CLAUSE_UNDEFERRED, CLAUSE_FINAL, CLAUSE_UNTIED, CLAUSE_PRIORITY, CLAUSES };
static const char *const creator_words[] = {"all", "one", "busy", NULL};
static const char *const clause_words[] = {"none", "undeferred", "final", "untied", "priority", NULL};

static const struct param task_params[] = {
    OMP_SPIN_PARAM,
    [TASK_CREATOR] = PARAM_WORDS("creator",
                                 "who makes tasks. all: each thread one; one: one thread one for each; busy: "
                                 "one thread one, while the others do their bodies themselves",
                                 creator_words),
    [TASK_CLAUSE] = PARAM_WORDS("clause", "further clause of the task construct", clause_words),
    {0},
};

/* The tasks of a repetition, under one clause. The macro holds no control flow but what all clauses share. */
#define TASK_LOOPS(name, pragma)                                                                             \
    static void all_##name##_loop(struct omp *o, int64_t reps)                                               \
    {                                                                                                        \
        _Pragma("omp parallel num_threads(o->threads)") for (int64_t i = 0; i < reps; ++i)                   \
        {                                                                                                    \
            pragma o->body(o, i);                                                                            \
        }                                                                                                    \
    }                                                                                                        \
    static void one_##name##_loop(struct omp *o, int64_t reps)                                               \
    {                                                                                                        \
        const int64_t tasks = o->threads;                                                                    \
        _Pragma("omp parallel num_threads(o->threads)")                                                      \
            OMP_MASKED for (int64_t i = 0; i < reps * tasks; ++i)                                            \
        {                                                                                                    \
            pragma o->body(o, i);                                                                            \
        }                                                                                                    \
    }                                                                                                        \
    static void busy_##name##_loop(struct omp *o, int64_t reps)                                              \
    {                                                                                                        \
        _Pragma("omp parallel num_threads(o->threads)")                                                      \
        {                                                                                                    \
            if (omp_get_thread_num() == 0)                                                                   \
                for (int64_t i = 0; i < reps; ++i) {                                                         \
                    pragma o->body(o, i);                                                                    \
                }                                                                                            \
            else                                                                                             \
                for (int64_t i = 0; i < reps; ++i)                                                           \
                    o->body(o, i);                                                                           \
        }                                                                                                    \
    }

TASK_LOOPS(none, _Pragma("omp task"))
TASK_LOOPS(undeferred, _Pragma("omp task if(0)"))
TASK_LOOPS(final, _Pragma("omp task final(1)"))
TASK_LOOPS(untied, _Pragma("omp task untied"))
TASK_LOOPS(priority, _Pragma("omp task priority((int)(i % 4))"))

static int task_pick(const struct op_env *env)
{
    return CLAUSES * (int)env->params[TASK_CREATOR] + (int)env->params[TASK_CLAUSE];
}

static int task_open(struct omp *o)
{
    return (int)o->env->params[TASK_CLAUSE] != CLAUSE_PRIORITY || omp_get_max_task_priority() > 0
               ? 0
               : err_say(ERR_UNSUPPORTED, "priorities have no effect unless OMP_MAX_TASK_PRIORITY is set; "
                                          "add --omp max_task_priority=4");
}

/* depend */

enum { DEPEND_FORM = 1 };
enum { DEPEND_CHAIN, DEPEND_FAN, DEPEND_OWN, DEPEND_TURNS };
static const char *const depend_words[] = {"chain", "fan", "own", "turns", NULL};

static const struct param depend_params[] = {
    OMP_SPIN_PARAM,
    [DEPEND_FORM] = PARAM_WORDS(
        "form",
        "chain: each task waits for the previous one; fan: a task for each thread waits for an "
        "empty task, which waits for tasks; own: each thread makes a chain of its own; turns: one "
        "thread makes a chain for each thread, a task of each by turns",
        depend_words),
    {0},
};

static void chain_loop(struct omp *o, int64_t reps)
{
    int64_t link = 0;
    omp_escape(&link);
#pragma omp parallel num_threads(o->threads)
    OMP_MASKED
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp task depend(inout : link)
        o->body(o, i);
    }
}

static void fan_loop(struct omp *o, int64_t reps)
{
    int64_t root = 0;
#pragma omp parallel num_threads(o->threads)
    OMP_MASKED
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp task depend(out : root)
        omp_escape(&root);
        for (int t = 0; t < o->threads; ++t) {
#pragma omp task depend(in : root)
            o->body(o, i);
        }
    }
}

static void own_chain_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel num_threads(o->threads)
    {
        int64_t link = 0;
        omp_escape(&link);
        for (int64_t i = 0; i < reps; ++i) {
#pragma omp task depend(inout : link)
            o->body(o, i);
        }
#pragma omp taskwait
    }
}

static void turns_loop(struct omp *o, int64_t reps)
{
    struct omp_slot *slots = o->slots; /* whose addresses name the chains */
#pragma omp parallel num_threads(o->threads)
    OMP_MASKED
    for (int64_t i = 0; i < reps; ++i)
        for (int t = 0; t < o->threads; ++t) {
#pragma omp task depend(inout : slots[t].value)
            o->body(o, i);
        }
}

static int depend_pick(const struct op_env *env)
{
    return (int)env->params[DEPEND_FORM];
}

static int depend_open(struct omp *o)
{
    static const enum omp_marks marks[] = {[DEPEND_CHAIN] = MARKS_ORDERED,
                                           [DEPEND_FAN] = MARKS_ALL,
                                           [DEPEND_OWN] = MARKS_ALL,
                                           [DEPEND_TURNS] = MARKS_ALL};
    o->marks = marks[depend_pick(o->env)];
    return 0;
}

/* taskwait, taskgroup, taskyield, a barrier */

OMP_LOOP(taskwait, OMP_DO(omp task), OMP_DO(omp taskwait))

static void taskgroup_loop(struct omp *o, int64_t reps)
{
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp taskgroup
        {
#pragma omp task
            o->body(o, i);
        }
    }
}

OMP_LOOP(taskyield, , OMP_DO(omp taskyield))
OMP_LOOP(task_barrier, OMP_DO(omp task), OMP_DO(omp barrier))

/* taskloop */

enum { TASKLOOP_GRAIN = 1, TASKLOOP_ITERATIONS };

static const struct param taskloop_params[] = {
    OMP_SPIN_PARAM,
    [TASKLOOP_GRAIN] = {"grain", "", "least number of iterations in a task", 1, 1, 1e6},
    [TASKLOOP_ITERATIONS] = {"iterations", "", "iterations for each thread", 16, 1, 65536},
    {0},
};

static void taskloop_loop(struct omp *o, int64_t reps)
{
    const int64_t length = o->length, grain = (int64_t)o->env->params[TASKLOOP_GRAIN];
#pragma omp parallel num_threads(o->threads)
    OMP_MASKED
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp taskloop grainsize(grain)
        for (int64_t k = 0; k < length; ++k)
            o->body(o, k);
    }
}

static int taskloop_open(struct omp *o)
{
    o->share = (int64_t)o->env->params[TASKLOOP_ITERATIONS];
    o->length = o->share * o->threads;
    o->indexes = calloc((size_t)o->length, sizeof *o->indexes);
    return o->indexes ? 0 : err_say(ERR_NOMEM, "no memory for %lld iterations", (long long)o->length);
}

static int taskloop_check(struct omp *o, int64_t reps)
{
    for (int64_t k = 0; k < o->length; ++k)
        if (o->indexes[k].times != reps)
            return err_say(ERR_WRONG, "iteration %lld was done %lld times in %lld loops", (long long)k,
                           (long long)o->indexes[k].times, (long long)reps);
    return 0;
}

/* tree: every thread grows binary trees of tasks, as EPCC's task micro-benchmarks do. A task of level n makes
 * those of level n - 1, and nothing waits before the end of the region: 2^depth - 1 tasks, and 2^depth
 * bodies. */

enum { TREE_DEPTH = 1, TREE_WORK };
enum { WORK_LEAF, WORK_BRANCH };
static const char *const work_words[] = {"leaf", "branch", NULL};

static const struct param tree_params[] = {
    OMP_SPIN_PARAM,
    [TREE_DEPTH] = {"depth", "", "depth of the tree, which has 2 to this power bodies", 6, 0, 16},
    [TREE_WORK] =
        PARAM_WORDS("work",
                    "where the bodies are. leaf: two in each task of the last level; branch: one in "
                    "every task, and one in a task that makes the tree",
                    work_words),
    {0},
};

static void leaf_tree_grow(struct omp *o, int depth)
{
    if (depth == 0) {
        o->body(o, 0);
        return;
    }
#pragma omp task
    {
        leaf_tree_grow(o, depth - 1);
        leaf_tree_grow(o, depth - 1);
    }
}

static void branch_tree_grow(struct omp *o, int depth)
{
    if (depth == 0)
        return;
#pragma omp task
    {
        branch_tree_grow(o, depth - 1);
        branch_tree_grow(o, depth - 1);
        o->body(o, 0);
    }
}

static void leaf_tree_loop(struct omp *o, int64_t reps)
{
    const int depth = (int)o->env->params[TREE_DEPTH];
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i)
        leaf_tree_grow(o, depth);
}

static void branch_tree_loop(struct omp *o, int64_t reps)
{
    const int depth = (int)o->env->params[TREE_DEPTH];
#pragma omp parallel num_threads(o->threads)
    for (int64_t i = 0; i < reps; ++i) {
#pragma omp task
        {
            branch_tree_grow(o, depth);
            o->body(o, i);
        }
    }
}

static int tree_pick(const struct op_env *env)
{
    return (int)env->params[TREE_WORK];
}

static int tree_open(struct omp *o)
{
    o->share = (int64_t)1 << (int)o->env->params[TREE_DEPTH];
    return 0;
}

#define CLAUSES_OF(creator)                                                                                  \
    creator##_none_loop, creator##_undeferred_loop, creator##_final_loop, creator##_untied_loop,             \
        creator##_priority_loop

static const struct omp_row rows[] = {
    {.name = "omp.task",
     .summary = "a task for each thread",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(CLAUSES_OF(all), CLAUSES_OF(one), CLAUSES_OF(busy)),
     .params = task_params,
     .inside = true,
     .pick = task_pick,
     .open = task_open,
     .marks = MARKS_ALL,
     .delays = DELAYS_ONE},
    {.name = "omp.task_depend",
     .summary = "tasks that wait for other tasks by depend",
     .reference = "omp.reference",
     .loops = OMP_LOOPS([DEPEND_CHAIN] = chain_loop, [DEPEND_FAN] = fan_loop, [DEPEND_OWN] = own_chain_loop,
                        [DEPEND_TURNS] = turns_loop),
     .params = depend_params,
     .inside = true,
     .pick = depend_pick,
     .open = depend_open,
     .delays = DELAYS_ONE},
    {.name = "omp.taskwait",
     .summary = "a task by each thread, and taskwait",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(taskwait_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_ALL,
     .delays = DELAYS_ONE},
    {.name = "omp.taskgroup",
     .summary = "a taskgroup of one task by each thread",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(taskgroup_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_ALL,
     .delays = DELAYS_ONE},
    {.name = "omp.taskyield",
     .summary = "taskyield by each thread, without waiting tasks",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(taskyield_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_EACH,
     .delays = DELAYS_ONE},
    {.name = "omp.task_barrier",
     .summary = "a task by each thread, and a barrier",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(task_barrier_loop),
     .params = omp_spin_params,
     .inside = true,
     .marks = MARKS_ALL,
     .delays = DELAYS_ONE},
    {.name = "omp.taskloop",
     .summary = "a taskloop: one thread makes tasks of a loop",
     .reference = "omp.reference",
     .loops = OMP_LOOPS(taskloop_loop),
     .params = taskloop_params,
     .inside = true,
     .open = taskloop_open,
     .check = taskloop_check,
     .marks = MARKS_ALL},
    {.name = "omp.task_tree",
     .summary = "a binary tree of tasks, grown by each thread",
     .reference = "omp.reference",
     .loops = OMP_LOOPS([WORK_LEAF] = leaf_tree_loop, [WORK_BRANCH] = branch_tree_loop),
     .params = tree_params,
     .inside = true,
     .pick = tree_pick,
     .open = tree_open,
     .marks = MARKS_ALL},
};

static void op_at(size_t i, struct op *op)
{
    omp_row_op(&rows[i], op);
}

const struct op_family omp_task_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
