/* The right-hand side, that of BT and SP: RNR-94-007, chapter 3. Along each axis central differences of the
 * fluxes of mass, momentum and energy, second differences of velocities and energies (viscosity, heat) and of
 * the unknowns, and fourth differences of the unknowns against oscillations.
 *
 * Diagonals are passed in strips, of each its planes in the order of z: what fluxes need beside the unknowns
 * (velocities, pressure, ...) is derived once for a strip of three planes, which stay in the cache.
 *
 * Beside a wall the fourth difference has fewer points. Among those that it leaves out, and of all on walls,
 * values never change: what they would add is in the forcing too and cancels. What remains is the weight of
 * the point beside the wall itself, 5 in place of 6. */
#include "kernels/npb/lu.h"

#include "base/hot.h"

/* For a point, in rows as the unknowns are: velocities, pressure, and what conducts: kinetic and total energy
 * of a unit of mass, weighed. */
enum { VX, VY, VZ, PRESSURE, HEAT, DERIVED };
enum { STRIP = 16, PLANES = 3 };

/* Weights of the differences. */
struct weights {
    double flux;                 /* 1 / 2h */
    double near_xy, near_z, far; /* of the unknowns of neighbours: second and fourth differences */
    double centre, beside;       /* of the point's own; what a wall beside it takes from that */
    double viscous, normal, square, velocity;
};

static struct weights weigh(const struct lu *lu)
{
    const double cells = lu->problem.points - 1, second = cells * cells, k = CFD_VISCOSITY * second;
    const double fourth = 4 * CFD_DISSIPATION;
    return (struct weights){
        .flux = 0.5 * cells,
        .near_xy = cfd_second[CFD_X] * second + fourth,
        .near_z = cfd_second[CFD_Z] * second + fourth,
        .far = CFD_DISSIPATION,
        .centre = 2 * second * (cfd_second[CFD_X] + cfd_second[CFD_Y] + cfd_second[CFD_Z]) +
                  6 * CFD_AXES * CFD_DISSIPATION,
        .beside = CFD_DISSIPATION,
        .viscous = k,
        .normal = CFD_NORMAL * k,
        .square = k / 6,
        .velocity = 2 * (CFD_NORMAL + 2) * k,
    };
}

/* Numbers `from` to `to` of a diagonal. */
HOT static void derive(const double *restrict u, double *restrict w, int64_t from, int64_t to,
                       ptrdiff_t width)
{
#pragma omp simd
    for (ptrdiff_t i = from; i < to; ++i) {
        double one = 1 / u[i], energy = u[i + ENERGY * width];
        double x = u[i + MX * width] * one, y = u[i + MY * width] * one, z = u[i + MZ * width] * one;
        double kinetic = 0.5 * (x * x + y * y + z * z);
        w[i + VX * width] = x;
        w[i + VY * width] = y;
        w[i + VZ * width] = z;
        w[i + PRESSURE * width] = CFD_C2 * (energy - u[i] * kinetic);
        w[i + HEAT * width] = (1 - CFD_PRANDTL) * kinetic + CFD_PRANDTL * energy * one;
    }
}

/* A diagonal of a plane, and its neighbours along each axis. */
struct diagonal {
    const double *u, *w, *w_low, *w_high, *forcing; /* w of this plane, and of those below and above */
    double *to;
    ptrdiff_t width, x, y, z; /* from an unknown to the next; from a point to the next along an axis */
    int64_t from, end;        /* numbers */
    int64_t walls[4];         /* points beside a wall of x or y, or -1 */
    double centre, times;
};

