/* The loop with a fake clock, a fake op and a sink that keeps what it is given. */
#include "test.h"

#include "base/err.h"
#include "core/method.h"
#include "core/point.h"
#include "core/run.h"
#include "core/sink.h"
#include "core/stop.h"
#include "sync/sync.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REP_NS = 100, MOST_CHUNKS = 32 };

/* What the op was asked to do and did. */
struct world {
    struct fake_clock fake;
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
};

static struct world *world_of(const struct op *op)
{
    return (struct world *)(uintptr_t)op->row;
}

static int setup(const struct op_env *env, void **state)
{
    struct world *w = world_of(env->op);
    if (w->setup_err)
        return err_say((enum err)w->setup_err, "no such thing here");
    ++w->setups;
    *state = w;
    return 0;
}

static int run(void *state, int64_t reps)
{
    struct world *w = state;
    const int64_t rep_ns = w->rep_ns > 0 ? w->rep_ns : REP_NS;
    for (int64_t i = 0; i < reps && w->halving != 0; ++i)
        w->fake.now += (int64_t)(9 * (double)rep_ns * exp2(-(double)(w->reps + i) / w->halving));
    w->reps += reps;
    w->unchecked += reps;
    w->fake.now += rep_ns * reps;
    return 0;
}

static int verify(void *state)
{
    struct world *w = state;
    CHECK(!w->has_check || w->unchecked == 0); /* nothing that was timed is left unchecked */
    w->unchecked = 0;
    return ++w->verifies == w->wrong_at ? err_say(ERR_WRONG, "7 is not 8") : 0;
}

static int check(void *state)
{
    struct world *w = state;
    CHECK(w->unchecked > 0);
    w->unchecked = 0;
    w->fake.now += w->check_ns;
    return ++w->checks == w->lost_at ? err_say(ERR_WRONG, "the third is missing") : 0;
}

static const struct param check_params[] = {OP_CHECKS_PARAM, {0}};

static void teardown(void *state)
{
    ++((struct world *)state)->teardowns;
}

/* A sink that keeps the last of each and checks what must always hold. */
struct kept {
    struct sink sink;
    int points, ends, syncs, jumps;
    int64_t sync_step; /* between the synchronisations around a block */
    int64_t reps, warm_up_reps, observations, rejected, shortest, first;
    int64_t chunks[MOST_CHUNKS]; /* samples of each of the first ones */
    int chunk_count;
    char status[16], why[ERR_TEXT_MAX], flag[16], report[16];
    bool verified;
};

static int keep_point(struct sink *sink, const struct point *p, const struct opening *o)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    CHECK(o->ranks == 1 && o->parts == 1 && k->ends == 0 && o->bench);
    ++k->points;
    k->reps = o->reps;
    k->warm_up_reps = o->warm_up_reps;
    snprintf(k->report, sizeof k->report, "%s", o->report);
    return 0;
}

static int keep_chunk(struct sink *sink, const struct point *p, const struct chunk *c)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    CHECK(c->before_index < 0 || c->after_index - c->before_index == k->sync_step);
    CHECK(c->first == k->observations && c->count > 0 && c->yields[0] == 0);
    if (k->chunk_count < MOST_CHUNKS)
        k->chunks[k->chunk_count++] = c->count;
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

static int keep_sync(struct sink *sink, const struct sync *sync)
{
    struct kept *k = (struct kept *)sink;
    CHECK(sync->count ==
          k->syncs + 2); /* one to open, not written; one before the point; one after each block */
    ++k->syncs;
    return 0;
}

static int keep_end(struct sink *sink, const struct point *p, const struct end *e)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    ++k->ends;
    CHECK(e->count == k->observations);
    snprintf(k->status, sizeof k->status, "%s", e->status);
    snprintf(k->why, sizeof k->why, "%s", e->why ? e->why : "");
    snprintf(k->flag, sizeof k->flag, "%s", e->flag);
    k->rejected = e->rejected;
    k->verified = e->verified;
    return 0;
}

