/* What exchanges of a pair say, the table of algorithms, and clocks that ranks share; how true they are is
 * tested in simulation. */
#define _GNU_SOURCE
#include "ranks.h"
#include "test.h"

#include "base/err.h"
#include "sync/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A local clock that is 1000 ns ahead; messages that take so long there and back. */
static void exchange(struct clock_pair *p, int64_t sent_ns, int64_t there_ns, int64_t back_ns)
{
    pair_add(p, sent_ns, sent_ns - 1000 + there_ns, sent_ns + there_ns + back_ns);
}

static void test_pair(void)
{
    static const int64_t ways[][2] = {{900, 300}, {200, 800}, {350, 400}, {500, 500}};
    struct clock_pair p = pair_none;
    for (int i = 0; i < 4; ++i)
        exchange(&p, 10000 * i, ways[i][0], ways[i][1]);
    CHECK(p.low == 800 && p.high == 1300 && pair_offset(&p) == 1050); /* the shortest ways: 200 and 300 */
    CHECK(p.count == 4 && p.since_shortest == 1 && p.shortest_ns == 750 && p.middle == 1025);
    CHECK(p.begin_ns == 0 && p.end_ns == 31000 && pair_time(&p) == 15500 && p.last_ns == 1000);
    /* Certain: half of what is between the bounds, what may have drifted in 15.5 us, a tick. */
    CHECK(fabs(pair_bound(&p, 10) - (250 + 15.5 + 10)) < 1e-9);
    CHECK(pair_contradiction(&p, 10) < 0);
}

/* Two clocks that differ by less than half a round trip look like one, and may differ by the other half too.
 */
static void test_clocks_taken_for_one(void)
{
    static const int64_t ways[][2] = {{300, 300}, {550, 50}, {50, 550}};
    for (int i = 0; i < 3; ++i) {
        const int64_t ahead = (ways[i][0] - ways[i][1]) / 2; /* hidden by the ways: the middle says 0 */
        struct clock_pair p = pair_none;
        for (int64_t sent = 0; sent < 3000; sent += 1000)
            pair_add(&p, sent, sent - ahead + ways[i][0], sent + ways[i][0] + ways[i][1]);
        CHECK(pair_offset(&p) == 0 && llabs(ahead) <= 250);
        CHECK(pair_apart(&p, 10) >= (double)llabs(ahead) &&
              fabs(pair_apart(&p, 10) - (300 + 1.3 + 10)) < 1e-9);
    }
    struct clock_pair p = pair_none;
    exchange(&p, 0, 300, 300);
    CHECK(pair_apart(&p, 0) >= 1300); /* what the middle says is part of it */
}

/* What drifts within what clocks may do contradicts nothing; what jumps does, once by more than the way. */
static void test_contradiction(void)
{
    static const struct {
        int64_t jump_ns;
        double drift;
        bool related;
    } cases[] = {{0, 0, true},       {0, 900e-6, true},   {0, -900e-6, true}, {900, 0, true},
                 {100000, 0, false}, {-100000, 0, false}, {0, 50e-3, false},  {0, -50e-3, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct clock_pair p = pair_none;
        for (int k = 0; k < 30; ++k) {
            int64_t now = 20000 * k,
                    ahead = llround(cases[i].drift * (double)now) + (k < 15 ? 0 : cases[i].jump_ns);
            pair_add(&p, now + ahead, now + 500, now + ahead + 1000);
        }
        CHECK((pair_contradiction(&p, 10) <= 0) == cases[i].related);
    }
    struct clock_pair back = pair_none; /* an answer from before the question */
    pair_add(&back, 50000, 0, 20000);
    CHECK(pair_contradiction(&back, 10) > 0);
}

static void test_table(void)
{
    struct sync s = {0};
    CHECK(sync_choose(&s, NULL, NULL) == 0 && s.algorithm == &sync_tree && !s.asymmetric);
    for (int i = 0; sync_algorithms[i]; ++i)
        CHECK(sync_choose(&s, sync_algorithms[i]->name, "asymmetric") == 0 &&
              s.algorithm == sync_algorithms[i] && s.asymmetric);
    CHECK(sync_choose(&s, "sundial", NULL) == ERR_INPUT && strstr(err_text(), "'sundial'"));
    CHECK(sync_choose(&s, "tree", "crooked") == ERR_INPUT && strstr(err_text(), "'crooked'"));
}

/* A change that no drift explains is of a clock that jumped. */
static void test_learned(void)
{
    struct fake_clock fake = fake_clock(20, 10);
    struct team team = {.rank = 3, .size = 4};
    struct sync s = {.clock = &fake.clock, .team = &team};
    sync_learned(&s, (struct clock_map){.at_ns = 0, .offset_ns = 5e9}, 1000);
    ++s.count;
    sync_learned(&s, (struct clock_map){.at_ns = 1000000, .offset_ns = 5e9 + 2900}, 1000); /* 1 us of drift */
    CHECK(s.doubt[0] == '\0' && s.mine.bound_ns == 1000);
    sync_learned(&s, (struct clock_map){.at_ns = 2000000, .offset_ns = 5e9 + 6000}, 1000);
    CHECK(strstr(s.doubt, "ranks 3 and 0") && strstr(s.doubt, "3.1 us in 1 ms"));
}

/* ---- two clocks on one host -------------------------------------------------------------------------- */

enum { RANKS = 4, FAR = 2, AHEAD_NS = 1000000000 };

static int64_t read_near(const struct clock *clock)
{
    struct timespec now;
    (void)clock;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int64_t read_far(const struct clock *clock)
{
    return read_near(clock) + AHEAD_NS;
}

/* Rank 2 alone has a clock of its own. Who shares rank 0's is off by what messages cannot tell, too. */
static int two_domains(struct team *team)
{
    static const struct {
        bool asymmetric;
        const char *paths;
    } cases[] = {{false, "symmetric"}, {true, "asymmetric"}};
    const struct clock clock = {
        .name = "far or near", .read = team->rank == FAR ? read_far : read_near, .tick_ns = 1};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        struct sync s = {0};
        CHECK(sync_choose(&s, "netgauge", cases[i].paths) == 0 && sync_open(&s, team, &clock) == 0);
        s.keeps_all = true;
        CHECK(sync_take(&s) == 0 && s.leader_count == 2 && s.leaders[0] == 0 && s.leaders[1] == FAR);
        CHECK(s.leader == (team->rank == FAR ? FAR : 0));
        const bool leads = s.leader == team->rank;
        CHECK(leads ? s.domain_bound_ns == 0 : s.domain_bound_ns > 0);
        for (int r = 0; team->rank == 0 && r < RANKS; ++r) {
            const struct sync_point *point = &s.all[r];
            CHECK(fabs(point->map.offset_ns - (r == FAR ? AHEAD_NS : 0)) <= point->bound_ns);
            CHECK(r == 0 ? point->bound_ns == 1 : point->bound_ns > 1);
            CHECK(cases[i].asymmetric ? point->error_ns == point->bound_ns
                                      : point->error_ns <= point->bound_ns);
            CHECK(cases[i].asymmetric || r == FAR || point->error_ns == 1);
        }
        if (team->rank != FAR) /* rank 0's own bound is a tick */
            CHECK(fabs(s.mine.bound_ns - (1 + s.domain_bound_ns)) < 1e-9);
        sync_close(&s);
    }
    return test_failures;
}

int main(void)
{
    CHECK(ranks_run(two_domains, RANKS) == 0);
    test_pair();
    test_clocks_taken_for_one();
    test_contradiction();
    test_table();
    test_learned();
    return test_result();
}
