/* The mesh of MiniFE: a box of hexahedra that fills the unit cube, a brick of its nodes for each rank. From
 * here on nobody knows that it is regular: nodes have coordinates, elements have eight nodes. */
#include "kernels/app/minife.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double MINIFE_FREE = -1; /* no temperature of this problem */

/* ---- who has what -------------------------------------------------------------------------------------- */

/* The layers of nodes of a part along an axis. The first part has the more, if some shall. */
static struct share layers_of(int64_t layers, int parts, int part, double more)
{
    const int64_t most = llround((double)layers * (1 + more) / parts);
    if (more == 0 || parts == 1)
        return share_of(layers, parts, part);
    if (part == 0)
        return (struct share){0, most};
    struct share rest = share_of(layers - most, parts - 1, part - 1);
    return (struct share){most + rest.first, rest.count};
}

/* What the fullest rank has to do: nodes of its own, and those that it fetches. */
static double load_of(const int64_t nodes[GRID_DIMS], const int extent[GRID_DIMS])
{
    double side[GRID_DIMS], own = 1, outer = 0;
    for (int d = 0; d < GRID_DIMS; ++d) {
        side[d] = ceil((double)nodes[d] / extent[d]);
        own *= side[d];
    }
    for (int d = 0; d < GRID_DIMS; ++d)
        outer += own / side[d] * (extent[d] > 2 ? 2 : extent[d] - 1);
    return own + outer;
}

/* The box of ranks in which the fullest has the least to do; none has no layer. False: there is none. */
static bool best_grid(const int64_t nodes[GRID_DIMS], int ranks, bool line, struct grid *best)
{
    double least = INFINITY;
    for (int z = ranks; z >= 1; --z)
        for (int y = 1; ranks % z == 0 && y <= ranks / z; ++y) {
            const int extent[GRID_DIMS] = {z, y, ranks / z / y};
            if (ranks / z % y != 0 || (line && z != ranks) || extent[0] > nodes[0] || extent[1] > nodes[1] ||
                extent[2] > nodes[2] || load_of(nodes, extent) >= least)
                continue;
            least = load_of(nodes, extent);
            *best = (struct grid){.dims = GRID_DIMS, .extent = {extent[0], extent[1], extent[2]}};
        }
    return least < INFINITY;
}

/* The first axis along which there are several ranks is cut unevenly. */
static int uneven_axis(const struct grid *grid)
{
    for (int d = 0; d < GRID_DIMS; ++d)
        if (grid->extent[d] > 1)
            return d;
    return GRID_DIMS;
}

static int check_imbalance(const struct minife_cut *cut, const struct grid *grid,
                           const int64_t nodes[GRID_DIMS])
{
    const int d = uneven_axis(grid);
    if (cut->imbalance == 0)
        return 0;
    if (d == GRID_DIMS)
        return err_say(ERR_UNSUPPORTED, "app.minife on one rank has no load imbalance; choose imbalance=0 or "
                                        "more ranks");
    if (nodes[d] - layers_of(nodes[d], grid->extent[d], 0, cut->imbalance).count < grid->extent[d] - 1)
        return err_say(ERR_UNSUPPORTED,
                       "app.minife: an imbalance of %g %% leaves %d of %d ranks without a layer of nodes, of "
                       "which there are %lld; choose a smaller imbalance or more elements",
                       100 * cut->imbalance, grid->extent[d] - 1, grid->extent[d], (long long)nodes[d]);
    return 0;
}

int minife_cut(const struct minife_cut *cut, const struct comm *comm, struct brick *brick)
{
    int64_t nodes[GRID_DIMS];
    int place[GRID_DIMS];
    struct grid grid;
    for (int d = 0; d < GRID_DIMS; ++d)
        nodes[d] = cut->elements[d] + 1;
    if (!best_grid(nodes, comm->size, cut->grid == MINIFE_LINE, &grid))
        return err_say(
            ERR_UNSUPPORTED,
            "app.minife: %lld x %lld x %lld nodes have no layer for each of %d ranks in a %s; choose "
            "more elements or fewer ranks",
            (long long)nodes[2], (long long)nodes[1], (long long)nodes[0], comm->size,
            cut->grid == MINIFE_LINE ? "line along z" : "box");
    const int err = check_imbalance(cut, &grid, nodes);
    if (err)
        return err;
    *brick = (struct brick){0};
    brick_place(&grid, comm->rank, place);
    for (int d = 0; d < GRID_DIMS; ++d) {
        struct share mine =
            layers_of(nodes[d], grid.extent[d], place[d], d == uneven_axis(&grid) ? cut->imbalance : 0);
        brick->whole[d] = nodes[d];
        brick->first[d] = mine.first;
        brick->cells[d] = mine.count;
    }
    brick_cut(brick, &grid, comm->rank);
    return 0;
}

/* ---- nodes and elements -------------------------------------------------------------------------------- */

/* The layers of elements along an axis that touch own nodes. Element e is between the nodes e and e + 1. */
static struct share elements_of(const struct brick *b, int d)
{
    const int64_t first = b->first[d] > 0 ? b->first[d] - 1 : 0, end = b->first[d] + b->cells[d];
    const int64_t last = end < b->whole[d] ? end : b->whole[d] - 1;
    return (struct share){first, last - first};
}

