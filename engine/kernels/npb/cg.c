/* CG, "conjugate gradient": RNR-94-007, section 3.4. The least eigenvalue of a sparse matrix by inverse
 * iteration, each step of which is a system that 25 iterations of the conjugate gradient method solve,
 * however well.
 *
 * Which rank has which part of the matrix and of the vectors is in cg_grid.c. */
#include "kernels/npb/cg.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 25, LINE = 64 };
enum { ROWS = NPB_OWN }; /* of its parameters */

static const struct cg_problem problems[NPB_CLASSES] = {
    [NPB_S] = {1400, 7, 15, 10},        [NPB_W] = {7000, 8, 15, 12},     [NPB_A] = {14000, 11, 15, 20},
    [NPB_B] = {75000, 13, 75, 60},      [NPB_C] = {150000, 15, 75, 110}, [NPB_D] = {1500000, 21, 100, 500},
    [NPB_E] = {9000000, 26, 100, 1500},
};

/* Sums of a lane, on a cache line of their own. */
struct cg_lane {
    _Alignas(LINE) double sums[2];
};

struct cg {
    struct kernel_env *env;
    const struct cg_problem *problem;
    struct cg_grid grid;
    struct cg_matrix matrix;
    struct comm row;           /* the ranks of my grid row */
    double *x, *z, *p, *q, *r; /* my part of each vector */
    double *w;                 /* a product, for my rows */
    struct cg_lane *lanes;
    double sums[2]; /* over all elements, after comm_run() */
    struct comm_plan *add_rows, *fetch, *add_one, *add_two;
    double zeta, residual;
};

enum { PHASE_MATRIX, PHASE_VECTORS, PHASE_ROWS, PHASE_FETCH, PHASE_SUMS };
static const struct phase phases[] = {
    [PHASE_MATRIX] = {"matrix", false}, [PHASE_VECTORS] = {"vectors", false}, [PHASE_ROWS] = {"rows", true},
    [PHASE_FETCH] = {"fetch", true},    [PHASE_SUMS] = {"sums", true},        {0}};

/* ---- vectors on all lanes ------------------------------------------------------------------------------ */

/* Lane l's share of what this rank has of a vector. */
static struct share part_of(const struct cg *cg, int lane)
{
    return share_of(cg->matrix.columns.count, cg->env->threads, lane);
}

/* What the lanes have found, and then all ranks. */
static int add_lanes(struct cg *cg, int count)
{
    for (int s = 0; s < count; ++s) {
        cg->sums[s] = 0;
        for (int l = 0; l < cg->env->threads; ++l)
            cg->sums[s] += cg->lanes[l].sums[s];
    }
    phase_end(cg->env->phases, PHASE_VECTORS);
    int err = comm_run(count == 1 ? cg->add_one : cg->add_two);
    phase_end(cg->env->phases, PHASE_SUMS);
    return err;
}

/* q = A from: the part that this rank has of it. With one rank w is q, and nothing is said. */
static int apply(struct cg *cg, const double *from)
{
    const int lanes = cg->env->threads;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = share_of(cg->matrix.rows.count, lanes, l);
        csr_multiply(&cg->matrix.a, s.first, s.first + s.count, from, cg->w);
    }
    phase_end(cg->env->phases, PHASE_MATRIX);
    int err = comm_run(cg->add_rows);
    phase_end(cg->env->phases, PHASE_ROWS);
    if (!err)
        err = comm_run(cg->fetch);
    phase_end(cg->env->phases, PHASE_FETCH);
    return err;
}

static int dot_all(struct cg *cg, const double *a, const double *b)
{
    const int lanes = cg->env->threads;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = part_of(cg, l);
        cg->lanes[l].sums[0] = vector_dot(s.count, a + s.first, b + s.first);
    }
    return add_lanes(cg, 1);
}

static int step_all(struct cg *cg, double alpha)
{
    const int lanes = cg->env->threads;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = part_of(cg, l);
        cg->lanes[l].sums[0] =
            cg_step(s.count, alpha, cg->p + s.first, cg->q + s.first, cg->z + s.first, cg->r + s.first);
    }
    return add_lanes(cg, 1);
}

static void turn_all(struct cg *cg, double beta)
{
    const int lanes = cg->env->threads;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = part_of(cg, l);
        cg_turn(s.count, beta, cg->r + s.first, cg->p + s.first);
    }
    phase_end(cg->env->phases, PHASE_VECTORS);
}

