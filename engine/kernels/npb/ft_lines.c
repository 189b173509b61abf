/* Fourier transforms of many lines at once: Stockham's, which puts everything in order by itself (Van Loan,
 * "Computational Frameworks for the Fast Fourier Transform", 1992, section 1.7), in passes of radix 4 and a
 * last one of radix 2 where the length wants it.
 *
 * FT_TOGETHER lines are gathered into two arrays, real and imaginary parts, a line in each lane; all passes
 * are then over contiguous vectors. The transform with the other sign is the same with the two arrays
 * exchanged. */
#include "kernels/npb/ft.h"

#include "base/hot.h"

#include <math.h>

enum { W = FT_TOGETHER, ROOTS = 6 }; /* of each butterfly: three complex ones */

struct parts {
    double *re, *im; /* [n][W] */
};

/* For the pass over parts of length m: exp(-2 pi i p / m), its square and its cube, for p < m/4. */
void ft_make_roots(const struct ft_transform *t)
{
    const double TWO_PI = 6.28318530717958647692;
    double *root = t->roots;
    for (int64_t m = t->n; m >= 4; m /= 4)
        for (int64_t p = 0; p < m / 4; ++p)
            for (int power = 1; power <= 3; ++power) {
                double angle = TWO_PI * (double)(power * p) / (double)m;
                *root++ = cos(angle);
                *root++ = -sin(angle);
            }
}

int64_t ft_scratch(int64_t n)
{
    const int64_t apart = 64; /* so that the arrays do not all begin in the same set of a cache */
    return 4 * (n * W + apart);
}

static struct parts scratch_parts(double *scratch, int64_t n, int which)
{
    double *re = scratch + which * (ft_scratch(n) / 2);
    return (struct parts){re, re + ft_scratch(n) / 4};
}

/* x of length s m becomes y: parts of length m, `s` of them interleaved. */
static inline void pass_four(int64_t m, int64_t s, struct parts x, struct parts y,
                             const double *restrict roots)
{
    const int64_t quarter = m / 4 * s * W, step = s * W;
    for (int64_t p = 0; p < m / 4; ++p, roots += ROOTS) {
        const double c1 = roots[0], d1 = roots[1], c2 = roots[2], d2 = roots[3], c3 = roots[4], d3 = roots[5];
        const double *restrict ar = x.re + p * step, *restrict ai = x.im + p * step;
        double *restrict zr = y.re + 4 * p * step, *restrict zi = y.im + 4 * p * step;
        for (int64_t q = 0; q < step; q += W)
#pragma omp simd
            for (int64_t i = q; i < q + W; ++i) {
                double sum_r = ar[i] + ar[i + 2 * quarter], sum_i = ai[i] + ai[i + 2 * quarter];
                double less_r = ar[i] - ar[i + 2 * quarter], less_i = ai[i] - ai[i + 2 * quarter];
                double odd_r = ar[i + quarter] + ar[i + 3 * quarter];
                double odd_i = ai[i + quarter] + ai[i + 3 * quarter];
                double turn_r = ai[i + quarter] - ai[i + 3 * quarter]; /* -i (b - d) */
                double turn_i = ar[i + 3 * quarter] - ar[i + quarter];
                zr[i] = sum_r + odd_r;
                zi[i] = sum_i + odd_i;
                double ur = less_r + turn_r, ui = less_i + turn_i;
                zr[i + step] = ur * c1 - ui * d1;
                zi[i + step] = ur * d1 + ui * c1;
                double vr = sum_r - odd_r, vi = sum_i - odd_i;
                zr[i + 2 * step] = vr * c2 - vi * d2;
                zi[i + 2 * step] = vr * d2 + vi * c2;
                double wr = less_r - turn_r, wi = less_i - turn_i;
                zr[i + 3 * step] = wr * c3 - wi * d3;
                zi[i + 3 * step] = wr * d3 + wi * c3;
            }
    }
}

/* The last pass, of parts of length 2. */
static inline void pass_two(int64_t s, struct parts x, struct parts y)
{
    const int64_t step = s * W;
    const double *restrict ar = x.re, *restrict ai = x.im;
    double *restrict zr = y.re, *restrict zi = y.im;
#pragma omp simd
    for (int64_t i = 0; i < step; ++i) {
        zr[i] = ar[i] + ar[i + step];
        zi[i] = ai[i] + ai[i + step];
        zr[i + step] = ar[i] - ar[i + step];
        zi[i + step] = ai[i] - ai[i + step];
    }
}

