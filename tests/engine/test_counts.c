#include "test.h"

#include "comm/counts.h"
#include "comm/graph.h"

#include <string.h>

enum { MOST = 64 };

static void test_shares_add_up(void)
{
    static const size_t totals[] = {0, 1, 7, 64, 1000, 123456789};
    for (int family = 0; family < COUNTS_FAMILIES; ++family)
        for (int parts = 1; parts <= MOST; ++parts)
            for (size_t t = 0; t < sizeof totals / sizeof totals[0]; ++t)
                for (uint64_t seed = 0; seed < 3; ++seed) {
                    size_t share[MOST], again[MOST], sum = 0;
                    counts_draw((enum counts)family, seed, parts, totals[t], share);
                    counts_draw((enum counts)family, seed, parts, totals[t], again);
                    for (int k = 0; k < parts; ++k)
                        sum += share[k];
                    CHECK(sum == totals[t]);
                    CHECK(memcmp(share, again, (size_t)parts * sizeof share[0]) == 0);
                }
}

static void test_families(void)
{
    enum { PARTS = 10, TOTAL = 1000000 };
    size_t share[PARTS], largest = 0, smallest = TOTAL;
    counts_draw(COUNTS_EVEN, 1, PARTS, TOTAL, share);
    for (int k = 0; k < PARTS; ++k)
        CHECK(share[k] == TOTAL / PARTS);
    counts_draw(COUNTS_HEAVY, 1, PARTS, TOTAL, share);
    for (int k = 0; k < PARTS; ++k)
        CHECK(share[k] == TOTAL / 2 || share[k] - TOTAL / 2 / (PARTS - 1) <= 1);
    counts_draw(COUNTS_ZIPF, 1, PARTS, TOTAL, share);
    for (int k = 0; k < PARTS; ++k) {
        largest = share[k] > largest ? share[k] : largest;
        smallest = share[k] < smallest ? share[k] : smallest;
    }
    const double harmonic = 2.9289682539682538; /* 1 + 1/2 + ... + 1/10 */
    CHECK((double)largest * harmonic > TOTAL - 10 && (double)largest * harmonic < TOTAL + 10);
    CHECK(largest >= smallest * PARTS - PARTS * PARTS && largest <= smallest * PARTS + PARTS * PARTS);
    size_t other[PARTS];
    counts_draw(COUNTS_RANDOM, 1, PARTS, TOTAL, share);
    counts_draw(COUNTS_RANDOM, 2, PARTS, TOTAL, other);
    CHECK(memcmp(share, other, sizeof share) != 0);
}

static bool lists(const int *list, int count, int rank)
{
    for (int i = 0; i < count; ++i)
        if (list[i] == rank)
            return true;
    return false;
}

/* Both ends of each edge know of it; nobody is his own neighbour, or anybody's twice. */
static void check_graph(const struct graph *g)
{
    int out[MOST], in[MOST];
    for (int a = 0; a < g->ranks; ++a) {
        const int outs = graph_out(g, a, out);
        CHECK(outs == graph_out(g, a, NULL));
        CHECK(g->topology != GRAPH_RANDOM || outs == g->degree);
        for (int i = 0; i < outs; ++i) {
            CHECK(out[i] != a && (i == 0 || out[i] > out[i - 1]));
            CHECK(lists(in, graph_in(g, out[i], in), a));
        }
        const int ins = graph_in(g, a, in);
        for (int i = 0; i < ins; ++i)
            CHECK(lists(out, graph_out(g, in[i], out), a));
    }
}

static void test_graphs(void)
{
    struct graph cart = {
        .topology = GRAPH_CART, .ranks = 12, .axes = 2, .dims = {4, 3}, .radius = 1, .wraps = true};
    int list[MOST];
    check_graph(&cart);
    CHECK(graph_out(&cart, 0, list) == 4); /* row-major: 1 and 2 beside it, 3 and 9 below and above */
    CHECK(list[0] == 1 && list[1] == 2 && list[2] == 3 && list[3] == 9);
    cart.wraps = false;
    check_graph(&cart);
    CHECK(graph_out(&cart, 0, list) == 2 && list[0] == 1 && list[1] == 3);
    CHECK(graph_out(&cart, 4, NULL) == 4);
    cart.radius = 2;
    CHECK(graph_out(&cart, 0, list) == 4 && list[0] == 1 && list[1] == 2 && list[2] == 3 && list[3] == 6);
    for (int ranks = 1; ranks <= 9; ++ranks) {
        struct graph line = {
            .topology = GRAPH_CART, .ranks = ranks, .axes = 1, .dims = {ranks}, .radius = 3, .wraps = true};
        struct graph ring = {.topology = GRAPH_RING, .ranks = ranks};
        check_graph(&line);
        check_graph(&ring);
        CHECK(graph_out(&ring, 0, NULL) == (ranks < 3 ? ranks - 1 : 2));
        for (int degree = 1; degree < ranks; ++degree)
            check_graph(&(struct graph){
                .topology = GRAPH_RANDOM, .ranks = ranks, .degree = degree, .seed = (uint64_t)degree});
    }
}

int main(void)
{
    test_shares_add_up();
    test_families();
    test_graphs();
    return test_result();
}
