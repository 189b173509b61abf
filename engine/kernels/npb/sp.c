/* SP: RNR-94-007, chapter 3. Each step solves scalar pentadiagonal systems along x, y and z: the blocks
 * of I - dt D are made diagonal by their eigenvectors, and the fourth difference is taken in.
 * In between, unknowns change from the eigenvectors of one axis to those of the next.
 *
 * Three of the five unknowns of a line travel with the fluid, one ahead with sound, one back: three matrices,
 * of which the first has three right-hand sides. */
#include "kernels/npb/npb.h"

#include "base/hot.h"
#include "kernels/npb/cfd_lines.h"

#include <math.h>

enum { N = CFD_UNKNOWNS, LANES = CFD_LANES };

static const struct cfd_problem problems[NPB_CLASSES] = {
    [NPB_S] = {12, 100, 0.015},    [NPB_W] = {36, 400, 0.0015},   [NPB_A] = {64, 400, 0.0015},
    [NPB_B] = {102, 400, 0.001},   [NPB_C] = {162, 400, 0.00067}, [NPB_D] = {408, 500, 0.0003},
    [NPB_E] = {1020, 500, 0.0001},
};

static const double ROOT_HALF = 0.70710678118654752440;

/* Matrices: of the fluid, of sound that goes with it and against it. */
enum { FLUID, AHEAD, AGAINST, MATRICES };

/* What is kept of a row: its two elements above the diagonal, which is 1, and right-hand sides. */
struct row {
    double near[MATRICES][LANES], far[MATRICES][LANES];
    struct cfd_vector r;
};
enum { ROW = 2 * MATRICES + N };

/* Weights of a row's elements: dt / 2h, dt / h^2, d of the second difference, and dt. */
struct weights {
    double flux, second, d, dt;
};

/* What a matrix needs to know of a point: velocity along the line, the spread (d and the largest of the
 * coefficients of viscosity and conduction), the speed of sound. */
struct wave {
    double speed[LANES], spread[LANES], sound[LANES];
};

/* ---- points -------------------------------------------------------------------------------------------- */

/* c^2 = c1 p / rho. */
CFD_PIECE double sound_squared(const struct cfd_vector *u, int l)
{
    double one = 1 / u->v[RHO][l], mx = u->v[MX][l], my = u->v[MY][l], mz = u->v[MZ][l];
    return CFD_C1 * CFD_C2 * one * (u->v[ENERGY][l] - 0.5 * one * (mx * mx + my * my + mz * mz));
}

CFD_PIECE void wave_of(const struct cfd_vector *restrict u, int normal, double d, struct wave *restrict wave)
{
    const double viscosity = CFD_VISCOSITY * (CFD_PRANDTL > CFD_NORMAL ? CFD_PRANDTL : CFD_NORMAL);
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        double one = 1 / u->v[RHO][l];
        wave->speed[l] = u->v[normal][l] * one;
        wave->spread[l] = d + viscosity * one;
        wave->sound[l] = sqrt(sound_squared(u, l));
    }
}

/* From the unknowns to the eigenvectors of x. */
CFD_PIECE void to_waves(const struct cfd_vector *restrict u, struct cfd_vector *restrict r)
{
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        double one = 1 / u->v[RHO][l], vx = u->v[MX][l] * one, vy = u->v[MY][l] * one, vz = u->v[MZ][l] * one;
        double c2 = sound_squared(u, l), c = sqrt(c2), q = 0.5 * (vx * vx + vy * vy + vz * vz);
        double r0 = r->v[0][l], r1 = r->v[1][l], r2 = r->v[2][l], r3 = r->v[3][l], r4 = r->v[4][l];
        double pressure = CFD_C2 / c2 * (q * r0 - vx * r1 - vy * r2 - vz * r3 + r4);
        double normal = ROOT_HALF * one * (vx * r0 - r1), both = ROOT_HALF * one * c * pressure;
        r->v[0][l] = r0 - pressure;
        r->v[1][l] = one * (r3 - vz * r0);
        r->v[2][l] = one * (vy * r0 - r2);
        r->v[3][l] = both - normal;
        r->v[4][l] = both + normal;
    }
}

