/* The right-hand side: RNR-94-007, chapter 3. Along each axis the same: central differences
 * of the fluxes of mass, momentum and energy, second differences of velocities, energies and (with d) of the
 * unknowns, fourth differences of the unknowns against oscillations. The axis only says which momentum is the
 * normal one.
 *
 * Planes are passed in the order of z, in strips of rows. What fluxes need beside the unknowns (velocities,
 * pressure, ...) is derived once for a strip of three planes, which stay in the cache. */
#include "kernels/npb/cfd.h"

#include "base/hot.h"

/* For a point, in rows as the unknowns are: velocities, pressure, kinetic and total energy of a unit of mass.
 */
enum { VX, VY, VZ, PRESSURE, KINETIC, TOTAL, DERIVED };
enum { STRIP = 16, PLANES = 3 };

/* Weights of the differences along an axis. */
struct weights {
    double flux;   /* of the difference of fluxes, 1 / 2h */
    double second; /* of the second difference of unknowns, d / h^2 */
    double viscous, normal, kinetic, square, heat;
};

static struct weights weights_of(const struct cfd *c, int axis)
{
    double cells = c->problem.points - 1, k = CFD_VISCOSITY * cells * cells;
    return (struct weights){
        .flux = 0.5 * cells,
        .second = cfd_second[axis] * cells * cells,
        .viscous = k,
        .normal = CFD_NORMAL * k,
        .kinetic = (1 - CFD_PRANDTL) * k,
        .square = k / 6,
        .heat = CFD_PRANDTL * k,
    };
}

/* Rows of a plane; `u` and `w` are at the first number of the first row, with its halo. */
HOT static void derive(const double *restrict u, double *restrict w, int64_t rows, ptrdiff_t width)
{
    for (int64_t j = 0; j < rows; ++j, u += CFD_UNKNOWNS * width, w += DERIVED * width) {
#pragma omp simd
        for (ptrdiff_t i = 0; i < width; ++i) {
            double one = 1 / u[i], mx = u[i + MX * width], my = u[i + MY * width], mz = u[i + MZ * width];
            double energy = u[i + ENERGY * width];
            double kinetic = 0.5 * (mx * mx + my * my + mz * mz) * one;
            w[i + VX * width] = mx * one;
            w[i + VY * width] = my * one;
            w[i + VZ * width] = mz * one;
            w[i + PRESSURE * width] = CFD_C2 * (energy - kinetic);
            w[i + KINETIC * width] = kinetic * one;
            w[i + TOTAL * width] = energy * one;
        }
    }
}

/* A row of points along x and what its neighbours along an axis are: `step` away are those of u, `low` and
 * `high` have the derived ones beside `w`. */
struct row {
    const double *u, *w, *low, *high, *damping;
    const double *from;            /* what the differences are added to, */
    double *r;                     /* which gives this, */
    const double *by;              /* times that, along the last axis */
    ptrdiff_t step, width, points; /* numbers of a row; points to do, full vectors */
    ptrdiff_t damping_row;         /* from a weight of the fourth difference to the next */
};

CFD_PIECE double second_difference(double low, double here, double high)
{
    return low - 2 * here + high;
}

/* Adds the differences along one axis. `along`: how far the weights of the fourth difference move with
 * i, 1 along x and else 0. */
CFD_PIECE void add_axis(const struct row *row, const struct weights *k, int normal, ptrdiff_t along)
{
    const ptrdiff_t width = row->width, step = row->step, n = row->points, gap = row->damping_row;
    const int first = normal == 0 ? 1 : 0, second = normal == 2 ? 1 : 2; /* the other two */
    const double *restrict u = row->u, *restrict w = row->w, *restrict low = row->low;
    const double *restrict high = row->high, *restrict d = row->damping;
    const double *from = row->from, *by = row->by;
    double *r = row->r;
    const ptrdiff_t vn = (VX + normal) * width, va = (VX + first) * width, vb = (VX + second) * width;
    const ptrdiff_t mn = (MX + normal) * width, ma = (MX + first) * width, mb = (MX + second) * width;
    const ptrdiff_t p = PRESSURE * width, q = KINETIC * width, e = TOTAL * width, en = ENERGY * width;
#pragma omp simd
    for (ptrdiff_t i = 0; i < n; ++i) {
        double v_low = low[i + vn], v = w[i + vn], v_high = high[i + vn];
        double d0 = d[along * i], d1 = d[along * i + gap], d2 = d[along * i + 2 * gap];
        double d3 = d[along * i + 3 * gap], d4 = d[along * i + 4 * gap];
        const double *below = u + i - step, *here = u + i, *above = u + i + step;
        const double *far_below = u + i - 2 * step, *far_above = u + i + 2 * step;
        double times = normal == CFD_Z ? by[i] : 1;
#define DAMPED(m)                                                                                            \
    (k->second * second_difference(below[m], here[m], above[m]) -                                            \
     (d0 * far_below[m] + d1 * below[m] + d2 * here[m] + d3 * above[m] + d4 * far_above[m]))
        r[i] = times * (from[i] + DAMPED(0) - k->flux * (above[mn] - below[mn]));
        r[i + mn] = times * (from[i + mn] + DAMPED(mn) + k->normal * second_difference(v_low, v, v_high) -
                             k->flux * (above[mn] * v_high + high[i + p] - below[mn] * v_low - low[i + p]));
        r[i + ma] = times * (from[i + ma] + DAMPED(ma) +
                             k->viscous * second_difference(low[i + va], w[i + va], high[i + va]) -
                             k->flux * (above[ma] * v_high - below[ma] * v_low));
        r[i + mb] = times * (from[i + mb] + DAMPED(mb) +
                             k->viscous * second_difference(low[i + vb], w[i + vb], high[i + vb]) -
                             k->flux * (above[mb] * v_high - below[mb] * v_low));
        r[i + en] =
            times *
            (from[i + en] + DAMPED(en) + k->kinetic * second_difference(low[i + q], w[i + q], high[i + q]) +
             k->square * second_difference(v_low * v_low, v * v, v_high * v_high) +
             k->heat * second_difference(low[i + e], w[i + e], high[i + e]) -
             k->flux * ((above[en] + high[i + p]) * v_high - (below[en] + low[i + p]) * v_low));
#undef DAMPED
    }
}

