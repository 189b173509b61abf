/* epoch and window: one call at a time, at instants that all ranks know from one clock.
 *
 * Between the calls of a block no message is sent. The latency of an operation is the time from the first
 * rank's start to the last rank's end. A sample that a rank could not start in time is rejected; one that
 * took long never is.
 *
 * epoch: the clocks are synchronised before and after each block, and offsets between are interpolated, so
 * that nothing is extrapolated. The starts are random within their windows, from a seed that all ranks share,
 * so periodic noise is met as often as by chance.
 *
 * window: as SKaMPI and ReproMPI do (Worsch, Reussner, Augustin 2002): one synchronisation before the first
 * call, windows side by side. Its clocks go stale, and its starts keep in step with anything periodic. */
#include "core/method.h"

#include "base/hash.h"

enum { WIDTH, CACHE };

static const struct param params[] = {
    [WIDTH] = {"window_ns", "ns",
               "window: distance of two starts (for epoch the least, and half the mean); 0: a little more "
               "than twice the time of a call",
               0, 0, 1e12},
    [CACHE] = METHOD_CACHE,
    {0},
};

enum {
    LEAST_WARM_UP = 20,
    BLOCK = 64,            /* samples between two synchronisations */
    GUARD_NS = 2000,       /* to leave a call, write its timestamps and be ready for the next */
    LONGEST_NS = 500000000 /* before a block's first window, and random within one */
};

/* Limits for a block's samples, and the growth of windows if more are late, or most. A rank that lost its
 * core for a while spoils one block, with any window; only a window that is too small spoils two in a row. If
 * many blocks in a row had no late sample, it grew in vain. */
static const double MOST_LATE = 0.05, GROWTH = 1.5, MOSTLY = 0.5, LEAP = 4;
enum { BAD_IN_A_ROW = 2, GOOD_IN_A_ROW = 8 };

/* The planned starts of samples, in reference time. */
struct windows {
    int64_t first_ns, least_ns;
    int64_t next, late; /* of this block: samples so far, those that started late on this rank */
    int64_t block;      /* blocks so far */
    int bad, good;      /* blocks in a row with too many late samples, with none */
};

static int begin(struct bench *b)
{
    struct windows *w = b->own;
    double rep_ns = 0;
    b->reps = 1;
    b->lead_in = 0;
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    int64_t width_ns = (int64_t)b->params[WIDTH];
    if (!err && width_ns == 0) {
        err = method_pilot(b, rep_ns, &width_ns);
        width_ns = 2 * width_ns + GUARD_NS;
    }
    b->window_ns = w->least_ns = width_ns;
    return err;
}

/* The width of the windows to come. */
static int64_t adapt(struct windows *w, int64_t width_ns, double late_share)
{
    w->bad = late_share > MOST_LATE ? w->bad + 1 : 0;
    w->good = late_share > 0 ? 0 : w->good + 1;
    double factor = 1;
    if (w->bad >= BAD_IN_A_ROW)
        factor = late_share > MOSTLY ? LEAP : GROWTH;
    else if (w->good >= GOOD_IN_A_ROW)
        factor = 1 / GROWTH;
    if (factor == 1)
        return width_ns;
    w->bad = w->good = 0;
    width_ns = (int64_t)((double)width_ns * factor);
    return width_ns > w->least_ns ? width_ns : w->least_ns;
}

/* A call that lasts seconds has a block of its own, so its ranks need not wait as long again before it. */
static int64_t wait_ns(const struct bench *b)
{
    return b->window_ns < LONGEST_NS ? b->window_ns : LONGEST_NS;
}

/* Agree on the first instant: late enough for the last rank that learns it. */
static int open(struct bench *b)
{
    struct windows *w = b->own;
    int64_t late = w->late;
    int err = team_max(b->team, &late);
    if (w->next > 0)
        b->window_ns = adapt(w, b->window_ns, (double)late / (double)w->next);
    w->next = w->late = 0;
    ++w->block;
    return err ? err : method_meet(b, wait_ns(b), &w->first_ns);
}

/* Observe a sample that many ns after the block's first instant. */
static int observe_at(struct bench *b, int64_t after_ns, struct observation *o)
{
    struct windows *w = b->own;
    int err = method_time_at(b, w->first_ns + after_ns, o);
    ++w->next;
    w->late += o->late;
    return err;
}

static int observe_epoch(struct bench *b, struct observation *o)
{
    const struct windows *w = b->own;
    uint64_t mixed = hash_mix(b->seed ^ hash_mix((uint64_t)w->block * BLOCK + (uint64_t)w->next));
    int64_t shift = (int64_t)(hash_unit(mixed) * (double)wait_ns(b));
    return observe_at(b, 2 * w->next * b->window_ns + shift, o);
}

static int observe_window(struct bench *b, struct observation *o)
{
    const struct windows *w = b->own;
    return observe_at(b, w->next * b->window_ns, o);
}

const struct method method_epoch = {
    .name = "epoch",
    .summary = "from when the first rank starts until the last has completed, on one clock; calls start at "
               "random instants; clocks are synchronised before and after each block",
    .suits = {[OP_COLLECTIVE] = true},
    .single = true,
    .params = params,
    .size = sizeof(struct windows),
    .sync = SYNC_BLOCK,
    .block = BLOCK,
    .begin = begin,
    .open = open,
    .observe = observe_epoch,
};

const struct method method_window = {
    .name = "window",
    .summary = "from when the first rank starts until the last has completed, on one clock; calls start in "
               "consecutive windows; clocks are synchronised once, as in SKaMPI, and drift",
    .suits = {[OP_COLLECTIVE] = true},
    .single = true,
    .params = params,
    .size = sizeof(struct windows),
    .sync = SYNC_ONCE,
    .block = BLOCK,
    .begin = begin,
    .open = open,
    .observe = observe_window,
};
