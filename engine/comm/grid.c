#include "comm/grid.h"

int grid_neighbour(const struct grid *grid, int rank, const int step[GRID_DIMS])
{
    int at[GRID_DIMS], neighbour = 0;
    for (int d = grid->dims - 1; d >= 0; --d) {
        at[d] = rank % grid->extent[d] + step[d];
        rank /= grid->extent[d];
    }
    for (int d = 0; d < grid->dims; ++d) {
        if (!grid->periodic && (at[d] < 0 || at[d] >= grid->extent[d]))
            return GRID_NOBODY;
        neighbour = neighbour * grid->extent[d] + (at[d] + grid->extent[d]) % grid->extent[d];
    }
    return neighbour;
}

/* In how many dimensions a step moves: 1 is across a face. */
static int moves(const int step[GRID_DIMS])
{
    return (step[0] != 0) + (step[1] != 0) + (step[2] != 0);
}

int grid_steps(int dims, bool box, int steps[GRID_STEPS][GRID_DIMS])
{
    int count = 0, all = dims == 3 ? 27 : 9;
    for (int i = 0; i < all; ++i) {
        int step[GRID_DIMS] = {i / 9 % 3 - 1, i / 3 % 3 - 1, i % 3 - 1};
        if (dims == 2) {
            step[0] = step[1];
            step[1] = step[2];
            step[2] = 0;
        }
        if (moves(step) == 0 || (moves(step) > 1 && !box))
            continue;
        for (int d = 0; d < GRID_DIMS; ++d)
            steps[count][d] = step[d];
        ++count;
    }
    return count;
}

/* Cells in a message: `depth` of them in each dimension that the step moves in, a side in the others. */
static size_t cells(const struct grid_block *b, int moved, size_t side)
{
    size_t count = 1;
    for (int d = 0; d < b->dims; ++d)
        count *= d < moved ? b->depth : side;
    return count;
}

size_t grid_side(const struct grid_block *b)
{
    size_t least = 1, most = 1;
    while (cells(b, 1, most) < (b->face + b->cell - 1) / b->cell)
        most *= 2;
    while (least < most) {
        size_t middle = least + (most - least) / 2;
        if (cells(b, 1, middle) < (b->face + b->cell - 1) / b->cell)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

size_t grid_bytes(const struct grid_block *b, const int step[GRID_DIMS])
{
    int moved = moves(step);
    size_t bytes = moved == 1 ? b->face : b->cell * cells(b, moved, grid_side(b));
    return bytes < b->face ? bytes : b->face;
}
