/* A graph of neighbours from parameters alone: every rank finds the same graph without a message. */
#ifndef COMM_GRAPH_H
#define COMM_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

enum topology {
    GRAPH_CART,   /* a grid: up to `radius` steps along one axis */
    GRAPH_RING,   /* one to the left, one to the right */
    GRAPH_RANDOM, /* each sends to `degree` others, drawn without repetition */
    GRAPH_TOPOLOGIES
};

extern const char *const topology_words[GRAPH_TOPOLOGIES + 1];

enum { GRAPH_MOST_DIMS = 6 };

struct graph {
    enum topology topology;
    int ranks;
    int axes, dims[GRAPH_MOST_DIMS], radius; /* of a grid */
    bool wraps;                              /* its ends meet */
    int degree;                              /* of a random graph */
    uint64_t seed;
};

/* The ranks that `rank` sends to, and those that it receives from, in ascending order, without itself and
 * without repetition. Returns their number; `list` has room for all ranks, or is NULL. */
int graph_out(const struct graph *g, int rank, int *list);
int graph_in(const struct graph *g, int rank, int *list);

#endif
