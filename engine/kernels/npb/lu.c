/* LU: RNR-94-007, chapter 3. Steps of symmetric successive over-relaxation, with D the blocks on the
 * diagonal, Y those below and Z those above:
 *
 *     (D + w Y) V = dt (R(U) - R(U*)),   (D + w Z) dU = D V,   U <- U + dU / (w (2 - w))
 *
 * The name is not that of a factorisation: the systems are a lower and an upper triangular one. */
#include "kernels/npb/lu.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct cfd_problem problems[NPB_CLASSES] = {
    [NPB_S] = {12, 50, 0.5},    [NPB_W] = {33, 300, 0.0015}, [NPB_A] = {64, 250, 2.0},
    [NPB_B] = {102, 250, 2.0},  [NPB_C] = {162, 250, 2.0},   [NPB_D] = {408, 300, 1.0},
    [NPB_E] = {1020, 300, 0.5},
};

static const struct phase phases[] = {
    [LU_PHASE_HALO] = {"halo", true},         [LU_PHASE_RHS] = {"rhs", false},
    [LU_PHASE_LOWER] = {"lower", false},      [LU_PHASE_UPPER] = {"upper", false},
    [LU_PHASE_PIPELINE] = {"pipeline", true}, {0},
};

enum { PLANES = NPB_OWN };
static const struct param params[] = {NPB_PARAMS(kernel_exchanges),
                                      [PLANES] = {"planes", "", "planes of the grid in a message", 1, 1, 1e9},
                                      {0}};

/* ---- answers ------------------------------------------------------------------------------------------- */

static void sum_squares(const struct lu *lu, double residual[LU_N], double error[LU_N])
{
    double at[CFD_AXES], value[LU_N];
    for (int64_t z = 0; z < lu->count[CFD_Z]; ++z)
        for (int64_t x = 0; x < lu->count[CFD_X]; ++x)
            for (int64_t y = 0; y < lu->count[CFD_Y]; ++y) {
                lu_locate(lu, x, y, z, at);
                cfd_exact(at, value);
                for (int m = 0; m < LU_N; ++m) {
                    ptrdiff_t i = lu_at(lu, x, y, z) + m * lu->unknown;
                    double r = lu->rhs[i] / lu->problem.dt, e = lu->u[i] - value[m];
                    residual[m] += r * r;
                    error[m] += e * e;
                }
            }
}

/* The box whose faces the surface integral is over, by the numbers of points: it leaves out one more point at
 * the far end of y and at both ends of z. */
static void surface(const struct cfd_problem *p, int64_t low[CFD_AXES], int64_t high[CFD_AXES])
{
    const int64_t last = p->points - 2;
    low[CFD_X] = 1, high[CFD_X] = last;
    low[CFD_Y] = 1, high[CFD_Y] = last - 1;
    low[CFD_Z] = 2, high[CFD_Z] = last;
}

static double pressure(const struct lu *lu, int64_t x, int64_t y, int64_t z)
{
    const double *u = lu->u + lu_at(lu, x, y, z);
    const ptrdiff_t w = lu->unknown;
    return CFD_C2 *
           (u[ENERGY * w] -
            0.5 * (u[MX * w] * u[MX * w] + u[MY * w] * u[MY * w] + u[MZ * w] * u[MZ * w]) / u[RHO * w]);
}

/* This rank's part of the integral of the pressure over those faces, by the trapezoidal rule: in each
 * direction weight 1 at the ends and 2 between them, over 4. */
static double integrate(const struct lu *lu)
{
    int64_t low[CFD_AXES], high[CFD_AXES], i[CFD_AXES];
    double sum = 0, cell = 1.0 / (lu->problem.points - 1);
    surface(&lu->problem, low, high);
    for (i[CFD_Z] = low[CFD_Z]; i[CFD_Z] <= high[CFD_Z]; ++i[CFD_Z])
        for (i[CFD_X] = low[CFD_X]; i[CFD_X] <= high[CFD_X]; ++i[CFD_X])
            for (i[CFD_Y] = low[CFD_Y]; i[CFD_Y] <= high[CFD_Y]; ++i[CFD_Y]) {
                double weight[CFD_AXES], faces = 0;
                int64_t point[CFD_AXES];
                bool mine = true;
                for (int d = 0; d < CFD_AXES; ++d) {
                    point[d] = i[d] - lu->first[d];
                    mine = mine && point[d] >= 0 && point[d] < lu->count[d];
                    weight[d] = i[d] == low[d] || i[d] == high[d] ? 1 : 2;
                }
                for (int d = 0; d < CFD_AXES; ++d)
                    if (weight[d] == 1)
                        faces += weight[(d + 1) % CFD_AXES] * weight[(d + 2) % CFD_AXES];
                if (mine && faces > 0)
                    sum += faces * pressure(lu, point[CFD_X], point[CFD_Y], point[CFD_Z]);
            }
    return 0.25 * sum * cell * cell;
}

enum { RESIDUAL = 0, ERROR = LU_N, INTEGRAL = 2 * LU_N, VALUES };

static int answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    const struct lu *lu = state;
    double points = pow(lu->problem.points - 2, CFD_AXES);
    *count = VALUES;
    memset(values, 0, VALUES * sizeof *values);
    sum_squares(lu, values + RESIDUAL, values + ERROR);
    values[INTEGRAL] = integrate(lu);
    int err = comm_sum(&lu->env->comm, values, VALUES);
    for (int i = 0; i < INTEGRAL; ++i)
        values[i] = sqrt(values[i] / points);
    return err;
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

