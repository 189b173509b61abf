/* The rounds of the warm-up, one by one, of an op whose time is a law of the round. */
#include "test.h"

#include "base/err.h"
#include "core/method.h"
#include "core/timed_checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROUNDS = 256, LEAST = 20 };

/* What a repetition takes, in ns, in a round, from 0. */
typedef int64_t law(int round);

struct world {
    struct fake_clock fake;
    law *rep_ns;
    int64_t rounds[MOST_ROUNDS]; /* repetitions of each */
    int count;                   /* so far */
    int prepared, checks, lost_at;
    int64_t check_ns;
};

static int run(void *state, int64_t reps)
{
    struct world *w = state;
    const int round = w->count < MOST_ROUNDS ? w->count : MOST_ROUNDS - 1;
    w->fake.now += reps * w->rep_ns(round);
    w->rounds[round] = reps;
    w->count = round + 1;
    return 0;
}

static int prepare(void *state)
{
    ++((struct world *)state)->prepared;
    return 0;
}

static int check(void *state)
{
    struct world *w = state;
    w->fake.now += w->check_ns;
    return ++w->checks == w->lost_at ? err_say(ERR_WRONG, "one is missing") : 0;
}

enum how { PLAIN, BRIEF, SLEEPING, PREPARED, BRIEF_PREPARED, CHECKED, CHECKED_EACH, BRIEF_CHECKED };

static struct world warm_up(law *rep_ns, int64_t least, enum how how, struct world w, double *rep)
{
    w.fake = fake_clock(0, 1);
    w.rep_ns = rep_ns;
    w.fake.clock.sleeps = how == SLEEPING;
    const bool has_check = how == CHECKED || how == CHECKED_EACH || how == BRIEF_CHECKED;
    const struct op op = {.run = run,
                          .prepare = how == PREPARED || how == BRIEF_PREPARED ? prepare : NULL,
                          .check = has_check ? check : NULL};
    struct team team = {.size = 1};
    struct timed_checks checks = {.each = how == CHECKED_EACH};
    struct bench bench = {.op = &op,
                          .state = &w,
                          .team = &team,
                          .clock = &w.fake.clock,
                          .checks = &checks,
                          .brief = how == BRIEF || how == BRIEF_PREPARED || how == BRIEF_CHECKED,
                          .reps = 7,
                          .warm_up_reps = 1000};
    double found = 0;
    CHECK(method_warm_up(&bench, least, &found) == 0);
    int64_t all = 1000;
    for (int i = 0; i < w.count; ++i)
        all += w.rounds[i];
    CHECK(bench.warm_up_reps == all && bench.reps == 7);
    *rep = found;
    return w;
}

/* Until a millisecond has passed: the last round begins before, and rounds double from LEAST calls on. */
#define TO_1_MS 1, 2, 4, 8, 5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120
enum { BEFORE = 15, BLOCK = 5 }; /* the rounds of TO_1_MS; those of a block of the short ones after them */

/* The block of short rounds that a round is in, from 0; before them -1. */
static int block_of(int round)
{
    return round < BEFORE ? -1 : (round - BEFORE) / BLOCK;
}

#define ALWAYS(name, ns)                                                                                     \
    static int64_t name(int round)                                                                           \
    {                                                                                                        \
        (void)round;                                                                                         \
        return ns;                                                                                           \
    }
ALWAYS(ns_100, 100)
ALWAYS(us_400, 400000)
ALWAYS(ms_1, 1000000)
ALWAYS(us_2500, 2500000)
ALWAYS(ms_30, 30000000)
ALWAYS(ms_60, 60000000)
ALWAYS(s_1, 1000000000)

static int64_t first_slow(int round)
{
    return round == 0 ? 1000 : 100;
}

/* Blocks in turn 110 and 100: just alike within a tenth of the smaller one. */
static int64_t turns_110(int round)
{
    return block_of(round) % 2 ? 100 : 110;
}

/* 111 and 100: within a tenth of the larger one. */
static int64_t turns_111(int round)
{
    return block_of(round) % 2 ? 100 : 111;
}

/* Faster from block to block until the fifth. */
static int64_t falling(int round)
{
    const int block = block_of(round);
    return block < 0 ? 100 : block < 5 ? 400 - 60 * block : 160;
}

/* Two rounds of the first block, one in its middle, are interrupted, and two of the second are faster. */
static int64_t odd_ones(int round)
{
    static const int64_t first[] = {1000, 50};
    const int block = block_of(round), which = (round - BEFORE) % BLOCK;
    return block >= 0 && block < 2 && (which == 2 || which == 4) ? first[block] : 100;
}

/* Two rounds of the first block are faster, and two of the second are interrupted. */
static int64_t other_odd_ones(int round)
{
    static const int64_t last[] = {80, 1000};
    const int block = block_of(round), which = (round - BEFORE) % BLOCK;
    return block >= 0 && block < 2 && which > 2 ? last[block] : 100;
}