HOT static void add_x(const struct row *row, const struct weights *k)
{
    add_axis(row, k, 0, 1);
}

HOT static void add_y(const struct row *row, const struct weights *k)
{
    add_axis(row, k, 1, 0);
}

HOT static void add_z(const struct row *row, const struct weights *k)
{
    add_axis(row, k, 2, 0);
}

size_t cfd_derived_each(const struct cfd *c)
{
    return (size_t)(PLANES * (STRIP + 2) * DERIVED * c->unknown);
}

/* A strip of rows and the row beside it on each side, of a plane. */
struct strip {
    int64_t row, rows;
    double *derived[PLANES]; /* of plane z at z modulo their number */
};

static double *strip_plane(const struct strip *s, int64_t z)
{
    return s->derived[(z + PLANES) % PLANES];
}

static void derive_plane(const struct cfd *c, const struct strip *s, int64_t z)
{
    derive(c->f.u + cfd_at(c, -CFD_LEFT, s->row - 1, z), strip_plane(s, z), s->rows + 2, c->unknown);
}

static void add_row(const struct cfd *c, const struct strip *s, const struct weights k[CFD_AXES], int64_t y,
                    int64_t z)
{
    const ptrdiff_t line = DERIVED * c->unknown, in = (y - s->row + 1) * line + CFD_LEFT;
    const double *w = strip_plane(s, z) + in;
    const ptrdiff_t at = cfd_at(c, 0, y, z), points = cfd_round(c->count[CFD_X]);
    const ptrdiff_t gap_y = cfd_round(c->count[CFD_Y]), gap_z = cfd_round(c->count[CFD_Z]);
    struct row row = {.u = c->f.u + at,
                      .w = w,
                      .r = c->f.rhs + at,
                      .width = c->unknown,
                      .points = points,
                      .by = c->dt_inside};
    row.from = c->f.forcing + at;
    row.low = w - 1, row.high = w + 1, row.step = 1;
    row.damping = c->damping[CFD_X], row.damping_row = points;
    add_x(&row, &k[CFD_X]);

    row.from = row.r;
    row.low = w - line, row.high = w + line, row.step = c->step[CFD_Y];
    row.damping = c->damping[CFD_Y] + y, row.damping_row = gap_y;
    add_y(&row, &k[CFD_Y]);

    row.low = strip_plane(s, z - 1) + in, row.high = strip_plane(s, z + 1) + in, row.step = c->step[CFD_Z];
    row.damping = c->damping[CFD_Z] + z, row.damping_row = gap_z;
    add_z(&row, &k[CFD_Z]);
}

/* The planes of one thread. */
static void add_planes(const struct cfd *c, const struct weights k[CFD_AXES], double *derived,
                       struct share planes)
{
    struct strip s = {0};
    for (int i = 0; i < PLANES; ++i)
        s.derived[i] = derived + i * (STRIP + 2) * DERIVED * c->unknown;
    for (; s.row < c->count[CFD_Y] && planes.count > 0; s.row += STRIP) {
        int64_t left = c->count[CFD_Y] - s.row;
        s.rows = left < STRIP ? left : STRIP;
        derive_plane(c, &s, planes.first - 1);
        derive_plane(c, &s, planes.first);
        for (int64_t z = planes.first; z < planes.first + planes.count; ++z) {
            derive_plane(c, &s, z + 1);
            for (int64_t y = s.row; y < s.row + s.rows; ++y)
                add_row(c, &s, k, y, z);
        }
    }
}

void cfd_rhs(struct cfd *c)
{
    const struct weights k[CFD_AXES] = {weights_of(c, CFD_X), weights_of(c, CFD_Y), weights_of(c, CFD_Z)};
    int threads = c->env->threads;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; ++t)
        add_planes(c, k, c->derived + (size_t)t * c->derived_each, share_of(c->count[CFD_Z], threads, t));
}
