/* MiniFE, implicit finite elements: M. Heroux and others, "Improving Performance via Mini-applications",
 * SAND2009-5574, section 4.2: what a code does that solves for a field on a mesh at once.
 *
 * The problem: heat flows through the unit cube until nothing changes, - div grad u = 0. The side x = 1 is
 * held at 1, the others at 0.
 *
 * The discretisation, in the order of a text book (Hughes, The Finite Element Method, 1987, chapters 2, 3):
 *     mesh        nx x ny x nz hexahedra with linear shape functions, of which     minife_mesh.c
 *                 each rank has a brick of nodes
 *     structure   which nodes share an element: where the matrix has entries       minife_matrix.c
 *     assembly    the operator of each element, by Gauss quadrature, summed        minife_element.c
 *     held        nodes whose temperature is given leave the equations
 *
 * The solver: conjugate gradients (cg.h) from the temperatures that are held. All of it is timed, but for the
 * mesh, which is where such a code begins; or the solver alone. The answer is compared with the solution of
 * the equations and with that of the cube (minife_exact.c). */
#include "kernels/app/minife.h"
#include "kernels/app/app.h"
#include "kernels/app/cg.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NX, NY, NZ, GRID, ITERATIONS, IMBALANCE, TIMED };
enum { TIMED_WHOLE };

struct minife {
    struct kernel_env *env;
    struct minife_mesh mesh;
    struct minife_system system;
    struct cg cg;
    double *exact, *body; /* at own nodes: the solution of the equations, and that of the cube */
    int64_t iterations;
    bool whole; /* the equations are made anew in each run, too */
};

enum { PHASE_STRUCTURE, PHASE_ASSEMBLY, PHASE_HELD, PHASE_CG };
static const struct phase phases[] = {[PHASE_STRUCTURE] = {"structure", false},
                                      [PHASE_ASSEMBLY] = {"assembly", false},
                                      [PHASE_HELD] = {"held", false},
                                      CG_PHASES(PHASE_CG),
                                      {0}};

/* ---- the solution -------------------------------------------------------------------------------------- */

static void make_equations(struct minife *s)
{
    struct phases *stamps = s->env->phases;
    minife_structure(&s->mesh, &s->system);
    phase_end(stamps, PHASE_STRUCTURE);
    minife_assemble(&s->mesh, &s->system);
    phase_end(stamps, PHASE_ASSEMBLY);
    minife_hold(&s->mesh, &s->system);
    phase_end(stamps, PHASE_HELD);
}

static int solve(void *state)
{
    struct minife *s = state;
    phase_begin(s->env->phases);
    if (s->whole)
        make_equations(s);
    int err = cg_begin(&s->cg, s->system.b);
    return err ? err : cg_iterate(&s->cg, s->iterations);
}

static int reset(void *state)
{
    struct minife *s = state;
    for (int64_t i = 0; i < s->mesh.brick.own; ++i)
        s->cg.x[i] = fmax(s->mesh.held[i], 0); /* free: 0 */
    if (!s->whole)
        make_equations(s);
    return 0;
}

/* ---- the answer ---------------------------------------------------------------------------------------- */

/* In 2-norms, over all ranks, but for the last. */
struct deviations {
    double norm;     /* of x */
    double size;     /* of the exact solution */
    double error;    /* x less it */
    double residual; /* A times that, less what CG says is left */
    double body;     /* how far x is from the solution of the cube at most, where x <= 1/2 */
};

static int deviate(struct minife *s, struct deviations *far)
{
    const struct brick *b = &s->mesh.brick;
    double sums[4] = {0}, most = 0;
    for (int64_t i = 0; i < b->own; ++i) {
        s->cg.p[i] = s->exact[i] - s->cg.x[i];
        sums[0] += s->exact[i] * s->exact[i];
        sums[1] += s->cg.p[i] * s->cg.p[i];
        sums[3] += s->cg.x[i] * s->cg.x[i];
        if (minife_far(b, i % b->cells[BRICK_X]))
            most = fmax(most, fabs(s->cg.x[i] - s->body[i]));
    }
    int err = cg_add_residual(&s->cg, &sums[2]);
    if (!err)
        err = comm_sum(&s->env->comm, sums, 4);
    if (!err)
        err = comm_max(&s->env->comm, &most, 1);
    *far = (struct deviations){.norm = sqrt(sums[3]),
                               .size = sqrt(sums[0]),
                               .error = sqrt(sums[1]),
                               .residual = sqrt(sums[2]),
                               .body = most};
    return err;
}

