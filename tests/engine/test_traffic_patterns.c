/* Who calls whom: both ends agree, nobody is called that should wait, and what is random is fair. */
#include "test.h"

#include "comm/traffic_patterns.h"

#include <string.h>

enum { MOST = 37 };

/* How often i calls j, by what i says and by what j says. */
struct matrix {
    int to[MOST][MOST], from[MOST][MOST];
};

static const int sizes[] = {1, 2, 3, 4, 5, 7, 8, 13, 16, 37};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

static void ask_all(enum layout_kind kind, struct layout_ask ask, struct matrix *m)
{
    memset(m, 0, sizeof *m);
    for (ask.rank = 0; ask.rank < ask.size; ++ask.rank) {
        struct layout_peers p;
        CHECK(layout_alloc(ask.size, &p) == 0);
        layouts[kind].peers(&ask, &p);
        for (int i = 0; i < p.to_count; ++i)
            ++m->to[ask.rank][p.to[i]];
        for (int i = 0; i < p.from_count; ++i)
            ++m->from[p.from[i]][ask.rank];
        layout_free(&p);
    }
}

/* How many calls a rank makes, and how many it gets. */
static int calls_of(const struct matrix *m, int rank)
{
    int count = 0;
    for (int i = 0; i < MOST; ++i)
        count += m->to[rank][i];
    return count;
}

static int called(const struct matrix *m, int rank)
{
    int count = 0;
    for (int i = 0; i < MOST; ++i)
        count += m->to[i][rank];
    return count;
}

static void test_both_ends_agree(void)
{
    for (int s = 0; s < SIZES; ++s)
        for (int kind = 0; kind < LAYOUTS; ++kind)
            for (int variant = 0; variant < 5; ++variant) {
                struct matrix m;
                struct layout_ask ask = {
                    .size = sizes[s], .seed = (uint64_t)variant, .shift = variant, .round = variant + 1};
                ask.b = variant % sizes[s];
                ask_all((enum layout_kind)kind, ask, &m);
                CHECK(memcmp(m.to, m.from, sizeof m.to) == 0);
                int64_t calls = 0;
                for (int i = 0; i < sizes[s]; ++i) {
                    calls += calls_of(&m, i);
                    for (int j = 0; j < sizes[s]; ++j)
                        CHECK(m.to[i][j] <= 1); /* a pair's messages are told apart by their tag alone */
                }
                CHECK(calls == layouts[kind].calls(sizes[s]) || (kind == LAYOUT_FIRST_LAST && sizes[s] == 1));
            }
}

static void test_pairs(void)
{
    struct matrix m;
    for (int s = 0; s < SIZES; ++s) {
        const int size = sizes[s];
        const enum layout_kind of_pairs[] = {LAYOUT_NEIGHBOURS, LAYOUT_BISECTION, LAYOUT_MATCHING};
        for (int k = 0; k < 3; ++k) {
            int waiting = 0;
            ask_all(of_pairs[k], (struct layout_ask){.size = size, .seed = 9}, &m);
            for (int r = 0; r < size; ++r) {
                CHECK(calls_of(&m, r) + called(&m, r) <= 1);
                waiting += calls_of(&m, r) + called(&m, r) == 0;
            }
            CHECK(waiting == size % 2);
        }
    }
    ask_all(LAYOUT_NEIGHBOURS, (struct layout_ask){.size = 5}, &m);
    CHECK(m.to[0][1] && m.to[2][3] && calls_of(&m, 4) + called(&m, 4) == 0);
    ask_all(LAYOUT_BISECTION, (struct layout_ask){.size = 7}, &m);
    CHECK(m.to[0][3] && m.to[1][4] && m.to[2][5] && calls_of(&m, 6) + called(&m, 6) == 0);
    ask_all(LAYOUT_FIRST_LAST, (struct layout_ask){.size = 7}, &m);
    CHECK(m.to[0][6] && calls_of(&m, 0) == 1 && called(&m, 3) == 0);
    ask_all(LAYOUT_PAIR, (struct layout_ask){.size = 7, .a = 5, .b = 2}, &m);
    CHECK(m.to[5][2] && calls_of(&m, 2) == 0);
    ask_all(LAYOUT_PAIR, (struct layout_ask){.size = 7, .a = 5, .b = 5}, &m);
    CHECK(m.to[5][5] && called(&m, 5) == 1);
}

