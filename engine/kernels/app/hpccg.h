/* Between the files of HPCCG: its matrix, and what a lane does with its share. */
#ifndef KERNELS_APP_HPCCG_H
#define KERNELS_APP_HPCCG_H

#include "kernels/app/brick.h"

enum { HPCCG_POINTS = 27 };

/* The rows of a rank, compressed: values and columns of a row stand together. Columns count as fields of a
 * brick do: own cells, then outer ones. */
struct hpccg_matrix {
    int64_t rows;
    int64_t *start; /* of each row, and the end */
    int32_t *column;
    double *value;
};

/* Bytes that it takes. */
double hpccg_matrix_memory(const struct brick *brick);

/* 27 on the diagonal, -1 for each of the up to 26 cells around. ERR_NOMEM. */
int hpccg_matrix_make(struct kernel_env *env, const struct brick *brick, struct hpccg_matrix *matrix);
void hpccg_matrix_free(struct hpccg_matrix *matrix);

/* w = A p, for rows `first` to `end`. */
void hpccg_spmv(const struct hpccg_matrix *a, int64_t first, int64_t end, const double *p, double *w);

/* a . b; w = a + scale b, where w may be a or b. */
double hpccg_ddot(int64_t count, const double *a, const double *b);
void hpccg_waxpby(int64_t count, const double *a, double scale, const double *b, double *w);

#endif
