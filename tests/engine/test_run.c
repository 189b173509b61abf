/* The loop: repetitions, warm-up, methods, checks, failures. Its chunks are in test_chunks.c. */
#define _GNU_SOURCE
#include "fake_run.h"

#include "base/crash.h"

#include <string.h>
#include <unistd.h>

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

/* batch: as many repetitions as are asked for or as the clock needs. One before them brings ranks into step,
 * unless a sample lasts a millisecond, is cold, or the op leaves no gaps; some ops ask for more. */
static void check_batch(void)
{
    static const struct {
        int64_t rep_ns;
        double asked, least_ns;
        bool is_gapless, is_cold;
        int own, reps, lead_in;
    } rows[] = {
        {.rep_ns = 100, .reps = 300, .lead_in = 1},
        {.rep_ns = 100, .least_ns = 1e5, .reps = 1000, .lead_in = 1},
        {.rep_ns = 100, .asked = 0.5, .reps = 1, .lead_in = 1},
        {.rep_ns = 100, .asked = 1, .reps = 1, .lead_in = 1},
        {.rep_ns = 100, .asked = 7, .is_gapless = true, .reps = 7},
        {.rep_ns = 100, .asked = 7, .is_gapless = true, .own = 5, .reps = 7, .lead_in = 5},
        {.rep_ns = 40000, .reps = 1, .lead_in = 1},
        {.rep_ns = 100000, .asked = 9, .reps = 9, .lead_in = 1},
        {.rep_ns = 100000, .asked = 10, .reps = 10},
        {.rep_ns = 100, .asked = 7, .is_cold = true, .own = 5, .reps = 1},
    };
    struct cold_cache empty = {0};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct world w = {.fake = fake_clock(20, 10), .rep_ns = rows[i].rep_ns};
        const struct op op = {
            .run = run, .least_ns = rows[i].least_ns, .gapless = rows[i].is_gapless, .lead_in = rows[i].own};
        const double params[] = {rows[i].asked, 0};
        struct team team = {.size = 1};
        struct bench bench = {.op = &op,
                              .state = &w,
                              .team = &team,
                              .clock = &w.fake.clock,
                              .params = params,
                              .evict = rows[i].is_cold ? &empty : NULL};
        struct observation o = {0};
        CHECK(method_batch.begin(&bench) == 0);
        CHECK(bench.reps == rows[i].reps && bench.lead_in == rows[i].lead_in);
        w.reps = 0;
        CHECK(method_batch.observe(&bench, &o) == 0 && w.reps == rows[i].reps + rows[i].lead_in);
    }
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
    double us = 0;
    CHECK(sscanf(k.why, "clock: rank 0: the clock fake jumped back by %lf", &us) == 1 && us > 19900 &&
          us < 20000);
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
    w = (struct world){0};
    CHECK(strcmp(measure(&w, "rule=fixed count=5", NULL, 1).status, "ok") == 0);
    w = (struct world){.class = OP_COLLECTIVE, .flow = FLOW_OUT, .elsewhere = true};
    k = measure(&w, "method=ack", NULL, 0);
    CHECK(strcmp(k.status, "skipped") == 0 && strstr(k.why, "the method ack needs rank 0 as the root"));
    w = (struct world){.class = OP_COLLECTIVE, .flow = FLOW_OUT, .elsewhere = true};
    CHECK(strcmp(measure(&w, "rule=fixed count=5 method=barrier", NULL, 0).status, "ok") == 0);

    /* More memory than any host has; what a call of the library or of the system cannot do has failed. */
    w = (struct world){.needs = (size_t)1 << 60};
    k = measure(&w, "", NULL, 0);
    CHECK(strcmp(k.status, "skipped") == 0 && strstr(k.why, "memory") && w.reps == 0);
    static const struct {
        enum err err;
        const char *status;
    } rows[] = {{ERR_MPI, "failed"}, {ERR_SYSTEM, "failed"}, {ERR_NOMEM, "skipped"}, {ERR_INPUT, "skipped"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        w = (struct world){.setup_err = (int)rows[i].err};
        k = measure(&w, "", NULL, 0);
        CHECK(strcmp(k.status, rows[i].status) == 0 && !k.verified && k.observations == 0);
    }
}

/* What is known of an op before its samples; a planted error is of the rank that is named. */
static void check_opening(void)
{
    struct world w = {.moves = true};
    struct kept k = measure(&w, "rule=fixed count=5 plant=0", NULL, 0);
    CHECK(k.moved == 80 && k.work == 3 && strcmp(k.below, "fake.below") == 0 && w.planted);
    w = (struct world){0};
    k = measure(&w, "rule=fixed count=5 plant=1", NULL, 0);
    CHECK(k.moved == 0 && k.work == 0 && strcmp(k.below, "") == 0 && !w.planted);
}

/* ---- last words: where a rank is, for who asks it by a signal ------------------------------------------ */

/* The phases in their order, each once, and the samples that had begun when the last one did. */
static void read_phases(FILE *words, char *phases, size_t room)
{
    char line[4096], last[64] = "";
    size_t at = 0;
    rewind(words);
    while (fgets(line, sizeof line, words)) {
        char phase[64];
        int point = -1, sample = -1;
        const char *place = strstr(line, " in point ");
        if (!place ||
            sscanf(place, " in point %d (fake.op), phase %63[^,], sample %d", &point, phase, &sample) != 3)
            continue;
        CHECK(point == 7);
        if (strcmp(phase, last) == 0)
            continue;
        snprintf(last, sizeof last, "%s", phase);
        at += (size_t)snprintf(phases + at, room - at, "%s %d; ", phase, sample);
    }
}

static void check_last_words(void)
{
    struct world w = {.class = OP_COLLECTIVE, .asks = true};
    FILE *words = tmpfile();
    char phases[512] = "";
    const int err = dup(2);
    CHECK(words && err >= 0);
    if (!words || err < 0)
        return;
    crash_watch(0);
    dup2(fileno(words), 2);
    struct kept k = measure(&w, "rule=fixed count=65 method=epoch point=7", NULL, 0);
    dup2(err, 2);
    close(err);
    signal(SIGUSR2, SIG_DFL);
    read_phases(words, phases, sizeof phases);
    fclose(words);
    CHECK(k.observations == 65);
    CHECK(strcmp(phases, "setup 0; check of the answer 0; warm-up 0; synchronisation 0; samples 1; "
                         "synchronisation 64; gathering 64; samples 65; synchronisation 65; gathering 65; "
                         "check of the answer 65; teardown 65; ") == 0);
}

int main(void)
{
    check_reps();
    check_batch();
    check_warm_up();
    check_methods();
    check_failures();
    check_opening();
    check_last_words();
    check_pilot();
    check_checks();
    return test_result();
}