static int reset(void *state)
{
    struct lu *lu = state;
    lu_fill(lu, cfd_blend);
    for (size_t i = 0; i < lu->total; ++i)
        kernel_spoil(lu->env, &lu->u[i]);
    lu_rhs(lu, lu->rhs, lu->problem.dt);
    return 0;
}

static int solve(void *state)
{
    struct lu *lu = state;
    int err = 0;
    phase_begin(lu->env->phases);
    for (int i = 0; i < lu->problem.steps && !err; ++i) {
        err = lu_sweeps(lu);
        err = err ? err : lu_exchange(lu);
        phase_end(lu->env->phases, LU_PHASE_HALO);
        lu_rhs(lu, lu->rhs, lu->problem.dt);
        phase_end(lu->env->phases, LU_PHASE_RHS);
    }
    return err;
}

static int ranks(const struct kernel_env *env)
{
    const struct cfd_problem *problem = &problems[npb_class(env->params)];
    int grid[LU_SIDES];
    if (lu_ranks(problem, env->comm.size, grid))
        return 0;
    return err_say(ERR_UNSUPPORTED,
                   "npb.lu class %s takes any product of two numbers up to %d, not %d ranks: each needs a "
                   "point along x and along y",
                   npb_classes[npb_class(env->params)], problem->points - 2, env->comm.size);
}

static void prepare(struct kernel_env *env, struct lu *lu)
{
    lu_prepare(env, &problems[npb_class(env->params)], (int64_t)env->params[PLANES], lu);
}

static double memory(const struct kernel_env *env)
{
    struct kernel_env copy = *env;
    struct lu lu;
    prepare(&copy, &lu);
    return lu_memory(&lu);
}

static void close_lu(void *state)
{
    lu_close(state);
    free(state);
}

/* The forcing is R(U*), so that U* is the solution. */
static void make_forcing(struct lu *lu)
{
    memset(lu->forcing, 0, lu->total * sizeof(double));
    memset(lu->rhs, 0, lu->total * sizeof(double));
    lu_fill(lu, cfd_exact);
    lu_rhs(lu, lu->rhs, 1);
    memcpy(lu->forcing, lu->rhs, lu->total * sizeof(double));
}

static int open_lu(struct kernel_env *env, void **state)
{
    bool stop;
    struct lu *lu = calloc(1, sizeof *lu);
    int err = kernel_agree(env, lu ? 0 : err_say(ERR_NOMEM, "no memory for the state of a kernel"), &stop);
    if (!err && !stop) {
        prepare(env, lu);
        err = lu_open(lu);
        if (!err) {
            make_forcing(lu);
            *state = lu;
            return 0;
        }
    }
    free(lu);
    return err;
}

static double work(const double *chosen)
{
    double n = problems[npb_class(chosen)].points;
    return problems[npb_class(chosen)].steps * (1984.77 * n * n * n - 10923.3 * n * n + 27770.9 * n - 144010);
}

static const struct npb_answer references[NPB_CLASSES] = {
    [NPB_S] = {{0.016196343210976703, 0.002197674516482132, 0.0015179927653399185, 0.0015029584435994323,
                0.03426407315589646, 0.0006422331995796092, 8.414434204734792e-05, 5.8588269616485187e-05,
                5.847422259515735e-05, 0.0013103347914111294, 7.841892886593708}},
    [NPB_W] = {{12.36511638192, 1.317228477799, 2.550120713095, 2.326187750252, 28.26799444189,
                0.4867877144216, 0.05064652880982, 0.0928181810196, 0.08570126542733, 1.084277417792,
                11.61399311023}},
    [NPB_A] = {{779.0210760668937, 63.40276525969287, 194.9924972729248, 178.45301160418538,
                1838.4760349464248, 29.964085685471943, 2.819457636500335, 7.347341269877474,
                6.713922568777705, 70.71531568839258, 26.030925604886278}},
    [NPB_B] = {{3553.2672969982737, 262.1475079531069, 883.3372185095219, 778.1277473942527,
                7308.796959254531, 114.01176380212709, 8.109896365542157, 28.480597317698308,
                25.90539456783294, 260.54907504857414, 47.88716270330823}},
    [NPB_C] = {{10376.698032353785, 892.2124588010086, 2562.3881458266087, 2191.9434385783143,
                17807.80572610612, 215.98639971694928, 15.57895592398636, 54.13188630772078,
                48.22626431540454, 455.90291004325036, 66.64045535721813}},
    [NPB_D] = {{48684.17937025, 4696.371050071, 12181.14549776, 10338.01493461, 71423.98413817,
                375.2393004482, 30.84128893659, 94.34276905469, 82.30686681928, 700.262063621,
                83.34101392503}},
    [NPB_E] = {{209964.1687874, 21304.03143165, 53192.28789371, 45097.61639833, 293236.000659, 480.0572578333,
                42.21993400184, 121.0851906824, 104.788898677, 836.3028257389, 95.12163272273}},
};

static const double *expected(const double *chosen)
{
    return references[npb_class(chosen)].values;
}

static const char *const names[] = {"residual of rho",   "residual of rho u",    "residual of rho v",
                                    "residual of rho w", "residual of E",        "error of rho",
                                    "error of rho u",    "error of rho v",       "error of rho w",
                                    "error of E",        "the surface integral", NULL};

const struct kernel npb_lu = {
    .name = "npb.lu",
    .summary = "NAS LU: triangular systems by relaxation, a wave through the grid, many short messages",
    .params = params,
    .phases = phases,
    .ranks = ranks,
    .memory = memory,
    .open = open_lu,
    .close = close_lu,
    .reset = reset,
    .solve = solve,
    .answer = answer,
    .tolerance = 1e-8,
    .value_names = names,
    .expected = expected,
    .work = work,
};
