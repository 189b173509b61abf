/* The loop on two ranks with clocks that are off by a known amount. Time stands still but for readings of
 * clocks and repetitions, on either rank. */
#define _GNU_SOURCE
#include "ranks.h"
#include "test.h"

#include "base/err.h"
#include "core/method.h"
#include "core/point.h"
#include "core/reduce.h"
#include "core/run.h"
#include "core/sink.h"
#include "sync/sync.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { COST = 100, REP_NS = 1000 };

static _Atomic int64_t *shared_now; /* of both ranks */

struct own_clock {
    struct clock clock; /* first: one is the other */
    int64_t ahead;
};

/* What the op of a rank does, in its state. */
struct world {
    struct own_clock own;
    int64_t reps, jumps_at; /* so far; the repetition before which this clock jumps by 1 s, 0: none */
};

struct kept {
    struct sink sink;
    int ends, standings;
    int64_t count, rejected, samples, syncs;
    char status[16], why[2 * ERR_TEXT_MAX];
    bool verified;
};

static int64_t read_own(const struct clock *clock)
{
    return atomic_fetch_add(shared_now, COST) + COST + ((const struct own_clock *)clock)->ahead;
}

static int setup(const struct op_env *env, void **state)
{
    *state = (struct world *)(uintptr_t)env->op->row;
    return 0;
}

static int run(void *state, int64_t reps)
{
    struct world *w = state;
    w->own.ahead += w->jumps_at > w->reps && w->jumps_at <= w->reps + reps ? 1000000000 : 0;
    w->reps += reps;
    atomic_fetch_add(shared_now, REP_NS * reps);
    return 0;
}

static int verify(void *state)
{
    (void)state;
    return 0;
}

static void teardown(void *state)
{
    (void)state;
}

static int keep_point(struct sink *sink, const struct point *p, const struct opening *o)
{
    (void)sink, (void)p;
    CHECK(o->ranks == 2);
    return 0;
}

static int keep_chunk(struct sink *sink, const struct point *p, const struct chunk *c)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    CHECK(c->first == k->samples);
    k->samples += c->count;
    return 0;
}

static int keep_sync(struct sink *sink, const struct sync *sync)
{
    (void)sync;
    ++((struct kept *)sink)->syncs;
    return 0;
}

static int keep_standing(struct sink *sink, const struct point *p, const struct standing *s, int ranks)
{
    (void)p, (void)s;
    CHECK(ranks == 2);
    ++((struct kept *)sink)->standings;
    return 0;
}

static int keep_end(struct sink *sink, const struct point *p, const struct end *e)
{
    struct kept *k = (struct kept *)sink;
    (void)p;
    ++k->ends;
    k->count = e->count;
    k->rejected = e->rejected;
    k->verified = e->verified;
    snprintf(k->status, sizeof k->status, "%s", e->status);
    snprintf(k->why, sizeof k->why, "%s", e->why ? e->why : "");
    return 0;
}

/* On rank 0 what the sink was given; on rank 1 there is no sink. */
static struct kept measure(struct team *team, const char *words, enum keep keep, int64_t jumps_at)
{
    struct world w = {.own = {.clock = {.name = "own", .read = read_own, .tick_ns = 1, .cost_ns = COST},
                              .ahead = 50000000LL * team->rank},
                      .jumps_at = team->rank == 1 ? jumps_at : 0};
    const struct op op = {.name = "fake.op",
                          .family = "fake",
                          .class = OP_COLLECTIVE,
                          .flow = FLOW_OUT,
                          .report = OP_SLOWEST,
                          .parts = 1,
                          .row = &w,
                          .setup = setup,
                          .run = run,
                          .verify = verify,
                          .teardown = teardown};
    struct kept kept = {.sink = {.point = keep_point,
                                 .chunk = keep_chunk,
                                 .sync = keep_sync,
                                 .standing = keep_standing,
                                 .end = keep_end}};
    struct sync sync = {.algorithm = &sync_skampi};
    struct point point;
    char line[128];
    snprintf(line, sizeof line, "op=fake.op %s", words);
    CHECK(point_parse(line, &op, 1, &point) == 0);
    point.keep = keep;
    CHECK(run_point(&point, team, &w.own.clock, &sync, NULL, team->rank == 0 ? &kept.sink : NULL) == 0);
    sync_close(&sync);
    return kept;
}

static int cases(struct team *team)
{
    struct kept k = measure(team, "rule=fixed count=70 method=epoch warm_up=brief", KEEP_RANKS, 0);
    CHECK(team->rank || (k.ends == 1 && strcmp(k.status, "ok") == 0 && k.verified && k.count == k.samples));
    CHECK(team->rank || (k.count - k.rejected == 70 && k.syncs > 2 && k.standings == 0)); /* some came late */

    /* Summaries of ranks, where not all are kept. */
    k = measure(team, "rule=fixed count=70 method=epoch warm_up=brief", KEEP_SLOWEST, 0);
    CHECK(team->rank || (strcmp(k.status, "ok") == 0 && k.standings == 1 && k.count - k.rejected == 70));

    /* Samples of the lower bound are none of those that the rule counts. */
    k = measure(team, "rule=fixed count=10 method=bounds reps=5 warm_up=brief", KEEP_RANKS, 0);
    CHECK(team->rank || (strcmp(k.status, "ok") == 0 && k.samples >= 19 && k.count == k.samples));

    /* A clock that jumps between two synchronisations ends the test case, with the methods that need none. */
    k = measure(team, "rule=fixed count=200 method=epoch warm_up=brief", KEEP_RANKS, 100);
    const char *named = "the clocks of ranks 1 and 0 cannot be related", *then = "need no common clock:";
    CHECK(team->rank || (strcmp(k.status, "failed") == 0 && !k.verified && strstr(k.why, named)));
    const char *others = team->rank == 0 ? strstr(k.why, then) : NULL;
    CHECK(team->rank || (strncmp(k.why, "clock: rank 1: ", 15) == 0 && others));
    CHECK(!others || strcmp(others + strlen(then),
                            " batch root rank barrier library-barrier ack bisected-ack bounds") == 0);
    return test_failures;
}

/* A rank whose clock costs ten times as much makes as many repetitions as rank 0 decides. */
static int batch_agrees(struct team *team)
{
    struct world w = {.own = {.clock = {.name = "own", .read = read_own, .tick_ns = 1}}};
    w.own.clock.cost_ns = team->rank ? 10 * COST : COST;
    const struct op op = {.run = run};
    const double params[2] = {0};
    struct bench bench = {.op = &op, .state = &w, .team = team, .clock = &w.own.clock, .params = params};
    CHECK(method_batch.begin(&bench) == 0);
    int64_t decided = bench.reps;
    CHECK(team_bcast(team, &decided, sizeof decided) == 0 && bench.reps == decided && decided > 1);
    return test_failures;
}

int main(void)
{
    shared_now = mmap(NULL, sizeof *shared_now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared_now == MAP_FAILED)
        return 1;
    CHECK(ranks_run(cases, 2) == 0);
    CHECK(ranks_run(batch_agrees, 2) == 0);
    return test_result();
}
