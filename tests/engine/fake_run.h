/* The loop with a fake clock, a fake op and a sink that keeps what it is given: for tests of core/run.c. */
#ifndef FAKE_RUN_H
#define FAKE_RUN_H

#include "test.h"

#include "base/buffers.h"
#include "base/err.h"
#include "core/first.h"
#include "core/method.h"
#include "core/phase.h"
#include "core/point.h"
#include "core/run.h"
#include "core/sink.h"
#include "core/stop.h"
#include "machine/probe.h"
#include "sync/sync.h"

#include <math.h>
#include <signal.h>
#include <string.h>

enum { REP_NS = 100, MOST_CHUNKS = 32 };

/* What the op was asked to do and did. */
struct world {
    struct fake_clock fake;
    int64_t cost; /* of a reading of it; 0 is 20 */
    int setups, verifies, teardowns;
    int64_t reps;
    int64_t rep_ns; /* what a repetition takes; 0 is REP_NS */
    double halving; /* it begins ten times as slow, and what it is too slow halves in so many; 0: no */
    enum op_class class;
    enum op_flow flow;
    int setup_err, wrong_at; /* the verify that finds a wrong answer; 0: none */
    bool jumps;              /* the clock does */
    bool has_check;
    int checks, lost_at;         /* so far; the one that finds something lost, 0: none */
    int64_t check_ns, unchecked; /* what one takes; repetitions since the last one, or since verify */
    bool probes;                 /* there are looks at the machine */
    bool counts, counts_nothing; /* the op has counters; with these parameters it does not count */
    bool has_phases;             /* each repetition is one */
    bool moves;                  /* 80 bytes and 3 operations a repetition, bounded by fake.below */
    bool elsewhere;              /* by its parameters it has another flow */
    size_t needs;                /* bytes of memory, taken elsewhere */
    const struct first *first;
    bool planted;          /* it was told to corrupt what it has received */
    struct phases *phases; /* where it stamps them */
    bool asks;             /* by SIGUSR2 where it is, whenever anything of it is called */
    unsigned char *buffer; /* one byte, written to before anything runs */
};

static inline void ask(const struct world *w)
{
    if (w->asks)
        raise(SIGUSR2);
}

static inline struct world *world_of(const struct op *op)
{
    return (struct world *)(uintptr_t)op->row;
}

static inline int setup(const struct op_env *env, void **state)
{
    struct world *w = world_of(env->op);
    void *buffer = NULL;
    ask(w);
    w->phases = env->phases;
    w->planted = env->planted;
    buffers_count(env->buffers, w->needs);
    CHECK(buffers_take(env->buffers, 1, 1, &buffer) == 0);
    w->buffer = buffer;
    if (w->setup_err)
        return err_say((enum err)w->setup_err, "no such thing here");
    ++w->setups;
    *state = w;
    return 0;
}

static inline int run(void *state, int64_t reps)
{
    struct world *w = state;
    const int64_t rep_ns = w->rep_ns > 0 ? w->rep_ns : REP_NS;
    ask(w);
    CHECK(!w->buffer || *w->buffer == BUFFERS_FILL);
    phase_begin(w->phases);
    for (int64_t i = 0; i < reps && w->halving != 0; ++i)
        w->fake.now += (int64_t)(9 * (double)rep_ns * exp2(-(double)(w->reps + i) / w->halving));
    w->reps += reps;
    w->unchecked += reps;
    w->fake.now += rep_ns * reps;
    phase_end(w->phases, 0);
    return 0;
}

static const char *const counters[] = {"repetitions so far", "sevens", NULL};

static inline void counted(void *state, int64_t *values)
{
    values[0] = ((const struct world *)state)->reps;
    values[1] = 7;
}

static inline bool does_count(const struct op_env *env)
{
    return !world_of(env->op)->counts_nothing;
}

static inline enum op_flow flow_at(const struct op_env *env)
{
    return world_of(env->op)->elsewhere ? FLOW_ALL : env->op->flow;
}

static inline double moves(const struct op_env *env)
{
    (void)env;
    return 80;
}

static inline double works(const struct op_env *env)
{
    (void)env;
    return 3;
}

static inline const char *below(const struct op_env *env)
{
    (void)env;
    return "fake.below";
}

static inline int verify(void *state)
{
    struct world *w = state;
    ask(w);
    CHECK(!w->has_check || w->unchecked == 0); /* nothing that was timed is left unchecked */
    w->unchecked = 0;
    return ++w->verifies == w->wrong_at ? err_say(ERR_WRONG, "7 is not 8") : 0;
}

static inline int check(void *state)
{
    struct world *w = state;
    CHECK(w->unchecked > 0);
    w->unchecked = 0;
    w->fake.now += w->check_ns;
    return ++w->checks == w->lost_at ? err_say(ERR_WRONG, "the third is missing") : 0;
}

static const struct param check_params[] = {OP_CHECKS_PARAM, {0}};

static inline void teardown(void *state)
{
    struct world *w = state;
    ask(w);
    ++w->teardowns;
}

/* A sink that keeps the last of each and checks what must always hold. */
struct kept {
    struct sink sink;
    struct world *world;
    int points, ends, syncs, jumps;
    int64_t sync_step; /* between the synchronisations around a block */
    int64_t reps, warm_up_reps, observations, rejected, shortest, first;
    int64_t chunks[MOST_CHUNKS]; /* samples of each of the first ones */
    bool probed[MOST_CHUNKS];    /* a look at the machine followed it */
    int64_t probes;
    int64_t phase_ns, phase_calls; /* of the chunks so far */
    int64_t counted;               /* samples with counts, right ones */
    double moved, work;
    char below[16];
    int chunk_count;
    char status[16], why[ERR_TEXT_MAX], flag[16], report[16];
    bool verified;
};

