/* Between the files of CG: its problem and its matrix. */
#ifndef KERNELS_CG_H
#define KERNELS_CG_H

#include "kernels/npb.h"

struct cg_problem {
    int64_t n;
    int nonzer, iterations;
    double shift;
};

/* A block of the matrix in compressed rows; rows and columns count from the block's first. */
struct cg_matrix {
    struct npb_share rows, columns; /* of the whole matrix; set before it is made */
    int64_t *start;                 /* of each row, and the end */
    int32_t *column;
    double *value;
};

/* ERR_NOMEM. */
int cg_matrix_make(struct npb *npb, const struct cg_problem *problem, struct cg_matrix *matrix);
void cg_matrix_free(struct cg_matrix *matrix);

#endif