HOT static void differ(const struct diagonal *d, const struct weights *k)
{
    const ptrdiff_t width = d->width, x = d->x, y = d->y, z = d->z;
    const double *restrict u = d->u, *restrict w = d->w, *restrict low = d->w_low, *restrict high = d->w_high;
    const double *restrict forcing = d->forcing;
    const int64_t wall0 = d->walls[0], wall1 = d->walls[1], wall2 = d->walls[2], wall3 = d->walls[3];
    const double flux = k->flux, near_xy = k->near_xy, near_z = k->near_z, far = k->far, beside = k->beside;
    const double viscous = k->viscous, normal = k->normal, velocity = k->velocity, square = k->square;
    const double all = d->centre, times = d->times;
    double *restrict to = d->to;
    const ptrdiff_t vx = VX * width, vy = VY * width, vz = VZ * width, p = PRESSURE * width, h = HEAT * width;
    const ptrdiff_t mx = MX * width, my = MY * width, mz = MZ * width, e = ENERGY * width;
#pragma omp simd
    for (int64_t i = d->from; i < d->end; ++i) {
        const double *c = u + i, *wx0 = w + i - x, *wx1 = w + i + x, *wy0 = w + i - y, *wy1 = w + i + y;
        const double *wz0 = low + i, *wz1 = high + i, *wc = w + i;
        const double centre = all - (i == wall0 ? beside : 0) - (i == wall1 ? beside : 0) -
                              (i == wall2 ? beside : 0) - (i == wall3 ? beside : 0);
#define DIFFUSED(m)                                                                                          \
    (near_xy * (c[(m) - x] + c[(m) + x] + c[(m) - y] + c[(m) + y]) + near_z * (c[(m) - z] + c[(m) + z]) -    \
     far * (c[(m) - 2 * x] + c[(m) + 2 * x] + c[(m) - 2 * y] + c[(m) + 2 * y] + c[(m) - 2 * z] +             \
            c[(m) + 2 * z]) -                                                                                \
     centre * c[m])
#define CARRIED(m)                                                                                           \
    (c[(m) + x] * wx1[vx] - c[(m) - x] * wx0[vx] + c[(m) + y] * wy1[vy] - c[(m) - y] * wy0[vy] +             \
     c[(m) + z] * wz1[vz] - c[(m) - z] * wz0[vz])
#define SHEARED(v, along_x, along_y, along_z)                                                                \
    ((along_x) * (wx0[v] + wx1[v]) + (along_y) * (wy0[v] + wy1[v]) + (along_z) * (wz0[v] + wz1[v]) -         \
     velocity * wc[v])
#define SQUARES(v, w0, w1) (w0[v] * w0[v] + w1[v] * w1[v] - 2 * wc[v] * wc[v])
        double rho =
            DIFFUSED(0) - flux * (c[mx + x] - c[mx - x] + c[my + y] - c[my - y] + c[mz + z] - c[mz - z]);
        double along_x =
            DIFFUSED(mx) + SHEARED(vx, normal, viscous, viscous) - flux * (CARRIED(mx) + wx1[p] - wx0[p]);
        double along_y =
            DIFFUSED(my) + SHEARED(vy, viscous, normal, viscous) - flux * (CARRIED(my) + wy1[p] - wy0[p]);
        double along_z =
            DIFFUSED(mz) + SHEARED(vz, viscous, viscous, normal) - flux * (CARRIED(mz) + wz1[p] - wz0[p]);
        double energy =
            DIFFUSED(e) +
            viscous * (wx0[h] + wx1[h] + wy0[h] + wy1[h] + wz0[h] + wz1[h] - 2 * CFD_AXES * wc[h]) +
            square * (SQUARES(vx, wx0, wx1) + SQUARES(vy, wy0, wy1) + SQUARES(vz, wz0, wz1)) -
            flux * (CARRIED(e) + wx1[p] * wx1[vx] - wx0[p] * wx0[vx] + wy1[p] * wy1[vy] - wy0[p] * wy0[vy] +
                    wz1[p] * wz1[vz] - wz0[p] * wz0[vz]);
        to[i] = times * (rho - forcing[i]);
        to[i + mx] = times * (along_x - forcing[i + mx]);
        to[i + my] = times * (along_y - forcing[i + my]);
        to[i + mz] = times * (along_z - forcing[i + mz]);
        to[i + e] = times * (energy - forcing[i + e]);
#undef DIFFUSED
#undef CARRIED
#undef SHEARED
#undef SQUARES
    }
}

/* ---- strips -------------------------------------------------------------------------------------------- */

size_t lu_derived_each(const struct lu *lu)
{
    return (size_t)(PLANES * (STRIP + 2) * lu->row);
}