static inline int keep_point(struct sink *sink, const struct point *p, const struct opening *o)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    ask(k->world);
    CHECK(o->ranks == 1 && o->parts == 1 && k->ends == 0 && o->bench);
    k->moved = o->moved;
    k->work = o->work;
    snprintf(k->below, sizeof k->below, "%s", o->below ? o->below : "");
    ++k->points;
    k->reps = o->reps;
    k->warm_up_reps = o->warm_up_reps;
    snprintf(k->report, sizeof k->report, "%s", o->report);
    return 0;
}

static inline int keep_chunk(struct sink *sink, const struct point *p, const struct chunk *c)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    CHECK(c->before_index < 0 || c->after_index - c->before_index == k->sync_step);
    CHECK(c->first == k->observations && c->count > 0 && c->yields[0] == 0);
    ask(k->world);
    CHECK(k->probes == 0 || c->probed == NULL || c->probed->noise);
    k->probes += c->probed != NULL;
    if (k->chunk_count < MOST_CHUNKS) {
        k->probed[k->chunk_count] = c->probed != NULL;
        k->chunks[k->chunk_count++] = c->count;
    }
    for (int64_t i = 0; c->counts && i < c->count; ++i)
        k->counted += c->counts[2 * i + 1] == 7 &&
                      c->counts[2 * i] == k->warm_up_reps + (k->observations + i + 1) * k->reps;
    for (int64_t i = 0; i < c->count; ++i) {
        int64_t duration = c->stop_ns[i] - c->start_ns[i];
        k->first = k->observations == 0 && i == 0 ? duration : k->first;
        k->shortest = k->observations == 0 && i == 0 ? duration
                      : duration < k->shortest       ? duration
                                                     : k->shortest;
        if (duration < 0 || (i > 0 && c->start_ns[i] < c->stop_ns[i - 1]))
            ++k->jumps;
    }
    k->observations += c->count;
    return 0;
}

static inline int keep_sync(struct sink *sink, const struct sync *sync)
{
    struct kept *k = (struct kept *)sink;
    ask(k->world);
    CHECK(sync->count ==
          k->syncs + 2); /* one to open, not written; one before the point; one after each block */
    ++k->syncs;
    return 0;
}

static inline int keep_end(struct sink *sink, const struct point *p, const struct end *e)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    ++k->ends;
    CHECK(e->count == k->observations);
    snprintf(k->status, sizeof k->status, "%s", e->status);
    snprintf(k->why, sizeof k->why, "%s", e->why ? e->why : "");
    snprintf(k->flag, sizeof k->flag, "%s", e->flag ? e->flag : "");
    k->rejected = e->rejected;
    k->verified = e->verified;
    return 0;
}

static inline int keep_phases(struct sink *sink, const struct point *p, const struct phase_chunk *c)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    CHECK(c->ranks == 1 && c->of == 1 && c->phases == 1 && c->first == k->observations);
    k->phase_ns += c->values[0];
    k->phase_calls += c->values[1];
    return 0;
}

static inline struct kept measure(struct world *w, const char *words, const char *missing, int least_ranks)
{
    static const struct op_first first = {.from = FIRST_FROM_MAIN};
    static const struct phase phases[] = {{.name = "all of it"}, {0}};
    const struct op op = {.name = "fake.op",
                          .family = "fake",
                          .class = w->class,
                          .flow = w->flow,
                          .report = OP_SLOWEST,
                          .parts = 1,
                          .missing = missing,
                          .least_ranks = least_ranks,
                          .row = w,
                          .setup = setup,
                          .run = run,
                          .verify = verify,
                          .check = w->has_check ? check : NULL,
                          .params = w->has_check ? check_params : NULL,
                          .counters = w->counts ? counters : NULL,
                          .counted = w->counts ? counted : NULL,
                          .counts = does_count,
                          .phases = w->has_phases ? phases : NULL,
                          .first = w->first ? &first : NULL,
                          .flow_at = flow_at,
                          .moved = w->moves ? moves : NULL,
                          .work = w->moves ? works : NULL,
                          .below = w->moves ? below : NULL,
                          .most_threads = 2,
                          .threaded = true,
                          .teardown = teardown};
    struct team team = {.size = 1};
    struct sync sync = {0};
    struct kept kept = {.sync_step = strstr(words, "method=window") ? 0 : 1,
                        .world = w,
                        .sink = {.point = keep_point,
                                 .chunk = keep_chunk,
                                 .phases = keep_phases,
                                 .sync = keep_sync,
                                 .end = keep_end}};
    struct probe *probe = NULL;
    struct point point;
    char line[128];
    snprintf(line, sizeof line, "op=fake.op %s", words);
    w->fake = fake_clock(w->cost ? w->cost : 20, 10);
    CHECK(point_parse(line, &op, 1, &point) == 0);
    point.first = w->first;
    CHECK(!w->probes || probe_open(&team, &w->fake.clock, &probe) == 0);
    CHECK(!w->jumps || clock_jump(&w->fake.clock) == 0);
    CHECK(run_point(&point, &team, &w->fake.clock, &sync, probe, &kept.sink) == 0);
    probe_close(probe);
    sync_close(&sync);
    clock_close(&w->fake.clock);
    CHECK(kept.ends == 1 && w->setups == w->teardowns && kept.jumps == w->jumps);
    return kept;
}

#endif
