/* MG, the parts of which are mg_stencil.c (what is done at each point), mg_grid.c (levels and halos) and
 * mg_charges.c (what the problem is). */
#ifndef KERNELS_NPB_MG_H
#define KERNELS_NPB_MG_H

#include "kernels/npb/npb.h"

enum { MG_AXES = 3, MG_X = 0, MG_Y, MG_Z };

/* A box of points with one layer of ghosts around it; x is contiguous. at[0] is its first own point, ghosts
 * stand at -1 and n. */
struct mg_field {
    double *at;
    int64_t row, plane; /* distances of neighbours along y and z */
};

/* Coefficients by the number of axes along which a neighbour is one away: itself, faces, edges, corners. */
struct mg_weights {
    double centre, face, edge, corner;
};

/* What a sweep over a level is given. `n`: points of the box that is written, or of the coarse one. */
struct mg_sweep {
    struct mg_field from, to, by;
    int64_t n[MG_AXES];
    struct mg_weights w;
};

/* Planes from..to-1 of a sweep; `scratch` has room for MG_ROWS rows of the longest line with its ghosts. */
enum { MG_ROWS = 6 };
typedef void mg_planes(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch);

mg_planes mg_resid;      /* to = by - A from, where A has no faces */
mg_planes mg_smooth;     /* to += S from, where S has no corners */
mg_planes mg_smooth_new; /* to = S from */
mg_planes mg_restrict;   /* to = P from: n is of `to`, the coarse one */
mg_planes mg_expand;     /* to += Q from: n is of `from`; planes from -1, and the ghosts of `to` as well */
mg_planes mg_expand_new; /* to = Q from */

/* The sum of squares over planes. */
double mg_squares(const struct mg_sweep *s, int64_t from, int64_t to);

/* A level: a grid of edge^3 points, of which this rank has a box; all of it if `whole`. */
struct mg_level {
    int64_t edge, n[MG_AXES], first[MG_AXES];
    bool whole;
    struct mg_field u, r;
    double *store[2]; /* of u and r */
    double *buffer[MG_AXES];
    struct comm_plan *halo[MG_AXES]; /* NULL: this rank is its own neighbour along the axis */
};

enum { MG_LEVELS_MAX = 16 };

/* The levels 1 (2^3 points) to `top`; up to `base` they are whole on every rank, because messages of coarse
 * grids would cost more than their work. */
struct mg_grid {
    struct kernel_env *env;
    int top, base;
    int procs[MG_AXES], place[MG_AXES]; /* the grid of ranks, and this rank's place in it */
    struct mg_level level[MG_LEVELS_MAX];
    double *pieces; /* of all ranks, to make the base whole */
    int64_t piece;  /* points of the largest */
};

/* The ranks along each axis, and the level from which they share; false: there are more ranks than points. */
bool mg_layout(int ranks, int top, int procs[MG_AXES], int *base);

/* Bytes that mg_grid_open() allocates. */
double mg_grid_memory(const struct mg_grid *grid);

/* Boxes, sizes and places of the levels: nothing is allocated. */
void mg_grid_shape(struct kernel_env *env, int top, struct mg_grid *grid);
int mg_grid_open(struct mg_grid *grid);
void mg_grid_close(struct mg_grid *grid);

/* Fetch ghosts from the neighbours, periodic, axis by axis, so that edges and corners come along. */
int mg_halo(const struct mg_level *level, struct mg_field field);

/* Make the base level's r from the boxes of all ranks; this rank has written its own. */
int mg_make_whole(const struct mg_grid *grid);

/* The box of this rank in a field of the base level, which is whole. */
struct mg_field mg_own_box(const struct mg_grid *grid, struct mg_field field);

/* The points of the finest grid with the lowest and the highest random numbers, each by its number, x + edge
 * (y + edge z); the least extreme first. */
enum { MG_CHARGES = 10 };
enum { MG_LOWEST, MG_HIGHEST, MG_SIGNS };
struct mg_charges {
    struct mg_charge {
        double value;
        int64_t index; /* -1: none */
    } of[MG_SIGNS][MG_CHARGES];
};

/* Those of the whole grid. Collective. Room: `line` for a line of this rank's box, `all` for each rank. */
int mg_find_charges(const struct mg_grid *grid, double *line, struct mg_charges *all,
                    struct mg_charges *found);

/* Put -1 at the lowest, +1 at the highest points that are in this rank's box. */
void mg_put_charges(const struct mg_charges *charges, const struct mg_level *top, struct mg_field v);

#endif
