/* BT: RNR-94-007, chapter 3. Each step solves block tridiagonal systems along x, y and z, blocks of 5 x
 * 5: I - dt D of the fluxes linearised at the time's beginning.
 *
 * Unknowns of a line are put in the order density, momentum along the line, the other two momenta, energy: so
 * the blocks of all axes have the same form, and one solver serves all. Block rows are eliminated without
 * pivoting, forward, each with an LU factorisation of its diagonal block; then come the unknowns, going back.
 */
#include "kernels/npb/npb.h"

#include "base/hot.h"
#include "kernels/npb/cfd_lines.h"

enum { N = CFD_UNKNOWNS, LANES = CFD_LANES };

static const struct cfd_problem problems[NPB_CLASSES] = {
    [NPB_S] = {12, 60, 0.01},     [NPB_W] = {24, 200, 0.0008},  [NPB_A] = {64, 200, 0.0008},
    [NPB_B] = {102, 200, 0.0003}, [NPB_C] = {162, 200, 0.0001}, [NPB_D] = {408, 250, 2e-5},
    [NPB_E] = {1020, 250, 4e-6},
};

/* For each lane: a vector, a block, and what is kept of a block row: the block above the diagonal and, as one
 * more column, the right-hand side. */
struct block {
    struct cfd_vector column[N];
};
struct row {
    struct cfd_vector column[N + 1];
};
enum { RIGHT = N };

/* Weights of a row's blocks: dt / 2h, dt / h^2, and d of the second difference. */
struct weights {
    double flux, second, d;
};

/* ---- blocks -------------------------------------------------------------------------------------------- */

/* What a point gives to the blocks of three rows, by the Jacobians F of the convective and V of the viscous
 * flux there: -F dt/2h - V dt/h^2 to the row after it, 2 V dt/h^2 and I to its own, F dt/2h - V dt/h^2 to the
 * row before it; and to each the second difference with d. */
CFD_PIECE void linearise(const struct cfd_vector *restrict u, const struct weights *w,
                         struct block *restrict below, struct block *restrict here,
                         struct row *restrict above)
{
    const double k = CFD_VISCOSITY, kn = CFD_NORMAL * k, ke = CFD_PRANDTL * k;
    const double f = w->flux, s = w->second, d = w->second * w->d;
#define PUT(m, n, flux, viscous)                                                                             \
    do {                                                                                                     \
        double convect = f * (flux), conduct = s * (viscous);                                                \
        below->column[n].v[m][l] = -convect - conduct - ((m) == (n) ? d : 0);                                \
        here->column[n].v[m][l] = 2 * conduct + ((m) == (n) ? 1 + 2 * d : 0);                                \
        above->column[n].v[m][l] = convect - conduct - ((m) == (n) ? d : 0);                                 \
    } while (0)
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        double one = 1 / u->v[0][l], vn = u->v[1][l] * one, va = u->v[2][l] * one, vb = u->v[3][l] * one;
        double e = u->v[4][l] * one, across = va * va + vb * vb, q = 0.5 * (vn * vn + across);
        PUT(0, 0, 0, 0);
        PUT(1, 0, CFD_C2 * q - vn * vn, -kn * one * vn);
        PUT(2, 0, -vn * va, -k * one * va);
        PUT(3, 0, -vn * vb, -k * one * vb);
        PUT(4, 0, (2 * CFD_C2 * q - CFD_C1 * e) * vn,
            -one * ((kn - ke) * vn * vn + (k - ke) * across + ke * e));
        PUT(0, 1, 1, 0);
        PUT(1, 1, (2 - CFD_C2) * vn, kn * one);
        PUT(2, 1, va, 0);
        PUT(3, 1, vb, 0);
        PUT(4, 1, CFD_C1 * e - CFD_C2 * (vn * vn + q), (kn - ke) * one * vn);
        PUT(0, 2, 0, 0);
        PUT(1, 2, -CFD_C2 * va, 0);
        PUT(2, 2, vn, k * one);
        PUT(3, 2, 0, 0);
        PUT(4, 2, -CFD_C2 * va * vn, (k - ke) * one * va);
        PUT(0, 3, 0, 0);
        PUT(1, 3, -CFD_C2 * vb, 0);
        PUT(2, 3, 0, 0);
        PUT(3, 3, vn, k * one);
        PUT(4, 3, -CFD_C2 * vb * vn, (k - ke) * one * vb);
        PUT(0, 4, 0, 0);
        PUT(1, 4, CFD_C2, 0);
        PUT(2, 4, 0, 0);
        PUT(3, 4, 0, 0);
        PUT(4, 4, CFD_C1 * vn, ke * one);
    }
#undef PUT
}

