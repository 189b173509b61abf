/* self.*: the harness measures itself, in the same way as every other op. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "base/work.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct self {
    const struct op_env *env;
    int64_t done;                 /* empty: repetitions so far */
    int64_t last;                 /* clock, spin: the last reading */
    int64_t distance, deadline;   /* spin: of the wait */
    double grain, dither;         /* spin: of the durations that a wait can have; a share of it */
    int64_t steps;                /* work: of a repetition */
    uint64_t x;                   /* work: its result */
    void (*call)(struct self *s); /* call: what is called */
    int64_t depth;                /* chain: calls in a repetition */
};

static int setup(const struct op_env *env, void **state)
{
    struct self *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    s->env = env;
    *state = s;
    return 0;
}

/* empty: nothing at all, repeated. */

static int empty_run(void *state, int64_t reps)
{
    struct self *s = state;
    for (int64_t i = 0; i < reps; ++i)
        __asm__ volatile("" ::: "memory");
    s->done += reps;
    return 0;
}

static int empty_verify(void *state)
{
    const int64_t reps = 1000;
    struct self *s = state;
    int64_t before = s->done;
    empty_run(s, reps);
    return s->done - before == reps ? 0
                                    : err_say(ERR_WRONG, "%lld repetitions were asked for, %lld were done",
                                              (long long)reps, (long long)(s->done - before));
}

/* clock: one reading. */

static int clock_run(void *state, int64_t reps)
{
    struct self *s = state;
    for (int64_t i = 0; i < reps; ++i)
        s->last = clock_now(s->env->clock);
    return 0;
}

static int clock_verify(void *state)
{
    enum { READINGS = 10000 };
    struct self *s = state;
    for (int i = 0; i < READINGS; ++i) {
        int64_t before = s->last;
        clock_run(s, 1);
        if (s->last < before)
            return err_say(ERR_WRONG, "the clock %s went back by %lld ns", s->env->clock->name,
                           (long long)(before - s->last));
    }
    return 0;
}

/* spin: a known duration, which every method must find.
 *
 * It reads the clock until a deadline. (A chain of multiplications would read no clock, but its time depends
 * on the core's current frequency: 15 % more or less within a second on a shared machine.) The time that it
 * takes beyond the deadline, some two readings, is gauged at setup and subtracted from the distance of the
 * deadline. A wait is a whole number of readings, or of the clock's ticks. So the distance is dithered over
 * that grain by a golden-ratio sequence, and is right on average. */

enum { SPIN_NS };

static const struct param spin_params[] = {
    [SPIN_NS] = {"ns", "ns", "duration of one repetition", 1000, 200, 1e9},
    {0},
};

static int spin_run(void *state, int64_t reps)
{
    struct self *s = state;
    for (int64_t i = 0; i < reps; ++i) {
        s->deadline = clock_now(s->env->clock) + s->distance + (int64_t)s->dither;
        while ((s->last = clock_now(s->env->clock)) < s->deadline)
            ;
        s->dither += 0.618034 * s->grain;
        s->dither -= s->dither >= s->grain ? s->grain : 0;
    }
    return 0;
}

/* Set the distance to `ns`. Return the duration of a repetition with it, the median of several batches. */
static double spin_gauge(struct self *s, int64_t ns)
{
    enum { BATCHES = 51, REPS = 100 };
    int64_t took[BATCHES];
    s->distance = ns;
    for (int b = 0; b < BATCHES; ++b) {
        int64_t start = clock_now(s->env->clock);
        spin_run(s, REPS);
        took[b] = clock_now(s->env->clock) - start;
    }
    qsort(took, BATCHES, sizeof took[0], num_compare_ints);
    return (double)took[BATCHES / 2] / REPS;
}

static int spin_setup(const struct op_env *env, void **state)
{
    int err = setup(env, state);
    if (err)
        return err;
    struct self *s = *state;
    const int64_t gauged_ns = 1000;
    s->grain = fmax(env->clock->cost_ns, (double)env->clock->tick_ns);
    s->distance = llround(env->params[SPIN_NS] - (spin_gauge(s, gauged_ns) - (double)gauged_ns));
    return 0;
}

