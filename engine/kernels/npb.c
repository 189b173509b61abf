/* What all kernels share: an op made of each row of the table, the check of every answer, memory. */
#include "kernels/npb.h"

#include "base/err.h"
#include "base/memory.h"
#include "kernels/families.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct npb_kernel *const npb_kernels[] = {&npb_ep, &npb_is, &npb_cg, &npb_mg, &npb_ft,
                                                &npb_bt, &npb_sp, &npb_lu, NULL};
enum { KERNELS = sizeof npb_kernels / sizeof npb_kernels[0] - 1 };

const char *const npb_classes[NPB_CLASSES + 1] = {"S", "W", "A", "B", "C", "D", "E", NULL};
const char *const npb_on_off[] = {"on", "off", NULL};

/* How far planted data are off, relative. */
static const double SPOILT = 1e-6;

struct state {
    struct npb npb;
    void *own;      /* the kernel's */
    bool unchecked; /* there has been a run whose answer nobody has looked at */
    bool ran;
    int wrong; /* the first error that an answer had, and its sentence */
    char why[ERR_TEXT_MAX];
};

static const struct npb_kernel *kernel_of(const struct op_env *env)
{
    return env->op->row;
}

const char *npb_word(const struct npb *npb, int row)
{
    return npb->kernel->params[row].words[(int)npb->own[row - NPB_OWN]];
}

int npb_agree(const struct npb *npb, int err, bool *stop)
{
    int64_t worst = err;
    int broken = team_max(npb->comm.team, &worst);
    *stop = broken || worst != 0;
    return err ? err : broken;
}

int npb_alloc(struct npb *npb, size_t count, size_t size, void *array_pointer)
{
    void *array = NULL;
    int err = memory_array(count, size, &array);
    if (err)
        return err;
    if (npb->comm.phases)
        npb->comm.phases->memory += (int64_t)(count * size);
    memcpy(array_pointer, &array, sizeof array);
    return 0;
}

void npb_spoil(const struct npb *npb, double *value)
{
    if (npb->planted)
        *value *= 1 + SPOILT;
}

void npb_factors(int ranks, int *small, int *large)
{
    *small = 1;
    for (int i = 1; (int64_t)i * i <= ranks; ++i)
        if (ranks % i == 0)
            *small = i;
    *large = ranks / *small;
}

/* ---- setup --------------------------------------------------------------------------------------------- */

/* All ranks of a host take from the same memory. */
static int check_memory(const struct npb *npb)
{
    const double GIB = 0x1p30;
    int ranks = 1;
    int err = comm_on_host(&npb->comm, &ranks);
    double each = npb->kernel->memory(npb), there = (double)memory_left("");
    if (!err && each * ranks > there)
        err = err_say(
            ERR_INPUT,
            "npb.%s class %s needs %.3g GiB on this host (%d ranks of %.3g GiB), %.3g GiB are free; "
            "choose a smaller class or more hosts",
            npb->kernel->name, npb_classes[npb->class], each * ranks / GIB, ranks, each / GIB, there / GIB);
    return err;
}

static int open_kernel(const struct op_env *env, struct state *s)
{
    struct npb *npb = &s->npb;
    const struct param *rows = env->op->params;
    bool phases = strcmp(npb_on_off[(int)env->params[NPB_PHASES]], "on") == 0, stop = false;
    npb->kernel = kernel_of(env);
    npb->class = (enum npb_class)env->params[NPB_CLASS];
    npb->back = comm_back_of(rows[NPB_BACKEND].words[(int)env->params[NPB_BACKEND]]);
    npb->threads = env->threads;
    npb->own = env->params + NPB_OWN;
    npb->phases = phases ? env->phases : NULL;
    npb->planted = env->planted;
    int err = comm_open(env->team, env->phases, &npb->comm);
    if (!err)
        err = npb->kernel->ranks ? npb->kernel->ranks(npb) : 0;
    if (!err)
        err = check_memory(npb);
    err = npb_agree(npb, err, &stop);
    return stop ? err : npb->kernel->open(npb, &s->own);
}

static void teardown(void *state)
{
    struct state *s = state;
    if (s->own)
        s->npb.kernel->close(s->own);
    comm_close(&s->npb.comm);
    free(s);
}

static int setup(const struct op_env *env, void **state)
{
    struct state *s = calloc(1, sizeof *s);
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

static int compare(const struct npb *npb, const double *values, int count)
{
    const struct npb_kernel *k = npb->kernel;
    const struct npb_reference *r = k->reference(npb->class);
    int names = 0;
    while (k->value_names[names])
        ++names;
    if (!r)
        return err_say(ERR_WRONG, "npb.%s class %s has no published answer to compare with", k->name,
                       npb_classes[npb->class]);
    for (int i = 0; i < count; ++i) {
        double off = fabs(values[i] - r->values[i]);
        if (!(off <= k->tolerance * fabs(r->values[i]))) /* and not a number is wrong too */
            return err_say(
                ERR_WRONG,
                "npb.%s class %s: %s, value %d of %d, is %.14g, expected %.14g: off by %.2g of it, "
                "allowed are %.0e",
                k->name, npb_classes[npb->class], k->value_names[i % names], i + 1, count, values[i],
                r->values[i], off / fabs(r->values[i]), k->tolerance);
    }
    return 0;
}

/* The answer of the last run, which its data still hold. What it communicates is nobody's share. The first
 * wrong one is remembered: verify() says it. */
static int check(struct state *s)
{
    double values[NPB_VALUES_MAX];
    int count = 0;
    if (!s->unchecked)
        return 0;
    s->unchecked = false;
    int err = s->npb.kernel->answer(s->own, values, &count);
    if (!err)
        err = compare(&s->npb, values, count);
    if (err != ERR_WRONG)
        return err;
    if (!s->wrong)
        snprintf(s->why, sizeof s->why, "%s", err_text());
    s->wrong = err;
    return 0;
}

static int prepare(void *state)
{
    struct state *s = state;
    struct phases *counted = s->npb.comm.phases;
    struct phases kept = counted ? *counted : (struct phases){0};
    int err = check(s);
    if (!err)
        err = s->npb.kernel->reset(s->own);
    if (counted)
        *counted = kept;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct state *s = state;
    int err = 0;
    for (int64_t i = 0; i < reps && !err; ++i)
        err = s->npb.kernel->solve(s->own);
    s->unchecked = s->ran = true;
    return err;
}

/* Every run has its answer checked; before there has been any, there is one. */
static int verify(void *state)
{
    struct state *s = state;
    int err = s->ran ? 0 : prepare(s);
    if (!err && !s->ran)
        err = run(s, 1);
    if (!err)
        err = check(s);
    return !err && s->wrong ? err_say(s->wrong, "%s", s->why) : err;
}

static double work(const struct op_env *env)
{
    return kernel_of(env)->work((enum npb_class)env->params[NPB_CLASS]);
}

static void op_at(size_t i, struct op *op)
{
    const struct npb_kernel *k = npb_kernels[i];
    *op = (struct op){
        .family = "npb",
        .summary = k->summary,
        .class = OP_COLLECTIVE,
        .flow = FLOW_ALL,
        .report = OP_SLOWEST,
        .parts = 1,
        .threaded = true,
        .params = k->params,
        .phases = k->phases,
        .row = k,
        .setup = setup,
        .prepare = prepare,
        .run = run,
        .verify = verify,
        .teardown = teardown,
        .work = work,
    };
    snprintf(op->name, sizeof op->name, "npb.%s", k->name);
}

const struct op_family npb_ops = {.count = KERNELS, .op_at = op_at};
