#include "kernels/app/brick.h"

#include "base/err.h"
#include "base/hash.h"
#include "kernels/app/app.h"

#include <stdlib.h>

/* The cells of a brick's border towards `step`: first and number along each dimension. */
static int64_t border_of(const struct brick *b, const int step[GRID_DIMS], int64_t first[GRID_DIMS],
                         int64_t count[GRID_DIMS])
{
    int64_t all = 1;
    for (int d = 0; d < GRID_DIMS; ++d) {
        first[d] = step[d] > 0 ? b->cells[d] - 1 : 0;
        count[d] = step[d] ? 1 : b->cells[d];
        all *= count[d];
    }
    return all;
}

static int64_t index_of(const int64_t extent[GRID_DIMS], int64_t z, int64_t y, int64_t x)
{
    return (z * extent[BRICK_Y] + y) * extent[BRICK_X] + x;
}

void brick_place(const struct grid *ranks, int rank, int at[GRID_DIMS])
{
    for (int d = GRID_DIMS - 1; d >= 0; --d) {
        at[d] = rank % ranks->extent[d];
        rank /= ranks->extent[d];
    }
}

void brick_cut(struct brick *b, const struct grid *ranks, int rank)
{
    b->ranks = *ranks;
    b->rank = rank;
    b->own = b->cells[0] * b->cells[1] * b->cells[2];
    b->outer = 0;
    b->count = grid_steps(GRID_DIMS, true, b->steps);
    for (int i = 0; i < b->count; ++i) {
        int64_t first[GRID_DIMS], count[GRID_DIMS];
        b->beyond[i] = grid_neighbour(ranks, rank, b->steps[i]);
        b->border[i] = border_of(b, b->steps[i], first, count);
        b->outer_at[i] = b->own + b->outer;
        b->outer += b->beyond[i] == GRID_NOBODY ? 0 : b->border[i];
    }
}

void brick_make(struct brick *b, const struct grid *ranks, int rank, const int64_t cells[GRID_DIMS])
{
    int at[GRID_DIMS];
    *b = (struct brick){0};
    brick_place(ranks, rank, at);
    for (int d = 0; d < GRID_DIMS; ++d) {
        b->cells[d] = cells[d];
        b->first[d] = at[d] * cells[d];
        b->whole[d] = ranks->extent[d] * cells[d];
    }
    brick_cut(b, ranks, rank);
}

/* Steps are in the order of their digits -1, 0, 1, without the one that stays. */
static int row_of(const int step[GRID_DIMS])
{
    const int all = ((step[0] + 1) * 3 + step[1] + 1) * 3 + step[2] + 1, stay = GRID_STEPS / 2;
    return all < stay ? all : all - 1;
}

int64_t brick_neighbour(const struct brick *b, const int64_t at[GRID_DIMS], const int step[GRID_DIMS])
{
    int64_t to[GRID_DIMS], extent[GRID_DIMS];
    int beyond[GRID_DIMS];
    for (int d = 0; d < GRID_DIMS; ++d) {
        to[d] = at[d] + step[d];
        beyond[d] = to[d] < 0 ? -1 : to[d] >= b->cells[d];
        extent[d] = beyond[d] ? 1 : b->cells[d];
        to[d] = beyond[d] ? 0 : to[d];
    }
    if (!beyond[0] && !beyond[1] && !beyond[2])
        return index_of(b->cells, to[0], to[1], to[2]);
    const int i = row_of(beyond);
    return b->beyond[i] == GRID_NOBODY ? -1 : b->outer_at[i] + index_of(extent, to[0], to[1], to[2]);
}

int64_t brick_global(const struct brick *b, const int64_t at[GRID_DIMS])
{
    int64_t where[GRID_DIMS];
    for (int d = 0; d < GRID_DIMS; ++d) {
        where[d] = b->first[d] + at[d];
        if (where[d] < 0 || where[d] >= b->whole[d])
            return -1;
    }
    return index_of(b->whole, where[0], where[1], where[2]);
}

/* ---- the halo ------------------------------------------------------------------------------------------ */

double brick_halo_memory(const struct brick *b)
{
    return (double)b->outer * (sizeof(double) + sizeof(int64_t));
}

