/* mpi.shared.store, mpi.shared.load: loads and stores in a window of shared memory, without a call of MPI
 * that moves them. Data and then a number are written; the other rank looks at the number until it is there,
 * and does the same the other way. Stores go into the other rank's part of the window; loads fetch from it
 * what its owner wrote there. */
#include "ops/families.h"

#include "base/wait.h"
#include "comm/compat_mpi.h"
#include "ops/common/blocks.h"
#include "ops/common/data.h"
#include "ops/mpi/onesided/two_ranks.h"
#include "team/team_mpi.h"

#include <stdatomic.h>
#include <string.h>

enum { ORDER, CHECK };
enum { BY_MPI, BY_ATOMICS };
static const char *const orders[] = {[BY_MPI] = "win_sync", [BY_ATOMICS] = "atomics", NULL};

static const struct param params[] = {
    [ORDER] =
        PARAM_WORDS("order",
                    "what keeps data before their number: MPI_Win_sync on both sides, as MPI demands, or "
                    "C's release and acquire alone",
                    orders),
    [CHECK] = OP_CHECKS_PARAM,
    BUFFERS_PARAMS,
    {0}};

struct row {
    const char *name, *summary;
    bool gets; /* the rank that looks fetches the data */
    const struct duty *duty;
};

struct shared {
    struct lane lane; /* its part of the window: the data, then a line with the number */
    struct blocks blocks;
    const struct two_ranks *two;
    char *theirs;  /* the other rank's part */
    bool by_mpi;   /* MPI_Win_sync */
    uint64_t last; /* the last number of either rank */
};

static _Atomic uint64_t *number_at(const struct shared *s, char *part)
{
    return (_Atomic uint64_t *)(void *)(part + s->blocks.stride);
}

static void order(struct shared *s)
{
    if (s->by_mpi && MPI_Win_sync(s->two->window.win) != MPI_SUCCESS)
        s->lane.failed = "MPI_Win_sync gave an error";
}

/* ---- one message ------------------------------------------------------------------------------------- */

static void await(struct shared *s)
{
    for (int looks = 0; atomic_load_explicit(number_at(s, s->lane.window), memory_order_acquire) != s->last;)
        wait_a_little(&looks);
    order(s);
}

static void tell(struct shared *s)
{
    order(s);
    atomic_store_explicit(number_at(s, s->theirs), s->last, memory_order_release);
}

static void store(struct shared *s)
{
    memcpy(s->theirs, s->blocks.local, s->blocks.bytes);
    tell(s);
}

/* The lines become the owner's: a load of what nobody has written since would stay in the loader's cache. */
static void write_own(struct shared *s)
{
    data_write_again(s->lane.window, s->blocks.bytes);
    tell(s);
}

static void load(struct shared *s)
{
    memcpy(s->blocks.local, s->theirs, s->blocks.bytes);
}

static void nothing(struct shared *s)
{
    (void)s;
}

static void rounds(struct shared *s, int64_t reps, void (*give)(struct shared *),
                   void (*take)(struct shared *))
{
    const bool first = s->lane.rank == 0;
    for (int64_t i = 0; i < reps && !s->lane.failed; ++i) {
        ++s->last;
        if (first)
            give(s);
        await(s);
        take(s);
        if (!first)
            give(s);
    }
}

static void stores(struct lane *lane, int64_t reps)
{
    rounds((struct shared *)lane, reps, store, nothing);
}

static void loads(struct lane *lane, int64_t reps)
{
    rounds((struct shared *)lane, reps, write_own, load);
}

/* ---- a duty ------------------------------------------------------------------------------------------ */

static void fresh(struct lane *lane)
{
    blocks_fresh(&((struct shared *)lane)->blocks);
}

static int check(struct lane *lane, int64_t reps)
{
    (void)reps;
    return blocks_check(&((struct shared *)lane)->blocks);
}

static int plan(const struct op_env *env, size_t *each)
{
    *each = lane_lines(env->bytes) + LANE_LINE;
    return 0;
}

static int take_window(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **memory)
{
    return two_ranks_window(lanes, env, err, WINDOW_SHARED, bytes, memory);
}

static int join(struct lanes *lanes, const struct op_env *env, int err)
{
    const struct two_ranks *two = lanes->shared;
    (void)env;
    for (int t = 0; t < lanes->count && !err && two->locked; ++t) {
        struct shared *s = (struct shared *)lane_at(lanes, t);
        MPI_Aint size = 0;
        int unit = 0;
        s->two = two;
        err = team_mpi_err(MPI_Win_shared_query(two->window.win, s->lane.peer, &size, &unit, &s->theirs),
                           "MPI_Win_shared_query");
    }
    return two_ranks_join(lanes, err);
}

static int open_lane(struct lane *lane, const struct op_env *env)
{
    struct shared *s = (struct shared *)lane;
    s->by_mpi = (int)env->params[ORDER] == BY_MPI;
    s->blocks = (struct blocks){.lane = lane,
                                .gets = ((const struct row *)env->op->row)->gets,
                                .bytes = env->bytes,
                                .stride = lane_lines(env->bytes),
                                .count = 1};
    if (lane->window)
        atomic_store(number_at(s, lane->window), 0);
    return blocks_open(&s->blocks, env);
}

#define DUTY(of)                                                                                             \
    &(const struct duty){.size = sizeof(struct shared),                                                      \
                         .both = true,                                                                       \
                         .plan = plan,                                                                       \
                         .memory = take_window,                                                              \
                         .open = open_lane,                                                                  \
                         .join = join,                                                                       \
                         .loop = of,                                                                         \
                         .fresh = fresh,                                                                     \
                         .check = check,                                                                     \
                         .leave = two_ranks_leave}

static const struct row rows[] = {
    {"shared.store",
     "data and a number stored into the other rank's part of a shared window, and back; one way", false,
     DUTY(stores)},
    {"shared.load",
     "data that the other rank wrote in its part of a shared window, loaded, and back; one way", true,
     DUTY(loads)},
};

static int setup(const struct op_env *env, void **state)
{
    return lanes_setup(env, ((const struct row *)env->op->row)->duty, state);
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
    *op = lanes_op("mpi", rows[i].name, false);
    op->family = "one-sided";
    op->summary = rows[i].summary;
    op->parts = 2;
    op->default_bytes = "0,8..4Mi";
    op->params = params;
    op->missing = SHARED_MISSING;
    op->row = &rows[i];
    op->setup = setup;
    op->moved = moved;
    op->describe_end = describe_end;
}

const struct op_family mpi_shared_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
