/* Ranks in a grid, and how much a stencil sends in each direction. */
#include "test.h"

#include "comm/grid.h"

#include <string.h>

static void test_steps(void)
{
    static const struct {
        int dims, count;
        bool box;
    } stencils[] = {{2, 4, false}, {2, 8, true}, {3, 6, false}, {3, 26, true}};
    for (int s = 0; s < 4; ++s) {
        int steps[GRID_STEPS][GRID_DIMS];
        int count = grid_steps(stencils[s].dims, stencils[s].box, steps);
        CHECK(count == stencils[s].count);
        for (int i = 0; i < count; ++i)
            for (int d = 0; d < GRID_DIMS; ++d) {
                CHECK(steps[i][d] == -steps[count - 1 - i][d]);
                CHECK(d < stencils[s].dims || steps[i][d] == 0);
            }
        for (int i = 0; i < count; ++i)
            for (int j = 0; j < i; ++j)
                CHECK(memcmp(steps[i], steps[j], sizeof steps[i]) != 0);
    }
}

/* There and back again is where one was; and what is known of a grid of 2 x 3 x 5. */
static void test_neighbours(void)
{
    const struct grid grids[] = {{2, {3, 4, 1}, true}, {2, {1, 7, 1}, true},  {2, {1, 1, 1}, true},
                                 {3, {2, 3, 5}, true}, {3, {2, 3, 5}, false}, {3, {1, 2, 1}, false},
                                 {3, {1, 1, 1}, true}, {3, {13, 1, 2}, false}};
    for (size_t g = 0; g < sizeof grids / sizeof grids[0]; ++g) {
        const struct grid *grid = &grids[g];
        int steps[GRID_STEPS][GRID_DIMS];
        int count = grid_steps(grid->dims, true, steps);
        int size = grid->extent[0] * grid->extent[1] * grid->extent[2];
        for (int rank = 0; rank < size; ++rank)
            for (int i = 0; i < count; ++i) {
                int other = grid_neighbour(grid, rank, steps[i]);
                CHECK(other >= 0 ? other < size : other == GRID_NOBODY && !grid->periodic);
                CHECK(other < 0 || grid_neighbour(grid, other, steps[count - 1 - i]) == rank);
            }
    }
    CHECK(grid_neighbour(&grids[3], 0, (int[]){0, 0, 1}) == 1);
    CHECK(grid_neighbour(&grids[3], 0, (int[]){0, 0, -1}) == 4);
    CHECK(grid_neighbour(&grids[3], 0, (int[]){0, 1, 0}) == 5);
    CHECK(grid_neighbour(&grids[3], 0, (int[]){-1, -1, -1}) == 29);
    CHECK(grid_neighbour(&grids[4], 0, (int[]){-1, -1, -1}) == GRID_NOBODY);
    CHECK(grid_neighbour(&grids[4], 0, (int[]){1, 1, 1}) == 21);
}

static void test_bytes(void)
{
    static const int face[] = {0, 1, 0}, edge[] = {1, 0, -1}, corner[] = {-1, 1, 1}, corner_2d[] = {1, -1, 0};
    const struct grid_block block = {.dims = 3, .face = 8 * 32 * 32, .cell = 8, .depth = 1};
    CHECK(grid_side(&block) == 32);
    CHECK(grid_bytes(&block, face) == 8 * 32 * 32 && grid_bytes(&block, edge) == 8 * 32);
    CHECK(grid_bytes(&block, corner) == 8);
    const struct grid_block deep = {.dims = 3, .face = 40 * 3 * 10 * 10, .cell = 40, .depth = 3};
    CHECK(grid_side(&deep) == 10 && grid_bytes(&deep, edge) == 40 * 9 * 10);
    CHECK(grid_bytes(&deep, corner) == 40 * 27);
    const struct grid_block flat = {.dims = 2, .face = 8 * 2 * 100, .cell = 8, .depth = 2};
    CHECK(grid_side(&flat) == 100 && grid_bytes(&flat, face) == 1600 && grid_bytes(&flat, corner_2d) == 32);
    const struct grid_block odd = {.dims = 3, .face = 8 * 32 * 32 + 1, .cell = 8, .depth = 1};
    CHECK(grid_side(&odd) == 33 && grid_bytes(&odd, face) == 8 * 32 * 32 + 1);
    const struct grid_block small = {.dims = 3, .face = 7, .cell = 8, .depth = 2};
    CHECK(grid_bytes(&small, face) == 7 && grid_bytes(&small, corner) == 7);
    const struct grid_block none = {.dims = 3, .face = 0, .cell = 8, .depth = 1};
    CHECK(grid_side(&none) == 1 && grid_bytes(&none, face) == 0 && grid_bytes(&none, corner) == 0);
    const struct grid_block large = {.dims = 3, .face = (size_t)1 << 40, .cell = 1, .depth = 1};
    CHECK(grid_side(&large) == (size_t)1 << 20);
}

int main(void)
{
    test_steps();
    test_neighbours();
    test_bytes();
    return test_result();
}
