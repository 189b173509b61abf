/* The equations of MiniFE: which nodes are coupled, the elements' operators summed over the mesh, and nodes
 * that are held at a temperature (Hughes, The Finite Element Method, 1987, sections 2.7 to 2.10).
 *
 * Who has a row computes it. An element between two ranks is in the mesh of both, and each adds to its own
 * rows what the element gives them; so it is with the lanes of a rank. Nobody writes to a row of another, and
 * what a row is the sum of comes in the order of elements, however many lanes there are. */
#include "kernels/app/minife.h"

#include "base/hot.h"

#include <stdlib.h>
#include <string.h>

double minife_system_memory(const struct brick *b)
{
    const double rows = (double)b->own;
    return csr_memory(rows, rows * MINIFE_COUPLED) + rows * (sizeof(int32_t) + sizeof(double));
}

int minife_system_alloc(struct kernel_env *env, const struct brick *b, struct minife_system *s)
{
    const size_t rows = (size_t)b->own;
    int err = csr_alloc_rows(env, rows, &s->a);
    if (!err)
        err = csr_alloc_entries(env, rows * MINIFE_COUPLED, &s->a);
    if (!err)
        err = kernel_alloc(env, rows, sizeof *s->coupled, &s->coupled);
    return err ? err : kernel_alloc(env, rows, sizeof *s->b, &s->b);
}

void minife_system_free(struct minife_system *s)
{
    csr_free(&s->a);
    free(s->coupled);
    free(s->b);
    *s = (struct minife_system){0};
}

/* ---- the structure: nodes of an element are coupled ---------------------------------------------------- */

/* A node's place in a sorted list, where it may be already. Returns the length of the list. */
static inline int32_t insert(int32_t *list, int32_t count, int32_t node)
{
    int32_t at = count;
    while (at > 0 && list[at - 1] > node)
        --at;
    if (at > 0 && list[at - 1] == node)
        return count;
    for (int32_t i = count; i > at; --i)
        list[i] = list[i - 1];
    list[at] = node;
    return count + 1;
}

/* Rows as far apart as the longest could be. */
static void couple(const struct minife_mesh *mesh, const struct minife_lane *lane, struct minife_system *s)
{
    for (int64_t row = lane->first; row < lane->end; ++row)
        s->coupled[row] = 0;
    for (int64_t e = lane->element_first; e < lane->element_end; ++e)
        for (int a = 0; a < MINIFE_CORNERS; ++a) {
            const int32_t row = mesh->corner[e][a];
            if (row < lane->first || row >= lane->end)
                continue;
            int32_t *list = s->a.column + (int64_t)row * MINIFE_COUPLED;
            for (int b = 0; b < MINIFE_CORNERS; ++b)
                s->coupled[row] = insert(list, s->coupled[row], mesh->corner[e][b]);
        }
}

void minife_structure(const struct minife_mesh *mesh, struct minife_system *s)
{
    const int64_t rows = mesh->brick.own;
#pragma omp parallel for num_threads(mesh->lanes) schedule(static, 1)
    for (int l = 0; l < mesh->lanes; ++l)
        couple(mesh, &mesh->lane[l], s);
    s->a.start[0] = 0;
    for (int64_t row = 0; row < rows; ++row) { /* close up */
        const int64_t start = s->a.start[row];
        memmove(s->a.column + start, s->a.column + row * MINIFE_COUPLED,
                (size_t)s->coupled[row] * sizeof *s->a.column);
        s->a.start[row + 1] = start + s->coupled[row];
    }
}

/* ---- assembly ------------------------------------------------------------------------------------------ */

/* Elements from `first` on, as many as fit; where there are no more, the last one again. */
static void gather(const struct minife_mesh *mesh, int64_t first, int64_t end, struct minife_batch *batch)
{
    for (int i = 0; i < MINIFE_BATCH; ++i) {
        const int64_t e = first + i < end ? first + i : end - 1;
        for (int a = 0; a < MINIFE_CORNERS; ++a)
            for (int d = 0; d < GRID_DIMS; ++d)
                batch->at[d][a][i] = mesh->at[mesh->corner[e][a]][d];
    }
}

/* The place of a column in a row, which is sorted: how many are smaller. */
static inline int64_t place_of(const int32_t *restrict row, int64_t count, int32_t column)
{
    int32_t smaller = 0;
#pragma omp simd reduction(+ : smaller)
    for (int64_t k = 0; k < count; ++k)
        smaller += row[k] < column;
    return smaller;
}

/* The number of the pair a <= b in an upper triangle. */
static inline int pair_of(int a, int b)
{
    const int low = a < b ? a : b, high = a < b ? b : a;
    return low * MINIFE_CORNERS - low * (low - 1) / 2 + high - low;
}

/* Element i of the batch to the rows of a lane. */
HOT static void scatter(const int32_t corner[MINIFE_CORNERS], const struct minife_lane *lane,
                        const struct minife_batch *batch, int i, struct csr *m)
{
    for (int a = 0; a < MINIFE_CORNERS; ++a) {
        const int32_t row = corner[a];
        if (row < lane->first || row >= lane->end)
            continue;
        const int64_t start = m->start[row], count = m->start[row + 1] - start;
        for (int b = 0; b < MINIFE_CORNERS; ++b)
            m->value[start + place_of(m->column + start, count, corner[b])] +=
                batch->stiffness[pair_of(a, b)][i];
    }
}

/* There is no source of heat inside: b stays 0. */
static void assemble(const struct minife_mesh *mesh, const struct minife_lane *lane, struct minife_system *s)
{
    struct minife_batch batch;
    for (int64_t k = s->a.start[lane->first]; k < s->a.start[lane->end]; ++k)
        s->a.value[k] = 0;
    for (int64_t row = lane->first; row < lane->end; ++row)
        s->b[row] = 0;
    for (int64_t e = lane->element_first; e < lane->element_end; e += MINIFE_BATCH) {
        gather(mesh, e, lane->element_end, &batch);
        minife_stiffness(&batch);
        for (int i = 0; i < MINIFE_BATCH && e + i < lane->element_end; ++i)
            scatter(mesh->corner[e + i], lane, &batch, i, &s->a);
    }
}

void minife_assemble(const struct minife_mesh *mesh, struct minife_system *s)
{
#pragma omp parallel for num_threads(mesh->lanes) schedule(static, 1)
    for (int l = 0; l < mesh->lanes; ++l)
        assemble(mesh, &mesh->lane[l], s);
}

/* ---- nodes that are held ------------------------------------------------------------------------------- */

/* Row by row: x_i = g_i where node i is held; elsewhere what held nodes add goes to the other side. Then A
 * stays symmetric. Entries that become 0 stay in the structure. */
static void hold(const struct minife_mesh *mesh, const struct minife_lane *lane, struct minife_system *s)
{
    for (int64_t row = lane->first; row < lane->end; ++row) {
        const bool held = mesh->held[row] != MINIFE_FREE;
        for (int64_t k = s->a.start[row]; k < s->a.start[row + 1]; ++k) {
            const int32_t column = s->a.column[k];
            const bool fixed = mesh->held[column] != MINIFE_FREE;
            if (fixed && !held)
                s->b[row] -= s->a.value[k] * mesh->held[column];
            if (fixed || held)
                s->a.value[k] = held && column == row;
        }
        if (held)
            s->b[row] = mesh->held[row];
    }
}

void minife_hold(const struct minife_mesh *mesh, struct minife_system *s)
{
#pragma omp parallel for num_threads(mesh->lanes) schedule(static, 1)
    for (int l = 0; l < mesh->lanes; ++l)
        hold(mesh, &mesh->lane[l], s);
}
