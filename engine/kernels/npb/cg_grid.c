/* CG's grid of ranks: r rows and c columns, r * c being all of them. Rank (i, j) has block (i, j) of the
 * matrix and part j of each vector, which all ranks of grid column j have the same of. A product with the
 * matrix gives each rank a part of rows i, which are added up along the grid row; then every rank fetches
 * part j from the ranks that have those rows. */
#include "kernels/npb/cg.h"

#include "base/err.h"

#include <stdlib.h>

struct cg_grid cg_grid(int ranks, int asked, int64_t n)
{
    struct cg_grid grid = {.n = n};
    kernel_factors(ranks, &grid.rows, &grid.columns);
    if (asked > 0) {
        grid.rows = asked;
        grid.columns = ranks / asked;
    }
    return grid;
}

struct share cg_rows_of(const struct cg_grid *grid, int rank)
{
    return share_of(grid->n, grid->rows, rank / grid->columns);
}

struct share cg_columns_of(const struct cg_grid *grid, int rank)
{
    return share_of(grid->n, grid->columns, rank % grid->columns);
}

static struct share overlap(struct share a, struct share b)
{
    int64_t first = a.first > b.first ? a.first : b.first;
    int64_t end = a.first + a.count < b.first + b.count ? a.first + a.count : b.first + b.count;
    return (struct share){first, end > first ? end - first : 0};
}

/* What rank `to` fetches from rank `from`: elements of the part of its grid column, in the rows of that one's
 * grid row. All ranks of a grid row have these; those who fetch from it are spread over them. */
static struct share fetched(const struct cg_grid *grid, int to, int from)
{
    const int columns = grid->columns, column = to % columns;
    struct share rows = cg_rows_of(grid, from), both = {0};
    int turn = 0; /* how many before `to` fetch from that grid row */
    for (int j = 0; j < column; ++j)
        turn += grid->rows * (overlap(rows, share_of(grid->n, columns, j)).count > 0);
    turn += to / columns;
    if (turn % columns == from % columns)
        both = overlap(rows, cg_columns_of(grid, to));
    return both;
}

/* To those at each distance above and from those below, so that messages one by one do not wait in a circle.
 */
int cg_plan_fetch(const struct comm *comm, const struct cg_grid *grid, enum comm_back back, const double *w,
                  double *q, int failed, struct comm_plan **plan)
{
    const int64_t first_row = cg_rows_of(grid, comm->rank).first;
    const int64_t first_column = cg_columns_of(grid, comm->rank).first;
    struct comm_link *links = calloc((size_t)comm->size, sizeof *links);
    size_t count = 0;
    int err = failed ? failed : links ? 0 : err_say(ERR_NOMEM, "no memory for %d links", comm->size);
    for (int d = 0; d < comm->size && !err; ++d) {
        int to = (comm->rank + d) % comm->size, from = (comm->rank - d + comm->size) % comm->size;
        struct share out = fetched(grid, to, comm->rank), in = fetched(grid, comm->rank, from);
        if (out.count == 0 && in.count == 0)
            continue;
        links[count++] = (struct comm_link){
            .to = out.count > 0 ? to : -1,
            .from = in.count > 0 ? from : -1,
            .send = w + (out.count > 0 ? out.first - first_row : 0),
            .recv = q + (in.count > 0 ? in.first - first_column : 0),
            .send_bytes = (size_t)out.count * sizeof *w,
            .recv_bytes = (size_t)in.count * sizeof *q,
        };
    }
    err = comm_plan_exchange(comm, back, links, count, err, plan);
    free(links);
    return err;
}
