/* MG, "multigrid": RNR-94-007, section 3.2. Some V-cycles on the discrete Poisson problem A u = v on a
 * periodic grid, where v is -1 at ten points, +1 at ten, and 0 elsewhere. The answer is the norm of the
 * residual. */
#include "kernels/npb/mg.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Edges are 2^tops. */
static const int tops[NPB_CLASSES] = {[NPB_S] = 5, [NPB_W] = 7,  [NPB_A] = 8, [NPB_B] = 8,
                                      [NPB_C] = 9, [NPB_D] = 10, [NPB_E] = 11};
static const int iterations[NPB_CLASSES] = {[NPB_S] = 4,  [NPB_W] = 4,  [NPB_A] = 4, [NPB_B] = 20,
                                            [NPB_C] = 20, [NPB_D] = 50, [NPB_E] = 50};

/* A, and S of the smaller and of the larger classes. */
static const struct mg_weights operator_a = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};
static const struct mg_weights smoother_small = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
static const struct mg_weights smoother_large = {-3.0 / 17, 1.0 / 33, -1.0 / 61, 0};

struct mg {
    struct kernel_env *env;
    struct mg_grid grid;
    double *v_store, *scratch;
    struct mg_field v;
    struct mg_weights smoother;
    struct mg_charges charges; /* of the whole grid */
    int64_t scratch_each;
    double *sums; /* of each lane */
    double squares;
};

enum {
    PHASE_RESID,
    PHASE_SMOOTH,
    PHASE_RESTRICT,
    PHASE_EXPAND,
    PHASE_NORM,
    PHASE_SUM,
    PHASE_HALO,
    PHASE_WHOLE
};
static const struct phase phases[] = {
    [PHASE_RESID] = {"resid", false},
    [PHASE_SMOOTH] = {"smooth", false},
    [PHASE_RESTRICT] = {"restrict", false},
    [PHASE_EXPAND] = {"expand", false},
    [PHASE_NORM] = {"norm", false},
    [PHASE_SUM] = {"sum", true},
    [PHASE_HALO] = {"halo", true},
    [PHASE_WHOLE] = {"gather", true},
    {0},
};

/* ---- sweeps -------------------------------------------------------------------------------------------- */

/* Planes below which threads cost more than they do. */
enum { PLANES_EACH = 8 };

static void over_planes(const struct mg *mg, mg_planes *sweep, const struct mg_sweep *s, int64_t first,
                        int64_t planes)
{
    const int lanes = planes >= PLANES_EACH * mg->env->threads ? mg->env->threads : 1;
    if (lanes == 1) {
        sweep(s, first, first + planes, mg->scratch);
        return;
    }
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int i = 0; i < lanes; ++i) {
        struct share mine = share_of(planes, lanes, i);
        sweep(s, first + mine.first, first + mine.first + mine.count, mg->scratch + i * mg->scratch_each);
    }
}

static struct mg_sweep sweep_of(const struct mg_level *box, struct mg_field from, struct mg_field to,
                                struct mg_weights w)
{
    struct mg_sweep s = {.from = from, .to = to, .by = to, .w = w};
    memcpy(s.n, box->n, sizeof s.n);
    return s;
}

static int halo(const struct mg *mg, const struct mg_level *level, struct mg_field field)
{
    int err = mg_halo(level, field);
    phase_end(mg->env->phases, PHASE_HALO);
    return err;
}

/* r = v - A u, and its ghosts. */
static int resid(const struct mg *mg, const struct mg_level *level, struct mg_field v)
{
    struct mg_sweep s = sweep_of(level, level->u, level->r, operator_a);
    s.by = v;
    over_planes(mg, mg_resid, &s, 0, level->n[MG_Z]);
    phase_end(mg->env->phases, PHASE_RESID);
    return halo(mg, level, level->r);
}

/* u += S r, or u = S r, and the ghosts of u. */
static int smooth(const struct mg *mg, const struct mg_level *level, mg_planes *how)
{
    struct mg_sweep s = sweep_of(level, level->r, level->u, mg->smoother);
    over_planes(mg, how, &s, 0, level->n[MG_Z]);
    phase_end(mg->env->phases, PHASE_SMOOTH);
    return halo(mg, level, level->u);
}

/* This rank's box of a level, as the level above sees it: where a whole level begins, a part of it. */
static struct mg_level box_below(const struct mg *mg, int above)
{
    const struct mg_grid *grid = &mg->grid;
    struct mg_level box = grid->level[above - 1];
    if (above - 1 == grid->base && above <= grid->top) {
        for (int axis = 0; axis < MG_AXES; ++axis)
            box.n[axis] = grid->level[above].n[axis] / 2;
        box.u = mg_own_box(grid, box.u);
        box.r = mg_own_box(grid, box.r);
    }
    return box;
}