/* From the eigenvectors of x to those of y. */
CFD_PIECE void x_to_y(struct cfd_vector *r)
{
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        double r0 = r->v[0][l], r1 = r->v[1][l], r2 = ROOT_HALF * r->v[2][l], r3 = r->v[3][l],
               r4 = r->v[4][l];
        double mean = 0.5 * (r3 + r4);
        r->v[0][l] = -r1;
        r->v[1][l] = r0;
        r->v[2][l] = ROOT_HALF * (r3 - r4);
        r->v[3][l] = mean - r2;
        r->v[4][l] = mean + r2;
    }
}

/* From those of y to those of z. */
CFD_PIECE void y_to_z(struct cfd_vector *r)
{
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        double r0 = ROOT_HALF * r->v[0][l], r1 = r->v[1][l], r2 = r->v[2][l], r3 = r->v[3][l],
               r4 = r->v[4][l];
        double mean = 0.5 * (r3 + r4);
        r->v[0][l] = ROOT_HALF * (r3 - r4);
        r->v[1][l] = -r2;
        r->v[2][l] = r1;
        r->v[3][l] = mean - r0;
        r->v[4][l] = mean + r0;
    }
}

/* From those of z to the unknowns. */
CFD_PIECE void from_waves(const struct cfd_vector *restrict u, struct cfd_vector *restrict r)
{
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        double rho = u->v[RHO][l], one = 1 / rho;
        double vx = u->v[MX][l] * one, vy = u->v[MY][l] * one, vz = u->v[MZ][l] * one;
        double c2 = sound_squared(u, l), q = 0.5 * (vx * vx + vy * vy + vz * vz);
        double r0 = rho * r->v[0][l], r1 = rho * r->v[1][l], r2 = r->v[2][l], r3 = r->v[3][l],
               r4 = r->v[4][l];
        double sound = ROOT_HALF * rho / sqrt(c2) * (r3 + r4), density = r2 + sound;
        double normal = ROOT_HALF * rho * (r3 - r4);
        r->v[0][l] = density;
        r->v[1][l] = vx * density - r1;
        r->v[2][l] = vy * density + r0;
        r->v[3][l] = vz * density + normal;
        r->v[4][l] = vy * r0 - vx * r1 + q * density + c2 / CFD_C2 * sound + vz * normal;
    }
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static struct weights weights_of(const struct cfd *c, int axis)
{
    double cells = c->problem.points - 1, dt = c->problem.dt;
    return (struct weights){0.5 * dt * cells, dt * cells * cells, cfd_second[axis], dt};
}

/* One row of all matrices; `waves` of the points before it, at it and after it; `one_up` and `two_up` are the
 * rows before it; `d`, `gap` apart, the weights of its fourth difference. */
