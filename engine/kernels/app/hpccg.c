/* HPCCG, a "high performance computing conjugate gradient": M. Heroux and others, "Improving Performance via
 * Mini-applications", SAND2009-5574, section 4.1: what an implicit solver on an unstructured mesh does most.
 *
 * The problem: A x = b, A the 27-point operator on a box of cells, 27 for a cell itself and -1 for each that
 * touches it; nothing lies beyond the sides. b is such that x is known: another number in each cell, where
 * the original has 1 everywhere, to which it does not matter whose cells a neighbour's are. Each rank has a
 * brick of nx x ny x nz cells, and the matrix as if it were of a mesh that nobody knows: values and columns
 * in memory (hpccg_matrix.c).
 *
 * The solver: conjugate gradients (cg.h) from x = 0, a fixed number of steps. What ranks tell each other is
 * in brick.h. */
#include "kernels/app/hpccg.h"
#include "kernels/app/app.h"
#include "kernels/app/cg.h"

#include "base/err.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NX, NY, NZ, GRID, ITERATIONS };
enum { GRID_LINE = 0 };

struct hpccg {
    struct kernel_env *env;
    struct brick brick;
    struct csr a;
    struct cg cg;
    double *b;
    int64_t iterations;
};

static const struct phase phases[] = {CG_PHASES(0), {0}};

/* ---- the problem --------------------------------------------------------------------------------------- */

/* The solution, from 0.5 to 1.5, by a cell's number in the whole box; 0 beyond its sides. */
static double exact_at(const struct brick *brick, const int64_t at[GRID_DIMS])
{
    const int64_t cell = brick_global(brick, at);
    return cell < 0 ? 0 : 0.5 + hash_unit(hash_mix((uint64_t)cell));
}

/* b of a cell: 28 times its own x, less all of the box of 27 around it. */
static double right_side_at(const struct brick *brick, const int64_t at[GRID_DIMS])
{
    double b = (HPCCG_POINTS + 1) * exact_at(brick, at);
    for (int i = 0; i < HPCCG_POINTS; ++i) {
        const int64_t near[GRID_DIMS] = {at[0] + i / 9 - 1, at[1] + i / 3 % 3 - 1, at[2] + i % 3 - 1};
        b -= exact_at(brick, near);
    }
    return b;
}

static void make_right_side(struct hpccg *s)
{
    int64_t at[GRID_DIMS], i = 0;
    for (at[0] = 0; at[0] < s->brick.cells[0]; ++at[0])
        for (at[1] = 0; at[1] < s->brick.cells[1]; ++at[1])
            for (at[2] = 0; at[2] < s->brick.cells[2]; ++at[2])
                s->b[i++] = right_side_at(&s->brick, at);
}

/* ---- the solver ---------------------------------------------------------------------------------------- */

static int solve(void *state)
{
    struct hpccg *s = state;
    phase_begin(s->env->phases);
    return cg_iterate(&s->cg, s->iterations);
}

/* x = 0, so that r = b; p counts from the first step on. */
static int reset(void *state)
{
    struct hpccg *s = state;
    const size_t bytes = (size_t)s->brick.own * sizeof *s->b;
    memset(s->cg.x, 0, bytes);
    memset(s->cg.p, 0, (size_t)(s->brick.own + s->brick.outer) * sizeof *s->cg.p);
    memcpy(s->cg.r, s->b, bytes);
    kernel_spoil(s->env, &s->cg.r[0]);
    return 0;
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

/* Sums over all cells, of all ranks: squares of x, of the solution, of what is between them, and of what is
 * between the residual that x has and the one that the solver says it has. */
enum { NORM, SIZE, ERROR, RESIDUAL, SUMS };

static int deviate(struct hpccg *s, double sums[SUMS])
{
    int64_t at[GRID_DIMS], i = 0;
    for (at[0] = 0; at[0] < s->brick.cells[0]; ++at[0])
        for (at[1] = 0; at[1] < s->brick.cells[1]; ++at[1])
            for (at[2] = 0; at[2] < s->brick.cells[2]; ++at[2], ++i) {
                const double exact = exact_at(&s->brick, at), x = s->cg.x[i];
                s->cg.p[i] = exact - x;
                sums[NORM] += x * x;
                sums[SIZE] += exact * exact;
                sums[ERROR] += (exact - x) * (exact - x);
            }
    const int err = cg_add_residual(&s->cg, &sums[RESIDUAL]);
    return err ? err : comm_sum(&s->env->comm, sums, SUMS);
}

/* A = 28 - T x T x T with T = tridiag(1, 1, 1), whose eigenvalues are 1 + 2 cos: those of A are between 1 and
 * 37, however large the box. So is known what conjugate gradients promise, until rounding ends it. */
static int answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    const double MOST_EIGENVALUE = 37, ROUNDING = 1e-13;
    struct hpccg *s = state;
    double sums[SUMS] = {0};
    const int err = deviate(s, sums);
    if (err)
        return err;
    values[0] = sqrt(sums[NORM]);
    *count = 1;
    const struct cg_claim claims[] = {
        {"A times the error of x is off from the residual", sqrt(sums[RESIDUAL] / sums[SIZE]),
         cg_residual_allowed(s->iterations, HPCCG_POINTS, MOST_EIGENVALUE)},
        {"x is off from the solution", sqrt(sums[ERROR] / sums[SIZE]),
         cg_error_allowed(s->iterations, MOST_EIGENVALUE) + ROUNDING},
    };
    return cg_judge(&s->cg, s->iterations, claims, sizeof claims / sizeof claims[0]);
}

