/* The triangular systems: lu.c's blocks D, Y and Z, with w = 1.2.
 *
 * A block off the diagonal is -+ dt/2h F - dt/h^2 (V + d I), with F and V the Jacobians of the convective and
 * the viscous flux at the neighbour: so it is the neighbour that multiplies it with its own unknowns and
 * passes the product on. Its terms are those of the fluxes' derivative along a vector, and that is how the
 * product is formed, without the block: of velocities and energy (from U) and their changes (from V). The
 * diagonal block I + 2 dt/h^2 (V + d I), the sum over all axes, is lower triangular in density, momentum,
 * energy.
 *
 * Ranks and the lanes of threads work on planes in turn; what one has passed on along x and y is a message
 * to the next. */
#include "kernels/npb/lu.h"

#include "base/hot.h"

#include <string.h>

static const double OVER = 1.2; /* w */

/* For all blocks: dt and w are in them. */
struct blocks {
    double flux;                                  /* w dt / 2h, with the sign of the sweep */
    double diffuse[CFD_AXES];                     /* w dt/h^2 d */
    double shear, stretch;                        /* w dt/h^2 of velocities across and (as an excess) along */
    double work, heat;                            /* the same of energy: by velocities, by energy */
    double own, own_velocity, own_work, own_heat; /* the diagonal block, without w */
    double step;                                  /* 1 / (w (2 - w)) */
};

static struct blocks make_blocks(const struct lu *lu, double sign)
{
    const double cells = lu->problem.points - 1, dt = lu->problem.dt, second = dt * cells * cells;
    const double k = CFD_VISCOSITY, normal = CFD_NORMAL * k, heat = CFD_PRANDTL * k;
    struct blocks b = {
        .flux = sign * OVER * 0.5 * dt * cells,
        .shear = OVER * second * k,
        .stretch = OVER * second * (normal - k),
        .work = OVER * second * (k - heat),
        .heat = OVER * second * heat,
        .own = 1 + 2 * second * (cfd_second[CFD_X] + cfd_second[CFD_Y] + cfd_second[CFD_Z]),
        .own_velocity = 2 * second * (normal + 2 * k),
        .own_work = 2 * second * (normal - k + 3 * (k - heat)),
        .own_heat = 2 * second * 3 * heat,
        .step = 1 / (OVER * (2 - OVER)),
    };
    for (int d = 0; d < CFD_AXES; ++d)
        b.diffuse[d] = OVER * second * cfd_second[d];
    return b;
}

/* A lane's part of a plane; pointers are to its point 0 0, or to diagonal 0 at y = 0. */
struct part {
    double *u, *rhs, *z;
    double *x, *y_from, *y_to, *in; /* passed on: y at the lane's edges, [x][unknown]; within it, two rows */
    ptrdiff_t unknown, row, x_unknown, in_unknown;
    int64_t width, low, high; /* points along x; y */
};

/* ---- a point ------------------------------------------------------------------------------------------- */

struct five {
    double r, x, y, z, e;
};

CFD_PIECE struct five load(const double *from, ptrdiff_t unknown)
{
    return (struct five){from[0], from[unknown], from[2 * unknown], from[3 * unknown], from[4 * unknown]};
}

CFD_PIECE void store(double *to, ptrdiff_t unknown, struct five v)
{
    to[0] = v.r;
    to[unknown] = v.x;
    to[2 * unknown] = v.y;
    to[3 * unknown] = v.z;
    to[4 * unknown] = v.e;
}

CFD_PIECE struct five add(struct five a, struct five b)
{
    return (struct five){a.r + b.r, a.x + b.x, a.y + b.y, a.z + b.z, a.e + b.e};
}

/* a + k b */
CFD_PIECE struct five add_times(struct five a, double k, struct five b)
{
    return (struct five){a.r + k * b.r, a.x + k * b.x, a.y + k * b.y, a.z + k * b.z, a.e + k * b.e};
}

CFD_PIECE struct five where(bool in, struct five a, struct five b)
{
    return (struct five){in ? a.r : b.r, in ? a.x : b.x, in ? a.y : b.y, in ? a.z : b.z, in ? a.e : b.e};
}

/* For a unit of mass: velocities and total energy. */
struct gas {
    double one, x, y, z, e;
};

CFD_PIECE struct gas gas_of(struct five u)
{
    double one = 1 / u.r;
    return (struct gas){one, u.x * one, u.y * one, u.z * one, u.e * one};
}