CFD_PIECE void eliminate_row(const struct wave *const waves[3], const struct weights *w, const double *d,
                             ptrdiff_t gap, const struct row *restrict two_up,
                             const struct row *restrict one_up, struct row *restrict row)
{
    const double a = w->dt * d[0], b_damped = w->dt * d[gap], c_damped = 1 + w->dt * d[2 * gap];
    const double d_damped = w->dt * d[3 * gap], e = w->dt * d[4 * gap], f = w->flux, s = w->second;
    const struct wave *restrict low = waves[0], *restrict here = waves[1], *restrict high = waves[2];
#define ELIMINATE(q, b_sound, d_sound)                                                                       \
    double b##q = b + (b_sound) - a * two_up->near[q][l];                                                    \
    double one##q = 1 / (c - a * two_up->far[q][l] - b##q * one_up->near[q][l]);                             \
    row->near[q][l] = (above + (d_sound) - b##q * one_up->far[q][l]) * one##q;                               \
    row->far[q][l] = e * one##q
#define RIGHT(m, q)                                                                                          \
    row->r.v[m][l] = (row->r.v[m][l] - a * two_up->r.v[m][l] - b##q * one_up->r.v[m][l]) * one##q
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        double b = b_damped - f * low->speed[l] - s * low->spread[l];
        double c = c_damped + 2 * s * here->spread[l];
        double above = d_damped + f * high->speed[l] - s * high->spread[l];
        double low_sound = f * low->sound[l], high_sound = f * high->sound[l];
        ELIMINATE(0, 0, 0);
        ELIMINATE(1, -low_sound, high_sound);
        ELIMINATE(2, low_sound, -high_sound);
        RIGHT(0, 0);
        RIGHT(1, 0);
        RIGHT(2, 0);
        RIGHT(3, 1);
        RIGHT(4, 2);
    }
#undef ELIMINATE
#undef RIGHT
}

/* Eliminates all that is below the diagonals. `rows` are those of the lines; `last` the two rows before the
 * first one, and then the last two. */
HOT static void eliminate(const struct cfd_lines *l, const struct cfd_fields *f, const struct weights *w,
                          const double *damping, struct row *restrict rows, struct row *restrict last)
{
    const int normal = MX + l->axis;
    const ptrdiff_t order[N] = {0, l->unknown, 2 * l->unknown, 3 * l->unknown, 4 * l->unknown};
    struct cfd_vector u[2]; /* of points i and i + 1 modulo their number */
    struct wave waves[3];
    cfd_load(l, f->u, order, -1, &u[1]);
    wave_of(&u[1], normal, w->d, &waves[2]);
    cfd_load(l, f->u, order, 0, &u[0]);
    wave_of(&u[0], normal, w->d, &waves[0]);
    for (int64_t i = 0; i < l->length; ++i) {
        const struct wave *const around[3] = {&waves[(i + 2) % 3], &waves[i % 3], &waves[(i + 1) % 3]};
        const struct row *two_up = i > 1 ? &rows[i - 2] : &last[i], *one_up = i > 0 ? &rows[i - 1] : &last[1];
        cfd_load(l, f->u, order, i + 1, &u[(i + 1) % 2]);
        wave_of(&u[(i + 1) % 2], normal, w->d, &waves[(i + 1) % 3]);
        cfd_load(l, f->rhs, order, i, &rows[i].r);
        if (l->axis == CFD_X)
            to_waves(&u[i % 2], &rows[i].r);
        eliminate_row(around, w, damping + i, cfd_round(l->length), two_up, one_up, &rows[i]);
    }
    last[0] = rows[l->length - 2];
    last[1] = rows[l->length - 1];
}

CFD_PIECE void substitute_row(const struct row *restrict row, const struct cfd_vector *restrict next,
                              const struct cfd_vector *restrict after, struct cfd_vector *restrict x)
{
    static const int matrix[N] = {FLUID, FLUID, FLUID, AHEAD, AGAINST};
    for (int m = 0; m < N; ++m) {
#pragma omp simd
        for (int l = 0; l < LANES; ++l)
            x->v[m][l] = row->r.v[m][l] - row->near[matrix[m]][l] * next->v[m][l] -
                         row->far[matrix[m]][l] * after->v[m][l];
    }
}

/* x are the unknowns of the two points after the last row, and then those of the first two. After the last
 * axis they are added to U. */
HOT static void substitute(const struct cfd_lines *l, const struct cfd_fields *f,
                           const struct row *restrict rows, struct cfd_vector *restrict x)
{
    const ptrdiff_t order[N] = {0, l->unknown, 2 * l->unknown, 3 * l->unknown, 4 * l->unknown};
    struct cfd_vector u;
    for (int64_t i = l->length - 1; i >= 0; --i) {
        struct cfd_vector here;
        substitute_row(&rows[i], &x[0], &x[1], &here);
        x[1] = x[0];
        x[0] = here;
        if (l->axis == CFD_X)
            x_to_y(&here);
        else if (l->axis == CFD_Y)
            y_to_z(&here);
        else {
            cfd_load(l, f->u, order, i, &u);
            from_waves(&u, &here);
        }
        cfd_store(l, l->axis == CFD_Z ? f->u : f->rhs, order, i, &here, l->axis == CFD_Z);
    }
}

static void forward(const struct cfd *c, const struct cfd_lines *lines, double *kept, double *carry)
{
    struct weights w = weights_of(c, lines->axis);
    eliminate(lines, &c->f, &w, c->damping[lines->axis], (struct row *)kept, (struct row *)carry);
}

static void back(const struct cfd *c, const struct cfd_lines *lines, double *kept, double *carry)
{
    substitute(lines, &c->f, (struct row *)kept, (struct cfd_vector *)carry);
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

static double work(const double *chosen)
{
    double n = problems[npb_class(chosen)].points;
    return problems[npb_class(chosen)].steps *
           (881.174 * n * n * n - 4683.91 * n * n + 11484.5 * n - 19272.4);
}

static const struct npb_answer references[NPB_CLASSES] = {
    [NPB_S] = {{0.02747031545133948, 0.010360746705285417, 0.016235745065095532, 0.015840557224455615,
                0.03484904060936246, 2.7289258557377225e-05, 1.0364446640837285e-05, 1.615479828716647e-05,
                1.57507049944801e-05, 3.417766618339053e-05}},
    [NPB_W] = {{0.001893253733584, 0.0001717075447775, 0.0002778153350936, 0.0002887475409984,
                0.003143611161242, 7.542088599534e-05, 6.512852253086e-06, 1.049092285688e-05,
                1.128838671535e-05, 0.0001212845639773}},
    [NPB_A] = {{2.4799822399300195, 1.1276337964368832, 1.5028977888770492, 1.421781621169518,
                2.129211303513828, 0.0001090014029782055, 3.734395176928209e-05, 5.009278540654163e-05,
                4.767109393952825e-05, 0.00013621613399213}},
    [NPB_B] = {{69.03293579998, 30.95134488084, 41.03336647017, 38.64769009604, 56.43482272596,
                0.009810006190188, 0.00102282790567, 0.001720597911692, 0.001694479428231, 0.01847456263981}},
    [NPB_C] = {{588.1691581829, 245.4417603569, 329.3829191851, 308.1924971891, 459.7223799176,
                0.2598120500183, 0.02590888922315, 0.0513288641632, 0.04806073419454, 0.5483377491301}},
    [NPB_D] = {{10446.96216887, 3204.427762578, 4648.680733032, 4238.923283697, 7588.412036136,
                5.089471423669, 0.5323514855894, 1.187051008971, 1.083734951938, 11.64108338568}},
    [NPB_E] = {{62553.87422609, 14953.17020012, 23475.95750586, 20910.99783534, 47704.12841218,
                67.42735164909, 5.390656036938, 16.80647196477, 15.36963126457, 157.5330146156}},
};

static const double *expected(const double *chosen)
{
    return references[npb_class(chosen)].values;
}

static const struct cfd_adi adi = {
    .problems = problems,
    .sweep =
        {.kept_each = ROW, .carry_forward = 2 * ROW, .carry_back = 2 * N, .forward = forward, .back = back},
};

const struct kernel npb_sp = {
    .name = "npb.sp",
    .summary = "NAS SP: scalar pentadiagonal systems along the lines of a grid",
    .params = cfd_params,
    .phases = cfd_phases,
    .own = &adi,
    .ranks = cfd_adi_ranks,
    .memory = cfd_adi_memory,
    .open = cfd_adi_open,
    .close = cfd_adi_close,
    .reset = cfd_adi_reset,
    .solve = cfd_adi_solve,
    .answer = cfd_adi_answer,
    .tolerance = 1e-8,
    .value_names = cfd_names,
    .expected = expected,
    .work = work,
};
