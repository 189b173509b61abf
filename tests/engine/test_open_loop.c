/* open-loop: when messages are sent and from when they count, and how many of them are a block, at a sender
 * whose clock moves only when told. */
#include "test.h"

#include "core/chunk.h"
#include "core/method.h"
#include "core/point.h"
#include "core/run.h"
#include "core/sink.h"
#include "sync/sync.h"

#include <stdlib.h>

enum { RATE, DUE };
enum { EVEN, RANDOM };
/* Gaps of which a wait reads the clock and does not sleep. */
enum { COUNT = 200, GAP_NS = 10000, SEND_NS = 100, STALL_NS = 20 * GAP_NS, STALLED = 50 };

struct sender {
    struct fake_clock clock;
    int64_t sent_ns[COUNT], next;
};

static int turn(void *state, int64_t message)
{
    struct sender *s = state;
    CHECK(message == 2 * s->next);
    s->sent_ns[s->next++] = s->clock.now;
    s->clock.now += message == 2 * STALLED ? STALL_NS : SEND_NS;
    return 0;
}

static int run_nothing(void *state, int64_t reps)
{
    (void)state, (void)reps;
    return 0;
}

static int next_rank(void *state)
{
    (void)state;
    return 1;
}

/* A block of messages: when each is due and when it was sent. */
static void send_block(double due, uint64_t seed, int64_t due_ns[COUNT], int64_t sent_ns[COUNT])
{
    const double params[] = {1e9 / GAP_NS, due};
    const struct op op = {.run = run_nothing, .turn = turn, .partner = next_rank, .streams = true};
    struct sender s = {.clock = fake_clock(20, 10)};
    struct team team = {.size = 1};
    struct sync sync = {0};
    struct bench bench = {.op = &op,
                          .state = &s,
                          .team = &team,
                          .clock = &s.clock.clock,
                          .sync = &sync,
                          .params = params,
                          .brief = true,
                          .seed = seed,
                          .count = COUNT,
                          .own = calloc(1, method_open_loop.size)};
    CHECK(method_open_loop.begin(&bench) == 0 && bench.reps == 1);
    CHECK(method_open_loop.open(&bench) == 0 && s.next == COUNT);
    for (int i = 0; i < COUNT; ++i) {
        struct observation o = {0};
        CHECK(method_open_loop.observe(&bench, &o) == 0 && o.start_ns == o.stop_ns);
        due_ns[i] = o.start_ns;
        sent_ns[i] = s.sent_ns[i];
    }
    method_open_loop.end(&bench);
    free(bench.own);
}

static void test_even(void)
{
    int64_t due_ns[COUNT], sent_ns[COUNT];
    send_block(EVEN, 1, due_ns, sent_ns);
    CHECK(due_ns[0] >= 2 * GAP_NS); /* the 10 us of the barrier, and a gap as before any other */
    for (int i = 0; i < COUNT; ++i) {
        CHECK(due_ns[i] - due_ns[0] == (int64_t)i * GAP_NS); /* also where one before took long */
        const int64_t late = sent_ns[i] - due_ns[i];
        const int64_t behind = due_ns[STALLED] + STALL_NS - due_ns[i];
        CHECK(late >= 0 && (i > STALLED && behind > 0 ? late >= behind : late < GAP_NS));
    }
    CHECK(sent_ns[STALLED + 20] - sent_ns[STALLED + 1] < GAP_NS); /* what has waited goes at once */
}

static void test_random(void)
{
    int64_t due_ns[COUNT], again_ns[COUNT], other_ns[COUNT], sent_ns[COUNT];
    send_block(RANDOM, 1, due_ns, sent_ns);
    send_block(RANDOM, 1, again_ns, sent_ns);
    send_block(RANDOM, 2, other_ns, sent_ns);
    int shorter = 0, same = 0;
    for (int i = 1; i < COUNT; ++i) {
        const int64_t gap = due_ns[i] - due_ns[i - 1];
        CHECK(gap >= 0 && gap == again_ns[i] - again_ns[i - 1]);
        shorter += gap < GAP_NS;
        same += gap == other_ns[i] - other_ns[i - 1];
    }
    const int64_t took = due_ns[COUNT - 1] - due_ns[0];
    CHECK(took > (int64_t)COUNT * GAP_NS * 3 / 4 && took < (int64_t)COUNT * GAP_NS * 5 / 4);
    CHECK(shorter > COUNT / 2 && shorter < COUNT * 3 / 4); /* 63 % of exponential gaps are below their mean */
    CHECK(same < COUNT / 10);
}