/* D^-1 v. */
CFD_PIECE struct five divide(const struct blocks *b, struct five u, struct gas g, struct five v)
{
    double moved = 1 / (b->own * u.r + b->own_velocity), heated = 1 / (b->own * u.r + b->own_heat);
    struct five s;
    s.r = v.r * (1 / b->own);
    s.x = (u.r * v.x + b->own_velocity * g.x * s.r) * moved;
    s.y = (u.r * v.y + b->own_velocity * g.y * s.r) * moved;
    s.z = (u.r * v.z + b->own_velocity * g.z * s.r) * moved;
    double work = g.x * (s.x - g.x * s.r) + g.y * (s.y - g.y * s.r) + g.z * (s.z - g.z * s.r);
    s.e = (u.r * v.e - b->own_work * work + b->own_heat * g.e * s.r) * heated;
    return s;
}

/* What a point passes on along each axis. */
struct passed {
    struct five x, y, z;
};

CFD_PIECE struct passed pass_on(const struct blocks *b, struct gas g, struct five v)
{
    /* changes of velocities and energy, times density; of the pressure */
    const double dx = v.x - g.x * v.r, dy = v.y - g.y * v.r, dz = v.z - g.z * v.r, de = v.e - g.e * v.r;
    const double half = 0.5 * (g.x * g.x + g.y * g.y + g.z * g.z);
    const double dp = CFD_C2 * (v.e - (g.x * v.x + g.y * v.y + g.z * v.z) + half * v.r);
    const double enthalpy = g.e + CFD_C2 * (g.e - half), both = v.e + dp;
    const double f = b->flux, shear = b->shear * g.one, stretch = b->stretch * g.one;
    const double energy = g.one * (b->work * (g.x * dx + g.y * dy + g.z * dz) + b->heat * de);
    const double k = b->diffuse[CFD_X], l = b->diffuse[CFD_Z];
    /* what is diffused is the same along x and y */
    const struct five xy = {k * v.r, k * v.x + shear * dx, k * v.y + shear * dy, k * v.z + shear * dz,
                            k * v.e + energy};
    const struct five z = {l * v.r, l * v.x + shear * dx, l * v.y + shear * dy, l * v.z + shear * dz,
                           l * v.e + energy};
    return (struct passed){
        {f * v.x - xy.r, f * (g.x * (v.x + dx) + dp) - xy.x - stretch * dx, f * (g.x * v.y + g.y * dx) - xy.y,
         f * (g.x * v.z + g.z * dx) - xy.z, f * (g.x * both + enthalpy * dx) - xy.e - stretch * g.x * dx},
        {f * v.y - xy.r, f * (g.y * v.x + g.x * dy) - xy.x, f * (g.y * (v.y + dy) + dp) - xy.y - stretch * dy,
         f * (g.y * v.z + g.z * dy) - xy.z, f * (g.y * both + enthalpy * dy) - xy.e - stretch * g.y * dy},
        {f * v.z - z.r, f * (g.z * v.x + g.x * dz) - z.x, f * (g.z * v.y + g.y * dz) - z.y,
         f * (g.z * (v.z + dz) + dp) - z.z - stretch * dz,
         f * (g.z * both + enthalpy * dz) - z.e - stretch * g.z * dz},
    };
}

/* ---- a plane ------------------------------------------------------------------------------------------- */

/* Diagonal d of a part; `back` is a constant at each call. Numbers that are not points of it get nothing and
 * pass nothing on. */
