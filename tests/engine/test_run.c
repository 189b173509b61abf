/* The loop with a fake clock, a fake op and a sink that keeps what it is given. */
#include "test.h"

#include "base/err.h"
#include "core/method.h"
#include "core/point.h"
#include "core/run.h"
#include "core/sink.h"
#include "core/stop.h"
#include "sync/sync.h"

#include <stdlib.h>
#include <string.h>

enum { REP_NS = 100 };

/* What the op was asked to do and did. */
struct world {
    struct fake_clock fake;
    int setups, verifies, teardowns;
    int64_t reps;
    enum op_class class;
    int setup_err, wrong_at; /* the verify that finds a wrong answer; 0: none */
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
    w->reps += reps;
    w->fake.now += REP_NS * reps;
    return 0;
}

static int verify(void *state)
{
    struct world *w = state;
    return ++w->verifies == w->wrong_at ? err_say(ERR_WRONG, "7 is not 8") : 0;
}

static void teardown(void *state)
{
    ++((struct world *)state)->teardowns;
}

/* A sink that keeps the last of each and checks what must always hold. */
struct kept {
    struct sink sink;
    int points, ends, syncs;
    int64_t reps, observations, shortest;
    char status[16], why[ERR_TEXT_MAX], flag[16];
    bool verified;
};

static int keep_point(struct sink *sink, const struct point *p, int ranks, int64_t reps, int64_t start_ns,
                      double moved)
{
    struct kept *k = (struct kept *)sink;
    (void)p, (void)start_ns, (void)moved;
    CHECK(ranks == 1 && k->ends == 0);
    ++k->points;
    k->reps = reps;
    return 0;
}

static int keep_chunk(struct sink *sink, const struct point *p, const struct chunk *c)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    CHECK(c->first == k->observations && c->count > 0 && c->yields[0] == 0);
    for (int64_t i = 0; i < c->count; ++i) {
        int64_t duration = c->stop_ns[i] - c->start_ns[i];
        k->shortest = k->observations == 0 && i == 0 ? duration
                      : duration < k->shortest       ? duration
                                                     : k->shortest;
        CHECK(i == 0 || c->start_ns[i] >= c->stop_ns[i - 1]);
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
    k->verified = e->verified;
    return 0;
}

static struct kept measure(struct world *w, const char *words, const char *missing, int least_ranks)
{
    const struct op op = {.name = "fake.op",
                          .family = "fake",
                          .class = w->class,
                          .report = OP_SLOWEST,
                          .parts = 1,
                          .missing = missing,
                          .least_ranks = least_ranks,
                          .row = w,
                          .setup = setup,
                          .run = run,
                          .verify = verify,
                          .teardown = teardown};
    struct team team = {.size = 1};
    struct sync sync = {0};
    struct kept kept = {
        .sink = {.point = keep_point, .chunk = keep_chunk, .sync = keep_sync, .end = keep_end}};
    struct point point;
    char line[128];
    snprintf(line, sizeof line, "op=fake.op %s", words);
    w->fake = fake_clock(20, 10);
    CHECK(point_parse(line, &op, 1, &point) == 0);
    CHECK(run_point(&point, &team, &w->fake.clock, &sync, &kept.sink) == 0);
    sync_close(&sync);
    CHECK(kept.ends == 1 && w->setups == w->teardowns);
    return kept;
}

int main(void)
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

    /* median, on what never varies: the fewest observations for the least time of 20 ms. */
    w = (struct world){0};
    k = measure(&w, "", NULL, 0);
    CHECK(strcmp(k.flag, "SETTLED") == 0 && k.observations >= 128 && k.observations < 1024);

    /* epoch: blocks of 64, each between two synchronisations; nothing is late where nothing else runs. */
    w = (struct world){.class = OP_COLLECTIVE};
    k = measure(&w, "rule=fixed count=100 method=epoch", NULL, 0);
    CHECK(k.reps == 1 && k.observations == 100 && k.syncs == 3 && k.shortest == REP_NS + 20);

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
    return test_result();
}
