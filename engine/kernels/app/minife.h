/* Between the files of MiniFE, in the order of a text book: the mesh and its parts on ranks, the operator of
 * an element, the matrix, and the known solution. */
#ifndef KERNELS_APP_MINIFE_H
#define KERNELS_APP_MINIFE_H

#include "kernels/app/brick.h"
#include "kernels/csr.h"

/* An element is a hexahedron: eight corners. A node of a mesh of such boxes shares elements with 27 nodes,
 * itself among them. A batch of elements is computed together, one in each lane of a vector. */
enum { MINIFE_CORNERS = 8, MINIFE_COUPLED = 27, MINIFE_BATCH = 8 };
enum { MINIFE_PAIRS = MINIFE_CORNERS * (MINIFE_CORNERS + 1) / 2 };

/* ---- minife_mesh.c ------------------------------------------------------------------------------------- */

enum minife_grid { MINIFE_BOX, MINIFE_LINE };

struct minife_cut {
    int64_t elements[GRID_DIMS]; /* of the whole box, along z, y, x */
    enum minife_grid grid;       /* its division among ranks */
    double imbalance;            /* nodes of the fullest rank over the mean, less 1 */
};

/* This rank's brick of nodes; ERR_UNSUPPORTED with the reason if some rank would get none. */
int minife_cut(const struct minife_cut *cut, const struct comm *comm, struct brick *brick);

/* The part of a lane: rows, and the elements that touch them. */
struct minife_lane {
    int64_t first, end;
    int64_t element_first, element_end;
};

/* Nodes are own ones, which are rows, then outer ones, as in a field of the brick. Elements are those that
 * touch an own node. */
struct minife_mesh {
    struct brick brick;
    int64_t nodes, elements;
    double (*at)[GRID_DIMS]; /* coordinates of each node: x, y, z */
    int32_t (*corner)[MINIFE_CORNERS];
    double *held; /* the fixed temperature at each node; MINIFE_FREE if it is free */
    int lanes;
    struct minife_lane *lane;
};
extern const double MINIFE_FREE;

double minife_mesh_memory(const struct brick *brick, int lanes);
int minife_mesh_make(struct kernel_env *env, const struct brick *brick, struct minife_mesh *mesh);
void minife_mesh_free(struct minife_mesh *mesh);

/* ---- minife_element.c ---------------------------------------------------------------------------------- */

/* Where the corners of a batch of elements are, and the upper triangles of their matrices, row by row. */
struct minife_batch {
    double at[GRID_DIMS][MINIFE_CORNERS][MINIFE_BATCH];
    double stiffness[MINIFE_PAIRS][MINIFE_BATCH];
};
void minife_stiffness(struct minife_batch *batch);

/* ---- minife_matrix.c ----------------------------------------------------------------------------------- */

/* A x = b: rows of the own nodes. */
struct minife_system {
    struct csr a;
    int32_t *coupled; /* of each row: the number of coupled nodes, while its columns are found */
    double *b;
};

double minife_system_memory(const struct brick *brick);
int minife_system_alloc(struct kernel_env *env, const struct brick *brick, struct minife_system *system);
void minife_system_free(struct minife_system *system);

void minife_structure(const struct minife_mesh *mesh, struct minife_system *system);
void minife_assemble(const struct minife_mesh *mesh, struct minife_system *system);
void minife_hold(const struct minife_mesh *mesh, struct minife_system *system);

/* ---- minife_exact.c ------------------------------------------------------------------------------------ */

/* The temperature at each own node: of the equations of the mesh, or of the body that it models; of the
 * latter only in layers i far from the hot side, x <= 1/2. ERR_NOMEM. */
enum minife_law { MINIFE_MESH, MINIFE_BODY };
bool minife_far(const struct brick *brick, int64_t i);
int minife_exact(const struct brick *brick, enum minife_law law, double *exact);

/* The least and the largest eigenvalue of A among free nodes. */
void minife_eigenvalues(const int64_t elements[GRID_DIMS], double *least, double *most);

#endif
