/* The grid, the polynomial that is the solution, the start, the halo and the norms of BT and SP. */
#include "kernels/npb/cfd.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

const double cfd_second[CFD_AXES] = {0.75, 0.75, 1.0};

const struct phase cfd_phases[CFD_PHASES + 1] = {
    [CFD_PHASE_HALO] = {"halo", true},  [CFD_PHASE_RHS] = {"rhs", false},
    [CFD_PHASE_X] = {"x solve", false}, [CFD_PHASE_Y] = {"y solve", false},
    [CFD_PHASE_Z] = {"z solve", false}, [CFD_PHASE_PIPELINE] = {"pipeline", true},
};

const char *const cfd_names[] = {"residual of rho",
                                 "residual of rho u",
                                 "residual of rho v",
                                 "residual of rho w",
                                 "residual of E",
                                 "error of rho",
                                 "error of rho u",
                                 "error of rho v",
                                 "error of rho w",
                                 "error of E",
                                 NULL};

const struct param cfd_params[] = {NPB_PARAMS(kernel_exchanges), {0}};

/* ---- the grid of ranks --------------------------------------------------------------------------------- */

/* Walls hold their values. */
static int64_t inner(const struct cfd_problem *p)
{
    return p->points - 2;
}

bool cfd_grid(const struct cfd_problem *problem, int ranks, struct cfd_grid *grid)
{
    int64_t most = inner(problem) / CFD_REACH;
    for (int x = 1; x <= most && x <= ranks; ++x) {
        int y, z;
        if (ranks % x != 0)
            continue;
        kernel_factors(ranks / x, &y, &z);
        if (z <= most) {
            *grid = (struct cfd_grid){{x, y, z}};
            return true;
        }
    }
    return false;
}

int cfd_refuse(const struct kernel_env *env, const struct cfd_problem *problem)
{
    int most = (int)(inner(problem) / CFD_REACH);
    return err_say(ERR_UNSUPPORTED,
                   "%s class %s takes any product of three numbers up to %d, not %d ranks: each needs %d "
                   "of the %lld points along each axis",
                   env->kernel->name, npb_classes[npb_class(env->params)], most, env->comm.size, CFD_REACH,
                   (long long)inner(problem));
}

static int rank_at(const struct cfd_grid *g, const int at[CFD_AXES])
{
    for (int d = 0; d < CFD_AXES; ++d)
        if (at[d] < 0 || at[d] >= g->ranks[d])
            return -1;
    return (at[CFD_Z] * g->ranks[CFD_Y] + at[CFD_Y]) * g->ranks[CFD_X] + at[CFD_X];
}

static void place(struct cfd *c)
{
    const struct cfd_grid *g = &c->grid;
    int left = c->env->comm.rank, at[CFD_AXES];
    for (int d = 0; d < CFD_AXES; ++d) {
        at[d] = left % g->ranks[d];
        left /= g->ranks[d];
    }
    for (int d = 0; d < CFD_AXES; ++d) {
        struct share mine = share_of(inner(&c->problem), g->ranks[d], at[d]);
        c->first[d] = 1 + mine.first;
        c->count[d] = mine.count;
        --at[d];
        c->before[d] = rank_at(g, at);
        at[d] += 2;
        c->after[d] = rank_at(g, at);
        --at[d];
    }
}

/* Sizes of a field of that many inner points. */
static void lay_out(struct cfd *c)
{
    const int64_t *n = c->count;
    c->unknown = CFD_LEFT + cfd_round(n[CFD_X] + CFD_REACH);
    c->step[CFD_X] = 1;
    c->step[CFD_Y] = CFD_UNKNOWNS * c->unknown;
    c->step[CFD_Z] = (n[CFD_Y] + 2 * CFD_REACH) * c->step[CFD_Y];
    c->origin = CFD_REACH * (c->step[CFD_Y] + c->step[CFD_Z]) + CFD_LEFT;
    c->total = (size_t)((n[CFD_Z] + 2 * CFD_REACH) * c->step[CFD_Z]);
}

/* ---- the solution -------------------------------------------------------------------------------------- */

