/* mpi.halo.*: all ranks exchange the edges of their blocks with their neighbours in a grid, as a stencil
 * does.
 *
 * To add a geometry: a row. mpi_exchange sends the messages. */
#include "ops/families.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/num.h"
#include "comm/exchange_mpi.h"
#include "comm/grid.h"
#include "comm/movers.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BACK, PERIODIC, CELL, DEPTH, PARTITIONS, PX, PY, PZ };

static const char *const yes_no[] = {"yes", "no", NULL};

/* Blocks of the grid of ranks. */
#define EXTENT(word, axis)                                                                                   \
    {.name = word,                                                                                           \
     .unit = "",                                                                                             \
     .summary = "blocks along the " axis " axis; 0: MPI_Dims_create chooses",                                \
     .most = 2147483647,                                                                                     \
     .all = "extents"}
#define FACE_PARTITIONS                                                                                      \
    {.name = "partitions",                                                                                   \
     .unit = "",                                                                                             \
     .summary = "partitions of a face, if back is partitioned",                                              \
     .normal = 1,                                                                                            \
     .least = 1,                                                                                             \
     .most = 65536,                                                                                          \
     .all = "face_partitions"}
#define PARAMS(...)                                                                                          \
    {[BACK] = PARAM_WORDS("back", "how the messages go", exchange_backs),                                    \
     [PERIODIC] =                                                                                            \
         PARAM_WORDS("periodic", "whether the last block in a row is the first one's neighbour", yes_no),    \
     [CELL] = {"cell", "bytes", "size of the variables of a cell", 8, 1, 1048576},                           \
     [DEPTH] = {"depth", "", "layers of cells that a neighbour needs", 1, 1, 64},                            \
     [PARTITIONS] = FACE_PARTITIONS,                                                                         \
     [PX] = EXTENT("px", "first"),                                                                           \
     [PY] = EXTENT("py", "second"),                                                                          \
     __VA_ARGS__}

static const struct param params_2d[] = PARAMS(MOVERS_PARAMS, BUFFERS_PARAMS, {0});
static const struct param params_3d[] =
    PARAMS([PZ] = EXTENT("pz", "third"), MOVERS_PARAMS, BUFFERS_PARAMS, {0});

