/* epoch: one call at a time, at instants that all ranks know from one clock; the clocks are synchronised
 * before and after each block, and what lies between is interpolated, so that nothing is extrapolated.
 *
 * Between the calls of a block no message is sent. The starts are random within their windows, from a seed
 * that all ranks share: noise that comes with a period is then met as often as it would be by chance. The
 * latency of an operation is from when the first rank starts it until the last has finished. An observation
 * that a rank could not start in time is rejected; one that took long never is. */
#include "core/method.h"

#include "base/hash.h"

#include <stdlib.h>

enum { WINDOW };

static const struct param params[] = {
    [WINDOW] =
        {"window_ns", "ns",
         "least distance of two starts, their mean is twice that; 0: twice what a call takes, and some", 0, 0,
         1e12},
    {0},
};

enum {
    LEAST_WARM_UP = 20,
    PILOTS = 20,
    BLOCK = 64,      /* observations between two synchronisations */
    GUARD_NS = 2000, /* to leave a call, write its stamps and be ready for the next */
};

/* Of a block's observations, and how the windows grow when more are late. */
static const double MOST_LATE = 0.05, GROWTH = 1.5;

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Twice the 95th percentile of barrier and call, as the slowest rank saw it. */
static int pilot(struct bench *b, int64_t *width_ns)
{
    int64_t took[PILOTS];
    for (int i = 0; i < PILOTS; ++i) {
        struct observation o = {0};
        int64_t begin = clock_now(b->clock);
        int err = team_barrier(b->team);
        if (!err)
            err = method_time(b, &o);
        if (err)
            return err;
        took[i] = clock_now(b->clock) - begin;
    }
    qsort(took, PILOTS, sizeof took[0], compare);
    *width_ns = 2 * took[PILOTS - 2] + GUARD_NS;
    return team_max(b->team, width_ns);
}

static int begin(struct bench *b)
{
    double rep_ns = 0;
    b->reps = 1;
    b->lead_in = 0;
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    int64_t width_ns = (int64_t)b->params[WINDOW];
    if (!err && width_ns == 0)
        err = pilot(b, &width_ns);
    b->windows = (struct windows){.width_ns = width_ns};
    return err;
}

/* All agree on the first instant: late enough for whoever is last to hear of it. */
static int open(struct bench *b)
{
    struct windows *w = &b->windows;
    int64_t late = w->late, first = 0;
    int err = team_max(b->team, &late);
    if ((double)late > MOST_LATE * (double)w->next)
        w->width_ns = (int64_t)((double)w->width_ns * GROWTH);
    int64_t heard = clock_now(b->clock);
    if (!err)
        err = team_barrier(b->team); /* how long it takes to tell all */
    heard = clock_now(b->clock) - heard;
    first = map_to_reference(&b->sync->mine.map, clock_now(b->clock)) + 2 * heard + w->width_ns;
    if (!err)
        err = team_max(b->team, &first);
    w->first_ns = first;
    w->next = w->late = 0;
    ++w->block;
    return err;
}

static int observe(struct bench *b, struct observation *o)
{
    struct windows *w = &b->windows;
    uint64_t mixed = hash_mix(b->seed ^ hash_mix((uint64_t)w->block * BLOCK + (uint64_t)w->next));
    int64_t shift = (int64_t)((double)(mixed >> 11) / 9007199254740992.0 * (double)w->width_ns);
    o->target_ns = w->first_ns + 2 * w->next * w->width_ns + shift;
    int64_t local = map_to_local(&b->sync->mine.map, o->target_ns);
    ++w->next;
    o->late = clock_now(b->clock) > local;
    w->late += o->late;
    clock_wait(b->clock, local);
    return method_time(b, o);
}

const struct method method_epoch = {
    .name = "epoch",
    .summary = "calls at random instants of one clock, synchronised before and after each block",
    .suits = {[OP_COLLECTIVE] = true},
    .params = params,
    .block = BLOCK,
    .begin = begin,
    .open = open,
    .observe = observe,
};
