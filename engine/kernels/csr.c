#include "kernels/csr.h"

#include "base/hot.h"

#include <stdlib.h>

double csr_memory(double rows, double entries)
{
    return (rows + 1) * sizeof(int64_t) + entries * (sizeof(int32_t) + sizeof(double));
}

int csr_alloc_rows(struct kernel_env *env, size_t rows, struct csr *a)
{
    return kernel_alloc(env, rows + 1, sizeof *a->start, &a->start);
}

int csr_alloc_entries(struct kernel_env *env, size_t entries, struct csr *a)
{
    const int err = kernel_alloc(env, entries, sizeof *a->column, &a->column);
    return err ? err : kernel_alloc(env, entries, sizeof *a->value, &a->value);
}

void csr_free(struct csr *a)
{
    free(a->start);
    free(a->column);
    free(a->value);
    *a = (struct csr){0};
}

int64_t csr_multiply_moves(const struct csr *a, int64_t rows, int64_t columns)
{
    const int64_t entry = sizeof *a->value + sizeof *a->column, row = sizeof *a->start + sizeof(double);
    return a->start[rows] * entry + rows * row + columns * (int64_t)sizeof(double);
}

/* Four sums in turn, so that an addition need not wait for the one before. */
HOT void csr_multiply(const struct csr *a, int64_t first, int64_t end, const double *restrict p,
                      double *restrict w)
{
    const double *restrict value = a->value;
    const int32_t *restrict column = a->column;
    for (int64_t i = first; i < end; ++i) {
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        int64_t k = a->start[i];
        const int64_t stop = a->start[i + 1];
        for (; k + 4 <= stop; k += 4) {
            s0 += value[k] * p[column[k]];
            s1 += value[k + 1] * p[column[k + 1]];
            s2 += value[k + 2] * p[column[k + 2]];
            s3 += value[k + 3] * p[column[k + 3]];
        }
        for (; k < stop; ++k)
            s0 += value[k] * p[column[k]];
        w[i] = (s0 + s1) + (s2 + s3);
    }
}

HOT double vector_dot(int64_t count, const double *restrict a, const double *restrict b)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i)
        sum += a[i] * b[i];
    return sum;
}

HOT void vector_add(int64_t count, const double *a, double scale, const double *b, double *w)
{
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
        w[i] = a[i] + scale * b[i];
}
