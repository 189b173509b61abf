/* Forces in MiniMD. For each atom, three loops: who of its list is within the cut-off now (gather), what that
 * does (a loop without branches or indices, in vectors), and where it goes (spread).
 *
 * A pair of a half list pulls at both of its atoms, the other one of which may be another lane's. So each
 * lane adds up in an array of its own, and what lanes have found is added in their order: nobody waits, and
 * as many lanes always find the same sums. With full lists each lane writes to its own atoms alone. */
#include "kernels/app/minimd.h"

#include "base/hot.h"

#include <stdlib.h>
#include <string.h>

/* ---- pairs -----------------------------------------------------------------------------------------------
 */

/* Neighbours that are looked at together. */
enum { TOGETHER = 128, CUBIC = 4 };

/* A vector of an atom, as the processor has them. */
typedef double vector __attribute__((vector_size(WIDE * sizeof(double)), may_alias));

/* Those within the cut-off: the vector from each to the atom, its square, who it is. */
struct near {
    vector d[TOGETHER];
    double square[TOGETHER], factor[TOGETHER];
    int32_t atom[TOGETHER];
};

static inline int gather(const double *restrict x, int64_t i, const int32_t *restrict entry, int64_t count,
                         double cut2, struct near *restrict near)
{
    const vector at = *(const vector *)(x + WIDE * i);
    int n = 0;
    for (int64_t k = 0; k < count; ++k) {
        const vector d = at - *(const vector *)(x + WIDE * (int64_t)entry[k]), squares = d * d;
        const double square = squares[X] + squares[Y] + squares[Z];
        near->d[n] = d;
        near->square[n] = square;
        near->atom[n] = entry[k];
        n += square < cut2;
    }
    return n;
}

/* Pair k pulls at an atom with `factor` times the vector, and at the other one the other way. */
static inline void pull(const struct near *restrict near, int k, bool half, double *restrict f, vector *sum)
{
    const vector force = near->factor[k] * near->d[k];
    *sum += force;
    if (half)
        *(vector *)(f + WIDE * (int64_t)near->atom[k]) -= force;
}

/* Two sums in turn, so that an addition need not wait for the one before. */
static inline void spread(const struct near *restrict near, int n, int64_t i, bool half, double *restrict f)
{
    vector even = {0}, odd = {0};
    int k = 0;
    for (; k + 2 <= n; k += 2) {
        pull(near, k, half, f, &even);
        pull(near, k + 1, half, f, &odd);
    }
    if (k < n)
        pull(near, k, half, f, &even);
    *(vector *)(f + WIDE * i) += even + odd;
}

/* -phi'(r) / r. */
static inline void pull_lj(struct near *restrict near, int n)
{
#pragma omp simd
    for (int k = 0; k < n; ++k) {
        const double r2 = 1 / near->square[k], r6 = r2 * r2 * r2;
        near->factor[k] = 48 * r6 * (r6 - 0.5) * r2;
    }
}

static inline double table_step(const struct minimd_table *table, double s, const double **cubic)
{
    const double place = (s - table->first) * table->per_unit;
    const double inside = place < 0 ? 0 : place;
    const int32_t i = (int32_t)inside;
    *cubic = table->cubic + 2 * CUBIC * (int64_t)(i < table->steps ? i : table->steps - 1);
    return place - i;
}

/* What an atom that far away adds to the density. */
static inline void add_spread(const struct minimd_table *table, struct near *restrict near, int n)
{
    for (int k = 0; k < n; ++k) {
        const double *c, t = table_step(table, near->square[k], &c);
        c += CUBIC;
        near->factor[k] = c[0] + t * (c[1] + t * (c[2] + t * c[3]));
    }
}

/* -(phi' + (F'_i + F'_j) f') / r, by the squares of r: twice the slopes by them. */
static inline void pull_embedded(const struct minimd_table *table, const double *restrict slope, double mine,
                                 struct near *restrict near, int n)
{
    const double scale = -2 * table->per_unit;
    for (int k = 0; k < n; ++k) {
        const double *c, t = table_step(table, near->square[k], &c);
        const double pair = c[1] + t * (2 * c[2] + t * 3 * c[3]);
        const double density = c[5] + t * (2 * c[6] + t * 3 * c[7]);
        near->factor[k] = scale * (pair + (mine + slope[near->atom[k]]) * density);
    }
}