CFD_PIECE void sweep_diagonal(const struct part *p, const struct blocks *blocks, int64_t d, bool back)
{
    const struct lu_range points = lu_diagonal(d, p->width, p->low, p->high);
    const int64_t from = points.first / LU_LANES * LU_LANES, first = points.first, last = points.last;
    const int64_t end = (last + LU_LANES) / LU_LANES * LU_LANES;
    const ptrdiff_t w = p->unknown, xw = p->x_unknown, yw = p->in_unknown, next = back ? 1 : -1;
    const struct blocks b = *blocks;
    const struct five none = {0};
    double *restrict u = p->u + d * p->row, *restrict rhs = p->rhs + d * p->row;
    double *restrict z = p->z + d * p->row, *restrict x = p->x;
    double *restrict y_new = p->in + (d & 1) * LU_N * yw, *restrict y_old = p->in + (~d & 1) * LU_N * yw;
#pragma omp simd
    for (int64_t i = from; i < end; ++i) {
        const bool in = i >= first && i <= last;
        struct five state = load(u + i, w), right = load(rhs + i, w), before = load(x + i, xw);
        struct five sum = add(add(before, load(y_old + i + next, yw)), load(z + i, w));
        struct gas gas = gas_of(state);
        struct five v;
        if (back) {
            v = add_times(right, -1, divide(&b, state, gas, sum));
            v = where(in, v, none);
            store(u + i, w, add_times(state, b.step, v));
        } else {
            v = divide(&b, state, gas, add_times(right, -1, sum));
            v = where(in, v, none);
            store(rhs + i, w, v);
        }
        struct passed passed = pass_on(&b, gas, v);
        store(x + i, xw, where(in, passed.x, before));
        store(y_new + i, yw, passed.y);
        store(z + i, w, passed.z);
    }
}

static void copy_five(double *to, ptrdiff_t to_step, const double *from, ptrdiff_t from_step)
{
    for (int m = 0; m < LU_N; ++m)
        to[m * to_step] = from[m * from_step];
}

/* What comes along y from before the lane is put beside diagonal d, and what leaves it is taken. */
CFD_PIECE void enter(const struct part *p, int64_t d, int64_t y, ptrdiff_t next)
{
    if (d - y >= 0 && d - y < p->width)
        copy_five(p->in + (~d & 1) * LU_N * p->in_unknown + y + next, p->in_unknown,
                  p->y_from + (d - y) * LU_N, 1);
}

CFD_PIECE void leave(const struct part *p, int64_t d, int64_t y)
{
    if (d - y >= 0 && d - y < p->width)
        copy_five(p->y_to + (d - y) * LU_N, 1, p->in + (d & 1) * LU_N * p->in_unknown + y, p->in_unknown);
}

HOT static void sweep_forth(const struct part *p, const struct blocks *b)
{
    for (int64_t d = p->low; d < p->high + p->width - 1; ++d) {
        enter(p, d, p->low, -1);
        sweep_diagonal(p, b, d, false);
        leave(p, d, p->high - 1);
    }
}

HOT static void sweep_back(const struct part *p, const struct blocks *b)
{
    for (int64_t d = p->high + p->width - 2; d >= p->low; --d) {
        enter(p, d, p->high - 1, 1);
        sweep_diagonal(p, b, d, true);
        leave(p, d, p->low);
    }
}

/* ---- all planes ---------------------------------------------------------------------------------------- */

enum { TAG_X, TAG_Y };

/* One of the two sweeps. */
struct sweep {
    bool back;
    int phase;
    int x_from, x_to, y_from, y_to; /* ranks */
    struct blocks blocks;
};

static struct sweep make_sweep(const struct lu *lu, bool back)
{
    const int way = back ? -1 : 1;
    return (struct sweep){
        .back = back,
        .phase = back ? LU_PHASE_UPPER : LU_PHASE_LOWER,
        .x_from = lu_rank(lu, -way, 0),
        .x_to = lu_rank(lu, way, 0),
        .y_from = lu_rank(lu, 0, -way),
        .y_to = lu_rank(lu, 0, way),
        .blocks = make_blocks(lu, -way),
    };
}

static int64_t chunks(const struct lu *lu)
{
    return (lu->count[CFD_Z] + lu->chunk - 1) / lu->chunk;
}

/* Planes of the chunk that a sweep does as number c. */
static struct share chunk_planes(const struct lu *lu, const struct sweep *s, int64_t c)
{
    int64_t first = (s->back ? chunks(lu) - 1 - c : c) * lu->chunk, left = lu->count[CFD_Z] - first;
    return (struct share){first, left < lu->chunk ? left : lu->chunk};
}

/* Lanes' edges along y: before the lane, and after the last one. */
static double *edge(const struct lu *lu, int lane, int64_t z)
{
    return lu->pass_y + lane * lu->y_lane + z * lu->y_plane;
}

