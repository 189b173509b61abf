/* Matrices in compressed rows, and sums over vectors: the loops that take most of a solver's time. */
#ifndef KERNELS_CSR_H
#define KERNELS_CSR_H

#include "kernels/kernel.h"

/* The values and columns of a row stand together (Saad, Iterative Methods for Sparse Linear Systems, 2003,
 * section 3.4). */
struct csr {
    int64_t *start; /* the beginning of each row, and the end */
    int32_t *column;
    double *value;
};

/* Bytes for so many rows and entries. */
double csr_memory(double rows, double entries);

/* Room for the beginnings of rows, then for their entries; neither is filled. ERR_NOMEM; csr_free() frees
 * what there is. */
int csr_alloc_rows(struct kernel_env *env, size_t rows, struct csr *a);
int csr_alloc_entries(struct kernel_env *env, size_t entries, struct csr *a);
void csr_free(struct csr *a); /* one that is {0} is fine */

/* w = A p, for rows `first` to `end`. */
void csr_multiply(const struct csr *matrix, int64_t first, int64_t end, const double *p, double *w);

/* Bytes that it moves: of the matrix, of p with so many elements, and of w. */
int64_t csr_multiply_moves(const struct csr *a, int64_t rows, int64_t columns);

/* a . b; w = a + scale b, where w may be a or b. */
double vector_dot(int64_t count, const double *a, const double *b);
void vector_add(int64_t count, const double *a, double scale, const double *b, double *w);

#endif
