/* A brick of cells for each rank, cut from a box by planes, and the cells of its neighbours that touch it:
 * the outer ones. A field has an element for each own cell, x fastest, and behind them one for each outer
 * cell, in the order of the messages that bring them. */
#ifndef KERNELS_APP_BRICK_H
#define KERNELS_APP_BRICK_H

#include "comm/grid.h"
#include "kernels/kernel.h"

enum { BRICK_Z, BRICK_Y, BRICK_X };

struct brick {
    struct grid ranks; /* extents along z, y, x */
    int rank;
    int64_t cells[GRID_DIMS]; /* along z, y, x */
    int64_t first[GRID_DIMS]; /* where they begin in the whole box */
    int64_t whole[GRID_DIMS]; /* cells of that */
    int64_t own, outer;       /* cells of this rank, and of others that touch them */
    int count;                /* of steps to the bricks around */
    int steps[GRID_STEPS][GRID_DIMS];
    int beyond[GRID_STEPS];       /* the rank there, or GRID_NOBODY */
    int64_t border[GRID_STEPS];   /* cells of ours that touch it; as many of its cells touch ours */
    int64_t outer_at[GRID_STEPS]; /* where its cells are among the outer ones */
};

/* The place of a rank among others: z, y, x. */
void brick_place(const struct grid *ranks, int rank, int at[GRID_DIMS]);

/* The brick of a rank. ranks->extent make a box of bricks, with no neighbour beyond its sides. If `first`,
 * `cells` and `whole` are set they count, else all bricks have as many cells. */
void brick_cut(struct brick *brick, const struct grid *ranks, int rank);
void brick_make(struct brick *brick, const struct grid *ranks, int rank, const int64_t cells[GRID_DIMS]);

/* The place in a field of the cell `step` away from an own one; -1 beyond the sides of the box. */
int64_t brick_neighbour(const struct brick *brick, const int64_t at[GRID_DIMS], const int step[GRID_DIMS]);

/* The number of a cell in the whole box, the same for any division; `at` may be in another brick. -1 beyond
 * the sides. */
int64_t brick_global(const struct brick *brick, const int64_t at[GRID_DIMS]);

/* A field's outer cells, fetched from the ranks that own them. */
struct brick_halo {
    struct kernel_env *env;
    const struct brick *brick;
    double *packed; /* data to send, step by step */
    double *field;
    int64_t *cell; /* of each packed element */
    int64_t packed_count;
    struct comm_plan *plan;
    uint64_t balance; /* seals of all sent messages, less those of received ones */
};

/* Bytes that it takes, without the field. */
double brick_halo_memory(const struct brick *brick);

/* Collective, as comm_plan_exchange(), whose `failed` is this rank's earlier error. */
int brick_halo_open(struct kernel_env *env, const struct brick *brick, double *field, int failed,
                    struct brick_halo *halo);
void brick_halo_close(struct brick_halo *halo); /* one that is {0} is fine */

/* Pack, and exchange. */
void brick_halo_pack(struct brick_halo *halo);
int brick_halo_exchange(struct brick_halo *halo);

/* ERR_WRONG unless all data received since the last call are those sent, also data that nobody uses, such as
 * those that a matrix multiplies by 0. Collective. */
int brick_halo_check(struct brick_halo *halo);

#endif
