/* Who is near whom: atoms are sorted into the cells of a grid, and each looks for neighbours in the cells
 * around its own (Allen and Tildesley, section 5.3). What it finds is kept in a list (Verlet 1967), which is
 * good for some steps because it reaches further than the forces do.
 *
 * A cell is half as wide as a list reaches at least: so all of 5 x 5 x 5 cells are searched. Along z they lie
 * one after the other in memory, and 25 runs of atoms are all that is looked through. */
#include "kernels/app/minimd.h"

#include "base/hot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AROUND = 2, RUNS = (2 * AROUND + 1) * (2 * AROUND + 1) };

/* ---- room ------------------------------------------------------------------------------------------------
 */

/* Cells along each side of the brick with its ghosts. */
static int64_t cells_of(const struct minimd_box *box, int64_t cells[GRID_DIMS])
{
    int64_t all = 1;
    for (int d = 0; d < GRID_DIMS; ++d) {
        cells[d] = (int64_t)((box->side[d] + 2 * box->reach) / (box->reach / AROUND));
        all *= cells[d];
    }
    return all;
}

/* Entries of the lists of a lane: what a sphere holds at the density of the start, and a margin. */
static int64_t lane_room_of(const struct minimd_box *box, const struct minimd_law *law, bool half, int lanes)
{
    const double MARGIN = 1.2, PI = 3.14159265358979;
    enum { MORE_OF_ATOM = 8, MORE_OF_LANE = 4096 };
    const double sphere = 4 * PI / 3 * box->reach * box->reach * box->reach * law->density;
    const double each = MARGIN * sphere * (half ? 0.5 : 1) + MORE_OF_ATOM;
    return (int64_t)(each * (double)(box->own_room / lanes + 1)) + MORE_OF_LANE;
}

double minimd_lists_memory(const struct minimd_box *box, const struct minimd_law *law, bool half, int lanes)
{
    int64_t cells[GRID_DIMS];
    const double all = (double)(box->own_room + box->ghost_room);
    return sizeof(int32_t) * ((double)cells_of(box, cells) + 2 + 2 * all) + sizeof(double) * GRID_DIMS * all +
           sizeof(int64_t) * 2 * (double)box->own_room +
           sizeof(int32_t) * (double)lanes * (double)lane_room_of(box, law, half, lanes);
}

int minimd_lists_open(struct kernel_env *env, const struct minimd_box *box, const struct minimd_law *law,
                      bool half, struct minimd_lists *l)
{
    *l = (struct minimd_lists){.half = half, .lanes = env->threads};
    const size_t cells = (size_t)cells_of(box, l->cells), own = (size_t)box->own_room;
    const size_t all = own + (size_t)box->ghost_room;
    for (int d = 0; d < GRID_DIMS; ++d) {
        l->low[d] = box->low[d] - box->reach;
        l->per_unit[d] = (double)l->cells[d] / (box->side[d] + 2 * box->reach);
    }
    l->lane_room = lane_room_of(box, law, half, l->lanes);
    int err = kernel_alloc(env, cells + 2, sizeof *l->first, &l->first);
    if (!err)
        err = kernel_alloc(env, all, sizeof *l->atom, &l->atom);
    if (!err)
        err = kernel_alloc(env, all, sizeof *l->cell, &l->cell);
    for (int d = 0; d < GRID_DIMS && !err; ++d)
        err = kernel_alloc(env, all, sizeof *l->at[d], &l->at[d]);
    if (!err)
        err = kernel_alloc(env, own, sizeof *l->start, &l->start);
    if (!err)
        err = kernel_alloc(env, own, sizeof *l->end, &l->end);
    if (!err)
        err = kernel_alloc(env, (size_t)(l->lanes * l->lane_room), sizeof *l->entry, &l->entry);
    return err;
}

void minimd_lists_close(struct minimd_lists *l)
{
    free(l->first);
    free(l->atom);
    free(l->cell);
    for (int d = 0; d < GRID_DIMS; ++d)
        free(l->at[d]);
    free(l->start);
    free(l->end);
    free(l->entry);
    *l = (struct minimd_lists){0};
}

/* ---- cells -----------------------------------------------------------------------------------------------
 */

static int64_t place_along(const struct minimd_lists *l, int d, double x)
{
    const int64_t place = (int64_t)((x - l->low[d]) * l->per_unit[d]), last = l->cells[d] - 1;
    return place < 0 ? 0 : place > last ? last : place;
}

/* The order of atoms by cells, and among those of a cell by their places (a counting sort). */
HOT static void put_in_cells(struct minimd_lists *l, const double *x, int64_t count)
{
    const int64_t cells = l->cells[X] * l->cells[Y] * l->cells[Z];
    int32_t *const next = l->first + 1; /* moves on to the cell after it */
    memset(l->first, 0, (size_t)(cells + 2) * sizeof *l->first);
    for (int64_t i = 0; i < count; ++i) {
        const double *at = x + WIDE * i;
        const int64_t cell =
            (place_along(l, X, at[X]) * l->cells[Y] + place_along(l, Y, at[Y])) * l->cells[Z] +
            place_along(l, Z, at[Z]);
        l->cell[i] = (int32_t)cell;
        ++next[cell + 1];
    }
    for (int64_t c = 0; c < cells; ++c)
        next[c + 1] += next[c];
    for (int64_t i = 0; i < count; ++i)
        l->atom[next[l->cell[i]]++] = (int32_t)i;
}

