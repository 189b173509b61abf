/* round-time: before each call rank 0 sends all ranks an instant of the common clock, by the team's own
 * broadcast (Hunold and Carpen-Amarie, CLUSTER 2018; their version repeats a late call, which is rejected
 * here as by the other methods). No window stays too small for long, but there are messages between the
 * calls, which warm caches for the call. */
#include "core/method.h"

enum { SLACK, CACHE };

static const struct param params[] = {
    [SLACK] = {"slack", "", "time to hear of the start, in units of a barrier", 2, 0.1, 1e6},
    [CACHE] = METHOD_CACHE,
    {0},
};

enum { LEAST_WARM_UP = 20, BLOCK = 64, GUARD_NS = 1000 };

/* If more of a block's samples are late, the time to learn the instant grows by this factor. */
static const double MOST_LATE = 0.05, GROWTH = 1.5;

/* For this block: samples so far, those that started late on this rank. */
struct rounds {
    int64_t count, late;
};

/* Gauge a barrier, which is as deep as a broadcast. */
static int begin(struct bench *b)
{
    enum { PILOTS = 20 };
    double rep_ns = 0;
    int64_t took = INT64_MAX;
    b->reps = 1;
    b->lead_in = 0;
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    for (int i = 0; i < PILOTS && !err; ++i) {
        int64_t begin_ns = clock_now(b->clock);
        err = team_barrier(b->team);
        int64_t now = clock_now(b->clock) - begin_ns;
        took = now < took ? now : took;
    }
    if (!err)
        err = team_max(b->team, &took);
    b->window_ns = (int64_t)(b->params[SLACK] * (double)took) + GUARD_NS;
    return err;
}

static int open(struct bench *b)
{
    struct rounds *block = b->own;
    int64_t late = block->late;
    int err = team_max(b->team, &late);
    if ((double)late > MOST_LATE * (double)block->count)
        b->window_ns = (int64_t)((double)b->window_ns * GROWTH);
    *block = (struct rounds){0};
    return err;
}

static int observe(struct bench *b, struct observation *o)
{
    struct rounds *block = b->own;
    int err = team_barrier(b->team);
    int64_t now = map_to_reference(&b->sync->mine.map, clock_now(b->clock));
    int64_t target_ns = now + b->window_ns;
    if (!err)
        err = team_bcast(b->team, &target_ns, sizeof target_ns);
    err = err ? err : method_time_at(b, target_ns, o);
    ++block->count;
    block->late += o->late;
    return err;
}

const struct method method_round_time = {
    .name = "round-time",
    .summary = "from when the first rank starts until the last has completed, on one clock; rank 0 "
               "broadcasts the instant before each call, as in ReproMPI",
    .suits = {[OP_COLLECTIVE] = true},
    .single = true,
    .params = params,
    .size = sizeof(struct rounds),
    .sync = SYNC_BLOCK,
    .block = BLOCK,
    .begin = begin,
    .open = open,
    .observe = observe,
};