/* The cells that go to the brick at a step, in the order in which that one numbers them. */
static void list_border(const struct brick *b, int i, int64_t *cell)
{
    int64_t first[GRID_DIMS], count[GRID_DIMS];
    border_of(b, b->steps[i], first, count);
    for (int64_t z = 0; z < count[0]; ++z)
        for (int64_t y = 0; y < count[1]; ++y)
            for (int64_t x = 0; x < count[2]; ++x)
                *cell++ = index_of(b->cells, first[0] + z, first[1] + y, first[2] + x);
}

/* Link i is the shift to step i: out to that neighbour, in from the opposite one. */
static int open_plan(struct kernel_env *env, struct brick_halo *halo, int failed)
{
    const struct brick *b = halo->brick;
    struct comm_link links[GRID_STEPS];
    int64_t at = 0;
    for (int i = 0; i < b->count; ++i) {
        const int back = b->count - 1 - i; /* the opposite step */
        const bool out = b->beyond[i] != GRID_NOBODY, in = b->beyond[back] != GRID_NOBODY;
        links[i] = (struct comm_link){
            .to = out ? b->beyond[i] : -1,
            .from = in ? b->beyond[back] : -1,
            .tag = i,
            .send = halo->packed ? halo->packed + at : NULL,
            .recv = halo->field ? halo->field + b->outer_at[back] : NULL,
            .send_bytes = out ? (size_t)b->border[i] * sizeof(double) : 0,
            .recv_bytes = in ? (size_t)b->border[back] * sizeof(double) : 0,
        };
        if (out && !failed)
            list_border(b, i, halo->cell + at);
        at += out ? b->border[i] : 0;
    }
    halo->packed_count = at;
    return comm_plan_exchange(&env->comm, env->back, links, (size_t)b->count, failed, &halo->plan);
}

int brick_halo_open(struct kernel_env *env, const struct brick *brick, double *field, int failed,
                    struct brick_halo *halo)
{
    *halo = (struct brick_halo){.env = env, .brick = brick, .field = field};
    int err = failed;
    if (!err)
        err = kernel_alloc(env, (size_t)brick->outer + 1, sizeof *halo->packed, &halo->packed);
    if (!err)
        err = kernel_alloc(env, (size_t)brick->outer + 1, sizeof *halo->cell, &halo->cell);
    return open_plan(env, halo, err);
}

void brick_halo_close(struct brick_halo *halo)
{
    comm_plan_close(halo->plan);
    free(halo->packed);
    free(halo->cell);
    *halo = (struct brick_halo){0};
}

void brick_halo_pack(struct brick_halo *halo)
{
    for (int64_t i = 0; i < halo->packed_count; ++i)
        halo->packed[i] = halo->field[halo->cell[i]];
}

/* The messages of all links, each with a seal that knows the link. */
static uint64_t seal_sent(const struct brick_halo *halo)
{
    const struct brick *b = halo->brick;
    const double *message = halo->packed;
    uint64_t sum = 0;
    for (int i = 0; i < b->count; ++i)
        if (b->beyond[i] != GRID_NOBODY) {
            sum += hash_mix(app_seal(message, b->border[i], (uint64_t)i));
            message += b->border[i];
        }
    return sum;
}

static uint64_t seal_fetched(const struct brick_halo *halo)
{
    const struct brick *b = halo->brick;
    uint64_t sum = 0;
    for (int i = 0; i < b->count; ++i) {
        const int back = b->count - 1 - i;
        if (b->beyond[back] != GRID_NOBODY)
            sum += hash_mix(app_seal(halo->field + b->outer_at[back], b->border[back], (uint64_t)i));
    }
    return sum;
}

int brick_halo_exchange(struct brick_halo *halo)
{
    halo->balance += seal_sent(halo);
    const int err = comm_run(halo->plan);
    halo->balance -= seal_fetched(halo);
    return err;
}

/* By halves, so that sums over ranks stay below 2^63. */
int brick_halo_check(struct brick_halo *halo)
{
    enum { HALF = 32 };
    int64_t halves[] = {(int64_t)(halo->balance & UINT32_MAX), (int64_t)(halo->balance >> HALF)};
    halo->balance = 0;
    const int err = comm_sum_ints(&halo->env->comm, halves, 2);
    if (err || (uint64_t)halves[0] + ((uint64_t)halves[1] << HALF) == 0)
        return err;
    return err_say(ERR_WRONG, "%s: what ranks have fetched from each other is not what was sent",
                   halo->env->kernel->name);
}