/* What rounding and ending after so many steps can make of it. body: the terms of order h^2 of
 * minife_exact.c, expanded and summed without their signs, are 1.18 h^2 at x = 1/2 and less below, h the
 * longest side of an element; the rest has as much again. */
static struct deviations allowed(const struct minife *s, const struct deviations *far)
{
    const double BODY = 2;
    int64_t elements[GRID_DIMS];
    double least, most, h = 0;
    for (int d = 0; d < GRID_DIMS; ++d) {
        elements[d] = s->mesh.brick.whole[d] - 1;
        h = fmax(h, 1 / (double)elements[d]);
    }
    minife_eigenvalues(elements, &least, &most);
    struct deviations a = {.residual = cg_residual_allowed(s->iterations, MINIFE_COUPLED, most) * far->size};
    a.error = cg_error_allowed(s->iterations, most / least) * far->size + a.residual / least;
    a.body = BODY * h * h + far->error;
    return a;
}

static int answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    struct minife *s = state;
    struct deviations far;
    int err = deviate(s, &far);
    if (err)
        return err;
    values[0] = far.norm;
    *count = 1;
    const struct deviations most = allowed(s, &far);
    const struct cg_claim claims[] = {
        {"A times the error of x is off from the residual", far.residual / far.size,
         most.residual / far.size},
        {"x is off from the solution of the mesh", far.error / far.size, most.error / far.size},
        {"x is off from the series of Carslaw and Jaeger", far.body, most.body},
    };
    return cg_judge(&s->cg, s->iterations, claims, sizeof claims / sizeof claims[0]);
}

