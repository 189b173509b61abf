/* each and open-loop on three ranks of which the third has no partner. Each rank has a clock of its own that
 * moves only when told, so each stamp is known: the sender's is when it began to send, or when the message
 * was due, the receiver's when the call has returned. */
#define _GNU_SOURCE
#include "ranks.h"
#include "test.h"

#include "core/method.h"
#include "core/sink.h"
#include "sync/sync.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 3, COST = 10, WRITE_NS = 30, COUNT = 1024, MEET_NS = 100000, READY_NS = 10000, GAP_NS = 1000 };

struct side {
    struct fake_clock fake;
    int64_t turns, step;  /* of this block; from the number of a message to that of the next one */
    int64_t writes, slow; /* in all; the message that takes ten times as long as the gap between two */
    int64_t began_ns[COUNT], ended_ns[COUNT];
    bool does_write, wrote[COUNT]; /* before which messages of this block */
};

static int run(void *state, int64_t reps)
{
    ((struct side *)state)->fake.now += 500 * reps;
    return 0;
}

static int turn(void *state, int64_t number)
{
    struct side *side = state;
    const int64_t i = side->turns++;
    CHECK(i < COUNT && number == side->step * i);
    if (i >= COUNT)
        return 1;
    side->began_ns[i] = side->fake.now;
    side->fake.now += i == side->slow ? 10 * GAP_NS : 100 * (1 + i % 3);
    side->ended_ns[i] = side->fake.now;
    return 0;
}

static bool write_data(void *state)
{
    struct side *side = state;
    CHECK(side->turns < COUNT);
    if (!side->does_write || side->turns == COUNT)
        return false;
    side->fake.now += WRITE_NS;
    side->wrote[side->turns] = true;
    ++side->writes;
    return true;
}

static struct side new_side(bool does_write)
{
    return (struct side){.fake = fake_clock(COST, 1), .step = 1, .slow = -1, .does_write = does_write};
}

/* Two samples: ranks 0 and 1 are 15 and 40 ns apart, and rank 2 is in none. */
static void check_value(const struct method *method, const struct bench *bench)
{
    static const int64_t stop_ns[RANKS * 2] = {10, 60, 25, 20, 700, 800};
    const struct sync_point same[RANKS] = {0};
    const struct chunk chunk = {
        .count = 2, .ranks = RANKS, .stop_ns = stop_ns, .before = same, .after = same};
    CHECK(method->value(bench, &chunk, 0) == 15 && method->value(bench, &chunk, 1) == 40);
}

static int each_of(struct team *team, bool does_write)
{
    struct side side = new_side(does_write);
    const struct op op = {.run = run, .turn = turn, .write = write_data};
    struct bench bench = {.op = &op,
                          .state = &side,
                          .team = team,
                          .clock = &side.fake.clock,
                          .brief = true,
                          .reps = 7, /* of the test case before */
                          .lead_in = 7,
                          .count = COUNT,
                          .own = calloc(1, method_each.size)};
    CHECK(method_each.begin(&bench) == 0 && bench.reps == 1 && bench.lead_in == 0);
    CHECK(bench.warm_up_reps >= 20 && side.writes == does_write);
    for (int block = 0; block < 2; ++block) {
        side.turns = side.writes = 0;
        memset(side.wrote, 0, sizeof side.wrote);
        side.fake.now += 12345; /* between blocks */
        CHECK(method_each.open(&bench) == 0 && side.turns == COUNT);
        CHECK(team->rank == 2 || side.writes == (does_write ? COUNT / 2 : 0));
        for (int64_t i = 0; i < COUNT && team->rank < 2; ++i) {
            const bool receives = i % 2 != team->rank; /* even ones go from rank 0 to rank 1 */
            struct observation o = {0};
            CHECK(method_each.observe(&bench, &o) == 0 && o.start_ns == o.stop_ns);
            CHECK(side.wrote[i] == (does_write && !receives));
            CHECK(o.stop_ns == (receives ? side.ended_ns[i] + COST : side.began_ns[i]));
        }
    }
    if (team->rank == 0)
        check_value(&method_each, &bench);
    method_each.end(&bench);
    free(bench.own);
    return test_failures;
}

