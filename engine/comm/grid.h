/* Ranks in a grid, and the messages of a stencil on it: pure functions, the same on every rank. */
#ifndef COMM_GRID_H
#define COMM_GRID_H

#include <stdbool.h>
#include <stddef.h>

enum { GRID_DIMS = 3, GRID_STEPS = 26, GRID_NOBODY = -1 };

/* Ranks are numbered as MPI_Cart_create does: the last coordinate changes fastest. */
struct grid {
    int dims, extent[GRID_DIMS];
    bool periodic; /* in all dimensions */
};

/* The rank that is `step` away from a rank; GRID_NOBODY beyond the edge. */
int grid_neighbour(const struct grid *grid, int rank, const int step[GRID_DIMS]);

/* The directions of a stencil, a step of -1, 0 or 1 in each dimension: along the axes, or, for a box, to all
 * blocks that touch. Step i is the opposite of step count - 1 - i. Returns their number. */
int grid_steps(int dims, bool box, int steps[GRID_STEPS][GRID_DIMS]);

/* Blocks of n^dims cells, whose face has so many bytes. */
struct grid_block {
    int dims;
    size_t face;  /* bytes sent across a face */
    size_t cell;  /* bytes of a cell */
    size_t depth; /* layers of cells that a neighbour needs */
};

/* n: the smallest side at which a face has at least `face` bytes. */
size_t grid_side(const struct grid_block *block);

/* Bytes sent in a direction: `face` along an axis; diagonally depth * depth * n cells across an edge and
 * depth^3 across a corner (in two dimensions depth * depth), and never more than across a face. */
size_t grid_bytes(const struct grid_block *block, const int step[GRID_DIMS]);

#endif