/* ---- shares of lanes -------------------------------------------------------------------------------------
 */

#define FOR_NEAR(l, a, share, cut2, near)                                                                    \
    for (int64_t i = (share).first; i < (share).first + (share).count; ++i)                                  \
        for (int64_t k = (l)->start[i], n; k < (l)->end[i]; k += TOGETHER)                                   \
            if ((n = gather((a)->x, i, (l)->entry + k,                                                       \
                            (l)->end[i] - k < TOGETHER ? (l)->end[i] - k : TOGETHER, cut2, near)) > 0)

HOT static void pairs_of(const struct minimd_lists *l, const struct minimd_atoms *a, double cut2,
                         struct share share, double *f)
{
    struct near near;
    FOR_NEAR(l, a, share, cut2, &near)
    {
        pull_lj(&near, (int)n);
        spread(&near, (int)n, i, l->half, f);
    }
}

HOT static void density_of(const struct minimd_lists *l, const struct minimd_atoms *a,
                           const struct minimd_table *table, double cut2, struct share share, double *density)
{
    struct near near;
    FOR_NEAR(l, a, share, cut2, &near)
    {
        double sum = 0;
        add_spread(table, &near, (int)n);
        for (int64_t m = 0; m < n; ++m) {
            sum += near.factor[m];
            if (l->half)
                density[near.atom[m]] += near.factor[m];
        }
        density[i] += sum;
    }
}

HOT static void embedded_of(const struct minimd_lists *l, const struct minimd_atoms *a,
                            const struct minimd_table *table, double cut2, struct share share, double *f)
{
    struct near near;
    FOR_NEAR(l, a, share, cut2, &near)
    {
        pull_embedded(table, a->slope, a->slope[i], &near, (int)n);
        spread(&near, (int)n, i, l->half, f);
    }
}

/* ---- all lanes -------------------------------------------------------------------------------------------
 */

/* Arrays that lanes of half lists add up in; those of full ones share one. */
static int arrays_of(const struct minimd_lists *l)
{
    return l->half ? l->lanes : 1;
}

HOT static void add_arrays(double *const *array, int arrays, struct share share)
{
    for (int lane = 1; lane < arrays; ++lane) {
        double *restrict to = array[0];
        const double *restrict from = array[lane];
#pragma omp simd
        for (int64_t i = share.first; i < share.first + share.count; ++i)
            to[i] += from[i];
    }
}

/* What lane 0 has begins with 0, too. */
static void clear(const struct minimd_lists *l, double *const *array, int64_t count, int lane)
{
    if (lane < arrays_of(l))
        memset(array[lane], 0, (size_t)count * sizeof **array);
}

static void clear_all(const struct minimd_lists *l, double *const *array, int64_t count)
{
    const int lanes = l->lanes;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int lane = 0; lane < lanes; ++lane)
        clear(l, array, count, lane);
}

static void add_all(const struct minimd_lists *l, double *const *array, int64_t count)
{
    const int lanes = l->lanes, arrays = arrays_of(l);
    if (arrays == 1)
        return;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int lane = 0; lane < lanes; ++lane)
        add_arrays(array, arrays, share_of(count, lanes, lane));
}

void minimd_force_pairs(struct minimd_force *force, const struct minimd_lists *l, struct minimd_atoms *a)
{
    const int lanes = l->lanes;
    const int64_t all = l->half ? a->own + a->ghosts : a->own;
    const double cut2 = force->law->cut * force->law->cut;
    clear_all(l, force->f, WIDE * all);
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int lane = 0; lane < lanes; ++lane)
        pairs_of(l, a, cut2, share_of(a->own, lanes, lane), force->f[l->half ? lane : 0]);
    add_all(l, force->f, WIDE * all);
}

