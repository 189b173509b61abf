/* What a lane of CG does with its share of vectors, besides what all solvers do (kernels/csr.h). */
#include "kernels/npb/cg.h"

#include "base/hot.h"

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
