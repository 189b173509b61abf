/* The loop: how many samples a chunk has, and what is done after it. */
#include "fake_run.h"

#include <string.h>

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

/* A block between two synchronisations lasts 2 s at most: fewer samples than the method would have, and one
 * of an op that lasts longer. */
static void check_long_blocks(void)
{
    static const struct {
        int64_t rep_ns;
        int count;
    } rows[] = {{100000000, 30}, {400000000, 9}, {3000000000, 3}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct world w = {.rep_ns = rows[i].rep_ns, .class = OP_COLLECTIVE, .cost = 1000000};
        char words[64];
        snprintf(words, sizeof words, "rule=fixed count=%d method=epoch most_seconds=600", rows[i].count);
        struct kept k = measure(&w, words, NULL, 0);
        const int64_t most = rows[i].rep_ns < 2000000000 ? 2000000000 / rows[i].rep_ns : 1;
        CHECK(k.observations == rows[i].count && k.chunk_count > 1);
        for (int j = 0; j < k.chunk_count; ++j) {
            CHECK(k.chunks[j] <= most);
            CHECK(k.chunks[j] >= (most + 5) / 6 || j == k.chunk_count - 1); /* two windows of two calls */
        }
    }
}

/* A look at the machine every 10 ms, before which a chunk counts as of 20 ms; and only while nobody waits for
 * work on other cores. */
static void check_probes(void)
{
    static const struct {
        const char *words;
        int64_t rep_ns;
        int chunks;
        bool probed[8];
    } rows[] = {
        {"rule=fixed count=50 method=barrier", 1000000, 4, {true, true, true, true}},
        {"rule=fixed count=50 method=barrier threads=2", 1000000, 4, {false, false, false, false}},
        {"rule=fixed count=4 method=barrier", 30000000, 4, {true, true, true, true}},
        {"rule=fixed count=2 method=barrier warm_up=brief", 1000, 2, {true, false}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct world w = {.rep_ns = rows[i].rep_ns, .cost = 4000, .probes = true};
        struct kept k = measure(&w, rows[i].words, NULL, 0);
        CHECK(k.chunk_count == rows[i].chunks);
        for (int j = 0; j < rows[i].chunks; ++j)
            CHECK(k.probed[j] == rows[i].probed[j]);
    }
}

/* What a launch did first is one sample, whatever the rule asks for. */
static void check_once(void)
{
    const struct first first = {.taken = true, .start_ns = 1000, .stop_ns = 6000};
    struct world w = {.first = &first};
    struct kept k = measure(&w, "rule=fixed count=5 method=first", NULL, 0);
    CHECK(k.chunk_count == 1 && k.chunks[0] == 1 && k.shortest == 5000 && strcmp(k.status, "ok") == 0);
}

/* Counters of each sample, where the op counts. */
static void check_counts(void)
{
    struct world w = {.counts = true};
    struct kept k = measure(&w, "rule=fixed count=300 method=barrier", NULL, 0);
    CHECK(k.counted == 300);
    w = (struct world){.counts = true, .counts_nothing = true};
    k = measure(&w, "rule=fixed count=300 method=barrier", NULL, 0);
    CHECK(k.counted == 0 && k.observations == 300);
}

/* Phases of the samples, and nothing of what warmed up. */
static void check_phases(void)
{
    struct world w = {.has_phases = true};
    struct kept k = measure(&w, "rule=fixed count=300 method=barrier", NULL, 0);
    CHECK(k.phase_calls == 300 && k.phase_ns == 300 * (REP_NS + 20));
    w = (struct world){0};
    CHECK(measure(&w, "rule=fixed count=300 method=barrier", NULL, 0).phase_calls == 0);
}

int main(void)
{
    check_chunks();
    check_long_blocks();
    check_probes();
    check_once();
    check_counts();
    check_phases();
    return test_result();
}