/* All passes; the result is in what is returned, one of the two. */
static inline struct parts transform(const struct ft_transform *t, struct parts x, struct parts y)
{
    const double *roots = t->roots;
    int64_t m = t->n, s = 1;
    for (; m >= 4; m /= 4, s *= 4) {
        pass_four(m, s, x, y, roots);
        roots += m / 4 * ROOTS;
        struct parts last = x;
        x = y;
        y = last;
    }
    if (m == 2) {
        pass_two(s, x, y);
        return y;
    }
    return x;
}

static inline struct parts exchanged(struct parts p, bool inverse)
{
    return inverse ? (struct parts){p.im, p.re} : p;
}

/* W neighbours of one line, to and from point j of W lines across. */
static inline void take(const double *restrict from, struct parts p, int64_t j, double factor,
                        const double *restrict factors)
{
    double *restrict re = p.re + j * W, *restrict im = p.im + j * W;
#pragma omp simd
    for (int64_t i = 0; i < W; ++i) {
        double f = factors ? factor * factors[i] : 1;
        re[i] = from[2 * i] * f;
        im[i] = from[2 * i + 1] * f;
    }
}

static inline void give(struct parts p, int64_t j, double *restrict to)
{
    const double *restrict re = p.re + j * W, *restrict im = p.im + j * W;
#pragma omp simd
    for (int64_t i = 0; i < W; ++i) {
        to[2 * i] = re[i];
        to[2 * i + 1] = im[i];
    }
}

static inline double *line_of(const struct ft_sweep *s, int64_t y, int64_t z)
{
    return s->from + 2 * (s->line_at[y] + z * s->line_step[y]);
}

/* Along x: W whole lines. */
static inline void lines_along_x(const struct ft_sweep *s, int64_t z, struct parts a, struct parts b)
{
    const int64_t n = s->n[FT_X];
    for (int64_t y = 0; y < s->n[FT_Y]; y += W) {
        double *line[W];
        struct parts in = exchanged(a, s->inverse);
        for (int64_t l = 0; l < W; ++l)
            line[l] = line_of(s, y + l, z);
        for (int64_t x = 0; x < n; ++x)
            for (int64_t l = 0; l < W; ++l) {
                in.re[x * W + l] = line[l][2 * x];
                in.im[x * W + l] = line[l][2 * x + 1];
            }
        struct parts out = exchanged(transform(&s->transform[FT_X], a, b), s->inverse);
        for (int64_t x = 0; x < n; ++x)
            for (int64_t l = 0; l < W; ++l) {
                line[l][2 * x] = out.re[x * W + l];
                line[l][2 * x + 1] = out.im[x * W + l];
            }
    }
}

static inline void lines_along_y(const struct ft_sweep *s, int64_t z, struct parts a, struct parts b)
{
    const int64_t n = s->n[FT_Y];
    for (int64_t x = 0; x < s->n[FT_X]; x += W) {
        struct parts in = exchanged(a, s->inverse);
        for (int64_t y = 0; y < n; ++y)
            take(line_of(s, y, z) + 2 * x, in, y, 1, NULL);
        struct parts out = exchanged(transform(&s->transform[FT_Y], a, b), s->inverse);
        for (int64_t y = 0; y < n; ++y)
            give(out, y, line_of(s, y, z) + 2 * x);
    }
}

HOT void ft_planes(const struct ft_sweep *s, int64_t from, int64_t to, double *scratch)
{
    const int64_t nx = s->n[FT_X], ny = s->n[FT_Y];
    for (int64_t z = from; z < to; ++z) {
        lines_along_x(s, z, scratch_parts(scratch, nx, 0), scratch_parts(scratch, nx, 1));
        lines_along_y(s, z, scratch_parts(scratch, ny, 0), scratch_parts(scratch, ny, 1));
    }
}

HOT void ft_depths(const struct ft_sweep *s, int64_t from, int64_t to, double *scratch)
{
    const int64_t nx = s->n[FT_X], n = s->n[FT_Z], plane = 2 * nx * s->n[FT_Y];
    struct parts a = scratch_parts(scratch, n, 0), b = scratch_parts(scratch, n, 1);
    struct parts in = exchanged(a, s->inverse);
    for (int64_t y = from; y < to; ++y)
        for (int64_t x = 0; x < nx; x += W) {
            const double *read = s->from + 2 * (x + nx * y);
            double *write = s->to + 2 * (x + nx * y);
            if (s->decay[FT_X])
                for (int64_t z = 0; z < n; ++z)
                    take(read + z * plane, in, z, s->decay[FT_Y][y] * s->decay[FT_Z][z], s->decay[FT_X] + x);
            else
                for (int64_t z = 0; z < n; ++z)
                    take(read + z * plane, in, z, 1, NULL);
            struct parts out = exchanged(transform(&s->transform[FT_Z], a, b), s->inverse);
            for (int64_t z = 0; z < n; ++z)
                give(out, z, write + z * plane);
        }
}