static int distance_all(struct cg *cg)
{
    const int lanes = cg->env->threads;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = part_of(cg, l);
        cg->lanes[l].sums[0] = cg_distance(s.count, cg->x + s.first, cg->q + s.first);
    }
    return add_lanes(cg, 1);
}

/* ---- the solution -------------------------------------------------------------------------------------- */

/* 25 steps towards A z = x from z = 0, and how far they have come: ||x - A z||. */
static int solve_system(struct cg *cg)
{
    const size_t bytes = (size_t)cg->matrix.columns.count * sizeof *cg->x;
    memset(cg->z, 0, bytes);
    memcpy(cg->r, cg->x, bytes);
    memcpy(cg->p, cg->x, bytes);
    int err = dot_all(cg, cg->r, cg->r);
    double rho = cg->sums[0];
    for (int i = 0; i < STEPS && !err; ++i) {
        err = apply(cg, cg->p);
        if (!err)
            err = dot_all(cg, cg->p, cg->q);
        if (!err)
            err = step_all(cg, rho / cg->sums[0]);
        turn_all(cg, cg->sums[0] / rho);
        rho = cg->sums[0];
    }
    if (!err)
        err = apply(cg, cg->z);
    if (!err)
        err = distance_all(cg);
    cg->residual = sqrt(cg->sums[0]);
    return err;
}

/* zeta = shift + 1 / (x . z); x = z / ||z||. */
static int next_x(struct cg *cg)
{
    const int64_t count = cg->matrix.columns.count;
    cg->lanes[0].sums[0] = vector_dot(count, cg->x, cg->z);
    cg->lanes[0].sums[1] = vector_dot(count, cg->z, cg->z);
    for (int l = 1; l < cg->env->threads; ++l)
        cg->lanes[l].sums[0] = cg->lanes[l].sums[1] = 0;
    int err = add_lanes(cg, 2);
    double scale = 1 / sqrt(cg->sums[1]);
    cg->zeta = cg->problem->shift + 1 / cg->sums[0];
    for (int64_t i = 0; i < count; ++i)
        cg->x[i] = scale * cg->z[i];
    phase_end(cg->env->phases, PHASE_VECTORS);
    return err;
}

static int solve(void *state)
{
    struct cg *cg = state;
    int err = 0;
    phase_begin(cg->env->phases);
    for (int i = 0; i < cg->problem->iterations && !err; ++i) {
        err = solve_system(cg);
        if (!err)
            err = next_x(cg);
    }
    return err;
}

static int reset(void *state)
{
    struct cg *cg = state;
    for (int64_t i = 0; i < cg->matrix.columns.count; ++i)
        cg->x[i] = 1;
    cg->zeta = 0;
    return 0;
}

static int answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    const struct cg *cg = state;
    values[0] = cg->zeta;
    *count = 1;
    return 0;
}

/* ---- the grid of ranks --------------------------------------------------------------------------------- */

static struct cg_grid grid_of(const struct kernel_env *env)
{
    return cg_grid(env->comm.size, (int)env->params[ROWS], problems[npb_class(env->params)].n);
}

static int ranks(const struct kernel_env *env)
{
    const int size = env->comm.size;
    const struct cg_grid grid = grid_of(env);
    const int rows = grid.rows, columns = grid.columns;
    if (rows * columns != size)
        return err_say(
            ERR_UNSUPPORTED,
            "npb.cg takes a grid of rows x columns ranks: %d ranks do not make %d rows; choose a rows "
            "that divides them, or 0",
            size, rows);
    if (columns > problems[npb_class(env->params)].n || rows > problems[npb_class(env->params)].n)
        return err_say(ERR_UNSUPPORTED, "npb.cg class %s has %lld rows: a grid of %d x %d ranks is too large",
                       npb_classes[npb_class(env->params)], (long long)problems[npb_class(env->params)].n,
                       rows, columns);
    return 0;
}

