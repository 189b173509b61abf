/* FT's numbers over the ranks: in space each has some planes z; of the waves, lines y of all z. Between the
 * two all ranks exchange blocks, which lie in both as the messages want them, so that nothing is packed. */
#include "kernels/npb/ft.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

void ft_layout_shape(struct kernel_env *env, const int64_t n[FT_AXES], struct ft_layout *layout)
{
    *layout = (struct ft_layout){
        .env = env,
        .planes = share_of(n[FT_Z], env->comm.size, env->comm.rank),
        .lines = share_of(n[FT_Y], env->comm.size, env->comm.rank),
    };
    memcpy(layout->n, n, sizeof layout->n);
}

int64_t ft_space_points(const struct ft_layout *layout)
{
    return layout->planes.count * layout->n[FT_Y] * layout->n[FT_X];
}

int64_t ft_wave_points(const struct ft_layout *layout)
{
    return layout->n[FT_Z] * layout->lines.count * layout->n[FT_X];
}

/* Lines of a plane lie in the block of the rank whose waves they will be: blocks one after the other, planes
 * in a block, its lines in a plane. */
int ft_layout_lines(struct ft_layout *layout)
{
    const int64_t nx = layout->n[FT_X], ny = layout->n[FT_Y];
    const int size = layout->env->comm.size;
    int err = kernel_alloc(layout->env, (size_t)ny, sizeof *layout->line_at, &layout->line_at);
    err = err ? err : kernel_alloc(layout->env, (size_t)ny, sizeof *layout->line_step, &layout->line_step);
    for (int rank = 0; rank < size && !err; ++rank) {
        struct share theirs = share_of(ny, size, rank);
        for (int64_t y = 0; y < theirs.count; ++y) {
            layout->line_at[theirs.first + y] = nx * (theirs.first * layout->planes.count + y);
            layout->line_step[theirs.first + y] = nx * theirs.count;
        }
    }
    return err;
}

int ft_layout_plans(struct ft_layout *layout, double *space, double *start, double *waves, int failed)
{
    struct kernel_env *env = layout->env;
    const int size = env->comm.size;
    const size_t number = 2 * sizeof(double), nx = (size_t)layout->n[FT_X];
    size_t *table = calloc(4 * (size_t)size, sizeof *table);
    if (!table && !failed)
        failed = err_say(ERR_NOMEM, "no memory for the blocks of %d ranks", size);
    size_t *block = table, *block_at = table + size, *wave = table + 2 * size, *wave_at = table + 3 * size;
    for (int rank = 0; rank < size && table; ++rank) {
        struct share y = share_of(layout->n[FT_Y], size, rank);
        struct share z = share_of(layout->n[FT_Z], size, rank);
        block[rank] = number * nx * (size_t)(y.count * layout->planes.count);
        block_at[rank] = number * nx * (size_t)(y.first * layout->planes.count);
        wave[rank] = number * nx * (size_t)(layout->lines.count * z.count);
        wave_at[rank] = number * nx * (size_t)(layout->lines.count * z.first);
    }
    struct comm_pieces in_space = {space, block, block_at}, at_start = {start, wave, wave_at},
                       in_waves = {waves, wave, wave_at};
    int err = comm_plan_alltoallv(&env->comm, env->back, &in_space, &at_start, failed, &layout->there);
    int other = comm_plan_alltoallv(&env->comm, env->back, &in_waves, &in_space, failed ? failed : err,
                                    &layout->back);
    free(table);
    return err ? err : other;
}

void ft_layout_close(struct ft_layout *layout)
{
    comm_plan_close(layout->there);
    comm_plan_close(layout->back);
    free(layout->line_at);
    free(layout->line_step);
}
