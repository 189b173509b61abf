/* MiniMD: molecular dynamics, as M. Heroux and others (SAND2009-5574, section 4.4) have it: what a code for
 * many atoms that see only their neighbours does most.
 *
 * The problem: nx x ny x nz unit cells of a face-centred cubic crystal, four atoms in each, in a periodic
 * box. All move by Newton's law, m dv/dt = f, f = -grad U, from random velocities.
 *
 * The integrator: velocity Verlet (W. Swope and others, J. Chem. Phys. 76, 1982), which keeps energy because
 * it is reversible and symplectic:
 *
 *     v += dt/2 f/m;   x += dt v;   f = f(x);   v += dt/2 f/m
 *
 * Forces reach as far as the cut-off. Lists of neighbours reach further by a skin, and are made anew every 20
 * steps; at that time atoms go to the rank in whose brick they are, and ghosts are chosen. In steps between,
 * ghosts are told where they are now. */
#include "kernels/app/minimd.h"
#include "kernels/app/app.h"

#include "base/hot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POTENTIAL, NX, NY, NZ, STEPS, EVERY, LISTS };
enum { HALF = 0 };

enum { PHASE_FORCE, PHASE_LISTS, PHASE_MOTION, PHASE_GHOSTS, PHASE_MIGRATION };
static const struct phase phases[] = {
    [PHASE_FORCE] = {"force", false},        [PHASE_LISTS] = {"lists", false},
    [PHASE_MOTION] = {"motion", false},      [PHASE_GHOSTS] = {"ghosts", true},
    [PHASE_MIGRATION] = {"migration", true}, {0}};

static const struct minimd_law *const laws[] = {&minimd_lj, &minimd_copper};

/* ---- a step ----------------------------------------------------------------------------------------------
 */

/* What cannot be is kept for the answer, and the run goes on: so that no rank waits for this one. */
static int keep_wrong(struct minimd *s, int err)
{
    if (err == ERR_WRONG && !s->wrong) {
        s->wrong = err;
        snprintf(s->why, sizeof s->why, "%s", err_text());
    }
    return err == ERR_WRONG ? 0 : err;
}

/* to += scale from. */
HOT static void add_scaled(double *restrict to, double scale, const double *restrict from, int64_t count)
{
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
        to[i] += scale * from[i];
}

static void add_on_lanes(const struct minimd *s, double *to, double scale, const double *from)
{
    const int lanes = s->env->threads;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        const struct share part = share_of(s->atoms.own, lanes, l);
        add_scaled(to + WIDE * part.first, scale, from + WIDE * part.first, WIDE * part.count);
    }
}

/* Atoms to their ranks, ghosts, lists. */
static int rebuild(struct minimd *s)
{
    int err = keep_wrong(s, minimd_migrate(s->ghosts, &s->atoms));
    phase_end(s->env->phases, PHASE_MIGRATION);
    minimd_sort(&s->lists, &s->atoms);
    phase_end(s->env->phases, PHASE_LISTS);
    err = err ? err : keep_wrong(s, minimd_ghosts_choose(s->ghosts, &s->atoms));
    phase_end(s->env->phases, PHASE_GHOSTS);
    err = err ? err : keep_wrong(s, minimd_lists_make(&s->lists, &s->box, &s->atoms));
    phase_end(s->env->phases, PHASE_LISTS);
    return err;
}

static int carry(struct minimd *s, enum minimd_carry what)
{
    int err = keep_wrong(s, minimd_carry(s->ghosts, what, &s->atoms));
    phase_end(s->env->phases, PHASE_GHOSTS);
    return err;
}

/* An embedded law's densities, of which those of ghosts go home; F' from them, which ghosts are told. */
static int embed(struct minimd *s)
{
    minimd_force_density(&s->force, &s->lists, &s->atoms);
    phase_end(s->env->phases, PHASE_FORCE);
    int err = s->lists.half ? carry(s, MINIMD_DENSITIES) : 0;
    minimd_force_slopes(&s->force, &s->atoms);
    phase_end(s->env->phases, PHASE_FORCE);
    return err ? err : carry(s, MINIMD_SLOPES);
}

