/* mpi.put.pingpong: a put until the other rank sees it. Data and then a number go into the other rank's
 * window, which looks at its memory until the number is there, and puts the same back. */
#include "ops/families.h"

#include "base/num.h"
#include "ops/common/blocks.h"
#include "ops/mpi/onesided/two_ranks.h"

#include <stdatomic.h>

enum { WINDOW, CHECK };
/* Looks at memory before one into MPI, which some libraries need to receive a put: it costs more than a look.
 */
enum { LOOKS_OF_MEMORY = 16 };

static const struct param params[] = {
    [WINDOW] = WINDOW_PARAM, [CHECK] = OP_CHECKS_PARAM, BUFFERS_PARAMS, {0}};

struct visible {
    struct lane lane; /* its window: the data, then a line with the number */
    struct blocks blocks;
    const struct two_ranks *pair;
    uint64_t last; /* the last number of either rank */
    int rc;
};

static _Atomic uint64_t *number_here(const struct visible *s)
{
    return (_Atomic uint64_t *)(void *)(s->lane.window + s->blocks.stride);
}

static void put(struct visible *s)
{
    const struct window *w = &s->pair->window;
    const MPI_Aint there = w->first[s->lane.peer];
    const int count = (int)s->blocks.bytes, peer = s->lane.peer;
    int rc = MPI_Put(s->blocks.local, count, MPI_BYTE, peer, there, count, MPI_BYTE, w->win);
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_flush(peer, w->win); /* the number must not overtake them */
    if (rc == MPI_SUCCESS)
        rc = MPI_Put(&s->last, 1, MPI_UINT64_T, peer, there + (MPI_Aint)s->blocks.stride, 1, MPI_UINT64_T,
                     w->win);
    s->rc = rc == MPI_SUCCESS ? MPI_Win_flush(peer, w->win) : rc;
}

static void await(struct visible *s)
{
    for (int looks = 1, came; s->rc == MPI_SUCCESS && atomic_load(number_here(s)) != s->last; ++looks)
        s->rc = looks % LOOKS_OF_MEMORY
                    ? MPI_Win_sync(s->pair->window.win)
                    : MPI_Iprobe(s->lane.peer, 0, s->pair->comm, &came, MPI_STATUS_IGNORE);
}

static void loop(struct lane *lane, int64_t reps)
{
    struct visible *s = (struct visible *)lane;
    const bool first = lane->rank == 0;
    for (int64_t i = 0; i < reps && s->rc == MPI_SUCCESS; ++i) {
        ++s->last;
        if (first)
            put(s);
        await(s);
        if (!first)
            put(s);
    }
    if (s->rc != MPI_SUCCESS)
        lane->failed = "MPI_Put, MPI_Win_flush or MPI_Win_sync gave an error";
}

static void fresh(struct lane *lane)
{
    blocks_fresh(&((struct visible *)lane)->blocks);
}

static int check(struct lane *lane, int64_t reps)
{
    (void)reps;
    return blocks_check(&((struct visible *)lane)->blocks);
}

/* ---- setup ------------------------------------------------------------------------------------------- */

static int plan(const struct op_env *env, size_t *each)
{
    int count = 0;
    *each = lane_lines(env->bytes) + LANE_LINE;
    return num_to_int(env->bytes, &count);
}

static int take_window(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **memory)
{
    return two_ranks_window(lanes, env, err, (int)env->params[WINDOW], bytes, memory);
}

static int join(struct lanes *lanes, const struct op_env *env, int err)
{
    (void)env;
    for (int t = 0; t < lanes->count; ++t)
        ((struct visible *)lane_at(lanes, t))->pair = lanes->shared;
    return two_ranks_join(lanes, err);
}

static int open_lane(struct lane *lane, const struct op_env *env)
{
    struct visible *s = (struct visible *)lane;
    s->blocks =
        (struct blocks){.lane = lane, .bytes = env->bytes, .stride = lane_lines(env->bytes), .count = 1};
    if (lane->window)
        atomic_store(number_here(s), 0);
    return blocks_open(&s->blocks, env);
}

static const struct duty duty = {.size = sizeof(struct visible),
                                 .both = true,
                                 .plan = plan,
                                 .memory = take_window,
                                 .open = open_lane,
                                 .join = join,
                                 .loop = loop,
                                 .fresh = fresh,
                                 .check = check,
                                 .leave = two_ranks_leave};

static int setup(const struct op_env *env, void **state)
{
    return lanes_setup(env, &duty, state);
}

static double moved(const struct op_env *env)
{
    return 2 * (double)env->bytes;
}

static void describe_end(const void *state, struct json *j)
{
    const struct lanes *lanes = state;
    window_describe(&((const struct two_ranks *)lanes->shared)->window, j);
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = lanes_op("mpi", "put.pingpong", false);
    op->family = "one-sided";
    op->summary =
        "data and a number into the other rank's window, which sees them and puts them back; one way";
    op->parts = 2;
    op->default_bytes = "1..4Mi";
    op->params = params;
    op->setup = setup;
    op->moved = moved;
    op->describe_end = describe_end;
}

const struct op_family mpi_visible_ops = {.count = 1, .op_at = op_at};