/* y <- y - A x of a block A below the diagonal, whose zeros linearise() tells. */
CFD_PIECE void subtract(const struct block *restrict a, const struct cfd_vector *restrict x,
                        struct cfd_vector *restrict y)
{
#define A(m, n) (a->column[n].v[m][l] * x->v[n][l])
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        y->v[0][l] -= A(0, 0) + A(0, 1);
        y->v[1][l] -= A(1, 0) + A(1, 1) + A(1, 2) + A(1, 3) + A(1, 4);
        y->v[2][l] -= A(2, 0) + A(2, 1) + A(2, 2);
        y->v[3][l] -= A(3, 0) + A(3, 1) + A(3, 3);
        y->v[4][l] -= A(4, 0) + A(4, 1) + A(4, 2) + A(4, 3) + A(4, 4);
    }
#undef A
}

/* A = L U in place, with the inverses of the diagonal of U. */
CFD_PIECE void factor(struct block *restrict a)
{
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        double f[N][N];
#pragma GCC unroll 5
        for (int n = 0; n < N; ++n)
#pragma GCC unroll 5
            for (int m = 0; m < N; ++m)
                f[m][n] = a->column[n].v[m][l];
#pragma GCC unroll 5
        for (int p = 0; p < N; ++p) {
            f[p][p] = 1 / f[p][p];
#pragma GCC unroll 5
            for (int m = p + 1; m < N; ++m) {
                f[m][p] *= f[p][p];
#pragma GCC unroll 5
                for (int n = p + 1; n < N; ++n)
                    f[m][n] -= f[m][p] * f[p][n];
            }
        }
#pragma GCC unroll 5
        for (int n = 0; n < N; ++n)
#pragma GCC unroll 5
            for (int m = 0; m < N; ++m)
                a->column[n].v[m][l] = f[m][n];
    }
}

/* x <- A^-1 x of an A that is factored. */
CFD_PIECE void solve_block(const struct block *restrict a, struct cfd_vector *restrict x)
{
#define A(m, n) a->column[n].v[m][l]
#pragma omp simd
    for (int l = 0; l < LANES; ++l) {
        double x0 = x->v[0][l];
        double x1 = x->v[1][l] - A(1, 0) * x0;
        double x2 = x->v[2][l] - A(2, 0) * x0 - A(2, 1) * x1;
        double x3 = x->v[3][l] - A(3, 0) * x0 - A(3, 1) * x1 - A(3, 2) * x2;
        double x4 = x->v[4][l] - A(4, 0) * x0 - A(4, 1) * x1 - A(4, 2) * x2 - A(4, 3) * x3;
        x4 *= A(4, 4);
        x3 = (x3 - A(3, 4) * x4) * A(3, 3);
        x2 = (x2 - A(2, 4) * x4 - A(2, 3) * x3) * A(2, 2);
        x1 = (x1 - A(1, 4) * x4 - A(1, 3) * x3 - A(1, 2) * x2) * A(1, 1);
        x0 = (x0 - A(0, 4) * x4 - A(0, 3) * x3 - A(0, 2) * x2 - A(0, 1) * x1) * A(0, 0);
        x->v[0][l] = x0;
        x->v[1][l] = x1;
        x->v[2][l] = x2;
        x->v[3][l] = x3;
        x->v[4][l] = x4;
    }
#undef A
}

/* ---- lines --------------------------------------------------------------------------------------------- */

static struct weights weights_of(const struct cfd *c, int axis)
{
    double cells = c->problem.points - 1, dt = c->problem.dt;
    return (struct weights){0.5 * dt * cells, dt * cells * cells, cfd_second[axis]};
}

/* Where the unknowns of a point are from its first, the momentum along the lines before the others. */
static void order_of(const struct cfd_lines *l, ptrdiff_t order[N])
{
    int normal = MX + l->axis, first = normal == MX ? MY : MX, second = normal == MZ ? MY : MZ;
    const int unknown[N] = {RHO, normal, first, second, ENERGY};
    for (int m = 0; m < N; ++m)
        order[m] = unknown[m] * l->unknown;
}

/* Eliminates all blocks below the diagonal. `rows` are those of the lines; `last` is the row before the first
 * one, and then the last one. */