static int find_forces(struct minimd *s)
{
    int err = s->law->embedded ? embed(s) : 0;
    (s->law->embedded ? minimd_force_embedded : minimd_force_pairs)(&s->force, &s->lists, &s->atoms);
    phase_moves(s->env->phases, PHASE_FORCE, minimd_force_moves(&s->force, &s->lists, &s->atoms));
    phase_end(s->env->phases, PHASE_FORCE);
    return err ? err : s->lists.half ? carry(s, MINIMD_FORCES) : 0;
}

static int solve(void *state)
{
    struct minimd *s = state;
    const double dt = s->law->step, kick = dt / 2 / s->law->mass;
    int err = 0;
    phase_begin(s->env->phases);
    for (int64_t step = 1; step <= s->steps && !err; ++step) {
        add_on_lanes(s, s->atoms.v, kick, s->atoms.f);
        add_on_lanes(s, s->atoms.x, dt, s->atoms.v);
        phase_end(s->env->phases, PHASE_MOTION);
        err = step % s->every == 0 ? rebuild(s) : carry(s, MINIMD_POSITIONS);
        err = err ? err : find_forces(s);
        add_on_lanes(s, s->atoms.v, kick, s->atoms.f);
        phase_end(s->env->phases, PHASE_MOTION);
    }
    return err;
}

/* The crystal, its forces, and what is measured of it. */
static int reset(void *state)
{
    struct minimd *s = state;
    s->wrong = 0;
    minimd_place(&s->box, &s->atoms);
    int err = minimd_heat(s->env, s->law, &s->box, &s->atoms);
    err = err ? err : rebuild(s);
    err = err ? err : find_forces(s);
    err = err ? err : minimd_measure(s, &s->start);
    kernel_spoil(s->env, &s->atoms.v[0]);
    return err;
}

/* What a rank has met on its way says more than what has come of it: if one has, only such ranks speak. */
static int tell_wrong(const struct minimd *s, int judged)
{
    double met = s->wrong != 0;
    const int err = comm_max(&s->env->comm, &met, 1);
    if (err || met == 0)
        return err ? err : judged;
    return s->wrong ? err_say(s->wrong, "%s", s->why) : 0;
}

static int answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    const struct minimd *s = state;
    struct minimd_state now = {0};
    const int judged = minimd_judge(s, &now);
    values[0] = now.temperature;
    values[1] = now.energy;
    values[2] = now.pressure;
    *count = 3;
    return tell_wrong(s, judged);
}

static int64_t digest(void *state)
{
    const struct minimd *s = state;
    return kernel_digest(s->env, s->atoms.x, WIDE * s->atoms.own) +
           kernel_digest(s->env, s->atoms.v, WIDE * s->atoms.own);
}

static double alike(const double *params)
{
    return params[STEPS] <= MINIMD_KNOWN_STEPS ? APP_ALIKE : INFINITY;
}

/* ---- the box ---------------------------------------------------------------------------------------------
 */

/* More than atoms of a crystal or a liquid can be in a box of these sides: planes of the crystal may lie on
 * both ends of a side, and numbers vary. */
static int64_t crowd(const double side[GRID_DIMS], double cell)
{
    const double MARGIN = 1.1, DEVIATIONS = 6;
    double sites = 0.5;
    enum { MORE = 64 };
    for (int d = 0; d < GRID_DIMS; ++d)
        sites *= floor(side[d] / (cell / 2)) + 1;
    return (int64_t)(MARGIN * sites + DEVIATIONS * sqrt(sites)) + MORE;
}

/* Ranks in a grid whose bricks have the least surface, and sides as long as lists reach; false: there is
 * none. */