static int64_t digest(void *state)
{
    return cg_digest(&((struct hpccg *)state)->cg);
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

/* Ranks on top of each other, as the original has them, or in a box as near to a cube as can be. */
static struct grid grid_of(const struct kernel_env *env)
{
    struct grid grid = {.dims = GRID_DIMS, .extent = {env->comm.size, 1, 1}};
    if ((int)env->params[GRID] != GRID_LINE) {
        int side = 1, small, large;
        for (int i = 1; (int64_t)i * i * i <= env->comm.size; ++i)
            if (env->comm.size % i == 0)
                side = i;
        kernel_factors(env->comm.size / side, &small, &large);
        grid = (struct grid){.dims = GRID_DIMS, .extent = {large, small, side}};
    }
    return grid;
}

static struct brick brick_of(const struct kernel_env *env)
{
    const int64_t cells[GRID_DIMS] = {(int64_t)env->params[NZ], (int64_t)env->params[NY],
                                      (int64_t)env->params[NX]};
    struct grid grid = grid_of(env);
    struct brick brick;
    brick_make(&brick, &grid, env->comm.rank, cells);
    return brick;
}

static int ranks(const struct kernel_env *env)
{
    const double cells = env->params[NX] * env->params[NY] * env->params[NZ];
    if (cells > INT32_MAX / 2)
        return err_say(
            ERR_UNSUPPORTED,
            "app.hpccg numbers the cells of a rank in 32 bits: %.3g of them are too many; choose nx, ny, "
            "nz whose product is at most %d",
            cells, INT32_MAX / 2);
    return 0;
}

static double memory(const struct kernel_env *env)
{
    struct brick brick = brick_of(env);
    return hpccg_matrix_memory(&brick) + cg_memory(env, &brick) + sizeof(double) * (double)brick.own;
}

static int make(struct kernel_env *env, void *state)
{
    struct hpccg *s = state;
    s->env = env;
    s->brick = brick_of(env);
    s->iterations = (int64_t)env->params[ITERATIONS];
    int err = kernel_alloc(env, (size_t)s->brick.own, sizeof *s->b, &s->b);
    if (!err)
        err = cg_alloc(env, &s->brick, &s->a, 0, &s->cg);
    if (!err)
        err = hpccg_matrix_make(env, &s->brick, &s->a);
    if (!err)
        make_right_side(s);
    return err;
}

static int connect(void *state)
{
    struct hpccg *s = state;
    return cg_open(&s->cg, &s->brick, 0);
}

static void close_hpccg(void *state)
{
    struct hpccg *s = state;
    cg_close(&s->cg);
    csr_free(&s->a);
    free(s->b);
    free(s);
}

static int open_hpccg(struct kernel_env *env, void **state)
{
    static const struct app_parts parts = {sizeof(struct hpccg), make, connect, close_hpccg};
    return app_open(&parts, env, state);
}

/* As the original counts, for each row: two operations for each of 27 points, of each element of two dot
 * products and of three sums of vectors. */
enum { SPMV_WORK = 2 * HPCCG_POINTS, DDOT_WORK = 2 * 2, WAXPBY_WORK = 3 * 2 };
#define ROW_WORK ((double)(SPMV_WORK + DDOT_WORK + WAXPBY_WORK))

static double phase_work(const double *chosen, int phase)
{
    static const double share[] = {[CG_PHASE_SPMV] = SPMV_WORK / ROW_WORK,
                                   [CG_PHASE_WAXPBY] = WAXPBY_WORK / ROW_WORK,
                                   [CG_PHASE_DDOT] = DDOT_WORK / ROW_WORK,
                                   [CG_PHASE_SUMS] = 0};
    (void)chosen;
    return share[phase];
}

static double work(const double *chosen)
{
    return chosen[ITERATIONS] * chosen[NX] * chosen[NY] * chosen[NZ] * ROW_WORK;
}

static const char *const grids[] = {"line", "box", NULL};
static const struct param params[] = {
    [NX] = {"nx", "", "cells of a rank along x", 64, 1, 1e5},
    [NY] = {"ny", "", "cells of a rank along y", 64, 1, 1e5},
    [NZ] = {"nz", "", "cells of a rank along z", 64, 1, 1e5},
    [GRID] = PARAM_WORDS("grid", "how bricks are stacked: a line along z, or a box", grids),
    [ITERATIONS] = {"iterations", "", "steps of conjugate gradients", 149, 1, 1e6},
    KERNEL_EXCHANGES,
    {0}};

const struct kernel app_hpccg = {
    .name = "app.hpccg",
    .summary = "HPCCG: conjugate gradients on a 27-point operator, memory and a halo of faces",
    .params = params,
    .phases = phases,
    .ranks = ranks,
    .memory = memory,
    .open = open_hpccg,
    .close = close_hpccg,
    .reset = reset,
    .solve = solve,
    .answer = answer,
    .value_names = cg_names,
    .digest = digest,
    .alike = cg_alike,
    .sums = true,
    .work = work,
    .phase_work = phase_work,
    .weak = true,
};