static struct kept measure(struct world *w, const char *words, const char *missing, int least_ranks)
{
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
                          .teardown = teardown};
    struct team team = {.size = 1};
    struct sync sync = {0};
    struct kept kept = {
        .sync_step = strstr(words, "method=window") ? 0 : 1,
        .sink = {.point = keep_point, .chunk = keep_chunk, .sync = keep_sync, .end = keep_end}};
    struct point point;
    char line[128];
    snprintf(line, sizeof line, "op=fake.op %s", words);
    w->fake = fake_clock(20, 10);
    CHECK(point_parse(line, &op, 1, &point) == 0);
    CHECK(!w->jumps || clock_jump(&w->fake.clock) == 0);
    CHECK(run_point(&point, &team, &w->fake.clock, &sync, NULL, &kept.sink) == 0);
    sync_close(&sync);
    clock_close(&w->fake.clock);
    CHECK(kept.ends == 1 && w->setups == w->teardowns && kept.jumps == w->jumps);
    return kept;
}

/* Twenty calls find the longest but one; of an op that lasts a second, three the longest. */
static void check_pilot(void)
{
    static const struct {
        int64_t rep_ns, count;
    } rows[] = {{100, 20}, {10000000, 10}, {1000000000, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct world w = {.fake = fake_clock(20, 10), .rep_ns = rows[i].rep_ns};
        const struct op op = {.run = run};
        struct team team = {.size = 1};
        struct bench bench = {.op = &op, .state = &w, .team = &team, .clock = &w.fake.clock};
        int64_t took = 0;
        CHECK(method_pilot(&bench, (double)rows[i].rep_ns, &took) == 0 && took >= rows[i].rep_ns);
        CHECK(w.reps == rows[i].count && bench.warm_up_reps == rows[i].count);
    }
}

/* After each of the first repetitions, for 2 ms, and after each chunk, while checks take no longer than
 * samples; or after each sample and each repetition that warms up. What is lost ends the point. */
static void check_checks(void)
{
    struct world w = {.has_check = true, .check_ns = 100000};
    struct kept k = measure(&w, "rule=fixed count=3000 method=barrier", NULL, 0);
    CHECK(strcmp(k.status, "ok") == 0 && w.checks > 15 && w.checks < 40 && w.verifies == 2);
    CHECK(w.reps == 3000 + k.warm_up_reps);
    w = (struct world){.has_check = true, .lost_at = 2};
    k = measure(&w, "rule=fixed count=50", NULL, 0);
    CHECK(strcmp(k.why, "wrong: rank 0: the third is missing") == 0 && w.checks == 2 && k.observations == 0);
    w = (struct world){.has_check = true};
    k = measure(&w, "rule=fixed count=3000 method=barrier warm_up=brief", NULL, 0);
    CHECK(strcmp(k.status, "ok") == 0 && w.checks > 1 && w.checks < 20);
    w = (struct world){.has_check = true};
    k = measure(&w, "rule=fixed count=50 reps=7 check=sample", NULL, 0);
    CHECK(strcmp(k.status, "ok") == 0 && w.checks == 50 + k.warm_up_reps && k.shortest == 7 * REP_NS + 20);
    w = (struct world){.has_check = true, .lost_at = 3};
    k = measure(&w, "rule=fixed count=50 reps=7 check=sample", NULL, 0);
    CHECK(strcmp(k.status, "failed") == 0 && strcmp(k.why, "wrong: rank 0: the third is missing") == 0);
    CHECK(!k.verified && w.checks == 3 && w.verifies == 1 && k.observations == 0);
    w = (struct world){.has_check = true, .check_ns = 1000000000};
    k = measure(&w, "rule=fixed count=3000 method=barrier", NULL, 0);
    CHECK(strcmp(k.status, "ok") == 0 && w.checks == 3); /* of the first two repetitions, and at the end */
}

static void check_reps(void)
{
    /* batch: so many repetitions that the clock's 20 ns and tick of 10 are a thousandth: 30 us, 300 of them.
     */
    struct world w = {0};
    struct kept k = measure(&w, "rule=fixed count=50", NULL, 0);
    CHECK(k.points == 1 && k.observations == 50 && k.reps == 300 && k.shortest == 300 * REP_NS + 20);
    CHECK(strcmp(k.status, "ok") == 0 && strcmp(k.flag, "SETTLED") == 0 && k.verified && w.verifies == 2);

    /* batch with so many as are asked for; barrier with one. */
    w = (struct world){0};
    CHECK(measure(&w, "rule=fixed count=5 reps=7", NULL, 0).reps == 7);
    w = (struct world){0};
    k = measure(&w, "rule=fixed count=3000 method=barrier", NULL, 0);
    CHECK(k.reps == 1 && k.observations == 3000 && k.shortest == REP_NS + 20);

    /* Every repetition is in an observation or counted as warm-up; 20 of them and a millisecond at least. */
    CHECK(w.reps == 3000 + k.warm_up_reps && k.warm_up_reps > 1000000 / REP_NS);
}

static void check_warm_up(void)
{
    struct world w;
    struct kept k;

    w = (struct world){.class = OP_COLLECTIVE};
    k = measure(&w, "rule=fixed count=100 method=epoch", NULL, 0);
    CHECK(w.reps == 100 + k.warm_up_reps);

    /* What becomes faster while it warms up is warmed up for longer: it is nearly steady when observed. */
    w = (struct world){.halving = 1000};
    k = measure(&w, "rule=fixed count=5 method=barrier", NULL, 0);
    CHECK(k.first < 3 * REP_NS / 2 && k.warm_up_reps > 4 * 1000);
    /* But not for ever where it never becomes steady, and not with many calls of an op that lasts long. */
    w = (struct world){.halving = -5000};
    k = measure(&w, "rule=fixed count=1 method=barrier", NULL, 0);
    CHECK(k.first > 10 * REP_NS && k.first < 100 * REP_NS);
    w = (struct world){.rep_ns = 1000000};
    CHECK(measure(&w, "rule=fixed count=5 method=barrier", NULL, 0).warm_up_reps == 20);
    w = (struct world){.rep_ns = 1000000000};
    CHECK(measure(&w, "rule=fixed count=5 method=barrier", NULL, 0).warm_up_reps == 2);
    /* For tests of answers, as briefly as the method allows. */
    w = (struct world){.halving = 1000};
    CHECK(measure(&w, "rule=fixed count=5 method=barrier warm_up=brief", NULL, 0).warm_up_reps == 20);
}

static void check_methods(void)
{
    struct world w;
    struct kept k;

    /* median, on what never varies: the fewest observations for the least time of 20 ms. */
    w = (struct world){0};
    k = measure(&w, "", NULL, 0);
    CHECK(strcmp(k.flag, "SETTLED") == 0 && k.observations >= 128 && k.observations < 1024);

    /* epoch: blocks of 64, each between two synchronisations; nothing is late where nothing else runs. */
    w = (struct world){.class = OP_COLLECTIVE};
    k = measure(&w, "rule=fixed count=100 method=epoch", NULL, 0);
    CHECK(k.reps == 1 && k.observations == 100 && k.syncs == 3 && k.shortest == REP_NS + 20);

    /* round-time the same; window: one before all of them, though its blocks are as long. */
    w = (struct world){.class = OP_COLLECTIVE};
    k = measure(&w, "rule=fixed count=100 method=round-time", NULL, 0);
    CHECK(k.observations == 100 && k.syncs == 3 && k.shortest == REP_NS + 20);
    w = (struct world){.class = OP_COLLECTIVE};
    k = measure(&w, "rule=fixed count=100 method=window", NULL, 0);
    CHECK(k.observations == 100 && k.syncs == 1 && k.shortest == REP_NS + 20);

    /* root: whose duration stands for the op is the method's to say; ack: nothing to hear from alone. */
    w = (struct world){.class = OP_COLLECTIVE};
    CHECK(strcmp(measure(&w, "rule=fixed count=5 method=root", NULL, 0).report, "root") == 0);
    w = (struct world){.class = OP_COLLECTIVE};
    CHECK(strcmp(measure(&w, "rule=fixed count=5 method=rank", NULL, 0).report, "slowest") == 0);
    w = (struct world){.class = OP_COLLECTIVE, .flow = FLOW_OUT};
    k = measure(&w, "method=ack", NULL, 0);
    CHECK(strcmp(k.status, "skipped") == 0 && strstr(k.why, "the method ack needs 2 ranks, there is 1"));
}

/* A chunk lasts 20 ms, a block at most 2 s; neither goes beyond the next look of the rule, nor the last one
 * far beyond the time limit. */
static void check_chunks(void)
{
    static const struct {
        const char *words;
        int64_t rep_ns;
        enum op_class class;
        int64_t chunks[12];
    } rows[] = {
        {"rule=fixed count=100 method=barrier", 1000000, OP_LOCAL, {1, 19, 19, 19, 19, 19, 4}},
        {"rule=fixed count=3000 method=barrier", 100, OP_LOCAL, {1, 1024, 1024, 951}},
        {"rule=fixed count=4 method=barrier", 30000000, OP_LOCAL, {1, 1, 1, 1}},
        {"rule=fixed count=1000 most_seconds=0.05 method=barrier", 3000000, OP_LOCAL, {1, 6, 6, 4}},
        {"rule=fixed count=100 method=epoch", 100000, OP_COLLECTIVE, {64, 36}},
        /* one sample is left: before the next look, and before the time limit */
        {"rule=fixed count=65 method=epoch", 100000, OP_COLLECTIVE, {64, 1}},
        {"rule=fixed count=21 method=barrier", 1000000, OP_LOCAL, {1, 19, 1}},
        {"rule=fixed count=1000 most_seconds=0.0238 method=barrier", 3000000, OP_LOCAL, {1, 6, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct world w = {.rep_ns = rows[i].rep_ns, .class = rows[i].class};
        struct kept k = measure(&w, rows[i].words, NULL, 0);
        int at = 0;
        while (rows[i].chunks[at] > 0 && k.chunks[at] == rows[i].chunks[at])
            ++at;
        const bool is_so = rows[i].chunks[at] == 0 && at == k.chunk_count;
        CHECK(is_so);
        for (int j = 0; !is_so && j < k.chunk_count; ++j)
            fprintf(stderr, "%s %lld%s", j ? "" : rows[i].words, (long long)k.chunks[j],
                    j + 1 < k.chunk_count ? "," : "\n");
    }
}

static void check_failures(void)
{
    struct world w;
    struct kept k;

    /* A clock that jumps back by 20 ms every 50 ms ends the point at once; what was seen is kept, and counts
     * as rejected. */
    w = (struct world){.jumps = true};
    k = measure(&w, "rule=fixed count=100000", NULL, 0);
    CHECK(strcmp(k.status, "failed") == 0 && k.verified && k.observations > 1000 && k.observations < 3000);
    CHECK(k.rejected > 0 && k.rejected < k.observations);
    CHECK(strstr(k.why, "clock: rank 0: the clock fake jumped back by 199") == k.why);
    CHECK(strstr(k.why, " us between two readings; choose another with --clock"));

    /* A wrong answer before, after; a setup that cannot; what this build has not got. */
    w = (struct world){.wrong_at = 1};
    k = measure(&w, "", NULL, 0);
    CHECK(strcmp(k.status, "failed") == 0 && k.observations == 0 && !k.verified);
    CHECK(strcmp(k.why, "wrong: rank 0: 7 is not 8") == 0);
    w = (struct world){.wrong_at = 2};
    k = measure(&w, "rule=fixed count=5", NULL, 0);
    CHECK(strcmp(k.status, "failed") == 0 && k.observations == 5 && !k.verified);
    w = (struct world){.setup_err = ERR_UNSUPPORTED};
    k = measure(&w, "", NULL, 0);
    CHECK(strcmp(k.status, "skipped") == 0 && strcmp(k.why, "unsupported: rank 0: no such thing here") == 0);
    w = (struct world){0};
    k = measure(&w, "", "needs another machine", 0);
    CHECK(strcmp(k.status, "skipped") == 0 && strstr(k.why, "needs another machine") && w.setups == 0);
    w = (struct world){.class = OP_COLLECTIVE};
    k = measure(&w, "method=truth", NULL, 0);
    CHECK(strcmp(k.status, "skipped") == 0 && strstr(k.why, "in simulation only") && w.setups == 0);
    w = (struct world){0};
    k = measure(&w, "", NULL, 2);
    CHECK(strcmp(k.status, "skipped") == 0 && strstr(k.why, "needs 2 ranks, there is 1"));
}

int main(void)
{
    check_reps();
    check_warm_up();
    check_methods();
    check_chunks();
    check_failures();
    check_pilot();
    check_checks();
    return test_result();
}
