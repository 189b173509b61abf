/* The operator of an element: a hexahedron of eight nodes (Hughes, The Finite Element Method, 1987, sections
 * 3.5, 3.8 and 3.9).
 *
 * Inside the element the temperature is that of its corners, blended by shape functions, which are products
 * of straight lines on the cube |xi|, |eta|, |zeta| <= 1, of which corner a is (xi_a, eta_a, zeta_a):
 *
 *     N_a = (1 + xi xi_a) (1 + eta eta_a) (1 + zeta zeta_a) / 8
 *
 * They blend the coordinates of the corners, too: J = d(x, y, z) / d(xi, eta, zeta). What the diffusion of
 * heat makes of corners a and b is the integral over the element
 *
 *     K_ab = integral grad N_a . grad N_b = sum over Gauss points of (grad N_a . grad N_b) det J
 *
 * with grad N_a = J^-T dN_a / d(xi, eta, zeta), two Gauss points along each axis, at -1/sqrt(3) and
 * 1/sqrt(3), each of weight 1: exact where the element is a brick. */
#include "kernels/app/minife.h"

#include "base/hot.h"

enum { POINTS = 8 };

/* Where corners are, and where Gauss points are in units of GAUSS. */
static const double sign[MINIFE_CORNERS][GRID_DIMS] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                                       {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
static const double GAUSS = 0.57735026918962576451; /* 1 / sqrt(3) */

/* The derivative of N_a along axis i at a Gauss point. */
static inline double slope(int point, int a, int i)
{
    double product = sign[a][i] / 8;
    for (int j = 0; j < GRID_DIMS; ++j)
        if (j != i)
            product *= 1 + GAUSS * sign[point][j] * sign[a][j];
    return product;
}

/* J[i][j] = d x_j / d xi_i at a Gauss point. */
static inline void jacobian(const struct minife_batch *batch, const double slopes[MINIFE_CORNERS][GRID_DIMS],
                            double J[GRID_DIMS][GRID_DIMS][MINIFE_BATCH])
{
    for (int i = 0; i < GRID_DIMS; ++i)
        for (int j = 0; j < GRID_DIMS; ++j) {
            double sum[MINIFE_BATCH] = {0};
            for (int a = 0; a < MINIFE_CORNERS; ++a)
#pragma omp simd
                for (int e = 0; e < MINIFE_BATCH; ++e)
                    sum[e] += slopes[a][i] * batch->at[j][a][e];
            for (int e = 0; e < MINIFE_BATCH; ++e)
                J[i][j][e] = sum[e];
        }
}

/* The cofactors of J, which are det J times J^-T, and the inverse of det J. */
static inline void invert(const double J[GRID_DIMS][GRID_DIMS][MINIFE_BATCH],
                          double cofactor[GRID_DIMS][GRID_DIMS][MINIFE_BATCH], double inverse[MINIFE_BATCH])
{
    for (int i = 0; i < GRID_DIMS; ++i)
        for (int j = 0; j < GRID_DIMS; ++j) {
            const int i1 = (i + 1) % GRID_DIMS, i2 = (i + 2) % GRID_DIMS;
            const int j1 = (j + 1) % GRID_DIMS, j2 = (j + 2) % GRID_DIMS;
#pragma omp simd
            for (int e = 0; e < MINIFE_BATCH; ++e)
                cofactor[i][j][e] = J[i1][j1][e] * J[i2][j2][e] - J[i1][j2][e] * J[i2][j1][e];
        }
#pragma omp simd
    for (int e = 0; e < MINIFE_BATCH; ++e)
        inverse[e] = 1 / (J[0][0][e] * cofactor[0][0][e] + J[0][1][e] * cofactor[0][1][e] +
                          J[0][2][e] * cofactor[0][2][e]);
}

/* K_ab += (g_a . g_b) / det J, where g = det J grad N. */
static inline void add_point(struct minife_batch *batch,
                             const double g[MINIFE_CORNERS][GRID_DIMS][MINIFE_BATCH],
                             const double inverse[MINIFE_BATCH])
{
    int pair = 0;
    for (int a = 0; a < MINIFE_CORNERS; ++a)
        for (int b = a; b < MINIFE_CORNERS; ++b, ++pair)
#pragma omp simd
            for (int e = 0; e < MINIFE_BATCH; ++e)
                batch->stiffness[pair][e] +=
                    (g[a][0][e] * g[b][0][e] + g[a][1][e] * g[b][1][e] + g[a][2][e] * g[b][2][e]) *
                    inverse[e];
}

HOT void minife_stiffness(struct minife_batch *batch)
{
    for (int pair = 0; pair < MINIFE_PAIRS; ++pair)
        for (int e = 0; e < MINIFE_BATCH; ++e)
            batch->stiffness[pair][e] = 0;
    for (int point = 0; point < POINTS; ++point) {
        double slopes[MINIFE_CORNERS][GRID_DIMS], inverse[MINIFE_BATCH];
        double J[GRID_DIMS][GRID_DIMS][MINIFE_BATCH], cofactor[GRID_DIMS][GRID_DIMS][MINIFE_BATCH];
        double g[MINIFE_CORNERS][GRID_DIMS][MINIFE_BATCH];
        for (int a = 0; a < MINIFE_CORNERS; ++a)
            for (int i = 0; i < GRID_DIMS; ++i)
                slopes[a][i] = slope(point, a, i);
        jacobian(batch, (const double (*)[GRID_DIMS])slopes, J);
        invert((const double (*)[GRID_DIMS][MINIFE_BATCH])J, cofactor, inverse);
        for (int a = 0; a < MINIFE_CORNERS; ++a)
            for (int j = 0; j < GRID_DIMS; ++j)
#pragma omp simd
                for (int e = 0; e < MINIFE_BATCH; ++e)
                    g[a][j][e] = cofactor[0][j][e] * slopes[a][0] + cofactor[1][j][e] * slopes[a][1] +
                                 cofactor[2][j][e] * slopes[a][2];
        add_point(batch, (const double (*)[GRID_DIMS][MINIFE_BATCH])g, inverse);
    }
}