static void reorder(const struct minimd_lists *l, double *data, double *spare, int64_t count, int wide)
{
    for (int64_t k = 0; k < count; ++k)
        memcpy(spare + wide * k, data + (int64_t)wide * l->atom[k], (size_t)wide * sizeof *data);
    memcpy(data, spare, (size_t)(count * wide) * sizeof *data);
}

void minimd_sort(struct minimd_lists *l, struct minimd_atoms *a)
{
    put_in_cells(l, a->x, a->own);
    reorder(l, a->x, a->spare, a->own, WIDE);
    reorder(l, a->v, a->spare, a->own, WIDE);
    reorder(l, a->number, a->spare, a->own, 1);
}

/* ---- lists -----------------------------------------------------------------------------------------------
 */

/* Atoms in the cells around a cell. */
struct runs {
    int32_t begin[RUNS], end[RUNS];
    int count;
    int64_t atoms;
};

static void runs_around(const struct minimd_lists *l, int64_t cell, struct runs *runs)
{
    const int64_t z = cell % l->cells[Z], y = cell / l->cells[Z] % l->cells[Y],
                  x = cell / l->cells[Z] / l->cells[Y];
    const int64_t from = z < AROUND ? 0 : z - AROUND,
                  to = z + AROUND < l->cells[Z] ? z + AROUND : l->cells[Z] - 1;
    runs->count = 0;
    runs->atoms = 0;
    for (int64_t i = x - AROUND; i <= x + AROUND; ++i)
        for (int64_t j = y - AROUND; j <= y + AROUND; ++j) {
            const int64_t row = (i * l->cells[Y] + j) * l->cells[Z];
            if (i < 0 || i >= l->cells[X] || j < 0 || j >= l->cells[Y] ||
                l->first[row + from] == l->first[row + to + 1])
                continue;
            runs->begin[runs->count] = l->first[row + from];
            runs->end[runs->count++] = l->first[row + to + 1];
            runs->atoms += l->first[row + to + 1] - l->first[row + from];
        }
}

/* Atoms of a run that are near to i and come after `after`. Each is put down, and stays if it is one. */
static inline int64_t look_through(const struct minimd_lists *l, int32_t begin, int32_t end, const double *at,
                                   double reach2, int32_t i, int32_t after, int64_t n)
{
    const double *restrict x = l->at[X], *restrict y = l->at[Y], *restrict z = l->at[Z];
    const int32_t *restrict atom = l->atom;
    int32_t *restrict entry = l->entry;
    for (int32_t k = begin; k < end; ++k) {
        const double dx = at[X] - x[k], dy = at[Y] - y[k], dz = at[Z] - z[k];
        entry[n] = atom[k];
        n += (dx * dx + dy * dy + dz * dz <= reach2) & (atom[k] > after) & (atom[k] != i);
    }
    return n;
}

/* Own atoms come before ghosts, so that in half lists, where each is followed only by those after it, every
 * pair stands once. Returns whether there was room. */
HOT static bool make_lists(struct minimd_lists *l, const double *x, double reach, struct share share,
                           int64_t n, int64_t room)
{
    struct runs runs = {0};
    int32_t cell = -1;
    for (int64_t i = share.first; i < share.first + share.count; ++i) {
        if (l->cell[i] != cell)
            runs_around(l, l->cell[i], &runs);
        cell = l->cell[i];
        if (n + runs.atoms > room)
            return false;
        l->start[i] = n;
        for (int r = 0; r < runs.count; ++r)
            n = look_through(l, runs.begin[r], runs.end[r], x + WIDE * i, reach * reach, (int32_t)i,
                             l->half ? (int32_t)i : -1, n);
        l->end[i] = n;
    }
    return true;
}

static int64_t count_entries(const struct minimd_lists *l, int64_t own)
{
    int64_t entries = 0;
    for (int lane = 0; lane < l->lanes; ++lane) {
        const struct share share = share_of(own, l->lanes, lane);
        entries += share.count > 0 ? l->end[share.first + share.count - 1] - lane * l->lane_room : 0;
    }
    return entries;
}

int minimd_lists_make(struct minimd_lists *l, const struct minimd_box *box, const struct minimd_atoms *a)
{
    const int64_t all = a->own + a->ghosts;
    const int lanes = l->lanes;
    int full = 0;
    put_in_cells(l, a->x, all);
#pragma omp parallel for num_threads(lanes) schedule(static)
    for (int64_t k = 0; k < all; ++k)
        for (int d = 0; d < GRID_DIMS; ++d)
            l->at[d][k] = a->x[WIDE * (int64_t)l->atom[k] + d];
#pragma omp parallel for num_threads(lanes) schedule(static, 1) reduction(+ : full)
    for (int lane = 0; lane < lanes; ++lane)
        full += !make_lists(l, a->x, box->reach, share_of(a->own, lanes, lane), lane * l->lane_room,
                            (lane + 1) * l->lane_room);
    l->entries = full ? 0 : count_entries(l, a->own);
    return full ? err_say(ERR_WRONG,
                          "app.minimd: the lists of %lld atoms take more than the %lld entries that atoms of "
                          "this density can have: they have come too close",
                          (long long)a->own, (long long)(lanes * l->lane_room))
                : 0;
}
