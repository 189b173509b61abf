/* The levels of MG, who has which box of them, and what passes between boxes.
 *
 * The base level is divided among the ranks as evenly as can be, and each finer one at the same places, twice
 * as far: so a coarse point and the fine ones that it stands for are always on one rank, whatever the number
 * of ranks. Below the base, each rank does all of it. */
#include "kernels/npb/mg.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* The base has at least so many points along an axis, and for each rank so many: then what it costs every
 * rank is next to nothing, and the largest box of the finer levels is not much larger than the others. */
enum { BASE_EDGE = 16, BASE_EACH = 4, BASE_EDGE_MOST = 64 };

enum { LOW, HIGH, SIDES };

bool mg_layout(int ranks, int top, int procs[MG_AXES], int *base)
{
    const int64_t edge = INT64_C(1) << top;
    int64_t best = 0;
    for (int x = 1; x <= ranks; ++x)
        for (int y = x; ranks % x == 0 && y <= ranks / x; ++y) {
            int z = ranks / x / y;
            if (x * y * z != ranks || z < y || z > edge)
                continue;
            int64_t surface = (int64_t)x * y + (int64_t)y * z + (int64_t)x * z;
            if (best == 0 || surface < best) {
                best = surface;
                procs[MG_X] = x; /* the least along the lines, which are for the vectors */
                procs[MG_Y] = y;
                procs[MG_Z] = z;
            }
        }
    if (best == 0)
        return false;
    int64_t points = BASE_EACH * procs[MG_Z];
    points = points > BASE_EDGE_MOST ? BASE_EDGE_MOST : points < BASE_EDGE ? BASE_EDGE : points;
    *base = 1;
    while (*base < top && ((INT64_C(1) << *base) < points || (INT64_C(1) << *base) < procs[MG_Z]))
        ++*base;
    if (ranks == 1)
        *base = top;
    return true;
}

/* The box of a rank at a place in the grid of ranks, on the base level. */
static void base_box(const struct mg_grid *grid, const int place[MG_AXES], struct share box[MG_AXES])
{
    for (int axis = 0; axis < MG_AXES; ++axis)
        box[axis] = share_of(INT64_C(1) << grid->base, grid->procs[axis], place[axis]);
}

static void place_of(const struct mg_grid *grid, int rank, int place[MG_AXES])
{
    place[MG_X] = rank % grid->procs[MG_X];
    place[MG_Y] = rank / grid->procs[MG_X] % grid->procs[MG_Y];
    place[MG_Z] = rank / grid->procs[MG_X] / grid->procs[MG_Y];
}

static int rank_at(const struct mg_grid *grid, const int place[MG_AXES])
{
    return place[MG_X] + grid->procs[MG_X] * (place[MG_Y] + grid->procs[MG_Y] * place[MG_Z]);
}

void mg_grid_shape(struct kernel_env *env, int top, struct mg_grid *grid)
{
    struct share box[MG_AXES];
    *grid = (struct mg_grid){.env = env, .top = top};
    mg_layout(env->comm.size, top, grid->procs, &grid->base);
    place_of(grid, env->comm.rank, grid->place);
    base_box(grid, grid->place, box);
    grid->piece = 1;
    for (int axis = 0; axis < MG_AXES; ++axis)
        grid->piece *= share_of(INT64_C(1) << grid->base, grid->procs[axis], 0).count;
    for (int l = 1; l <= top; ++l) {
        struct mg_level *level = &grid->level[l];
        level->edge = INT64_C(1) << l;
        level->whole = l <= grid->base;
        for (int axis = 0; axis < MG_AXES; ++axis) {
            level->n[axis] = level->whole ? level->edge : box[axis].count << (l - grid->base);
            level->first[axis] = level->whole ? 0 : box[axis].first << (l - grid->base);
        }
    }
}

static int64_t level_points(const struct mg_level *level)
{
    return (level->n[MG_X] + 2) * (level->n[MG_Y] + 2) * (level->n[MG_Z] + 2);
}