static const struct row {
    const char *name, *summary;
    int dims;
    bool box;
    const struct param *params;
} rows[] = {
    {"mpi.halo.2d5", "the sides of squares to 4 neighbours, as a 5-point stencil needs", 2, false, params_2d},
    {"mpi.halo.2d9", "the sides and corners of squares to 8 neighbours, as a 9-point stencil needs", 2, true,
     params_2d},
    {"mpi.halo.3d7", "the faces of cubes to 6 neighbours, as a 7-point stencil needs", 3, false, params_3d},
    {"mpi.halo.3d27", "the faces, edges and corners of cubes to 26 neighbours, as a 27-point stencil needs",
     3, true, params_3d},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

struct halo {
    struct exchange *exchange;
    struct exchange_link links[GRID_STEPS];
    int count, rank;
    char *send, *recv;
    size_t sent, received; /* bytes up to the end of the last message in each buffer */
    bool planted;
};

/* The grid that the parameters ask for, or the one nearest to a cube. */
static int read_grid(const struct op_env *env, struct grid *grid)
{
    const struct row *row = env->op->row;
    int left = env->team->size, chosen[GRID_DIMS] = {0};
    *grid = (struct grid){.dims = row->dims, .extent = {1, 1, 1}, .periodic = env->params[PERIODIC] == 0};
    bool whole = true, fits = true, open = false;
    for (int d = 0; d < row->dims; ++d) {
        double extent = env->params[PX + d];
        whole = whole && extent == (double)(int)extent;
        chosen[d] = (int)extent;
        open = open || chosen[d] == 0;
        fits = fits && (chosen[d] == 0 || left % chosen[d] == 0);
        left = fits && chosen[d] > 0 ? left / chosen[d] : left;
    }
    if (!whole || !fits || (!open && left > 1)) {
        char third[32] = "";
        if (row->dims == 3)
            snprintf(third, sizeof third, " x pz=%g", env->params[PZ]);
        return err_say(ERR_INPUT,
                       "px=%g x py=%g%s is no grid of %d ranks; choose numbers whose product that is, or 0 "
                       "where MPI is to choose",
                       env->params[PX], env->params[PY], third, env->team->size);
    }
    int err = open ? team_mpi_err(MPI_Dims_create(env->team->size, row->dims, chosen), "MPI_Dims_create") : 0;
    for (int d = 0; d < row->dims && !err; ++d)
        grid->extent[d] = chosen[d];
    return err;
}

static struct grid_block read_block(const struct op_env *env)
{
    const struct row *row = env->op->row;
    return (struct grid_block){.dims = row->dims,
                               .face = env->bytes,
                               .cell = (size_t)env->params[CELL],
                               .depth = (size_t)env->params[DEPTH]};
}

/* Link i: the message sent in direction i, and the message from the rank that sends to me in direction i. */
static int lay_links(const struct op_env *env, const struct grid *grid, struct halo *h)
{
    int steps[GRID_STEPS][GRID_DIMS];
    const struct grid_block block = read_block(env);
    h->count = grid_steps(grid->dims, ((const struct row *)env->op->row)->box, steps);
    size_t room = 0;
    int narrow = 0, err = num_to_int(env->bytes, &narrow);
    if (err)
        return err;
    for (int i = 0; i < h->count; ++i) {
        int to = grid_neighbour(grid, h->rank, steps[i]);
        int from = grid_neighbour(grid, h->rank, steps[h->count - 1 - i]);
        size_t bytes = grid_bytes(&block, steps[i]);
        h->links[i] = (struct exchange_link){.to = to == GRID_NOBODY ? MPI_PROC_NULL : to,
                                             .from = from == GRID_NOBODY ? MPI_PROC_NULL : from,
                                             .tag = i + 1,
                                             .send_bytes = bytes,
                                             .recv_bytes = bytes};
        room += (bytes + 63) / 64 * 64; /* whole cache lines */
    }
    err = buffers_take(env->buffers, 1, room, (void **)&h->send);
    if (!err)
        err = buffers_take(env->buffers, 1, room, (void **)&h->recv);
    for (int i = 0; i < h->count && !err && room > 0; ++i) {
        struct exchange_link *l = &h->links[i];
        l->send = h->send + (h->sent + 63) / 64 * 64;
        l->recv = h->recv + (h->received + 63) / 64 * 64;
        if (l->to != MPI_PROC_NULL)
            h->sent = (size_t)((char *)l->send - h->send) + l->send_bytes;
        if (l->from != MPI_PROC_NULL)
            h->received = (size_t)((char *)l->recv - h->recv) + l->recv_bytes;
    }
    return err;
}

static int refuse_partitions(const struct op_env *env)
{
    const size_t partitions = (size_t)env->params[PARTITIONS], left = env->bytes % partitions;
    if ((enum exchange_back)env->params[BACK] != EXCHANGE_PARTITIONED || left == 0)
        return 0;
    return err_say(ERR_INPUT,
                   "a face of %zu bytes has no %zu equal partitions; give --bytes %zu or %zu, or a divisor",
                   env->bytes, partitions, env->bytes - left, env->bytes - left + partitions);
}

static int choose_movers(const struct op_env *env, struct exchange_ask *ask)
{
    const struct movers_back back = {ask->param, ask->word, exchange_is_one_sided(ask->back)};
    struct movers movers;
    int err = movers_choose(env->op->params, env->params, env->threads, &back, &movers);
    ask->movers = movers.count;
    ask->apart = movers.apart;
    return err;
}

static void teardown(void *state)
{
    struct halo *h = state;
    if (!h)
        return;
    exchange_close(h->exchange);
    free(h);
}

static int setup(const struct op_env *env, void **state)
{
    struct grid grid;
    struct exchange *exchange = NULL;
    struct exchange_ask ask = {.team = env->team,
                               .back = (enum exchange_back)env->params[BACK],
                               .partitions = (int)env->params[PARTITIONS],
                               .op = env->op->name,
                               .param = env->op->params[BACK].name,
                               .word = exchange_backs[(int)env->params[BACK]]};
    struct halo *h = calloc(1, sizeof *h);
    int err = h ? read_grid(env, &grid) : err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    if (!err)
        err = choose_movers(env, &ask);
    if (!err)
        err = refuse_partitions(env);
    if (!err) {
        h->rank = env->team->rank;
        h->planted = env->planted;
        err = lay_links(env, &grid, h);
    }
    err = exchange_open(&ask, h ? h->links : NULL, h ? (size_t)h->count : 0, err, &exchange);
    if (h)
        h->exchange = exchange;
    if (err)
        teardown(h);
    else
        *state = h;
    return err;
}

static int run(void *state, int64_t reps)
{
    return exchange_run(((struct halo *)state)->exchange, reps);
}

/* A number for data_fill() that differs for each message to a rank. */
static int key(int to, int link)
{
    return (int)(hash_mix((uint64_t)to << 32 ^ (uint64_t)link) & INT_MAX);
}

static void fill(const struct halo *h)
{
    for (int i = 0; i < h->count; ++i)
        if (h->links[i].to != MPI_PROC_NULL)
            data_fill(h->links[i].send, h->links[i].send_bytes, h->rank, key(h->links[i].to, i));
    data_poison(h->recv, h->received);
}

static int check(const struct halo *h)
{
    int err = 0;
    data_arrived(h->recv, h->received, h->planted);
    for (int i = 0; i < h->count && !err; ++i)
        if (h->links[i].from != MPI_PROC_NULL)
            err = data_check(h->links[i].recv, h->links[i].recv_bytes, h->links[i].from, key(h->rank, i), i);
    return err;
}

static int start_and_finish(struct exchange *exchange)
{
    int err = exchange_start(exchange);
    return err ? err : exchange_finish(exchange);
}

/* Check a whole exchange, then one in two halves. Do both even if the first was wrong, because other ranks
 * wait for the second. */
static int verify(void *state)
{
    struct halo *h = state;
    fill(h);
    int err = exchange_run(h->exchange, 1);
    if (err)
        return err;
    int wrong = check(h);
    fill(h);
    err = start_and_finish(h->exchange);
    return err ? err : wrong ? wrong : check(h);
}

/* The bytes that the rank with the most neighbours sends. */
static double moved(const struct op_env *env)
{
    struct grid grid;
    int steps[GRID_STEPS][GRID_DIMS];
    double most = 0;
    const struct grid_block block = read_block(env);
    if (read_grid(env, &grid) != 0)
        return 0;
    int count = grid_steps(grid.dims, ((const struct row *)env->op->row)->box, steps);
    for (int rank = 0; rank < env->team->size; ++rank) {
        double sent = 0;
        for (int i = 0; i < count; ++i)
            if (grid_neighbour(&grid, rank, steps[i]) != GRID_NOBODY)
                sent += (double)grid_bytes(&block, steps[i]);
        most = sent > most ? sent : most;
    }
    return most;
}

static void op_at(size_t i, struct op *op)
{
    *op = (struct op){
        .family = "halo",
        .summary = rows[i].summary,
        .class = OP_COLLECTIVE,
        .role = ROLE_PATTERN,
        .report = OP_SLOWEST,
        .parts = 1,
        .threaded = true,
        .default_bytes = "8..1Mi",
        .params = rows[i].params,
        .row = &rows[i],
        .setup = setup,
        .run = run,
        .verify = verify,
        .teardown = teardown,
        .moved = moved,
    };
    memcpy(op->name, rows[i].name, strlen(rows[i].name) + 1);
}

const struct op_family mpi_halo_ops = {.count = ROWS, .op_at = op_at};