static void check_rounds(void)
{
    static const struct {
        law *rep_ns;
        int64_t least;
        enum how how;
        double rep; /* found, ns */
        int64_t rounds[24];
        int64_t then; /* the reps of each of */
        int times;    /* so many rounds after those */
    } rows[] = {
        {ns_100, LEAST, PLAIN, 100, {TO_1_MS}, 500, 10},
        {ns_100, 1, PLAIN, 100, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}, 500, 10},
        {first_slow,
         2,
         PLAIN,
         100,
         {1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192},
         500,
         10},
        {turns_110, LEAST, PLAIN, 100, {TO_1_MS}, 500, 10},
        {turns_111, LEAST, PLAIN, 100, {TO_1_MS}, 500, 200}, /* never steady: the most blocks */
        {falling, LEAST, PLAIN, 100, {TO_1_MS}, 500, 30},
        {odd_ones, LEAST, PLAIN, 50, {TO_1_MS}, 500, 10},
        {other_odd_ones, LEAST, PLAIN, 80, {TO_1_MS}, 500, 10},
        /* In calls that last, rounds are of one; 20 ms are enough, and 100 ms for fewer calls than `least`.
         */
        {ms_1, 2, PLAIN, 1e6, {1, 1}, 1, 10},
        {us_2500, 2, PLAIN, 2.5e6, {1, 1}, 1, 6},
        {ms_30, LEAST, PLAIN, 30e6, {1, 2, 4}, 0, 0},
        {ms_60, LEAST, PLAIN, 60e6, {1, 2}, 0, 0},
        {s_1, LEAST, PLAIN, 1e9, {1, 1}, 0, 0}, /* the first is often the slowest */
        {ns_100, 3, BRIEF, 100, {1, 1, 1}, 0, 0},
        {ns_100, 3, SLEEPING, 100, {1, 1, 1}, 0, 0},
        {ns_100, 1, BRIEF, 100, {1}, 0, 0},
        {us_400, LEAST, PREPARED, 4e5, {1, 1, 1}, 0, 0},
        {ns_100, 1, BRIEF_PREPARED, INFINITY, {0}, 0, 0},
        {ns_100, 3, BRIEF_CHECKED, 100, {1, 1, 1}, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        double rep = 0;
        struct world w = warm_up(rows[i].rep_ns, rows[i].least, rows[i].how, (struct world){0}, &rep);
        int at = 0;
        while (rows[i].rounds[at] > 0 && w.rounds[at] == rows[i].rounds[at])
            ++at;
        const bool begins = rows[i].rounds[at] == 0;
        int times = 0;
        while (at + times < w.count && w.rounds[at + times] == rows[i].then)
            ++times;
        const bool is_so = begins && times == rows[i].times && at + times == w.count && rep == rows[i].rep;
        CHECK(is_so && w.prepared == (rows[i].how == PREPARED ? w.count : 0) && w.checks == 0);
        if (!is_so) {
            fprintf(stderr, "row %zu: %g ns:", i, rep);
            for (int j = 0; j < w.count; ++j)
                fprintf(stderr, " %lld", (long long)w.rounds[j]);
            fprintf(stderr, "\n");
        }
    }
}

/* Repetitions are checked one by one: for 2 ms, the first eight for 20 ms, two in any case, and none after
 * something was lost. */
static void check_proofs(void)
{
    static const struct {
        int64_t check_ns;
        int lost_at, checks;
    } rows[] = {
        {99900, 0, 20},  {249900, 0, 8},   {250000, 0, 8}, {2499900, 0, 8}, {3000000, 0, 7},
        {9999900, 0, 2}, {30000000, 0, 2}, {99900, 3, 3},  {99900, 1, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        double rep = 0;
        const struct world given = {.check_ns = rows[i].check_ns, .lost_at = rows[i].lost_at};
        struct world w = warm_up(ns_100, LEAST, CHECKED, given, &rep);
        CHECK(w.checks == rows[i].checks);
        for (int k = 0; k < w.checks; ++k)
            CHECK(w.rounds[k] == 1);
        CHECK(w.rounds[w.checks] == 1 && w.rounds[w.checks + 1] == 2);
        if (w.checks != rows[i].checks)
            fprintf(stderr, "row %zu: %d checks\n", i, w.checks);
    }
    double rep = 0;
    struct world w = warm_up(ns_100, 30, CHECKED_EACH, (struct world){.check_ns = 99900}, &rep);
    CHECK(w.checks == w.count && w.count == 30 + 2 * BLOCK);
    for (int i = 0; i < w.count; ++i)
        CHECK(w.rounds[i] == 1);
}

int main(void)
{
    check_rounds();
    check_proofs();
    return test_result();
}