/* Points of a face across an axis: with the ghosts of the axes before it. */
static int64_t face_points(const struct mg_level *level, int axis)
{
    return (level->n[axis == MG_X ? MG_Y : MG_X] + 2) * (level->n[axis == MG_Z ? MG_Y : MG_Z] + 2);
}

double mg_grid_memory(const struct mg_grid *grid)
{
    double points = grid->base < grid->top ? (double)grid->piece * grid->env->comm.size : 0;
    for (int l = 1; l <= grid->top; ++l) {
        points += 2 * (double)level_points(&grid->level[l]);
        for (int axis = 0; axis < MG_AXES && !grid->level[l].whole; ++axis)
            points += grid->procs[axis] > 1 ? 4 * (double)face_points(&grid->level[l], axis) : 0;
    }
    return points * sizeof(double);
}

/* ---- halos --------------------------------------------------------------------------------------------- */

/* The points of a face across `axis`: distances along the other two, and how many. */
struct face {
    int64_t step, lines, line_step, count;
};

static struct face face_of(const struct mg_level *level, struct mg_field f, int axis)
{
    const int64_t *n = level->n;
    switch (axis) {
    case MG_X:
        return (struct face){f.row, n[MG_Z], f.plane, n[MG_Y]};
    case MG_Y:
        return (struct face){1, n[MG_Z], f.plane, n[MG_X] + 2};
    default:
        return (struct face){1, n[MG_Y] + 2, f.row, n[MG_X] + 2};
    }
}

/* Where the face at position `at` of the axis begins. */
static double *face_begin(struct mg_field f, int axis, int64_t at)
{
    switch (axis) {
    case MG_X:
        return f.at + at;
    case MG_Y:
        return f.at + at * f.row - 1;
    default:
        return f.at + at * f.plane - f.row - 1;
    }
}

static void face_to_face(struct face face, const double *restrict from, double *restrict to)
{
    for (int64_t k = 0; k < face.lines; ++k)
        for (int64_t j = 0; j < face.count; ++j)
            to[k * face.line_step + j * face.step] = from[k * face.line_step + j * face.step];
}

static void face_pack(struct face face, const double *restrict from, double *restrict buffer)
{
    for (int64_t k = 0; k < face.lines; ++k)
        for (int64_t j = 0; j < face.count; ++j)
            buffer[k * face.count + j] = from[k * face.line_step + j * face.step];
}

static void face_unpack(struct face face, const double *restrict buffer, double *restrict to)
{
    for (int64_t k = 0; k < face.lines; ++k)
        for (int64_t j = 0; j < face.count; ++j)
            to[k * face.line_step + j * face.step] = buffer[k * face.count + j];
}

int mg_halo(const struct mg_level *level, struct mg_field field)
{
    for (int axis = 0; axis < MG_AXES; ++axis) {
        struct face face = face_of(level, field, axis);
        const int64_t n = level->n[axis], points = face_points(level, axis);
        double *low = face_begin(field, axis, 0), *high = face_begin(field, axis, n - 1);
        double *below = face_begin(field, axis, -1), *beyond = face_begin(field, axis, n);
        if (!level->halo[axis]) {
            face_to_face(face, high, below);
            face_to_face(face, low, beyond);
            continue;
        }
        double *buffer = level->buffer[axis];
        face_pack(face, low, buffer);
        face_pack(face, high, buffer + points);
        int err = comm_run(level->halo[axis]);
        if (err)
            return err;
        face_unpack(face, buffer + 2 * points, beyond);
        face_unpack(face, buffer + 3 * points, below);
    }
    return 0;
}