/* In its rounds a tournament has each pair once, and in none is a rank in two. */
static void test_tournaments(void)
{
    for (int s = 0; s < SIZES; ++s) {
        const int size = sizes[s];
        int met[MOST][MOST] = {{0}};
        for (int round = 1; round <= layout_rounds(size); ++round) {
            struct matrix m;
            int waiting = 0;
            ask_all(LAYOUT_ROUND_ROBIN, (struct layout_ask){.size = size, .round = round}, &m);
            for (int i = 0; i < size; ++i) {
                CHECK(calls_of(&m, i) + called(&m, i) <= 1);
                waiting += calls_of(&m, i) + called(&m, i) == 0;
                for (int j = 0; j < size; ++j)
                    met[i][j] += m.to[i][j];
            }
            CHECK(waiting == size % 2);
        }
        for (int i = 0; i < size; ++i)
            for (int j = 0; j < size; ++j)
                CHECK(met[i][j] == (i < j));
    }
    CHECK(layout_rounds(4) == 3 && layout_rounds(5) == 5 && layout_rounds(2) == 1);
}

static void test_graphs(void)
{
    struct matrix m;
    ask_all(LAYOUT_SHIFT, (struct layout_ask){.size = 7, .shift = 3}, &m);
    CHECK(m.to[0][3] && m.to[6][2] && calls_of(&m, 4) == 1 && called(&m, 4) == 1);
    ask_all(LAYOUT_SHIFT, (struct layout_ask){.size = 5, .shift = 0}, &m);
    CHECK(m.to[3][3]);
    ask_all(LAYOUT_RING, (struct layout_ask){.size = 5}, &m);
    CHECK(m.to[0][1] && m.to[4][0]);
    ask_all(LAYOUT_FAN_IN, (struct layout_ask){.size = 5}, &m);
    CHECK(called(&m, 0) == 4 && calls_of(&m, 0) == 0 && m.to[3][0]);
    ask_all(LAYOUT_FAN_OUT, (struct layout_ask){.size = 5}, &m);
    CHECK(calls_of(&m, 0) == 4 && called(&m, 0) == 0 && m.to[0][3]);
    ask_all(LAYOUT_ALL, (struct layout_ask){.size = 5}, &m);
    for (int r = 0; r < 5; ++r)
        CHECK(calls_of(&m, r) == 4 && called(&m, r) == 4 && !m.to[r][r]);
    /* One ring, not several: from 0 round all ranks. */
    for (int s = 0; s < SIZES; ++s)
        for (uint64_t seed = 0; seed < 5; ++seed) {
            ask_all(LAYOUT_RANDOM_RING, (struct layout_ask){.size = sizes[s], .seed = seed}, &m);
            int at = 0, steps = 0;
            do
                for (int next = 0; next < sizes[s]; ++next)
                    if (m.to[at][next]) {
                        at = next;
                        ++steps;
                        break;
                    }
            while (at != 0 && steps <= sizes[s]);
            CHECK(steps == sizes[s]);
        }
}

/* Each of the 5 possible partners, and waiting among 5 ranks, as often as the others. */
static void test_matchings_are_fair(void)
{
    enum { SEEDS = 3000 };
    for (int size = 5; size <= 6; ++size) {
        int partner[6] = {0}, caller = 0;
        for (uint64_t seed = 0; seed < SEEDS; ++seed) {
            struct layout_peers p;
            struct layout_ask ask = {.rank = 2, .size = size, .seed = seed};
            CHECK(layout_alloc(size, &p) == 0);
            layouts[LAYOUT_MATCHING].peers(&ask, &p);
            ++partner[p.to_count ? p.to[0] : p.from_count ? p.from[0] : 2];
            caller += p.to_count;
            layout_free(&p);
        }
        for (int r = 0; r < size; ++r) /* within 5 standard deviations of the expected 600 */
            CHECK(r == 2 && size == 6 ? partner[r] == 0 : partner[r] > 490 && partner[r] < 710);
        CHECK(caller > (size == 6 ? 1500 : 1200) - 140 && caller < (size == 6 ? 1500 : 1200) + 140);
    }
}

int main(void)
{
    test_both_ends_agree();
    test_pairs();
    test_tournaments();
    test_graphs();
    test_matchings_are_fair();
    return test_result();
}