/* Diagonals `first` and so on, and one more on each side. */
struct strip {
    int64_t first, count;
    double *derived[PLANES]; /* of plane z at z modulo their number; of diagonal first - 1, at y = 0 */
};

static double *strip_plane(const struct strip *s, int64_t z)
{
    return s->derived[(z + PLANES) % PLANES];
}

static int64_t floor_lanes(int64_t y)
{
    return (y + LU_LEFT) / LU_LANES * LU_LANES - LU_LEFT; /* of one that may be negative */
}

static void derive_plane(const struct lu *lu, const struct strip *s, int64_t z)
{
    const int64_t x = lu->count[CFD_X], y = lu->count[CFD_Y];
    for (int64_t i = 0; i < s->count + 2; ++i) {
        int64_t d = s->first - 1 + i;
        /* one point more than the box on each side: x from -1, width x + 2 */
        const struct lu_range points = lu_diagonal(d + 1, x + 2, -1, y + 1);
        derive(lu->u + lu_at(lu, d, 0, z), strip_plane(s, z) + i * lu->row, floor_lanes(points.first),
               floor_lanes(points.last) + LU_LANES, lu->unknown);
    }
}

static void differ_plane(const struct lu *lu, const struct weights *k, const struct strip *s, int64_t z,
                         double *to, double times)
{
    const int64_t x = lu->count[CFD_X], y = lu->count[CFD_Y], last = lu->problem.points - 2;
    const bool wall_x0 = lu->first[CFD_X] == 1, wall_x1 = lu->first[CFD_X] + x - 1 == last;
    const bool wall_y0 = lu->first[CFD_Y] == 1, wall_y1 = lu->first[CFD_Y] + y - 1 == last;
    struct diagonal row = {.width = lu->unknown,
                           .x = lu->row,
                           .y = lu->row + 1,
                           .z = lu->plane,
                           .centre = k->centre,
                           .times = times};
    row.centre -= (z == 0 ? k->beside : 0) + (z == lu->count[CFD_Z] - 1 ? k->beside : 0);
    for (int64_t i = 0; i < s->count; ++i) {
        const int64_t d = s->first + i;
        const struct lu_range points = lu_diagonal(d, x, 0, y);
        const ptrdiff_t at = lu_at(lu, d, 0, z), in = (i + 1) * lu->row;
        row.u = lu->u + at, row.forcing = lu->forcing + at, row.to = to + at;
        row.w = strip_plane(s, z) + in;
        row.w_low = strip_plane(s, z - 1) + in, row.w_high = strip_plane(s, z + 1) + in;
        row.from = floor_lanes(points.first), row.end = floor_lanes(points.last) + LU_LANES;
        row.walls[0] = wall_x0 ? d : -1, row.walls[1] = wall_x1 ? d - x + 1 : -1;
        row.walls[2] = wall_y0 ? 0 : -1, row.walls[3] = wall_y1 ? y - 1 : -1;
        differ(&row, k);
    }
}

/* The planes of one thread. */
static void differ_planes(const struct lu *lu, int thread, double *to, double times)
{
    const struct weights k = weigh(lu);
    const struct share planes = share_of(lu->count[CFD_Z], lu->env->threads, thread);
    const int64_t diagonals = lu->count[CFD_X] + lu->count[CFD_Y] - 1;
    struct strip s = {0};
    for (int i = 0; i < PLANES; ++i)
        s.derived[i] = lu->derived + (size_t)thread * lu->derived_each + i * (STRIP + 2) * lu->row + LU_LEFT;
    for (; s.first < diagonals && planes.count > 0; s.first += STRIP) {
        s.count = diagonals - s.first < STRIP ? diagonals - s.first : STRIP;
        derive_plane(lu, &s, planes.first - 1);
        derive_plane(lu, &s, planes.first);
        for (int64_t z = planes.first; z < planes.first + planes.count; ++z) {
            derive_plane(lu, &s, z + 1);
            differ_plane(lu, &k, &s, z, to, times);
        }
    }
}

void lu_rhs(struct lu *lu, double *to, double times)
{
    const int threads = lu->env->threads;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int t = 0; t < threads; ++t)
        differ_planes(lu, t, to, times);
}