static int64_t digest(void *state)
{
    return cg_digest(&((struct minife *)state)->cg);
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

/* Along y and z there are as many elements as along x, if nobody says another number. */
static double elements_along(const double *chosen, int axis)
{
    return chosen[axis] > 0 ? chosen[axis] : chosen[NX];
}

static int cut(const struct kernel_env *env, struct brick *brick)
{
    struct minife_cut cut = {.grid = (enum minife_grid)env->params[GRID],
                             .imbalance = env->params[IMBALANCE] / 100};
    for (int d = 0; d < GRID_DIMS; ++d)
        cut.elements[d] = (int64_t)elements_along(env->params, NX + GRID_DIMS - 1 - d);
    return minife_cut(&cut, &env->comm, brick);
}

/* Each rank looks at the fullest one. */
static int ranks(const struct kernel_env *env)
{
    struct brick brick;
    for (int axis = NX; axis <= NZ; ++axis)
        if (elements_along(env->params, axis) < 2)
            return err_say(ERR_UNSUPPORTED,
                           "app.minife needs two elements along each axis at least, so that a "
                           "node is free; choose larger nx, ny, nz");
    const int err = cut(env, &brick);
    if (!err && (double)brick.own + (double)brick.outer > INT32_MAX / 2)
        return err_say(ERR_UNSUPPORTED,
                       "app.minife numbers the nodes of a rank in 32 bits: %.3g of them are too many; choose "
                       "smaller nx, ny, nz or more ranks",
                       (double)brick.own);
    return err;
}

static double memory(const struct kernel_env *env)
{
    struct brick brick;
    if (cut(env, &brick))
        return 0;
    return minife_mesh_memory(&brick, env->threads) + minife_system_memory(&brick) + cg_memory(env, &brick) +
           2 * sizeof(double) * (double)brick.own;
}

/* The planted error is in the mesh: the last node is not where it should be. */
static int make(struct kernel_env *env, void *state)
{
    struct minife *s = state;
    struct brick brick;
    s->env = env;
    s->iterations = (int64_t)env->params[ITERATIONS];
    s->whole = (int)env->params[TIMED] == TIMED_WHOLE;
    int err = cut(env, &brick);
    if (!err)
        err = minife_mesh_make(env, &brick, &s->mesh);
    if (!err)
        err = minife_system_alloc(env, &brick, &s->system);
    if (!err)
        err = cg_alloc(env, &s->mesh.brick, &s->system.a, PHASE_CG, &s->cg);
    if (!err)
        err = kernel_alloc(env, (size_t)brick.own, sizeof *s->exact, &s->exact);
    if (!err)
        err = kernel_alloc(env, (size_t)brick.own, sizeof *s->body, &s->body);
    if (!err)
        err = minife_exact(&brick, MINIFE_MESH, s->exact);
    if (!err)
        err = minife_exact(&brick, MINIFE_BODY, s->body);
    if (!err)
        kernel_spoil(env, &s->mesh.at[brick.own - 1][0]);
    return err;
}

static int connect(void *state)
{
    struct minife *s = state;
    return cg_open(&s->cg, &s->mesh.brick, 0);
}

static void close_minife(void *state)
{
    struct minife *s = state;
    cg_close(&s->cg);
    minife_system_free(&s->system);
    minife_mesh_free(&s->mesh);
    free(s->exact);
    free(s->body);
    free(s);
}

static int open_minife(struct kernel_env *env, void **state)
{
    static const struct app_parts parts = {sizeof(struct minife), make, connect, close_minife};
    return app_open(&parts, env, state);
}

/* As the original counts, and only what the solver does: two operations for each entry of the matrix in each
 * of k + 1 products, for each element (not node) two in each of 2 k dot products, three in each of 3 k + 2
 * sums of vectors. */
struct counts {
    double spmv, waxpby, ddot;
};

static struct counts count(const double *chosen)
{
    const double k = chosen[ITERATIONS];
    double entries = 1, elements = 1;
    for (int axis = NX; axis <= NZ; ++axis) {
        elements *= elements_along(chosen, axis);
        entries *= 3 * elements_along(chosen, axis) + 1;
    }
    return (struct counts){2 * (k + 1) * entries, 3 * (3 * k + 2) * elements, 4 * k * elements};
}

static double work(const double *chosen)
{
    const struct counts c = count(chosen);
    return c.spmv + c.waxpby + c.ddot;
}

static double phase_work(const double *chosen, int phase)
{
    const struct counts c = count(chosen);
    const double of[CG_PHASE_SUMS + 1] = {
        [CG_PHASE_SPMV] = c.spmv, [CG_PHASE_WAXPBY] = c.waxpby, [CG_PHASE_DDOT] = c.ddot};
    return phase < PHASE_CG ? 0 : of[phase - PHASE_CG] / work(chosen);
}

static const char *const grids[] = {"box", "line", NULL};
static const char *const timed[] = {"whole", "solver", NULL};
static const struct param params[] = {
    [NX] = {"nx", "", "elements along x", 64, 2, 1e5},
    [NY] = {"ny", "", "elements along y; 0: as many as along x", 0, 0, 1e5},
    [NZ] = {"nz", "", "elements along z; 0: as many as along x", 0, 0, 1e5},
    [GRID] = PARAM_WORDS("grid", "how ranks share the nodes: in a box, or a line along z", grids),
    [ITERATIONS] = {"iterations", "", "steps of conjugate gradients", 200, 1, 1e6},
    [IMBALANCE] = {"imbalance", "%", "how much more nodes than the mean the fullest rank has", 0, 0, 1000},
    [TIMED] =
        PARAM_WORDS("timed", "what is timed: all from the mesh on, or conjugate gradients alone", timed),
    KERNEL_EXCHANGES,
    {0}};

const struct kernel app_minife = {
    .name = "app.minife",
    .summary = "MiniFE: finite elements on hexahedra, from the mesh to the solution by conjugate gradients",
    .params = params,
    .phases = phases,
    .ranks = ranks,
    .memory = memory,
    .open = open_minife,
    .close = close_minife,
    .reset = reset,
    .solve = solve,
    .answer = answer,
    .value_names = cg_names,
    .digest = digest,
    .alike = cg_alike,
    .sums = true,
    .work = work,
    .phase_work = phase_work,
};
