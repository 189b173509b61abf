/* Between the files of CG: its problem, its grid of ranks, its matrix, its vectors. */
#ifndef KERNELS_NPB_CG_H
#define KERNELS_NPB_CG_H

#include "kernels/csr.h"
#include "kernels/npb/npb.h"

struct cg_problem {
    int64_t n;
    int nonzer, iterations;
    double shift;
};

/* The grid of ranks, and the shared rows of the matrix. */
struct cg_grid {
    int rows, columns;
    int64_t n;
};

/* With so many rows; 0: as near to a square as possible, with more columns. */
struct cg_grid cg_grid(int ranks, int asked, int64_t n);

/* The block of a rank. */
struct share cg_rows_of(const struct cg_grid *grid, int rank);
struct share cg_columns_of(const struct cg_grid *grid, int rank);

/* From products w, for the rows of each rank, to q, for its columns. As comm_plan_exchange(). */
int cg_plan_fetch(const struct comm *comm, const struct cg_grid *grid, enum comm_back back, const double *w,
                  double *q, int failed, struct comm_plan **plan);

/* A block of the matrix; rows and columns count from the block's first. */
struct cg_matrix {
    struct share rows, columns; /* of the whole matrix; set before it is made */
    struct csr a;
};

/* ERR_NOMEM. */
int cg_matrix_make(struct kernel_env *env, const struct cg_problem *problem, struct cg_matrix *matrix);

/* A lane's work on its share of vectors. z += alpha p, r -= alpha q; returns r . r. */
double cg_step(int64_t count, double alpha, const double *p, const double *q, double *z, double *r);

/* p = r + beta p. */
void cg_turn(int64_t count, double beta, const double *r, double *p);

/* The square of how far x is from r, which then is A z. */
double cg_distance(int64_t count, const double *x, const double *r);

#endif
