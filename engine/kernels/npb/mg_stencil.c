/* What MG does at each point, a plane at a time: RNR-94-007, section 3.2, with its operators A, S, P and Q.
 *
 * Stencils of 27 points are summed by lines: p holds the two planes beside a line, and is kept for the next
 * lines; `ring` the four lines beside it, `far` the four beyond those. Then each point needs its line's
 * neighbours alone. */
#include "kernels/npb/mg.h"

#include "base/hot.h"

static inline void line_pairs(const double *u, int64_t plane, int64_t n, double *restrict p)
{
#pragma omp simd
    for (int64_t i = -1; i <= n; ++i)
        p[i] = u[i - plane] + u[i + plane];
}

/* Rows of the scratch with room for ghosts on both sides. */
static inline double *scratch_row(double *scratch, int64_t n, int which)
{
    return scratch + which * (n + 2) + 1;
}

HOT void mg_resid(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch)
{
    const int64_t n = s->n[MG_X], row = s->from.row, plane = s->from.plane;
    const double a0 = s->w.centre, a2 = s->w.edge, a3 = s->w.corner;
    double *restrict ring = scratch_row(scratch, n, 3), *restrict far = scratch_row(scratch, n, 4);
    for (int64_t k = from; k < to; ++k) {
        double *below = scratch_row(scratch, n, 0), *here = scratch_row(scratch, n, 1),
               *above = scratch_row(scratch, n, 2);
        const double *u = s->from.at + k * plane;
        line_pairs(u - row, plane, n, below);
        line_pairs(u, plane, n, here);
        for (int64_t j = 0; j < s->n[MG_Y]; ++j, u += row) {
            line_pairs(u + row, plane, n, above);
#pragma omp simd
            for (int64_t i = -1; i <= n; ++i) {
                ring[i] = u[i - row] + u[i + row] + here[i];
                far[i] = below[i] + above[i];
            }
            const double *v = s->by.at + k * s->by.plane + j * s->by.row;
            double *r = s->to.at + k * s->to.plane + j * s->to.row;
#pragma omp simd
            for (int64_t i = 0; i < n; ++i)
                r[i] = v[i] - a0 * u[i] - a2 * (far[i] + ring[i - 1] + ring[i + 1]) -
                       a3 * (far[i - 1] + far[i + 1]);
            double *last = below;
            below = here;
            here = above;
            above = last;
        }
    }
}

static inline void smooth(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch, bool add)
{
    const int64_t n = s->n[MG_X], row = s->from.row, plane = s->from.plane;
    const double c0 = s->w.centre, c1 = s->w.face, c2 = s->w.edge;
    double *restrict ring = scratch_row(scratch, n, 3);
    for (int64_t k = from; k < to; ++k) {
        double *below = scratch_row(scratch, n, 0), *here = scratch_row(scratch, n, 1),
               *above = scratch_row(scratch, n, 2);
        const double *r = s->from.at + k * plane;
        line_pairs(r - row, plane, n, below);
        line_pairs(r, plane, n, here);
        for (int64_t j = 0; j < s->n[MG_Y]; ++j, r += row) {
            line_pairs(r + row, plane, n, above);
#pragma omp simd
            for (int64_t i = -1; i <= n; ++i)
                ring[i] = r[i - row] + r[i + row] + here[i];
            double *restrict u = s->to.at + k * s->to.plane + j * s->to.row;
#pragma omp simd
            for (int64_t i = 0; i < n; ++i)
                u[i] = (add ? u[i] : 0) + c0 * r[i] + c1 * (r[i - 1] + r[i + 1] + ring[i]) +
                       c2 * (below[i] + above[i] + ring[i - 1] + ring[i + 1]);
            double *last = below;
            below = here;
            here = above;
            above = last;
        }
    }
}

HOT void mg_smooth(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch)
{
    smooth(s, from, to, scratch, true);
}

HOT void mg_smooth_new(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch)
{
    smooth(s, from, to, scratch, false);
}

/* P is separable: half of (1/2, 1, 1/2) along each axis. The coarse point j lies on the fine point 2 j + 1.
 */
HOT void mg_restrict(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch)
{
    const int64_t n = s->n[MG_X], row = s->from.row, plane = s->from.plane;
    double *restrict q = scratch + 1;
    for (int64_t k = from; k < to; ++k)
        for (int64_t j = 0; j < s->n[MG_Y]; ++j) {
            const double *r = s->from.at + (2 * k + 1) * plane + (2 * j + 1) * row;
#pragma omp simd
            for (int64_t i = 0; i <= 2 * n; ++i)
                q[i] = 0.5 * r[i] + 0.25 * (r[i - row] + r[i + row] + r[i - plane] + r[i + plane]) +
                       0.125 * (r[i - row - plane] + r[i + row - plane] + r[i - row + plane] +
                                r[i + row + plane]);
            double *restrict to_row = s->to.at + k * s->to.plane + j * s->to.row;
#pragma omp simd
            for (int64_t i = 0; i < n; ++i)
                to_row[i] = q[2 * i + 1] + 0.5 * (q[2 * i] + q[2 * i + 2]);
        }
}

/* A fine line from a line of coarse points, or of their means: each point, and the means of neighbours. */
static inline void expand_line(const double *restrict w, double scale, double *restrict u, int64_t n,
                               bool add)
{
    const double half = 0.5 * scale;
#pragma omp simd
    for (int64_t i = -1; i < n; ++i) {
        double own = scale * w[i], mean = half * (w[i] + w[i + 1]);
        u[2 * i + 1] = (add ? u[2 * i + 1] : 0) + own;
        u[2 * i + 2] = (add ? u[2 * i + 2] : 0) + mean;
    }
}

/* Q: trilinear. Fine lines on a coarse one, and between two or four of them. */
static inline void expand(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch, bool add)
{
    const int64_t n = s->n[MG_X], row = s->from.row, plane = s->from.plane;
    const int64_t fine = s->to.row, fine_plane = s->to.plane;
    double *restrict beside = scratch_row(scratch, n, 0), *restrict above = scratch_row(scratch, n, 1),
                     *restrict all = scratch_row(scratch, n, 2);
    for (int64_t k = from; k < to; ++k)
        for (int64_t j = -1; j < s->n[MG_Y]; ++j) {
            const double *z = s->from.at + k * plane + j * row;
            double *u = s->to.at + (2 * k + 1) * fine_plane + (2 * j + 1) * fine;
#pragma omp simd
            for (int64_t i = -1; i <= n; ++i) {
                beside[i] = z[i] + z[i + row];
                above[i] = z[i] + z[i + plane];
                all[i] = beside[i] + z[i + plane] + z[i + plane + row];
            }
            expand_line(z, 1, u, n, add);
            expand_line(beside, 0.5, u + fine, n, add);
            expand_line(above, 0.5, u + fine_plane, n, add);
            expand_line(all, 0.25, u + fine_plane + fine, n, add);
        }
}

HOT void mg_expand(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch)
{
    expand(s, from, to, scratch, true);
}

HOT void mg_expand_new(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch)
{
    expand(s, from, to, scratch, false);
}

HOT double mg_squares(const struct mg_sweep *s, int64_t from, int64_t to)
{
    const int64_t n = s->n[MG_X];
    double sum = 0;
    for (int64_t k = from; k < to; ++k)
        for (int64_t j = 0; j < s->n[MG_Y]; ++j) {
            const double *r = s->from.at + k * s->from.plane + j * s->from.row;
#pragma omp simd reduction(+ : sum)
            for (int64_t i = 0; i < n; ++i)
                sum += r[i] * r[i];
        }
    return sum;
}