static int spin_verify(void *state)
{
    struct self *s = state;
    int64_t before = clock_now(s->env->clock);
    spin_run(s, 1);
    return s->deadline >= before + s->distance && s->last >= s->deadline
               ? 0
               : err_say(ERR_WRONG, "the wait ended %lld ns before its deadline",
                         (long long)(s->deadline - s->last));
}

/* work: the work that other ops do beside their messages, alone: the time that it really takes. Unlike spin,
 * it is a number of steps and no duration. */

enum { WORK_US };

static const struct param work_params[] = {
    [WORK_US] = {"work_us", "us", "calibrated work", 1000, 0, 1e7},
    {0},
};

static int work_setup(const struct op_env *env, void **state)
{
    if (env->params[WORK_US] > 0 && env->work_per_us <= 0)
        return err_say(ERR_UNSUPPORTED, "the clock stands still while a rank computes: work has no duration");
    int err = setup(env, state);
    if (!err)
        ((struct self *)*state)->steps = llround(env->params[WORK_US] * env->work_per_us);
    return err;
}

static int work_run(void *state, int64_t reps)
{
    struct self *s = state;
    for (int64_t i = 0; i < reps; ++i)
        s->x = work_do(s->x, s->steps);
    return 0;
}

static int work_verify(void *state)
{
    struct self *s = state;
    uint64_t expected = work_after(s->x, s->steps);
    work_run(s, 1);
    return s->x == expected
               ? 0
               : err_say(ERR_WRONG, "%lld steps of work led to %llu instead of %llu", (long long)s->steps,
                         (unsigned long long)s->x, (unsigned long long)expected);
}

/* call, chain: the cost of calling a function, and of each nested call. The bodies of other ops are called,
 * and so is every function of a library. */

/* The barrier keeps it from being moved, merged or left out. noipa would do as much, but only gcc has it. */
static __attribute__((noinline)) void call_nothing(struct self *s)
{
    __asm__ volatile("" : : "r"(s) : "memory");
}

static int call_run(void *state, int64_t reps)
{
    struct self *s = state;
    for (int64_t i = 0; i < reps; ++i)
        s->call(s);
    return 0;
}

static int call_pair_run(void *state, int64_t reps)
{
    struct self *s = state;
    for (int64_t i = 0; i < reps; ++i) {
        s->call(s);
        s->call(s);
    }
    return 0;
}

static void call_count(struct self *s)
{
    ++s->done;
}

static int call_setup(const struct op_env *env, void **state)
{
    int err = setup(env, state);
    if (!err)
        ((struct self *)*state)->call = call_nothing;
    return err;
}

/* An empty function leaves no trace of its calls. One that counts does. */
static int calls_check(struct self *s, int64_t each)
{
    const int64_t reps = 1000, before = s->done;
    s->call = call_count;
    int err = s->env->op->run(s, reps);
    s->call = call_nothing;
    const int64_t counted = s->done - before - (s->env->planted ? 1 : 0);
    return err || counted == each * reps ? err
                                         : err_say(ERR_WRONG, "%lld calls were made, %lld arrived",
                                                   (long long)(each * reps), (long long)counted);
}

static int call_verify(void *state)
{
    return calls_check(state, 1);
}

static int call_pair_verify(void *state)
{
    return calls_check(state, 2);
}

enum { CHAIN_DEPTH };

static const struct param chain_params[] = {
    [CHAIN_DEPTH] = {"depth", "", "calls, each inside the one before", 10, 1, 10000},
    {0},
};

/* Code after the inner call keeps it from being a jump. */
static __attribute__((noinline)) int64_t chain_call(int64_t left)
{
    int64_t depth = left > 1 ? chain_call(left - 1) : 0;
    __asm__ volatile("" : "+r"(depth) : : "memory");
    return depth + 1;
}

static int chain_setup(const struct op_env *env, void **state)
{
    int err = setup(env, state);
    if (!err)
        ((struct self *)*state)->depth = (int64_t)env->params[CHAIN_DEPTH];
    return err;
}

