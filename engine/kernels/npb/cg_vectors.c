/* What a lane of CG does with its share of the matrix and of vectors. */
#include "kernels/npb/cg.h"

#include "base/hot.h"

/* w = A p for some rows. Four sums in turn, so that an addition need not wait for the one before. */
HOT void cg_multiply(const struct cg_matrix *m, int64_t first, int64_t end, const double *restrict p,
                     double *restrict w)
{
    const double *restrict value = m->value;
    const int32_t *restrict column = m->column;
    for (int64_t i = first; i < end; ++i) {
        double a = 0, b = 0, c = 0, d = 0;
        int64_t k = m->start[i], stop = m->start[i + 1];
        for (; k + 4 <= stop; k += 4) {
            a += value[k] * p[column[k]];
            b += value[k + 1] * p[column[k + 1]];
            c += value[k + 2] * p[column[k + 2]];
            d += value[k + 3] * p[column[k + 3]];
        }
        for (; k < stop; ++k)
            a += value[k] * p[column[k]];
        w[i] = (a + b) + (c + d);
    }
}

HOT double cg_dot(int64_t count, const double *restrict a, const double *restrict b)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i)
        sum += a[i] * b[i];
    return sum;
}

/* z += alpha p, r -= alpha q; returns r . r. */
HOT double cg_step(int64_t count, double alpha, const double *restrict p, const double *restrict q,
                   double *restrict z, double *restrict r)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i) {
        z[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        sum += r[i] * r[i];
    }
    return sum;
}

/* p = r + beta p. */
HOT void cg_turn(int64_t count, double beta, const double *restrict r, double *restrict p)
{
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
        p[i] = r[i] + beta * p[i];
}

/* The square of how far x is from r, which then is A z. */
HOT double cg_distance(int64_t count, const double *restrict x, const double *restrict r)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i) {
        double d = x[i] - r[i];
        sum += d * d;
    }
    return sum;
}