static bool divide(const struct minimd_box *box, int ranks, struct grid *grid)
{
    double least = INFINITY;
    for (int x = 1; x <= ranks; ++x)
        for (int y = 1; ranks % x == 0 && y <= ranks / x; ++y) {
            const int extent[GRID_DIMS] = {x, y, ranks / x / y};
            double side[GRID_DIMS];
            bool fits = ranks / x % y == 0;
            for (int d = 0; d < GRID_DIMS; ++d) {
                side[d] = box->length[d] / extent[d];
                fits = fits && side[d] >= box->reach;
            }
            const double surface = side[X] * side[Y] + side[Y] * side[Z] + side[Z] * side[X];
            if (fits && surface < least) {
                least = surface;
                *grid = (struct grid){GRID_DIMS, {x, y, ranks / x / y}, true};
            }
        }
    return least < INFINITY;
}

/* The box of these parameters; false: this many ranks cannot share it. */
static bool box_of(const struct kernel_env *env, struct minimd_box *box)
{
    const struct minimd_law *law = laws[(int)env->params[POTENTIAL]];
    double outer[GRID_DIMS];
    int rank = env->comm.rank;
    *box = (struct minimd_box){
        .atoms = MINIMD_FCC, .cell = cbrt(MINIMD_FCC / law->density), .reach = law->cut + law->skin};
    for (int d = 0; d < GRID_DIMS; ++d) {
        box->cells[d] = (int64_t)env->params[NX + d];
        box->atoms *= box->cells[d];
        box->length[d] = (double)box->cells[d] * box->cell;
    }
    if (!divide(box, env->comm.size, &box->ranks))
        return false;
    for (int d = GRID_DIMS - 1; d >= 0; --d) {
        box->at[d] = rank % box->ranks.extent[d];
        rank /= box->ranks.extent[d];
        box->side[d] = box->length[d] / box->ranks.extent[d];
        box->low[d] = box->side[d] * box->at[d];
        box->high[d] = box->side[d] * (box->at[d] + 1);
        outer[d] = box->side[d] + 2 * box->reach;
    }
    const double inside = box->side[X] * box->side[Y] * box->side[Z] * law->density;
    box->own_room = crowd(box->side, box->cell);
    box->ghost_room = crowd(outer, box->cell) - (int64_t)inside;
    return true;
}

/* ---- the kernel ------------------------------------------------------------------------------------------
 */

static int ranks(const struct kernel_env *env)
{
    const int64_t MOST = INT64_C(1) << 31; /* whose drawn velocities have sums of 64 bits */
    struct minimd_box box;
    const bool divided = box_of(env, &box);
    if (!divided)
        return err_say(
            ERR_UNSUPPORTED,
            "app.minimd: %d rank%s cannot share %lld x %lld x %lld cells, for each must have a brick of "
            "%.3g cells a side, as far as lists of neighbours reach; choose fewer ranks or more cells",
            env->comm.size, env->comm.size == 1 ? "" : "s", (long long)box.cells[X], (long long)box.cells[Y],
            (long long)box.cells[Z], box.reach / box.cell);
    if (box.atoms > MOST || box.own_room + box.ghost_room > INT32_MAX)
        return err_say(
            ERR_UNSUPPORTED,
            "app.minimd numbers the atoms of a rank in 31 bits, and takes up to %lld in all: %lld are "
            "too many; choose smaller nx, ny, nz",
            (long long)MOST, (long long)box.atoms);
    return 0;
}

/* Vectors x, v, f and spare ones; numbers; densities and slopes. */
static double atoms_memory(const struct minimd_box *box, bool embedded)
{
    const double own = (double)box->own_room, all = own + (double)box->ghost_room;
    return sizeof(double) * (WIDE * 2 * (own + all) + own + (embedded ? 2 : 1) * all);
}

static double memory(const struct kernel_env *env)
{
    const struct minimd_law *law = laws[(int)env->params[POTENTIAL]];
    const bool half = (int)env->params[LISTS] == HALF;
    struct minimd_box box;
    box_of(env, &box);
    return atoms_memory(&box, law->embedded) + minimd_lists_memory(&box, law, half, env->threads) +
           minimd_force_memory(&box, law, half, env->threads) + minimd_ghosts_memory(&box);
}