static int chain_run(void *state, int64_t reps)
{
    struct self *s = state;
    for (int64_t i = 0; i < reps; ++i)
        s->done = chain_call(s->depth);
    return 0;
}

static int chain_verify(void *state)
{
    struct self *s = state;
    chain_run(s, 1);
    s->done += s->env->planted ? 1 : 0;
    return s->done == s->depth ? 0
                               : err_say(ERR_WRONG, "a chain of %lld calls was %lld deep",
                                         (long long)s->depth, (long long)s->done);
}

/* fail: failures that an MPI library may cause, on purpose, to show that the harness survives them. */

enum { FAIL_KIND, FAIL_RANK };
enum { FAIL_HANG = 1, FAIL_CRASH, FAIL_WRONG, FAIL_ABORT, FAIL_UNSUPPORTED };

static const struct param fail_params[] = {
    [FAIL_KIND] = {"kind", "", "1 hang, 2 crash, 3 wrong answer, 4 exit, 5 unsupported", FAIL_WRONG, 1, 5},
    [FAIL_RANK] = {"rank", "", "the rank that fails", 0, 0, 1e6},
    {0},
};

static bool fails(const struct self *s, int kind)
{
    return (int)s->env->params[FAIL_KIND] == kind && (int)s->env->params[FAIL_RANK] == s->env->team->rank;
}

static int fail_setup(const struct op_env *env, void **state)
{
    if ((int)env->params[FAIL_KIND] == FAIL_UNSUPPORTED)
        return err_say(ERR_UNSUPPORTED, "self.fail was asked to be unsupported");
    return setup(env, state);
}

static int fail_run(void *state, int64_t reps)
{
    struct self *s = state;
    if (fails(s, FAIL_HANG))
        for (;;)
            pause();
    if (fails(s, FAIL_CRASH))
        raise(SIGSEGV);
    if (fails(s, FAIL_ABORT))
        _exit(1);
    return empty_run(state, reps);
}

static int fail_verify(void *state)
{
    return fails(state, FAIL_WRONG) ? err_say(ERR_WRONG, "self.fail was asked for a wrong answer") : 0;
}

static const struct op rows[] = {
    {.name = "self.empty",
     .summary = "an empty body: the cost of the loop around every op",
     .setup = setup,
     .run = empty_run,
     .verify = empty_verify},
    {.name = "self.clock",
     .summary = "one reading of the clock",
     .setup = setup,
     .run = clock_run,
     .verify = clock_verify},
    {.name = "self.spin",
     .summary = "work of a known duration, calibrated when the test case begins",
     .params = spin_params,
     .setup = spin_setup,
     .run = spin_run,
     .verify = spin_verify},
    {.name = "self.work",
     .summary = "the calibrated work of the overlap ops, alone",
     .role = ROLE_WORK,
     .report = OP_SLOWEST,
     .works = true,
     .params = work_params,
     .setup = work_setup,
     .run = work_run,
     .verify = work_verify},
    {.name = "self.call",
     .summary = "a call of an empty function, through a pointer",
     .reference = "self.empty",
     .setup = call_setup,
     .run = call_run,
     .verify = call_verify},
    {.name = "self.call_pair",
     .summary = "two calls of an empty function, through a pointer",
     .reference = "self.empty",
     .setup = call_setup,
     .run = call_pair_run,
     .verify = call_pair_verify},
    {.name = "self.chain",
     .summary = "a chain of calls, each inside the one before",
     .reference = "self.empty",
     .params = chain_params,
     .setup = chain_setup,
     .run = chain_run,
     .verify = chain_verify},
    {.name = "self.fail",
     .summary = "a deliberate failure: a hang, a crash, a wrong answer, an exit, or not supported",
     .role = ROLE_FAULT,
     .params = fail_params,
     .setup = fail_setup,
     .run = fail_run,
     .verify = fail_verify},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "self";
    op->role = op->role ? op->role : ROLE_INSTRUMENT;
    op->class = OP_LOCAL;
    op->parts = 1;
    op->teardown = free;
}

const struct op_family self_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