/* What goes down comes from above, and the other way round. */
static int open_halo(struct mg_grid *grid, struct mg_level *level, int axis, int failed)
{
    struct kernel_env *env = grid->env;
    int64_t points = face_points(level, axis);
    size_t bytes = (size_t)points * sizeof(double);
    int err = failed ? failed : kernel_alloc(env, 4 * (size_t)points, sizeof(double), &level->buffer[axis]);
    int neighbour[SIDES], place[MG_AXES];
    for (int side = 0; side < SIDES; ++side) {
        const int procs = grid->procs[axis];
        memcpy(place, grid->place, sizeof place);
        place[axis] = (place[axis] + (side == LOW ? procs - 1 : 1)) % procs;
        neighbour[side] = rank_at(grid, place);
    }
    double *buffer = level->buffer[axis];
    struct comm_link links[SIDES] = {
        {neighbour[LOW], neighbour[HIGH], LOW, buffer, buffer + 2 * points, bytes, bytes},
        {neighbour[HIGH], neighbour[LOW], HIGH, buffer + points, buffer + 3 * points, bytes, bytes},
    };
    return comm_plan_exchange(&env->comm, env->back, links, SIDES, err, &level->halo[axis]);
}

/* ---- the whole of the base ----------------------------------------------------------------------------- */

struct mg_field mg_own_box(const struct mg_grid *grid, struct mg_field field)
{
    struct share box[MG_AXES];
    base_box(grid, grid->place, box);
    field.at += box[MG_X].first + box[MG_Y].first * field.row + box[MG_Z].first * field.plane;
    return field;
}

/* The lines of a box of the base, to a piece or from one. */
static void copy_piece(const struct mg_grid *grid, int rank, double *piece, bool out)
{
    struct share box[MG_AXES];
    struct mg_field f = grid->level[grid->base].r;
    int place[MG_AXES];
    place_of(grid, rank, place);
    base_box(grid, place, box);
    const size_t bytes = (size_t)box[MG_X].count * sizeof(double);
    for (int64_t k = 0; k < box[MG_Z].count; ++k)
        for (int64_t j = 0; j < box[MG_Y].count; ++j, piece += box[MG_X].count) {
            double *line =
                f.at + (box[MG_Z].first + k) * f.plane + (box[MG_Y].first + j) * f.row + box[MG_X].first;
            memcpy(out ? piece : line, out ? line : piece, bytes);
        }
}

int mg_make_whole(const struct mg_grid *grid)
{
    const struct comm *comm = &grid->env->comm;
    double *mine = grid->pieces + (int64_t)comm->size * grid->piece;
    copy_piece(grid, comm->rank, mine, true);
    int err = comm_allgather(comm, mine, (size_t)grid->piece * sizeof(double), grid->pieces);
    for (int rank = 0; rank < comm->size && !err; ++rank)
        copy_piece(grid, rank, grid->pieces + rank * grid->piece, false);
    return err;
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static int open_fields(struct kernel_env *env, struct mg_level *level)
{
    struct mg_field *fields[] = {&level->u, &level->r};
    int err = 0;
    for (int f = 0; f < 2 && !err; ++f) {
        int64_t row = level->n[MG_X] + 2, plane = row * (level->n[MG_Y] + 2);
        err = kernel_alloc(env, (size_t)level_points(level), sizeof(double), &level->store[f]);
        *fields[f] = (struct mg_field){level->store[f] + plane + row + 1, row, plane};
    }
    return err;
}

/* Every rank opens the same plans in the same order, whatever has failed. */
int mg_grid_open(struct mg_grid *grid)
{
    struct kernel_env *env = grid->env;
    int err = 0;
    for (int l = 1; l <= grid->top && !err; ++l)
        err = open_fields(env, &grid->level[l]);
    if (!err && grid->base < grid->top)
        err = kernel_alloc(env, (size_t)grid->piece * ((size_t)env->comm.size + 1), sizeof(double),
                           &grid->pieces);
    for (int l = grid->base + 1; l <= grid->top; ++l)
        for (int axis = 0; axis < MG_AXES; ++axis)
            if (grid->procs[axis] > 1) {
                int failed = open_halo(grid, &grid->level[l], axis, err);
                err = err ? err : failed;
            }
    return err;
}

void mg_grid_close(struct mg_grid *grid)
{
    for (int l = 1; l <= grid->top; ++l) {
        struct mg_level *level = &grid->level[l];
        for (int axis = 0; axis < MG_AXES; ++axis) {
            comm_plan_close(level->halo[axis]);
            free(level->buffer[axis]);
        }
        free(level->store[0]);
        free(level->store[1]);
    }
    free(grid->pieces);
}
