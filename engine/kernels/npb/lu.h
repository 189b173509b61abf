/* What the files of LU share: RNR-94-007, chapter 3, the equations of BT and SP (cfd.h), solved by symmetric
 * successive over-relaxation. lu.c has the problem, lu_grid.c the box of a rank and its halo, lu_rhs.c the
 * right-hand side, lu_sweep.c the triangular systems.
 *
 * In a triangular system each point waits for its neighbours before it along x, y and z. Points of a plane
 * with the same x + y do not wait for each other: such a diagonal is what is worked on at once, and so it is
 * a row of memory: field[z][x + y][unknown][y]. A neighbour along any axis is at the same distance
 * everywhere, and vectors are whole rows: no gathering, and all arithmetic is that of lanes side by side.
 *
 * Ranks form a grid of x and y, each with all z: work goes from rank to rank as from point to point, planes
 * one behind the other as in a pipeline. Threads do the same among them, each with a range of y. */
#ifndef KERNELS_NPB_LU_H
#define KERNELS_NPB_LU_H

#include "kernels/npb/cfd.h"

enum {
    LU_REACH = CFD_REACH,
    LU_LANES = 4,        /* rows are worked on in multiples of these */
    LU_LINE = 8,         /* numbers of a cache line: data that threads share are cut there */
    LU_LEFT = LU_LINE,   /* numbers of a row before y = 0 */
    LU_SIDES = 2,        /* x and y: axes that ranks share */
    LU_LINKS = 8,        /* to the two ranks before and after, along x and y */
    LU_N = CFD_UNKNOWNS, /* of a point */
};

struct lu_link {
    int to, from;         /* ranks */
    struct share out, in; /* of the axis: columns of points that go and come */
    double *send, *recv;
    size_t send_count, recv_count; /* numbers */
};

/* One rank's box. Point 0 0 0 is its first inner one; -1 and `count` are neighbours' or the wall's. */
struct lu {
    struct kernel_env *env;
    struct cfd_problem problem;
    int ranks[LU_SIDES], place[LU_SIDES];     /* the grid of ranks and where this one is */
    int64_t first[CFD_AXES], count[CFD_AXES]; /* inner points, by number in the whole grid */
    int64_t chunk;                            /* planes of a message */
    int lanes;                                /* threads that share y */
    ptrdiff_t unknown, row, plane, origin;    /* from an unknown, diagonal, plane to the next */
    size_t total;                             /* numbers of a field */
    double *u, *rhs, *forcing;                /* rhs: dt (R(U) - R(U*)), and what solves its systems */

    /* Values that points pass on to those after them: along x for each plane and y, along y at the edges of
     * lanes for each plane and x, along z for each point of a plane; along y within a lane, two rows. */
    double *pass_x, *pass_y, *pass_z, *pass_in;
    ptrdiff_t x_unknown, x_plane, y_plane, y_lane, in_unknown, in_lane;

    double *derived; /* of each thread, for lu_rhs() */
    size_t derived_each;
    struct lu_link links[LU_LINKS];
    struct comm_plan *halo;
};

static inline ptrdiff_t lu_at(const struct lu *lu, int64_t x, int64_t y, int64_t z)
{
    return lu->origin + z * lu->plane + (x + y) * lu->row + y;
}

static inline int64_t lu_round(int64_t count, int64_t to)
{
    return (count + to - 1) / to * to;
}

/* For diagonal d: the first and the last y in a box of `width` x and of y from `low` to below `high`. */
struct lu_range {
    int64_t first, last;
};
static inline struct lu_range lu_diagonal(int64_t d, int64_t width, int64_t low, int64_t high)
{
    return (struct lu_range){d - width + 1 > low ? d - width + 1 : low, d < high - 1 ? d : high - 1};
}

/* ---- lu_grid.c ----------------------------------------------------------------------------------------- */

/* Can so many ranks share that problem, and how? */
bool lu_ranks(const struct cfd_problem *problem, int count, int ranks[LU_SIDES]);

/* Set this rank's place and the size of its fields; nothing is allocated yet. */
void lu_prepare(struct kernel_env *env, const struct cfd_problem *problem, int64_t chunk, struct lu *lu);
double lu_memory(struct lu *lu);

/* For a prepared one. Collective; if only others have failed it returns 0 without a plan. */
int lu_open(struct lu *lu);
void lu_close(struct lu *lu);

/* U at all points, of walls and neighbours too: U* at walls and `inside` elsewhere. */
void lu_fill(struct lu *lu, void (*inside)(const double at[CFD_AXES], double u[CFD_UNKNOWNS]));

/* The place of an inner point in the cube. */
void lu_locate(const struct lu *lu, int64_t x, int64_t y, int64_t z, double at[CFD_AXES]);

/* The rank so far from this one, or -1. */
int lu_rank(const struct lu *lu, int along_x, int along_y);

/* Fetch the points of neighbours into u. */
int lu_exchange(struct lu *lu);

/* ---- lu_rhs.c, lu_sweep.c ------------------------------------------------------------------------------ */

/* to <- times (R(U) - forcing). */
void lu_rhs(struct lu *lu, double *to, double times);
size_t lu_derived_each(const struct lu *lu);

/* Do one step of relaxation: U is moved by the solution of the systems of rhs. */
int lu_sweeps(struct lu *lu);

enum { LU_PHASE_HALO, LU_PHASE_RHS, LU_PHASE_LOWER, LU_PHASE_UPPER, LU_PHASE_PIPELINE };

#endif