static void sweep_lane(const struct lu *lu, const struct sweep *s, int lane, int64_t c)
{
    if (c < 0 || c >= chunks(lu))
        return;
    const struct share planes = chunk_planes(lu, s, c);
    const int64_t y = lu->count[CFD_Y], lines = (y + LU_LINE - 1) / LU_LINE;
    const struct share mine = share_of(lines, lu->lanes, lane);
    struct part p = {.z = lu->pass_z + (LU_REACH * lu->row + LU_LEFT),
                     .in = lu->pass_in + lane * lu->in_lane + LU_LEFT,
                     .unknown = lu->unknown,
                     .row = lu->row,
                     .x_unknown = lu->x_unknown,
                     .in_unknown = lu->in_unknown,
                     .width = lu->count[CFD_X],
                     .low = mine.first * LU_LINE};
    p.high = (mine.first + mine.count) * LU_LINE;
    p.high = p.high < y ? p.high : y;
    for (int64_t i = 0; i < planes.count; ++i) {
        int64_t z = s->back ? planes.first + planes.count - 1 - i : planes.first + i;
        p.u = lu->u + lu_at(lu, 0, 0, z);
        p.rhs = lu->rhs + lu_at(lu, 0, 0, z);
        p.x = lu->pass_x + z * lu->x_plane;
        p.y_from = edge(lu, s->back ? lane + 1 : lane, z);
        p.y_to = edge(lu, s->back ? lane : lane + 1, z);
        (s->back ? sweep_back : sweep_forth)(&p, &s->blocks);
    }
}

/* What comes to chunk c from the ranks before; nothing comes from walls. */
static int receive(const struct lu *lu, const struct sweep *s, int64_t c)
{
    const struct share planes = chunk_planes(lu, s, c);
    const size_t x_bytes = (size_t)(planes.count * lu->x_plane) * sizeof(double);
    const size_t y_bytes = (size_t)(planes.count * lu->y_plane) * sizeof(double);
    double *x = lu->pass_x + planes.first * lu->x_plane;
    double *y = edge(lu, s->back ? lu->lanes : 0, planes.first);
    if (s->x_from < 0)
        memset(x, 0, x_bytes);
    if (s->y_from < 0)
        memset(y, 0, y_bytes);
    int err = comm_recv(&lu->env->comm, s->x_from, TAG_X, x, x_bytes);
    return err ? err : comm_recv(&lu->env->comm, s->y_from, TAG_Y, y, y_bytes);
}

static int send(const struct lu *lu, const struct sweep *s, int64_t c)
{
    const struct share planes = chunk_planes(lu, s, c);
    const size_t x_bytes = (size_t)(planes.count * lu->x_plane) * sizeof(double);
    const size_t y_bytes = (size_t)(planes.count * lu->y_plane) * sizeof(double);
    int err = comm_send(&lu->env->comm, s->x_to, TAG_X, lu->pass_x + planes.first * lu->x_plane, x_bytes);
    return err ? err
               : comm_send(&lu->env->comm, s->y_to, TAG_Y, edge(lu, s->back ? 0 : lu->lanes, planes.first),
                           y_bytes);
}

/* Lane after lane is one chunk behind. */
static void sweep_lanes(const struct lu *lu, const struct sweep *s, int64_t stage)
{
    if (lu->lanes == 1) {
        sweep_lane(lu, s, 0, stage);
        return;
    }
    const int lanes = lu->lanes;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int lane = 0; lane < lanes; ++lane)
        sweep_lane(lu, s, lane, stage - (s->back ? lanes - 1 - lane : lane));
}

static int sweep_all(const struct lu *lu, bool back)
{
    const struct sweep s = make_sweep(lu, back);
    const int64_t all = chunks(lu), late = lu->lanes - 1;
    const bool alone = lu->env->comm.size == 1;
    struct phases *phases = alone ? NULL : lu->env->phases;
    int err = 0;
    memset(lu->pass_z, 0, (size_t)lu->plane * sizeof(double));
    for (int64_t stage = 0; stage < all + late && !err; ++stage) {
        if (stage < all)
            err = receive(lu, &s, stage);
        phase_end(phases, LU_PHASE_PIPELINE);
        if (!err)
            sweep_lanes(lu, &s, stage);
        phase_end(phases, s.phase);
        if (!err && stage >= late)
            err = send(lu, &s, stage - late);
        phase_end(phases, LU_PHASE_PIPELINE);
    }
    phase_end(lu->env->phases, s.phase);
    return err;
}

int lu_sweeps(struct lu *lu)
{
    int err = sweep_all(lu, false);
    return err ? err : sweep_all(lu, true);
}
