/* The matrix of HPCCG. */
#include "kernels/app/hpccg.h"

double hpccg_matrix_memory(const struct brick *b)
{
    return csr_memory((double)b->own, (double)b->own * HPCCG_POINTS);
}

/* The entries of a cell's row, in the order of their places in the box. Returns where the next row begins. */
static int64_t make_row(const struct brick *b, const int64_t at[GRID_DIMS], struct csr *a, int64_t k)
{
    for (int i = 0; i < HPCCG_POINTS; ++i) {
        const int step[GRID_DIMS] = {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1};
        const int64_t column = brick_neighbour(b, at, step);
        if (column < 0)
            continue;
        a->column[k] = (int32_t)column;
        a->value[k++] = i == HPCCG_POINTS / 2 ? HPCCG_POINTS : -1;
    }
    return k;
}

int hpccg_matrix_make(struct kernel_env *env, const struct brick *b, struct csr *a)
{
    const size_t rows = (size_t)b->own;
    int64_t k = 0;
    int err = csr_alloc_rows(env, rows, a);
    if (!err)
        err = csr_alloc_entries(env, rows * HPCCG_POINTS, a);
    if (err)
        return err;
    int64_t at[GRID_DIMS], row = 0;
    for (at[0] = 0; at[0] < b->cells[0]; ++at[0])
        for (at[1] = 0; at[1] < b->cells[1]; ++at[1])
            for (at[2] = 0; at[2] < b->cells[2]; ++at[2]) {
                a->start[row++] = k;
                k = make_row(b, at, a, k);
            }
    a->start[row] = k;
    return 0;
}
