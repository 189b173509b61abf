/* epoch and window: one call at a time, at instants that all ranks know from one clock.
 *
 * Between the calls of a block no message is sent. The latency of an operation is from when the first rank
 * starts it until the last has finished. An observation that a rank could not start in time is rejected; one
 * that took long never is.
 *
 * epoch: the clocks are synchronised before and after each block, and what lies between is interpolated, so
 * that nothing is extrapolated. The starts are random within their windows, from a seed that all ranks share:
 * noise that comes with a period is then met as often as it would be by chance.
 *
 * window: as SKaMPI and ReproMPI do (Worsch, Reussner, Augustin 2002): one synchronisation before the first
 * call, windows side by side. Its clocks go stale and its starts keep in step with whatever is periodic. */
#include "core/method.h"

#include "base/hash.h"

enum { WIDTH, CACHE };

static const struct param params[] = {
    [WIDTH] =
        {"window_ns", "ns",
         "distance of two starts, of epoch the least one and half the mean; 0: twice what a call takes, "
         "and some",
         0, 0, 1e12},
    [CACHE] = METHOD_CACHE,
    {0},
};

enum {
    LEAST_WARM_UP = 20,
    BLOCK = 64,      /* observations between two synchronisations */
    GUARD_NS = 2000, /* to leave a call, write its stamps and be ready for the next */
};

/* Of a block's observations, and how the windows grow when more are late, or most. A rank that lost its core
 * for a while spoils one block, whatever the window; only a window that is too small spoils two in a row.
 * When many blocks in a row had no late observation, it was grown in vain. */
static const double MOST_LATE = 0.05, GROWTH = 1.5, MOSTLY = 0.5, LEAP = 4;
enum { BAD_IN_A_ROW = 2, GOOD_IN_A_ROW = 8 };

static int begin(struct bench *b)
{
    double rep_ns = 0;
    b->reps = 1;
    b->lead_in = 0;
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    int64_t width_ns = (int64_t)b->params[WIDTH];
    if (!err && width_ns == 0) {
        err = method_pilot(b, rep_ns, &width_ns);
        width_ns = 2 * width_ns + GUARD_NS;
    }
    b->windows = (struct windows){.width_ns = width_ns, .least_ns = width_ns};
    return err;
}

static void adapt(struct windows *w, double late_share)
{
    w->bad = late_share > MOST_LATE ? w->bad + 1 : 0;
    w->good = late_share > 0 ? 0 : w->good + 1;
    double factor = 1;
    if (w->bad >= BAD_IN_A_ROW)
        factor = late_share > MOSTLY ? LEAP : GROWTH;
    else if (w->good >= GOOD_IN_A_ROW)
        factor = 1 / GROWTH;
    if (factor == 1)
        return;
    w->width_ns = (int64_t)((double)w->width_ns * factor);
    w->width_ns = w->width_ns > w->least_ns ? w->width_ns : w->least_ns;
    w->bad = w->good = 0;
}

/* All agree on the first instant: late enough for whoever is last to hear of it. */
static int open(struct bench *b)
{
    struct windows *w = &b->windows;
    int64_t late = w->late;
    int err = team_max(b->team, &late);
    if (w->next > 0)
        adapt(w, (double)late / (double)w->next);
    w->next = w->late = 0;
    ++w->block;
    return err ? err : method_meet(b, w->width_ns, &w->first_ns);
}

static int observe_epoch(struct bench *b, struct observation *o)
{
    const struct windows *w = &b->windows;
    uint64_t mixed = hash_mix(b->seed ^ hash_mix((uint64_t)w->block * BLOCK + (uint64_t)w->next));
    int64_t shift = (int64_t)(hash_unit(mixed) * (double)w->width_ns);
    return method_time_at(b, w->first_ns + 2 * w->next * w->width_ns + shift, o);
}

static int observe_window(struct bench *b, struct observation *o)
{
    return method_time_at(b, b->windows.first_ns + b->windows.next * b->windows.width_ns, o);
}

const struct method method_epoch = {
    .name = "epoch",
    .summary = "calls at random instants of one clock, synchronised before and after each block",
    .suits = {[OP_COLLECTIVE] = true},
    .single = true,
    .params = params,
    .sync = SYNC_BLOCK,
    .block = BLOCK,
    .begin = begin,
    .open = open,
    .observe = observe_epoch,
};

const struct method method_window = {
    .name = "window",
    .summary = "calls in windows side by side on clocks synchronised once, as in SKaMPI; goes stale",
    .suits = {[OP_COLLECTIVE] = true},
    .single = true,
    .params = params,
    .sync = SYNC_ONCE,
    .block = BLOCK,
    .begin = begin,
    .open = open,
    .observe = observe_window,
};