/* Collectives are for sums: what is fetched goes by messages. */
static int open_plans(struct cg *cg)
{
    struct kernel_env *env = cg->env;
    const enum comm_back messages = env->back >= COMM_COLLECTIVE ? COMM_NONBLOCKING : env->back;
    if (env->comm.size == 1)
        return 0;
    int err = comm_split(&env->comm, env->comm.rank / cg->grid.columns, &cg->row);
    if (err)
        return err;
    err = comm_plan_sum(&cg->row, env->back, cg->w, (size_t)cg->matrix.rows.count, err, &cg->add_rows);
    err = comm_plan_sum(&cg->row, env->back, cg->sums, 1, err, &cg->add_one);
    err = comm_plan_sum(&cg->row, env->back, cg->sums, 2, err, &cg->add_two);
    return cg_plan_fetch(&env->comm, &cg->grid, messages, cg->w, cg->q, err, &cg->fetch);
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

static void close_cg(void *state)
{
    struct cg *cg = state;
    comm_plan_close(cg->add_rows);
    comm_plan_close(cg->fetch);
    comm_plan_close(cg->add_one);
    comm_plan_close(cg->add_two);
    comm_close(&cg->row);
    csr_free(&cg->matrix.a);
    free(cg->lanes);
    free(cg->x);
    free(cg->z);
    free(cg->p);
    free(cg->q);
    free(cg->r);
    if (cg->env->comm.size > 1)
        free(cg->w);
    free(cg);
}

static int alloc(struct cg *cg)
{
    double **vectors[] = {&cg->x, &cg->z, &cg->p, &cg->q, &cg->r};
    const size_t columns = (size_t)cg->matrix.columns.count, rows = (size_t)cg->matrix.rows.count;
    int err = kernel_alloc(cg->env, (size_t)cg->env->threads, sizeof *cg->lanes, &cg->lanes);
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0] && !err; ++i)
        err = kernel_alloc(cg->env, columns, sizeof **vectors[i], vectors[i]);
    if (err)
        return err;
    if (cg->env->comm.size > 1)
        err = kernel_alloc(cg->env, rows, sizeof *cg->w, &cg->w);
    else
        cg->w = cg->q;
    return err ? err : cg_matrix_make(cg->env, cg->problem, &cg->matrix);
}

static int open_cg(struct kernel_env *env, void **state)
{
    struct cg *cg = calloc(1, sizeof *cg);
    bool stop = false;
    int err = cg ? 0 : err_say(ERR_NOMEM, "no memory for the state of a kernel");
    if (!err) {
        cg->env = env;
        cg->problem = &problems[npb_class(env->params)];
        cg->grid = grid_of(env);
        cg->matrix.rows = cg_rows_of(&cg->grid, env->comm.rank);
        cg->matrix.columns = cg_columns_of(&cg->grid, env->comm.rank);
        err = alloc(cg);
    }
    err = kernel_agree(env, err, &stop);
    if (!stop)
        err = open_plans(cg);
    if (err || stop) {
        if (cg)
            close_cg(cg);
    } else
        *state = cg;
    return err;
}

/* Elements as they are made, of 16 bytes, and then as they are kept, of 12. */
static double memory(const struct kernel_env *env)
{
    const struct cg_problem *p = &problems[npb_class(env->params)];
    double vector = p->nonzer + 1, elements = (double)p->n * vector * vector / env->comm.size;
    const struct cg_grid grid = grid_of(env);
    return elements * (16 + 12) + 8 * (double)p->n * (5.0 / grid.columns + 4.0 / grid.rows);
}

static const double *expected(const double *chosen)
{
    static const struct npb_answer references[NPB_CLASSES] = {
        [NPB_S] = {{8.5971775078648}}, [NPB_W] = {{10.362595087124}}, [NPB_A] = {{17.130235054029}},
        [NPB_B] = {{22.712745482631}}, [NPB_C] = {{28.973605592845}}, [NPB_D] = {{52.514532105794}},
        [NPB_E] = {{77.522164599383}},
    };
    return references[npb_class(chosen)].values;
}

/* z elements a row, as many as the vectors of a row's products would have if none fell together. */
static double work(const double *chosen)
{
    const struct cg_problem *p = &problems[npb_class(chosen)];
    double z = p->nonzer * (p->nonzer + 1.0);
    return 2.0 * p->iterations * (double)p->n * (3 + z + STEPS * (5 + z) + 3);
}

static const char *const names[] = {"zeta", NULL};
static const char *const backends[] = {"nonblocking", "blocking",    "persistent", "neighbour", "collective",
                                       "icollective", "pcollective", "signal",     NULL};
static const struct param params[] = {
    NPB_PARAMS(backends),
    [ROWS] = {"rows", "", "rows of the grid of ranks; 0: as near to a square as possible", 0, 0, 1e9},
    {0}};

const struct kernel npb_cg = {
    .name = "npb.cg",
    .summary = "NAS CG: the least eigenvalue of a sparse matrix, irregular memory and short messages",
    .params = params,
    .phases = phases,
    .ranks = ranks,
    .memory = memory,
    .open = open_cg,
    .close = close_cg,
    .reset = reset,
    .solve = solve,
    .answer = answer,
    .tolerance = 1e-10,
    .value_names = names,
    .expected = expected,
    .work = work,
};