/* U*_m = c_1 + c_2 x + c_3 y + c_4 z + c_5 x^2 + c_6 y^2 + c_7 z^2 + c_8 x^3 + ... + c_13 z^4. */
static const double polynomial[CFD_UNKNOWNS][13] = {
    {2, 0, 0, 4, 5, 3, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
    {1, 0, 0, 0, 1, 2, 3, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
    {2, 2, 0, 0, 0, 2, 3, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
    {2, 2, 0, 0, 0, 2, 3, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
    {5, 4, 3, 2, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
};

void cfd_exact(const double at[CFD_AXES], double u[CFD_UNKNOWNS])
{
    for (int m = 0; m < CFD_UNKNOWNS; ++m) {
        const double *p = polynomial[m];
        u[m] = p[0];
        for (int d = 0; d < CFD_AXES; ++d)
            u[m] += at[d] * (p[1 + d] + at[d] * (p[4 + d] + at[d] * (p[7 + d] + at[d] * p[10 + d])));
    }
}

/* Between opposite faces linearly, and the three directions blended: a + b + c - ab - bc - ca + abc. */
void cfd_blend(const double at[CFD_AXES], double u[CFD_UNKNOWNS])
{
    double between[CFD_AXES][CFD_UNKNOWNS];
    for (int d = 0; d < CFD_AXES; ++d) {
        double low[CFD_AXES] = {at[0], at[1], at[2]}, high[CFD_AXES] = {at[0], at[1], at[2]};
        double at_low[CFD_UNKNOWNS], at_high[CFD_UNKNOWNS];
        low[d] = 0;
        high[d] = 1;
        cfd_exact(low, at_low);
        cfd_exact(high, at_high);
        for (int m = 0; m < CFD_UNKNOWNS; ++m)
            between[d][m] = at[d] * at_high[m] + (1 - at[d]) * at_low[m];
    }
    for (int m = 0; m < CFD_UNKNOWNS; ++m) {
        double a = between[0][m], b = between[1][m], c = between[2][m];
        u[m] = a + b + c - a * b - a * c - b * c + a * b * c;
    }
}

/* Whether that point of this box is one of the whole grid; whether it is on a wall; and where in the cube. */
static bool locate(const struct cfd *c, const int64_t point[CFD_AXES], double at[CFD_AXES], bool *wall)
{
    int64_t last = c->problem.points - 1;
    *wall = false;
    for (int d = 0; d < CFD_AXES; ++d) {
        int64_t number = c->first[d] + point[d];
        if (number < 0 || number > last)
            return false;
        *wall = *wall || number == 0 || number == last;
        at[d] = (double)number / (double)last;
    }
    return true;
}

/* A fluid at rest where there is no point: vectors run over it, and nothing comes of it. */
static const double at_rest[CFD_UNKNOWNS] = {1, 0, 0, 0, 1};

static void fill(struct cfd *c, void (*inside)(const double at[CFD_AXES], double u[CFD_UNKNOWNS]))
{
    double *u = c->f.u, at[CFD_AXES], value[CFD_UNKNOWNS];
    const int64_t *n = c->count;
    bool wall;
    for (size_t i = 0; i < c->total; ++i)
        u[i] = at_rest[(ptrdiff_t)i / c->unknown % CFD_UNKNOWNS];
    for (int64_t z = -CFD_REACH; z < n[CFD_Z] + CFD_REACH; ++z)
        for (int64_t y = -CFD_REACH; y < n[CFD_Y] + CFD_REACH; ++y)
            for (int64_t x = -CFD_REACH; x < n[CFD_X] + CFD_REACH; ++x) {
                if (!locate(c, (const int64_t[]){x, y, z}, at, &wall))
                    continue;
                (wall ? cfd_exact : inside)(at, value);
                for (int m = 0; m < CFD_UNKNOWNS; ++m)
                    u[cfd_at(c, x, y, z) + m * c->unknown] = value[m];
            }
}

void cfd_start(struct cfd *c)
{
    fill(c, cfd_blend);
    memset(c->f.rhs, 0, c->total * sizeof(double));
    for (size_t i = 0; i < c->total; ++i)
        kernel_spoil(c->env, &c->f.u[i]);
}

/* ---- the halo ------------------------------------------------------------------------------------------ */

/* Layers beside the wall or neighbour of an axis: `from` and as many as CFD_REACH, of the inner points of the
 * other two; moved to or from a buffer. */
static void move_face(struct cfd *c, int axis, int64_t from, bool pack, double *face)
{
    int64_t low[CFD_AXES] = {0}, high[CFD_AXES];
    memcpy(high, c->count, sizeof high);
    low[axis] = from;
    high[axis] = from + CFD_REACH;
    size_t width = (size_t)(high[CFD_X] - low[CFD_X]), bytes = width * sizeof(double);
    for (int64_t z = low[CFD_Z]; z < high[CFD_Z]; ++z)
        for (int64_t y = low[CFD_Y]; y < high[CFD_Y]; ++y)
            for (int m = 0; m < CFD_UNKNOWNS; ++m, face += width) {
                double *row = c->f.u + cfd_at(c, low[CFD_X], y, z) + m * c->unknown;
                memcpy(pack ? face : row, pack ? row : face, bytes);
            }
}

static size_t face_size(const struct cfd *c, int axis)
{
    int64_t size = CFD_UNKNOWNS * CFD_REACH;
    for (int d = 0; d < CFD_AXES; ++d)
        size *= d == axis ? 1 : c->count[d];
    return (size_t)size;
}

int cfd_exchange(struct cfd *c)
{
    for (int d = 0; d < CFD_AXES; ++d) {
        if (c->before[d] >= 0)
            move_face(c, d, 0, true, c->face[d][0][0]);
        if (c->after[d] >= 0)
            move_face(c, d, c->count[d] - CFD_REACH, true, c->face[d][1][0]);
    }
    int err = comm_run(c->halo);
    for (int d = 0; d < CFD_AXES && !err; ++d) {
        if (c->before[d] >= 0)
            move_face(c, d, -CFD_REACH, false, c->face[d][0][1]);
        if (c->after[d] >= 0)
            move_face(c, d, c->count[d], false, c->face[d][1][1]);
    }
    return err;
}

static int open_halo(struct cfd *c, int failed)
{
    struct comm_link links[2 * CFD_AXES];
    size_t count = 0;
    for (int d = 0; d < CFD_AXES; ++d) {
        size_t bytes = failed ? 0 : face_size(c, d) * sizeof(double);
        if (c->grid.ranks[d] == 1)
            continue;
        links[count++] = (struct comm_link){c->before[d],     c->after[d], 2 * d, c->face[d][0][0],
                                            c->face[d][1][1], bytes,       bytes};
        links[count++] = (struct comm_link){c->after[d],      c->before[d], 2 * d + 1, c->face[d][1][0],
                                            c->face[d][0][1], bytes,        bytes};
    }
    return comm_plan_exchange(&c->env->comm, c->env->back, links, count, failed, &c->halo);
}

/* ---- norms --------------------------------------------------------------------------------------------- */

static void sum_squares(const struct cfd *c, double residual[CFD_UNKNOWNS], double error[CFD_UNKNOWNS])
{
    double at[CFD_AXES], value[CFD_UNKNOWNS];
    bool wall;
    for (int64_t z = 0; z < c->count[CFD_Z]; ++z)
        for (int64_t y = 0; y < c->count[CFD_Y]; ++y)
            for (int64_t x = 0; x < c->count[CFD_X]; ++x) {
                locate(c, (const int64_t[]){x, y, z}, at, &wall);
                cfd_exact(at, value);
                for (int m = 0; m < CFD_UNKNOWNS; ++m) {
                    ptrdiff_t i = cfd_at(c, x, y, z) + m * c->unknown;
                    double r = c->f.rhs[i] / c->problem.dt, e = c->f.u[i] - value[m];
                    residual[m] += r * r;
                    error[m] += e * e;
                }
            }
}

int cfd_answer(struct cfd *c, double values[KERNEL_VALUES_MAX], int *count)
{
    double points = pow((double)inner(&c->problem), CFD_AXES);
    int err = cfd_exchange(c);
    *count = 2 * CFD_UNKNOWNS;
    memset(values, 0, (size_t)*count * sizeof *values);
    if (!err) {
        cfd_rhs(c);
        sum_squares(c, values, values + CFD_UNKNOWNS);
        err = comm_sum(&c->env->comm, values, (size_t)*count);
    }
    for (int i = 0; i < *count; ++i)
        values[i] = sqrt(values[i] / points);
    return err;
}

/* ---- opening ------------------------------------------------------------------------------------------- */

/* Weights of the fourth difference: at and beside the walls, points are missing. */
static void weigh(const struct cfd *c, int axis)
{
    int64_t last = c->problem.points - 2, n = cfd_round(c->count[axis]);
    for (int64_t i = 0; i < n; ++i) {
        int64_t number = c->first[axis] + i;
        const double weights[] = {
            number > 2 ? 1 : 0,     number > 1 ? -4 : 0,       number == 1 || number == last ? 5 : 6,
            number < last ? -4 : 0, number < last - 1 ? 1 : 0,
        };
        for (int k = 0; k <= 2 * CFD_REACH; ++k)
            c->damping[axis][k * n + i] = i < c->count[axis] ? CFD_DISSIPATION * weights[k] : 0;
    }
}

static void make_forcing(struct cfd *c)
{
    for (int d = 0; d < CFD_AXES; ++d)
        weigh(c, d);
    for (int64_t i = 0; i < cfd_round(c->count[CFD_X]); ++i)
        c->dt_inside[i] = i < c->count[CFD_X] ? c->problem.dt : 0;
    memset(c->f.forcing, 0, c->total * sizeof(double));
    memset(c->f.rhs, 0, c->total * sizeof(double));
    fill(c, cfd_exact);
    cfd_rhs(c);
    for (size_t i = 0; i < c->total; ++i)
        c->f.forcing[i] = -c->f.rhs[i] / c->problem.dt;
}

/* What is allocated, and how much: the same table for cfd_open() and cfd_memory(). */
struct piece {
    double **array;
    size_t count;
};
enum { PIECES = 3 + CFD_AXES + 2 + 4 * CFD_AXES };

static int list_pieces(struct cfd *c, struct piece pieces[PIECES])
{
    int n = 0;
    pieces[n++] = (struct piece){&c->f.u, c->total};
    pieces[n++] = (struct piece){&c->f.rhs, c->total};
    pieces[n++] = (struct piece){&c->f.forcing, c->total};
    for (int d = 0; d < CFD_AXES; ++d)
        pieces[n++] = (struct piece){&c->damping[d], (2 * CFD_REACH + 1) * (size_t)cfd_round(c->count[d])};
    pieces[n++] = (struct piece){&c->dt_inside, (size_t)cfd_round(c->count[CFD_X])};
    pieces[n++] = (struct piece){&c->derived, c->derived_each * (size_t)c->env->threads};
    for (int d = 0; d < CFD_AXES; ++d)
        for (int i = 0; i < 4 && c->grid.ranks[d] > 1; ++i)
            pieces[n++] = (struct piece){&c->face[d][i / 2][i % 2], face_size(c, d)};
    return n;
}

void cfd_prepare(struct kernel_env *env, const struct cfd_problem *problem, const struct cfd_grid *grid,
                 struct cfd *c)
{
    *c = (struct cfd){.env = env, .problem = *problem, .grid = *grid};
    place(c);
    lay_out(c);
    c->derived_each = cfd_derived_each(c);
}

double cfd_memory(struct cfd *c)
{
    struct piece pieces[PIECES];
    double numbers = 0;
    for (int i = list_pieces(c, pieces) - 1; i >= 0; --i)
        numbers += (double)pieces[i].count;
    return numbers * sizeof(double);
}

void cfd_close(struct cfd *c)
{
    struct piece pieces[PIECES];
    for (int i = list_pieces(c, pieces) - 1; i >= 0; --i)
        free(*pieces[i].array);
    comm_plan_close(c->halo);
}

int cfd_open(struct cfd *c)
{
    struct piece pieces[PIECES];
    int err = 0, count = list_pieces(c, pieces);
    for (int i = 0; i < count && !err; ++i)
        err = kernel_alloc(c->env, pieces[i].count, sizeof(double), pieces[i].array);
    if (!err)
        make_forcing(c);
    err = open_halo(c, err);
    if (err)
        cfd_close(c);
    return err;
}