/* r of the level below = P r. */
static int restrict_from(const struct mg *mg, int l)
{
    const struct mg_level *fine = &mg->grid.level[l], coarse = box_below(mg, l);
    struct mg_sweep s = sweep_of(&coarse, fine->r, coarse.r, (struct mg_weights){0});
    over_planes(mg, mg_restrict, &s, 0, coarse.n[MG_Z]);
    phase_end(mg->env->phases, PHASE_RESTRICT);
    if (!fine->whole && mg->grid.level[l - 1].whole) {
        int err = mg_make_whole(&mg->grid);
        phase_end(mg->env->phases, PHASE_WHOLE);
        if (err)
            return err;
    }
    return halo(mg, &mg->grid.level[l - 1], mg->grid.level[l - 1].r);
}

/* u += Q u of the level below, or u = ...; the ghosts of u come out right by themselves. */
static void expand_to(const struct mg *mg, int l, mg_planes *how)
{
    const struct mg_level *fine = &mg->grid.level[l], coarse = box_below(mg, l);
    struct mg_sweep s = sweep_of(&coarse, coarse.u, fine->u, (struct mg_weights){0});
    over_planes(mg, how, &s, -1, coarse.n[MG_Z] + 1);
    phase_end(mg->env->phases, PHASE_EXPAND);
}

/* u += M r, the V-cycle: equations of section 3.2 for M^k, without recursion. */
static int cycle(const struct mg *mg)
{
    const struct mg_grid *grid = &mg->grid;
    const struct mg_level *level = grid->level;
    int err = 0;
    for (int l = grid->top; l > 1 && !err; --l)
        err = restrict_from(mg, l);
    err = err ? err : smooth(mg, &level[1], mg_smooth_new);
    for (int l = 2; l < grid->top && !err; ++l) {
        expand_to(mg, l, mg_expand_new);
        err = resid(mg, &level[l], level[l].r);
        err = err ? err : smooth(mg, &level[l], mg_smooth);
    }
    if (err)
        return err;
    expand_to(mg, grid->top, mg_expand);
    err = resid(mg, &level[grid->top], mg->v);
    return err ? err : smooth(mg, &level[grid->top], mg_smooth);
}

static int norm(struct mg *mg)
{
    const struct mg_level *top = &mg->grid.level[mg->grid.top];
    const int lanes = mg->env->threads;
    struct mg_sweep s = sweep_of(top, top->r, top->r, (struct mg_weights){0});
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int i = 0; i < lanes; ++i) {
        struct share mine = share_of(top->n[MG_Z], lanes, i);
        mg->sums[i] = mg_squares(&s, mine.first, mine.first + mine.count);
    }
    mg->squares = 0;
    for (int i = 0; i < lanes; ++i)
        mg->squares += mg->sums[i];
    kernel_spoil(mg->env, &mg->squares);
    phase_end(mg->env->phases, PHASE_NORM);
    int err = comm_sum(&mg->env->comm, &mg->squares, 1);
    phase_end(mg->env->phases, PHASE_SUM);
    return err;
}

static int solve(void *state)
{
    struct mg *mg = state;
    const struct mg_level *top = &mg->grid.level[mg->grid.top];
    phase_begin(mg->env->phases);
    int err = resid(mg, top, mg->v);
    for (int i = 0; i < iterations[npb_class(mg->env->params)] && !err; ++i) {
        err = cycle(mg);
        err = err ? err : resid(mg, top, mg->v);
    }
    return err ? err : norm(mg);
}

/* ---- the problem --------------------------------------------------------------------------------------- */

static void clear_planes(const struct mg_sweep *s, int64_t from, int64_t to, double *scratch)
{
    (void)scratch;
    const size_t bytes = (size_t)s->to.plane * sizeof(double);
    for (int64_t k = from; k < to; ++k)
        memset(s->to.at + k * s->to.plane - s->to.row - 1, 0, bytes);
}

/* u = 0, and v of the charges. Planes are cleared by the lanes that will work on them: first touch. */
static int reset(void *state)
{
    struct mg *mg = state;
    const struct mg_level *top = &mg->grid.level[mg->grid.top];
    const struct mg_field fields[] = {top->u, top->r, mg->v};
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; ++f) {
        struct mg_sweep s = sweep_of(top, fields[f], fields[f], (struct mg_weights){0});
        over_planes(mg, clear_planes, &s, -1, top->n[MG_Z] + 2);
    }
    mg_put_charges(&mg->charges, top, mg->v);
    return 0;
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

static int answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    const struct mg *mg = state;
    values[0] = sqrt(mg->squares / ldexp(1, 3 * mg->grid.top));
    *count = 1;
    return 0;
}

