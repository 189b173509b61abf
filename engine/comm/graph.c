#include "comm/graph.h"

#include "base/hash.h"

#include <stdlib.h>

const char *const topology_words[GRAPH_TOPOLOGIES + 1] = {"cart", "ring", "random", NULL};

/* Ranks are in row-major order, as in MPI_Cart_create: the last axis goes fastest. */
static bool cart_edge(const struct graph *g, int from, int to)
{
    int apart = 0, axes_apart = 0;
    for (int axis = g->axes - 1; axis >= 0; --axis) {
        const int extent = g->dims[axis], steps = abs(from % extent - to % extent);
        from /= extent;
        to /= extent;
        if (steps == 0)
            continue;
        ++axes_apart;
        apart = g->wraps && extent - steps < steps ? extent - steps : steps;
    }
    return axes_apart == 1 && apart <= g->radius;
}

static bool ring_edge(const struct graph *g, int from, int to)
{
    const int steps = abs(from - to);
    return steps == 1 || steps == g->ranks - 1;
}

static uint64_t lot(const struct graph *g, int from, int to)
{
    return hash_mix(hash_mix(g->seed ^ hash_mix((uint64_t)from)) ^ (uint64_t)to);
}

/* Each rank draws a lot for every other; the `degree` smallest win. */
static bool random_edge(const struct graph *g, int from, int to)
{
    const uint64_t mine = lot(g, from, to);
    int better = 0;
    for (int other = 0; other < g->ranks && better < g->degree; ++other) {
        const uint64_t its = lot(g, from, other);
        better += other != from && (its < mine || (its == mine && other < to));
    }
    return better < g->degree;
}

static bool edge(const struct graph *g, int from, int to)
{
    static bool (*const edges[GRAPH_TOPOLOGIES])(const struct graph *g, int from, int to) = {
        [GRAPH_CART] = cart_edge, [GRAPH_RING] = ring_edge, [GRAPH_RANDOM] = random_edge};
    return from != to && edges[g->topology](g, from, to);
}

static int collect(const struct graph *g, int rank, bool out, int *list)
{
    int count = 0;
    for (int other = 0; other < g->ranks; ++other)
        if (out ? edge(g, rank, other) : edge(g, other, rank)) {
            if (list)
                list[count] = other;
            ++count;
        }
    return count;
}

int graph_out(const struct graph *g, int rank, int *list)
{
    return collect(g, rank, true, list);
}

int graph_in(const struct graph *g, int rank, int *list)
{
    return collect(g, rank, false, list);
}
