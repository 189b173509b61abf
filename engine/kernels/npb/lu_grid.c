/* The box of a rank, how its fields lie in memory, and its halo. */
#include "kernels/npb/lu.h"

#include <stdlib.h>
#include <string.h>

static int64_t inner(const struct cfd_problem *p)
{
    return p->points - 2; /* walls hold their values */
}

bool lu_ranks(const struct cfd_problem *problem, int count, int ranks[LU_SIDES])
{
    kernel_factors(count, &ranks[CFD_X], &ranks[CFD_Y]);
    return ranks[CFD_Y] <= inner(problem);
}

int lu_rank(const struct lu *lu, int along_x, int along_y)
{
    int x = lu->place[CFD_X] + along_x, y = lu->place[CFD_Y] + along_y;
    bool inside = x >= 0 && x < lu->ranks[CFD_X] && y >= 0 && y < lu->ranks[CFD_Y];
    return inside ? y * lu->ranks[CFD_X] + x : -1;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void lay_out(struct lu *lu)
{
    const int64_t x = lu->count[CFD_X], y = lu->count[CFD_Y], z = lu->count[CFD_Z];
    const int64_t lines = (y + LU_LINE - 1) / LU_LINE;
    /* vectors begin within y and look as far as the halo */
    lu->unknown = LU_LEFT + lu_round(lu_round(y, LU_LANES) + LU_REACH, LU_LINE);
    lu->row = LU_N * lu->unknown;
    lu->plane = (x + y - 1 + 2 * LU_REACH) * lu->row;
    lu->origin = LU_REACH * (lu->plane + lu->row) + LU_LEFT;
    lu->total = (size_t)((z + 2 * LU_REACH) * lu->plane);
    lu->lanes = (int)(lu->env->threads < lines ? lu->env->threads : lines);
    lu->x_unknown = lu_round(y, LU_LINE);
    lu->x_plane = LU_N * lu->x_unknown;
    lu->y_plane = LU_N * x;
    lu->y_lane = z * lu->y_plane;
    lu->in_unknown = LU_LEFT + lu_round(y, LU_LINE) + LU_LINE;
    lu->in_lane = 2 * LU_N * lu->in_unknown;
    lu->derived_each = lu_derived_each(lu);
}

/* What is allocated, and how much: the same table for lu_open() and lu_memory(). */
struct piece {
    double **array;
    size_t count;
};
enum { PIECES = 8 + 2 * LU_LINKS };

static int list_pieces(struct lu *lu, struct piece pieces[PIECES])
{
    const size_t planes = (size_t)lu->count[CFD_Z], lanes = (size_t)lu->lanes;
    int n = 0;
    pieces[n++] = (struct piece){&lu->u, lu->total};
    pieces[n++] = (struct piece){&lu->rhs, lu->total};
    pieces[n++] = (struct piece){&lu->forcing, lu->total};
    pieces[n++] = (struct piece){&lu->pass_x, planes * (size_t)lu->x_plane};
    pieces[n++] = (struct piece){&lu->pass_y, (lanes + 1) * (size_t)lu->y_lane};
    pieces[n++] = (struct piece){&lu->pass_z, (size_t)lu->plane};
    pieces[n++] = (struct piece){&lu->pass_in, lanes * (size_t)lu->in_lane};
    pieces[n++] = (struct piece){&lu->derived, (size_t)lu->env->threads * lu->derived_each};
    for (struct lu_link *l = lu->links; l < lu->links + LU_LINKS; ++l) {
        pieces[n++] = (struct piece){&l->send, l->send_count};
        pieces[n++] = (struct piece){&l->recv, l->recv_count};
    }
    return n;
}

double lu_memory(struct lu *lu)
{
    struct piece pieces[PIECES];
    double numbers = 0;
    for (int i = list_pieces(lu, pieces) - 1; i >= 0; --i)
        numbers += (double)pieces[i].count;
    return numbers * sizeof(double);
}

void lu_close(struct lu *lu)
{
    struct piece pieces[PIECES];
    for (int i = list_pieces(lu, pieces) - 1; i >= 0; --i)
        free(*pieces[i].array);
    comm_plan_close(lu->halo);
}

/* ---- the halo ------------------------------------------------------------------------------------------ */

/* Points along an axis that are of rank `from` and in the halo of rank `to`, which is after it or before it;
 * by number in the whole grid. For a rank with one point, the next but one is in the halo too. */
static struct share shared(const struct lu *lu, int axis, int from, int to)
{
    if (from < 0 || to < 0 || from >= lu->ranks[axis] || to >= lu->ranks[axis])
        return (struct share){0};
    int64_t n = inner(&lu->problem);
    struct share has = share_of(n, lu->ranks[axis], from), wants = share_of(n, lu->ranks[axis], to);
    int64_t low = to > from ? wants.first - LU_REACH : wants.first + wants.count;
    int64_t high = low + LU_REACH, end = has.first + has.count;
    low = low > has.first ? low : has.first;
    high = high < end ? high : end;
    return (struct share){low, high > low ? high - low : 0};
}

/* A shift by `far` ranks along an axis. */
static struct lu_link link_of(const struct lu *lu, int axis, int far)
{
    const int here = lu->place[axis];
    const size_t each = (size_t)(LU_N * lu->count[CFD_Z] * lu->count[CFD_X + CFD_Y - axis]);
    struct lu_link l = {.out = shared(lu, axis, here, here + far), .in = shared(lu, axis, here - far, here)};
    l.to = axis == CFD_X ? lu_rank(lu, far, 0) : lu_rank(lu, 0, far);
    l.from = axis == CFD_X ? lu_rank(lu, -far, 0) : lu_rank(lu, 0, -far);
    l.out.first -= lu->first[axis] - 1;
    l.in.first -= lu->first[axis] - 1;
    l.send_count = each * (size_t)l.out.count;
    l.recv_count = each * (size_t)l.in.count;
    return l;
}

static const int shifts[LU_LINKS / LU_SIDES] = {1, -1, 2, -2};

static void link_up(struct lu *lu)
{
    for (int i = 0; i < LU_LINKS; ++i)
        lu->links[i] = link_of(lu, i % LU_SIDES, shifts[i / LU_SIDES]);
}

/* The points of a link's columns, into or out of a buffer. */
static void move_columns(struct lu *lu, int axis, struct share columns, bool pack, double *buffer)
{
    int64_t low[LU_SIDES] = {0}, high[LU_SIDES] = {lu->count[CFD_X], lu->count[CFD_Y]};
    low[axis] = columns.first;
    high[axis] = columns.first + columns.count;
    for (int64_t z = 0; z < lu->count[CFD_Z]; ++z)
        for (int64_t x = low[CFD_X]; x < high[CFD_X]; ++x)
            for (int64_t y = low[CFD_Y]; y < high[CFD_Y]; ++y) {
                double *u = lu->u + lu_at(lu, x, y, z);
                for (int m = 0; m < LU_N; ++m, ++buffer)
                    *(pack ? buffer : u + m * lu->unknown) = *(pack ? u + m * lu->unknown : buffer);
            }
}

int lu_exchange(struct lu *lu)
{
    for (int i = 0; i < LU_LINKS; ++i)
        move_columns(lu, i % LU_SIDES, lu->links[i].out, true, lu->links[i].send);
    int err = comm_run(lu->halo);
    for (int i = 0; i < LU_LINKS && !err; ++i)
        move_columns(lu, i % LU_SIDES, lu->links[i].in, false, lu->links[i].recv);
    return err;
}

static int open_halo(struct lu *lu, int failed)
{
    struct comm_link links[LU_LINKS];
    size_t count = 0;
    for (int i = 0; i < LU_LINKS; ++i) {
        const struct lu_link *l = &lu->links[i];
        if (lu->ranks[i % LU_SIDES] > abs(shifts[i / LU_SIDES]))
            links[count++] = (struct comm_link){l->to,
                                                l->from,
                                                i,
                                                l->send,
                                                l->recv,
                                                l->send_count * sizeof(double),
                                                l->recv_count * sizeof(double)};
    }
    return comm_plan_exchange(&lu->env->comm, lu->env->back, links, count, failed, &lu->halo);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

void lu_prepare(struct kernel_env *env, const struct cfd_problem *problem, int64_t chunk, struct lu *lu)
{
    *lu = (struct lu){.env = env, .problem = *problem, .chunk = chunk};
    lu_ranks(problem, env->comm.size, lu->ranks);
    lu->place[CFD_X] = env->comm.rank % lu->ranks[CFD_X];
    lu->place[CFD_Y] = env->comm.rank / lu->ranks[CFD_X];
    for (int axis = 0; axis < CFD_AXES; ++axis) {
        bool whole = axis >= LU_SIDES;
        struct share mine =
            share_of(inner(problem), whole ? 1 : lu->ranks[axis], whole ? 0 : lu->place[axis]);
        lu->first[axis] = 1 + mine.first;
        lu->count[axis] = mine.count;
    }
    lay_out(lu);
    link_up(lu);
}

int lu_open(struct lu *lu)
{
    struct piece pieces[PIECES];
    int err = 0, count = list_pieces(lu, pieces);
    for (int i = 0; i < count && !err; ++i)
        if (pieces[i].count > 0)
            err = kernel_alloc(lu->env, pieces[i].count, sizeof(double), pieces[i].array);
    err = open_halo(lu, err);
    if (err)
        lu_close(lu);
    return err;
}

/* ---- U ------------------------------------------------------------------------------------------------- */

void lu_locate(const struct lu *lu, int64_t x, int64_t y, int64_t z, double at[CFD_AXES])
{
    const int64_t point[CFD_AXES] = {x, y, z};
    for (int d = 0; d < CFD_AXES; ++d)
        at[d] = (double)(lu->first[d] + point[d]) / (double)(lu->problem.points - 1);
}

/* Whether the whole grid has that point, and whether it is on a wall. */
static bool look_up(const struct lu *lu, const int64_t point[CFD_AXES], bool *wall)
{
    const int64_t last = lu->problem.points - 1;
    *wall = false;
    for (int d = 0; d < CFD_AXES; ++d) {
        int64_t number = lu->first[d] + point[d];
        if (number < 0 || number > last)
            return false;
        *wall = *wall || number == 0 || number == last;
    }
    return true;
}

/* A fluid at rest where there is no point: vectors run over it, and nothing comes of it. */
static void rest(struct lu *lu)
{
    static const double at_rest[LU_N] = {1, 0, 0, 0, 1};
    for (size_t i = 0; i < lu->total; ++i)
        lu->u[i] = at_rest[i / (size_t)lu->unknown % LU_N];
}

void lu_fill(struct lu *lu, void (*inside)(const double at[CFD_AXES], double u[CFD_UNKNOWNS]))
{
    const int64_t *n = lu->count;
    double at[CFD_AXES], value[LU_N];
    bool wall;
    rest(lu);
    for (int64_t z = -LU_REACH; z < n[CFD_Z] + LU_REACH; ++z)
        for (int64_t x = -LU_REACH; x < n[CFD_X] + LU_REACH; ++x)
            for (int64_t y = -LU_REACH; y < n[CFD_Y] + LU_REACH; ++y) {
                bool corner = (x < 0 || x >= n[CFD_X]) && (y < 0 || y >= n[CFD_Y]);
                if (corner || !look_up(lu, (const int64_t[]){x, y, z}, &wall))
                    continue;
                lu_locate(lu, x, y, z, at);
                (wall ? cfd_exact : inside)(at, value);
                for (int m = 0; m < LU_N; ++m)
                    lu->u[lu_at(lu, x, y, z) + m * lu->unknown] = value[m];
            }
}
