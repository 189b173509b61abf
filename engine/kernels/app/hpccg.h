/* Between the files of HPCCG: its matrix. */
#ifndef KERNELS_APP_HPCCG_H
#define KERNELS_APP_HPCCG_H

#include "kernels/app/brick.h"
#include "kernels/csr.h"

enum { HPCCG_POINTS = 27 };

/* Bytes that it takes. */
double hpccg_matrix_memory(const struct brick *brick);

/* The rows of a rank: 27 on the diagonal, -1 for each of the up to 26 cells around. Columns are numbered as
 * fields of a brick: own cells, then outer ones. ERR_NOMEM. */
int hpccg_matrix_make(struct kernel_env *env, const struct brick *brick, struct csr *a);

#endif
