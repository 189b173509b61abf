#include "kernels/kernel.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "team/hosts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const kernel_on_off[] = {"on", "off", NULL};
const char *const kernel_exchanges[] = {"nonblocking", "blocking", "persistent", "neighbour",
                                        "partitioned", "fence",    "pscw",       "lock",
                                        "flush",       "signal",   NULL};

/* How far planted data are off, relative. */
static const double SPOILT = 1e-6;

struct kernel_state {
    struct kernel_env env;
    void *own;      /* the kernel's */
    bool unchecked; /* there has been a run whose answer nobody has looked at */
    bool ran;
    int wrong; /* the first error that an answer had, and its sentence */
    char why[ERR_TEXT_MAX];
    bool answered; /* what the first run has answered */
    int64_t digest;
    double values[KERNEL_VALUES_MAX];
    int count;
};

int kernel_agree(const struct kernel_env *env, int err, bool *stop)
{
    int64_t worst = err;
    int broken = team_max(env->comm.team, &worst);
    *stop = broken || worst != 0;
    return err ? err : broken;
}

int kernel_alloc(struct kernel_env *env, size_t count, size_t size, void *array_pointer)
{
    void *array = NULL;
    int err = memory_array(count, size, &array);
    if (err)
        return err;
    if (env->comm.phases)
        env->comm.phases->memory += (int64_t)(count * size);
    memcpy(array_pointer, &array, sizeof array);
    return 0;
}

void kernel_spoil(const struct kernel_env *env, double *value)
{
    if (env->planted)
        *value *= 1 + SPOILT;
}

int64_t kernel_digest(const struct kernel_env *env, const double *values, int64_t count)
{
    enum { DROPPED = 33 }; /* bits of each hash: 2^31 numbers on 2^31 ranks have a sum below 2^62 */
    int64_t sum = 0;
    uint64_t bits, place = (uint64_t)env->comm.rank << 32;
    for (int64_t i = 0; i < count; ++i, ++place) {
        memcpy(&bits, &values[i], sizeof bits);
        sum += (int64_t)(hash_mix(bits ^ hash_mix(place)) >> DROPPED);
    }
    return sum;
}

void kernel_factors(int ranks, int *small, int *large)
{
    *small = 1;
    for (int i = 1; (int64_t)i * i <= ranks; ++i)
        if (ranks % i == 0)
            *small = i;
    *large = ranks / *small;
}

/* ---- setup --------------------------------------------------------------------------------------------- */

/* What the parameters say of the problem, and not of how it is solved, nor what numbers are as usual:
 * "npb.cg class=S". */
struct title {
    char text[160];
};

static bool is_how(const char *name)
{
    static const char *const hows[] = {"phases", "backend", "movers", "windows", "comms"};
    for (size_t i = 0; i < sizeof hows / sizeof hows[0]; ++i)
        if (strcmp(name, hows[i]) == 0)
            return true;
    return false;
}

static struct title title_of(const struct kernel_env *env)
{
    struct title title;
    const size_t room = sizeof title.text;
    size_t length = (size_t)snprintf(title.text, room, "%s", env->kernel->name);
    for (const struct param *row = env->kernel->params; row->name && length < room; ++row) {
        const double value = env->params[row - env->kernel->params];
        if (is_how(row->name) || (!row->words && value == row->normal))
            continue;
        length +=
            (size_t)(row->words ? snprintf(title.text + length, room - length, " %s=%s", row->name,
                                           row->words[(int)value])
                                : snprintf(title.text + length, room - length, " %s=%g", row->name, value));
    }
    return title;
}

/* All ranks of a host take from the same memory. */
static int check_memory(const struct kernel_env *env)
{
    const double GIB = 0x1p30;
    const int ranks = host_ranks(env->comm.team);
    double each = env->kernel->memory(env), there = (double)memory_left("");
    if (each * ranks > there)
        return err_say(ERR_INPUT,
                       "%s needs %.3g GiB on this host, %.3g GiB a rank; %.3g GiB are free; choose a "
                       "smaller problem or more hosts",
                       title_of(env).text, each * ranks / GIB, each / GIB, there / GIB);
    return 0;
}

/* Who moves the messages of exchanges. */
static int choose_movers(const struct op_env *from, struct kernel_env *env)
{
    const struct movers_back back = {"backend", comm_backs[env->back],
                                     env->back >= COMM_FENCE && env->back <= COMM_FLUSH};
    struct movers movers;
    int err = movers_choose(from->op->params, from->params, env->threads, &back, &movers);
    env->comm.movers = movers.count;
    env->comm.apart = movers.apart;
    return err;
}

/* The word that a parameter has, which every kernel has. */
static const char *word_of(const struct op_env *env, const char *name)
{
    const int row = param_find(env->op->params, name);
    return env->op->params[row].words[(int)env->params[row]];
}

static int open_kernel(const struct op_env *from, struct kernel_state *s)
{
    struct kernel_env *env = &s->env;
    bool stop = false;
    env->kernel = from->op->row;
    env->back = comm_back_of(word_of(from, "backend"));
    env->threads = from->threads;
    env->params = from->params;
    env->phases = strcmp(word_of(from, "phases"), "on") == 0 ? from->phases : NULL;
    env->planted = from->planted;
    int err = comm_open(from->team, from->phases, &env->comm);
    if (!err)
        err = choose_movers(from, env);
    if (!err)
        err = env->kernel->ranks ? env->kernel->ranks(env) : 0;
    if (!err)
        err = check_memory(env);
    err = kernel_agree(env, err, &stop);
    return stop ? err : env->kernel->open(env, &s->own);
}