static int each_case(struct team *team)
{
    return each_of(team, false);
}

static int each_writes_case(struct team *team)
{
    return each_of(team, true);
}

/* The stamps of a block that begins at one instant on all ranks: of the sender when messages were due, also
 * where the slow one before them was in the way; of the receiver when they came. Returns whether a gap
 * differs from the rate's.
 */
static int64_t check_due(struct bench *bench, struct side *side, int64_t slow)
{
    const int rank = bench->team->rank;
    const int64_t begin_ns =
        RANKS * MEET_NS + READY_NS + 4 * COST; /* two readings, and what is between them twice */
    int64_t last_ns = begin_ns, behind = 0, longer = 0, first_ns = 0;
    bool is_even = true;
    side->turns = side->writes = 0;
    side->slow = slow;
    side->fake.now = (rank + 1) * MEET_NS; /* the last to come is rank 2 */
    CHECK(method_open_loop.open(bench) == 0 && side->turns == (rank < 2 ? COUNT : 0));
    CHECK(side->writes == (rank == 0 ? COUNT : 0));
    for (int64_t i = 0; i < COUNT; ++i) {
        struct observation o = {0};
        CHECK(method_open_loop.observe(bench, &o) == 0 && o.start_ns == o.stop_ns);
        CHECK(rank != 1 || o.stop_ns == side->ended_ns[i] + COST);
        if (rank != 0)
            continue;
        CHECK(o.stop_ns >= last_ns && side->began_ns[i] >= o.stop_ns);
        behind += side->began_ns[i] - o.stop_ns > WRITE_NS + 2 * COST;
        longer += o.stop_ns - last_ns > GAP_NS;
        is_even &= o.stop_ns - last_ns == GAP_NS;
        first_ns = i == 0 ? o.stop_ns - last_ns : first_ns;
        last_ns = o.stop_ns;
    }
    if (rank == 0) {
        const double mean_ns = (double)(last_ns - begin_ns) / COUNT;
        CHECK(fabs(mean_ns - GAP_NS) < 0.1 * GAP_NS);
        CHECK(is_even || fabs((double)longer / COUNT - exp(-1)) < 0.05); /* exponential */
        CHECK(!is_even || (slow < 0 ? behind == 0 : behind > 8 && behind < 20));
    }
    return first_ns;
}

static int open_loop_case(struct team *team)
{
    enum { EVEN, RANDOM };
    struct side side = new_side(true);
    double params[] = {1e9 / GAP_NS, EVEN};
    struct sync sync = {0};
    const struct op op = {.run = run, .turn = turn, .write = write_data};
    struct bench bench = {.op = &op,
                          .state = &side,
                          .team = team,
                          .clock = &side.fake.clock,
                          .sync = &sync,
                          .params = params,
                          .seed = 33,
                          .brief = true,
                          .count = COUNT,
                          .own = calloc(1, method_open_loop.size)};
    side.step = 2; /* it sends one way */
    CHECK(method_open_loop.begin(&bench) == 0 && bench.window_ns == GAP_NS);
    const int64_t slow[] = {-1, 100};
    for (int i = 0; i < 2; ++i) {
        const int64_t gap_ns = check_due(&bench, &side, slow[i]);
        CHECK(team->rank != 0 || gap_ns == GAP_NS);
    }
    params[1] = RANDOM;
    const int64_t one_ns = check_due(&bench, &side, -1), other_ns = check_due(&bench, &side, -1);
    CHECK(team->rank != 0 ||
          (one_ns != GAP_NS && one_ns != other_ns)); /* each block has numbers of its own */
    method_open_loop.end(&bench);
    free(bench.own);
    return test_failures;
}

int main(void)
{
    CHECK(ranks_run(each_case, RANKS) == 0);
    CHECK(ranks_run(each_writes_case, RANKS) == 0);
    CHECK(ranks_run(open_loop_case, RANKS) == 0);
    return test_result();
}