static int ranks(const struct kernel_env *env)
{
    int procs[MG_AXES], base;
    if (mg_layout(env->comm.size, tops[npb_class(env->params)], procs, &base))
        return 0;
    return err_say(ERR_UNSUPPORTED,
                   "npb.mg class %s takes numbers of ranks that are a product of three up to %d, not %d",
                   npb_classes[npb_class(env->params)], 1 << tops[npb_class(env->params)], env->comm.size);
}

/* For a scratch, in doubles, on cache lines of its own. A whole level may have longer lines than a finer
 * one's box. */
static int64_t scratch_of(const struct mg_grid *grid)
{
    const int64_t line = 8, own = grid->level[grid->top].n[MG_X], whole = grid->level[grid->base].n[MG_X];
    return (MG_ROWS * ((own > whole ? own : whole) + 2) / line + 2) * line;
}

static int64_t field_points(const struct mg_level *level)
{
    return (level->n[MG_X] + 2) * (level->n[MG_Y] + 2) * (level->n[MG_Z] + 2);
}

static double memory(const struct kernel_env *env)
{
    struct mg_grid grid;
    mg_grid_shape((struct kernel_env *)env, tops[npb_class(env->params)], &grid);
    const struct mg_level *top = &grid.level[grid.top];
    return mg_grid_memory(&grid) +
           sizeof(double) * (double)(field_points(top) + env->threads * scratch_of(&grid));
}

static void close_mg(void *state)
{
    struct mg *mg = state;
    mg_grid_close(&mg->grid);
    free(mg->v_store);
    free(mg->scratch);
    free(mg->sums);
    free(mg);
}

/* What this rank needs beside the grid. */
static int open_own(struct mg *mg, struct mg_charges **all)
{
    struct kernel_env *env = mg->env;
    const struct mg_level *top = &mg->grid.level[mg->grid.top];
    const int64_t row = top->u.row, plane = top->u.plane;
    mg->scratch_each = scratch_of(&mg->grid);
    int err = kernel_alloc(env, (size_t)field_points(top), sizeof(double), &mg->v_store);
    err = err ? err
              : kernel_alloc(env, (size_t)(mg->scratch_each * env->threads), sizeof(double), &mg->scratch);
    err = err ? err : kernel_alloc(env, (size_t)env->threads, sizeof(double), &mg->sums);
    err = err ? err : kernel_alloc(env, (size_t)env->comm.size, sizeof **all, all);
    if (!err)
        mg->v = (struct mg_field){mg->v_store + plane + row + 1, row, plane};
    return err;
}

static int open_mg(struct kernel_env *env, void **state)
{
    struct mg *mg = calloc(1, sizeof *mg);
    struct mg_charges *all = NULL;
    bool stop = false;
    int err = mg ? 0 : err_say(ERR_NOMEM, "no memory for the state of a kernel");
    int agreed = kernel_agree(env, err, &stop);
    if (stop || agreed) {
        free(mg);
        return err ? err : agreed;
    }
    mg->env = env;
    mg->smoother = npb_class(env->params) < NPB_B ? smoother_small : smoother_large;
    mg_grid_shape(env, tops[npb_class(env->params)], &mg->grid);
    err = mg_grid_open(&mg->grid);
    err = err ? err : open_own(mg, &all);
    agreed = kernel_agree(env, err, &stop);
    err = err ? err : agreed;
    if (!err && !stop)
        err = mg_find_charges(&mg->grid, mg->scratch, all, &mg->charges);
    free(all);
    if (err || stop)
        close_mg(mg);
    else
        *state = mg;
    return err;
}

static const struct npb_answer references[NPB_CLASSES] = {
    [NPB_S] = {{5.307707005734e-05}}, [NPB_W] = {{6.467329375339e-06}}, [NPB_A] = {{2.433365309069e-06}},
    [NPB_B] = {{1.800564401355e-06}}, [NPB_C] = {{5.70673228574e-07}},  [NPB_D] = {{1.58327506044e-10}},
    [NPB_E] = {{5.630442584711e-11}},
};

static const double *expected(const double *chosen)
{
    return references[npb_class(chosen)].values;
}

/* 58 operations for a point of the finest grid in each iteration. */
static double work(const double *chosen)
{
    return 58.0 * iterations[npb_class(chosen)] * ldexp(1, 3 * tops[npb_class(chosen)]);
}

static const char *const names[] = {"the norm of the residual", NULL};
static const struct param params[] = {NPB_PARAMS(kernel_exchanges), {0}};

const struct kernel npb_mg = {
    .name = "npb.mg",
    .summary = "NAS MG: multigrid on a periodic grid, halos of long and short messages",
    .params = params,
    .phases = phases,
    .ranks = ranks,
    .memory = memory,
    .open = open_mg,
    .close = close_mg,
    .reset = reset,
    .solve = solve,
    .answer = answer,
    .tolerance = 1e-8,
    .value_names = names,
    .expected = expected,
    .work = work,
};