void minimd_force_density(struct minimd_force *force, const struct minimd_lists *l, struct minimd_atoms *a)
{
    const int lanes = l->lanes;
    const int64_t all = l->half ? a->own + a->ghosts : a->own;
    const double cut2 = force->law->cut * force->law->cut;
    clear_all(l, force->density, all);
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int lane = 0; lane < lanes; ++lane)
        density_of(l, a, &force->tables.near, cut2, share_of(a->own, lanes, lane),
                   force->density[l->half ? lane : 0]);
    add_all(l, force->density, all);
}

void minimd_force_slopes(struct minimd_force *force, struct minimd_atoms *a)
{
    const int lanes = force->lanes;
#pragma omp parallel for num_threads(lanes) schedule(static)
    for (int64_t i = 0; i < a->own; ++i)
        a->slope[i] = minimd_embedding(&force->tables.embedding, a->density[i], true);
}

void minimd_force_embedded(struct minimd_force *force, const struct minimd_lists *l, struct minimd_atoms *a)
{
    const int lanes = l->lanes;
    const int64_t all = l->half ? a->own + a->ghosts : a->own;
    const double cut2 = force->law->cut * force->law->cut;
    clear_all(l, force->f, WIDE * all);
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int lane = 0; lane < lanes; ++lane)
        embedded_of(l, a, &force->tables.near, cut2, share_of(a->own, lanes, lane),
                    force->f[l->half ? lane : 0]);
    add_all(l, force->f, WIDE * all);
}

int64_t minimd_force_moves(const struct minimd_force *force, const struct minimd_lists *l,
                           const struct minimd_atoms *a)
{
    const int64_t all = a->own + a->ghosts, added = (l->half ? all : a->own) * arrays_of(l);
    const int64_t number = sizeof(double), atom = WIDE * number;
    const int64_t pairs = l->entries * (int64_t)sizeof *l->entry +
                          a->own * (int64_t)(sizeof *l->start + sizeof *l->end) + all * atom;
    const int64_t forces = pairs + 2 * added * atom;
    const int64_t densities = pairs + 2 * added * number, slopes = (2 * a->own + all) * number;
    return force->law->embedded ? forces + densities + slopes : forces;
}

/* ---- room ------------------------------------------------------------------------------------------------
 */

/* Numbers of a lane beyond the first. */
static double lane_numbers(const struct minimd_box *box, const struct minimd_law *law)
{
    return (double)(box->own_room + box->ghost_room) * (WIDE + law->embedded);
}

double minimd_force_memory(const struct minimd_box *box, const struct minimd_law *law, bool half, int lanes)
{
    return (double)sizeof(double) * (half ? lanes - 1 : 0) * lane_numbers(box, law) +
           2.0 * (double)lanes * sizeof(double *) + (law->embedded ? minimd_tables_memory() : 0);
}

int minimd_force_open(struct kernel_env *env, const struct minimd_box *box, const struct minimd_law *law,
                      bool half, const struct minimd_atoms *atoms, struct minimd_force *force)
{
    const size_t all = (size_t)(box->own_room + box->ghost_room);
    *force = (struct minimd_force){.law = law, .lanes = env->threads};
    force->f = calloc((size_t)force->lanes, sizeof *force->f);
    force->density = calloc((size_t)force->lanes, sizeof *force->density);
    int err = force->f && force->density ? minimd_tables_make(env, law, &force->tables)
                                         : err_say(ERR_NOMEM, "no memory for %d threads", force->lanes);
    if (err)
        return err;
    force->f[0] = atoms->f;
    force->density[0] = atoms->density;
    for (int lane = 1; lane < force->lanes && half && !err; ++lane) {
        err = kernel_alloc(env, WIDE * all, sizeof(double), &force->f[lane]);
        if (!err && law->embedded)
            err = kernel_alloc(env, all, sizeof(double), &force->density[lane]);
    }
    return err;
}

void minimd_force_close(struct minimd_force *force)
{
    for (int lane = 1; lane < force->lanes; ++lane) {
        if (force->f)
            free(force->f[lane]);
        if (force->density)
            free(force->density[lane]);
    }
    free(force->f);
    free(force->density);
    minimd_tables_free(&force->tables);
    *force = (struct minimd_force){0};
}