/* ---- blocks ------------------------------------------------------------------------------------------- */

enum { MOST_BLOCKS = 4 };

struct blocks {
    struct sink sink;
    int count;
    int64_t messages[MOST_BLOCKS], sum;
};

static int keep_point(struct sink *sink, const struct point *p, const struct opening *o)
{
    (void)sink, (void)p, (void)o;
    return 0;
}

static int keep_sync(struct sink *sink, const struct sync *sync)
{
    (void)sink, (void)sync;
    return 0;
}

static int keep_end(struct sink *sink, const struct point *p, const struct end *e)
{
    (void)sink, (void)p, (void)e;
    return 0;
}

static int keep_block(struct sink *sink, const struct point *p, const struct chunk *c)
{
    struct blocks *b = (struct blocks *)sink;
    (void)p;
    if (b->count < MOST_BLOCKS)
        b->messages[b->count] = c->count;
    ++b->count;
    b->sum += c->count;
    return 0;
}

static int setup(const struct op_env *env, void **state)
{
    *state = (void *)(uintptr_t)env->op->row;
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

static int turn_any(void *state, int64_t message)
{
    (void)message;
    ((struct sender *)state)->clock.now += SEND_NS;
    return 0;
}

/* Its partner is a rank that this team does not have. */
static double value_alone(const struct bench *b, const struct chunk *c, int64_t k)
{
    (void)b;
    return (double)c->stop_ns[k];
}

static struct blocks measure(const char *words)
{
    struct sender s = {.clock = fake_clock(100000, 10)}; /* so that few readings pass between messages */
    const struct op op = {.name = "fake.op",
                          .class = OP_P2P,
                          .parts = 1,
                          .row = &s,
                          .setup = setup,
                          .run = run_nothing,
                          .turn = turn_any,
                          .partner = next_rank,
                          .streams = true,
                          .verify = verify,
                          .teardown = teardown};
    struct method alone = method_open_loop;
    struct team team = {.size = 1};
    struct sync sync = {0};
    struct blocks b = {
        .sink = {.point = keep_point, .chunk = keep_block, .sync = keep_sync, .end = keep_end}};
    struct point point;
    char line[128];
    snprintf(line, sizeof line, "op=fake.op method=open-loop rate=20 rule=fixed %s", words);
    CHECK(point_parse(line, &op, 1, &point) == 0);
    alone.least_ranks = 1;
    alone.value = value_alone;
    point.method = &alone;
    CHECK(run_point(&point, &team, &s.clock.clock, &sync, NULL, &b.sink) == 0);
    sync_close(&sync);
    return b;
}

/* Messages that are due every 50 ms: no block lasts longer than 2 s, nor beyond the time limit. */
static void test_blocks(void)
{
    struct blocks b = measure("count=100");
    CHECK(b.sum == 100 && b.count == MOST_BLOCKS && b.messages[0] == 20);
    for (int i = 1; i < MOST_BLOCKS; ++i)
        CHECK(b.messages[i] <= 40);
    b = measure("count=100 most_seconds=0.5");
    CHECK(b.sum >= 10 && b.sum <= 12);
}

static void test_suits(void)
{
    const struct op alternates = {.class = OP_P2P, .turn = turn},
                    streams = {.class = OP_P2P, .turn = turn, .streams = true};
    CHECK(method_suits(&method_each, &alternates) && !method_suits(&method_open_loop, &alternates));
    CHECK(method_suits(&method_open_loop, &streams));
}

int main(void)
{
    test_even();
    test_random();
    test_blocks();
    test_suits();
    return test_result();
}