static void teardown(void *state)
{
    struct kernel_state *s = state;
    if (s->own)
        s->env.kernel->close(s->own);
    comm_close(&s->env.comm);
    free(s);
}

static int setup(const struct op_env *env, void **state)
{
    struct kernel_state *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of a kernel");
    int err = open_kernel(env, s);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

/* ---- answers ------------------------------------------------------------------------------------------- */

static void keep_wrong(struct kernel_state *s, int err)
{
    if (err != ERR_WRONG || s->wrong)
        return;
    snprintf(s->why, sizeof s->why, "%s", err_text());
    s->wrong = err;
}

static int compare(const struct kernel_env *env, const double *values, int count)
{
    const struct kernel *k = env->kernel;
    const double *expected = k->expected(env->params);
    int names = 0;
    while (k->value_names[names])
        ++names;
    if (!expected)
        return err_say(ERR_WRONG, "%s has no published answer to compare with", title_of(env).text);
    for (int i = 0; i < count; ++i) {
        double off = fabs(values[i] - expected[i]);
        if (!(off <= k->tolerance * fabs(expected[i]))) /* and not a number is wrong too */
            return err_say(ERR_WRONG,
                           "%s: %s, value %d of %d, is %.14g, expected %.14g: off by %.2g of it, allowed are "
                           "%.0e",
                           title_of(env).text, k->value_names[i % names], i + 1, count, values[i],
                           expected[i], off / fabs(expected[i]), k->tolerance);
    }
    return 0;
}

/* Whether equal data have an answer of equal bits: what two ranks add is the same in either order. */
static bool is_exact(const struct kernel_env *env)
{
    return !env->kernel->sums || env->comm.size <= 2;
}

/* The first answer is kept, and all that follow must be the same, to the last bit. On all ranks alike. */
static int keep_answer(struct kernel_state *s, const double *values, int count)
{
    const struct kernel *k = s->env.kernel;
    int64_t digest = k->digest ? k->digest(s->own) : 0;
    int err = k->digest ? comm_sum_ints(&s->env.comm, &digest, 1) : 0;
    if (err || !k->digest)
        return err;
    if (s->answered && digest != s->digest && is_exact(&s->env))
        return err_say(
            ERR_WRONG,
            "%s: the answer of a run differs in its bits from that of the first one, which had the "
            "same data: what was transferred was not",
            title_of(&s->env).text);
    if (!s->answered) {
        s->answered = true;
        s->digest = digest;
        s->count = count;
        memcpy(s->values, values, (size_t)count * sizeof *values);
    }
    return 0;
}

static void describe_answer(const void *state, struct json *j)
{
    const struct kernel_state *s = state;
    const struct kernel *k = s->env.kernel;
    char bits[17];
    if (!s->answered)
        return;
    snprintf(bits, sizeof bits, "%016" PRIx64, (uint64_t)s->digest);
    json_open(j, "answer", '{');
    json_string(j, "bits", bits);
    json_bool(j, "exact", is_exact(&s->env));
    json_double(j, "alike", k->alike(s->env.params));
    json_open(j, "values", '{');
    for (int i = 0; i < s->count; ++i)
        json_double(j, k->value_names[i], s->values[i]);
    json_close(j, '}');
    json_close(j, '}');
}

/* The answer of the last run, which its data still hold. What it communicates is nobody's share. The first
 * wrong one is remembered: verify() says it. */
static int check(struct kernel_state *s)
{
    double values[KERNEL_VALUES_MAX];
    int count = 0;
    if (!s->unchecked)
        return 0;
    s->unchecked = false;
    int err = s->env.kernel->answer(s->own, values, &count);
    if (!err && s->env.kernel->expected)
        err = compare(&s->env, values, count);
    keep_wrong(s, err);
    if (err && err != ERR_WRONG)
        return err;
    err = keep_answer(s, values, count);
    keep_wrong(s, err);
    return err == ERR_WRONG ? 0 : err;
}

static int prepare(void *state)
{
    struct kernel_state *s = state;
    struct phases *counted = s->env.comm.phases;
    struct phases kept = counted ? *counted : (struct phases){0};
    int err = check(s);
    if (!err)
        err = s->env.kernel->reset(s->own);
    if (counted)
        *counted = kept;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct kernel_state *s = state;
    int err = 0;
    for (int64_t i = 0; i < reps && !err; ++i)
        err = s->env.kernel->solve(s->own);
    s->unchecked = s->ran = true;
    return err;
}

/* Every run has its answer checked; before there has been any, there is one. */
static int verify(void *state)
{
    struct kernel_state *s = state;
    int err = s->ran ? 0 : prepare(s);
    if (!err && !s->ran)
        err = run(s, 1);
    if (!err)
        err = check(s);
    return !err && s->wrong ? err_say(s->wrong, "%s", s->why) : err;
}

static double work(const struct op_env *env)
{
    const struct kernel *kernel = env->op->row;
    return kernel->work(env->params) * (kernel->weak ? env->team->size : 1);
}

void kernel_op(const struct kernel *kernel, struct op *op)
{
    *op = (struct op){
        .summary = kernel->summary,
        .class = OP_COLLECTIVE,
        .role = ROLE_KERNEL,
        .flow = FLOW_ALL,
        .report = OP_SLOWEST,
        .parts = 1,
        .threaded = true,
        .params = kernel->params,
        .phases = kernel->phases,
        .phase_work = kernel->phase_work,
        .row = kernel,
        .setup = setup,
        .prepare = prepare,
        .run = run,
        .verify = verify,
        .describe_end = kernel->digest ? describe_answer : NULL,
        .teardown = teardown,
        .work = work,
    };
    snprintf(op->name, sizeof op->name, "%s", kernel->name);
}