static int alloc_atoms(struct minimd *s)
{
    struct minimd_atoms *a = &s->atoms;
    const size_t own = (size_t)s->box.own_room, all = own + (size_t)s->box.ghost_room;
    const struct {
        double **array;
        size_t count;
    } arrays[] = {{&a->x, WIDE * all},
                  {&a->v, WIDE * own},
                  {&a->f, WIDE * all},
                  {&a->number, own},
                  {&a->spare, WIDE * own},
                  {&a->slope, all},
                  {&a->density, s->law->embedded ? all : 0}};
    int err = 0;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0] && !err; ++i)
        if (arrays[i].count > 0)
            err = kernel_alloc(s->env, arrays[i].count, sizeof(double), arrays[i].array);
    if (!err) /* the last number of each ghost's vector, which nobody brings, stays so */
        memset(a->x, 0, WIDE * all * sizeof *a->x);
    return err;
}

static void close_minimd(void *state)
{
    struct minimd *s = state;
    minimd_ghosts_close(s->ghosts);
    minimd_force_close(&s->force);
    minimd_lists_close(&s->lists);
    free(s->atoms.x);
    free(s->atoms.v);
    free(s->atoms.f);
    free(s->atoms.number);
    free(s->atoms.spare);
    free(s->atoms.slope);
    free(s->atoms.density);
    free(s);
}

static int make(struct kernel_env *env, void *state)
{
    struct minimd *s = state;
    const bool half = (int)env->params[LISTS] == HALF;
    s->env = env;
    s->law = laws[(int)env->params[POTENTIAL]];
    s->steps = (int64_t)env->params[STEPS];
    s->every = (int64_t)env->params[EVERY];
    box_of(env, &s->box);
    int err = alloc_atoms(s);
    if (!err)
        err = minimd_lists_open(env, &s->box, s->law, half, &s->lists);
    return err ? err : minimd_force_open(env, &s->box, s->law, half, &s->atoms, &s->force);
}

static int connect(void *state)
{
    struct minimd *s = state;
    return minimd_ghosts_open(s->env, &s->box, s->lists.half, s->law->embedded, 0, &s->ghosts);
}

static int open_minimd(struct kernel_env *env, void **state)
{
    static const struct app_parts parts = {sizeof(struct minimd), make, connect, close_minimd};
    return app_open(&parts, env, state);
}

/* Atoms times steps. */
static double work(const double *chosen)
{
    return MINIMD_FCC * chosen[NX] * chosen[NY] * chosen[NZ] * chosen[STEPS];
}

static const char *const potentials[] = {"lj", "eam", NULL};
static const char *const names[] = {"temperature", "energy of an atom", "pressure", NULL};
static const char *const kinds_of_lists[] = {"half", "full", NULL};
static const struct param params[] = {
    [POTENTIAL] = PARAM_WORDS("potential", "Lennard-Jones, or copper by an embedded-atom method", potentials),
    [NX] = {"nx", "", "unit cells of the box along x, of 4 atoms each", 32, 1, 1e5},
    [NY] = {"ny", "", "unit cells of the box along y", 32, 1, 1e5},
    [NZ] = {"nz", "", "unit cells of the box along z", 32, 1, 1e5},
    [STEPS] = {"steps", "", "time steps", 100, 1, 1e9},
    [EVERY] = {"every", "", "steps after which lists are made anew", 20, 1, 1e9},
    [LISTS] =
        PARAM_WORDS("lists", "lists of neighbours: each pair once, or at both of its atoms", kinds_of_lists),
    KERNEL_EXCHANGES,
    {0}};

const struct kernel app_minimd = {
    .name = "app.minimd",
    .summary = "MiniMD: molecular dynamics with lists of neighbours, arithmetic and messages that vary",
    .params = params,
    .phases = phases,
    .ranks = ranks,
    .memory = memory,
    .open = open_minimd,
    .close = close_minimd,
    .reset = reset,
    .solve = solve,
    .answer = answer,
    .value_names = names,
    .digest = digest,
    .alike = alike,
    .work = work,
};