HOT static void eliminate(const struct cfd_lines *l, const struct cfd_fields *f, const struct weights *w,
                          const ptrdiff_t *order, struct row *restrict rows, struct row *restrict last)
{
    struct block below[3], here[2]; /* of rows i, i + 1, i + 2 modulo their number */
    struct cfd_vector u;
    struct row none;
    cfd_load(l, f->u, order, -1, &u);
    linearise(&u, w, &below[0], &here[1], &none);
    cfd_load(l, f->u, order, 0, &u);
    linearise(&u, w, &below[1], &here[0], &none);
    for (int64_t i = 0; i < l->length; ++i) {
        struct row *row = &rows[i];
        const struct row *before = i > 0 ? &rows[i - 1] : last;
        const struct block *a = &below[i % 3];
        struct block *b = &here[i % 2];
        cfd_load(l, f->u, order, i + 1, &u);
        linearise(&u, w, &below[(i + 2) % 3], &here[(i + 1) % 2], row);
        cfd_load(l, f->rhs, order, i, &row->column[RIGHT]);
        for (int n = 0; n < N; ++n)
            subtract(a, &before->column[n], &b->column[n]);
        subtract(a, &before->column[RIGHT], &row->column[RIGHT]);
        factor(b);
        for (int n = 0; n <= RIGHT; ++n)
            solve_block(b, &row->column[n]);
    }
    *last = rows[l->length - 1];
}

/* x is the unknown after the last row, and then the first one. After the last axis they are added to U. */
HOT static void substitute(const struct cfd_lines *l, const struct cfd_fields *f, const ptrdiff_t *order,
                           struct row *restrict rows, struct cfd_vector *restrict x)
{
    for (int64_t i = l->length - 1; i >= 0; --i) {
        struct row *row = &rows[i];
        for (int n = 0; n < N; ++n)
            for (int m = 0; m < N; ++m)
#pragma omp simd
                for (int k = 0; k < LANES; ++k)
                    row->column[RIGHT].v[m][k] -= row->column[n].v[m][k] * x->v[n][k];
        *x = row->column[RIGHT];
        cfd_store(l, l->axis == CFD_Z ? f->u : f->rhs, order, i, x, l->axis == CFD_Z);
    }
}

static void forward(const struct cfd *c, const struct cfd_lines *lines, double *kept, double *carry)
{
    struct weights w = weights_of(c, lines->axis);
    ptrdiff_t order[N];
    order_of(lines, order);
    eliminate(lines, &c->f, &w, order, (struct row *)kept, (struct row *)carry);
}

static void back(const struct cfd *c, const struct cfd_lines *lines, double *kept, double *carry)
{
    ptrdiff_t order[N];
    order_of(lines, order);
    substitute(lines, &c->f, order, (struct row *)kept, (struct cfd_vector *)carry);
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

static double work(const double *chosen)
{
    double n = problems[npb_class(chosen)].points;
    return problems[npb_class(chosen)].steps * (3478.8 * n * n * n - 17655.7 * n * n + 28023.7 * n);
}

static const struct npb_answer references[NPB_CLASSES] = {
    [NPB_S] = {{0.17034283709541312, 0.012975252070034096, 0.032527926989486054, 0.0264364212751668,
                0.1921178413174443, 0.0004997691334581158, 4.519566678296193e-05, 7.397376517292135e-05,
                7.382123863243973e-05, 0.0008926963098749145}},
    [NPB_W] = {{112.5590409344, 11.80007595731, 27.10329767846, 24.69174937669, 263.8427874317,
                4.419655736008, 0.4638531260002, 1.011551749967, 0.9235878729944, 10.18045837718}},
    [NPB_A] = {{108.06346714637264, 11.319730901220813, 25.974354511582465, 23.66562254467891,
                252.78963211748345, 4.2348416040525025, 0.443902824969957, 0.9669248013634565,
                0.8830206303976548, 9.737990177082928}},
    [NPB_B] = {{1423.3597229287254, 99.33052259015024, 356.46025644535285, 324.8544795908409,
                3270.7541254659363, 52.96984714093686, 4.463289611567067, 13.122573342210174,
                12.006925323559145, 124.59576151035986}},
    [NPB_C] = {{6239.8116551764615, 507.93239190423964, 1542.3530093013596, 1330.238792929119,
                11604.087428436455, 164.62008369091265, 11.497107903824313, 41.20744620746151,
                37.08765105969417, 362.11053051841265}},
    [NPB_D] = {{25331.88551738, 2346.39371698, 6294.554366904, 5352.56537603, 39058.64038618, 310.0009377557,
                24.24086324913, 77.82212022645, 68.35623860116, 606.5737200368}},
    [NPB_E] = {{97953.72484517, 9739.814511521, 24676.06342965, 20924.1957286, 139213.8856939, 432.7562208414,
                36.99051964887, 108.9845040954, 94.62517622043, 776.5512765309}},
};

static const double *expected(const double *chosen)
{
    return references[npb_class(chosen)].values;
}

static const struct cfd_adi adi = {
    .problems = problems,
    .sweep = {.kept_each = N * (N + 1),
              .carry_forward = N * (N + 1),
              .carry_back = N,
              .forward = forward,
              .back = back},
};

const struct kernel npb_bt = {
    .name = "npb.bt",
    .summary = "NAS BT: block tridiagonal systems along the lines of a grid",
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
