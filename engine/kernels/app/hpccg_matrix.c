/* The matrix of HPCCG, and the three loops in which it spends its time. */
#include "kernels/app/hpccg.h"

#include "base/hot.h"

#include <stdlib.h>

double hpccg_matrix_memory(const struct brick *b)
{
    return (double)b->own * (HPCCG_POINTS * (sizeof(double) + sizeof(int32_t)) + sizeof(int64_t));
}

/* The entries of a cell's row, in the order of their places in the box. Returns where the next row begins. */
static int64_t make_row(const struct brick *b, const int64_t at[GRID_DIMS], struct hpccg_matrix *a, int64_t k)
{
    for (int i = 0; i < HPCCG_POINTS; ++i) {
        const int step[GRID_DIMS] = {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1};
        const int64_t column = brick_neighbour(b, at, step);
        if (column < 0)
            continue;
        a->column[k] = (int32_t)column;
        a->value[k++] = i == HPCCG_POINTS / 2 ? HPCCG_POINTS : -1;
    }
    return k;
}

int hpccg_matrix_make(struct kernel_env *env, const struct brick *b, struct hpccg_matrix *a)
{
    const size_t rows = (size_t)b->own;
    int64_t k = 0;
    *a = (struct hpccg_matrix){.rows = b->own};
    int err = kernel_alloc(env, rows + 1, sizeof *a->start, &a->start);
    if (!err)
        err = kernel_alloc(env, rows * HPCCG_POINTS, sizeof *a->column, &a->column);
    if (!err)
        err = kernel_alloc(env, rows * HPCCG_POINTS, sizeof *a->value, &a->value);
    if (err)
        return err;
    int64_t at[GRID_DIMS], row = 0;
    for (at[0] = 0; at[0] < b->cells[0]; ++at[0])
        for (at[1] = 0; at[1] < b->cells[1]; ++at[1])
            for (at[2] = 0; at[2] < b->cells[2]; ++at[2]) {
                a->start[row++] = k;
                k = make_row(b, at, a, k);
            }
    a->start[row] = k;
    return 0;
}

void hpccg_matrix_free(struct hpccg_matrix *a)
{
    free(a->start);
    free(a->column);
    free(a->value);
    *a = (struct hpccg_matrix){0};
}

/* Four sums in turn, so that an addition need not wait for the one before. */
HOT void hpccg_spmv(const struct hpccg_matrix *a, int64_t first, int64_t end, const double *restrict p,
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

HOT double hpccg_ddot(int64_t count, const double *restrict a, const double *restrict b)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i)
        sum += a[i] * b[i];
    return sum;
}

HOT void hpccg_waxpby(int64_t count, const double *a, double scale, const double *b, double *w)
{
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
        w[i] = a[i] + scale * b[i];
}