static int64_t count_elements(const struct brick *b)
{
    return elements_of(b, 0).count * elements_of(b, 1).count * elements_of(b, 2).count;
}

double minife_mesh_memory(const struct brick *b, int lanes)
{
    return (double)(b->own + b->outer) * (GRID_DIMS + 1) * sizeof(double) +
           (double)count_elements(b) * MINIFE_CORNERS * sizeof(int32_t) +
           (double)lanes * sizeof(struct minife_lane);
}

/* The number of a node that is own, or touches one. */
static int64_t node_at(const struct brick *b, const int64_t whole[GRID_DIMS])
{
    int64_t at[GRID_DIMS];
    int step[GRID_DIMS];
    for (int d = 0; d < GRID_DIMS; ++d) {
        const int64_t mine = whole[d] - b->first[d];
        at[d] = mine < 0 ? 0 : mine >= b->cells[d] ? b->cells[d] - 1 : mine;
        step[d] = (int)(mine - at[d]);
    }
    return brick_neighbour(b, at, step);
}

/* The side x = 1 is hot, the others are cold, and so are edges between it and them. */
static double held_at(const struct brick *b, const int64_t whole[GRID_DIMS])
{
    bool ends[GRID_DIMS];
    for (int d = 0; d < GRID_DIMS; ++d)
        ends[d] = whole[d] == 0 || whole[d] == b->whole[d] - 1;
    if (ends[BRICK_Z] || ends[BRICK_Y] || whole[BRICK_X] == 0)
        return 0;
    return ends[BRICK_X] ? 1 : MINIFE_FREE;
}

static void make_node(struct minife_mesh *m, int64_t node, const int64_t whole[GRID_DIMS])
{
    for (int d = 0; d < GRID_DIMS; ++d)
        m->at[node][GRID_DIMS - 1 - d] = (double)whole[d] / (double)(m->brick.whole[d] - 1);
    m->held[node] = held_at(&m->brick, whole);
}

/* Corners in the usual order: around the lower face, then around the upper one (Hughes, The Finite Element
 * Method, 1987, figure 3.5.1). */
static const int corner_z[MINIFE_CORNERS] = {0, 0, 0, 0, 1, 1, 1, 1};
static const int corner_y[MINIFE_CORNERS] = {0, 0, 1, 1, 0, 0, 1, 1};
static const int corner_x[MINIFE_CORNERS] = {0, 1, 1, 0, 0, 1, 1, 0};

/* Numbers the corners of an element, and makes the nodes there: again and again, the same. */
static void make_element(struct minife_mesh *m, int64_t element, int64_t z, int64_t y, int64_t x)
{
    for (int c = 0; c < MINIFE_CORNERS; ++c) {
        const int64_t whole[GRID_DIMS] = {z + corner_z[c], y + corner_y[c], x + corner_x[c]};
        const int64_t node = node_at(&m->brick, whole);
        m->corner[element][c] = (int32_t)node;
        make_node(m, node, whole);
    }
}

static bool touches(const int32_t corner[MINIFE_CORNERS], const struct minife_lane *lane)
{
    for (int c = 0; c < MINIFE_CORNERS; ++c)
        if (corner[c] >= lane->first && corner[c] < lane->end)
            return true;
    return false;
}

static void share_rows(struct minife_mesh *m)
{
    for (int l = 0; l < m->lanes; ++l) {
        struct share rows = share_of(m->brick.own, m->lanes, l);
        struct minife_lane *lane = &m->lane[l];
        *lane = (struct minife_lane){.first = rows.first, .end = rows.first + rows.count};
        for (int64_t e = 0; e < m->elements; ++e)
            if (touches(m->corner[e], lane)) {
                lane->element_first = lane->element_end ? lane->element_first : e;
                lane->element_end = e + 1;
            }
    }
}

int minife_mesh_make(struct kernel_env *env, const struct brick *b, struct minife_mesh *m)
{
    *m = (struct minife_mesh){.brick = *b, .nodes = b->own + b->outer, .elements = count_elements(b)};
    m->lanes = env->threads;
    int err = kernel_alloc(env, (size_t)m->nodes, sizeof *m->at, &m->at);
    if (!err)
        err = kernel_alloc(env, (size_t)m->nodes, sizeof *m->held, &m->held);
    if (!err)
        err = kernel_alloc(env, (size_t)m->elements, sizeof *m->corner, &m->corner);
    if (!err)
        err = kernel_alloc(env, (size_t)m->lanes, sizeof *m->lane, &m->lane);
    if (err)
        return err;
    const struct share z = elements_of(b, 0), y = elements_of(b, 1), x = elements_of(b, 2);
    int64_t e = 0;
    for (int64_t i = 0; i < z.count; ++i)
        for (int64_t j = 0; j < y.count; ++j)
            for (int64_t k = 0; k < x.count; ++k)
                make_element(m, e++, z.first + i, y.first + j, x.first + k);
    share_rows(m);
    return 0;
}

void minife_mesh_free(struct minife_mesh *m)
{
    free(m->at);
    free(m->corner);
    free(m->held);
    free(m->lane);
    *m = (struct minife_mesh){0};
}
