/* ack, bisected-ack, trigger, trigger-ack: the latency of a collective without a common clock.
 *
 * One rank starts last and one reports its completion. Rank 0 times from when it releases the one until it
 * has heard from the other, less the time of these two messages. All other ranks start early, so the longest
 * such path is a lower bound of the latency, and equals it if early ranks do not help.
 *
 * ack: fan-out; the root starts last, each rank in turn reports (de Supinski and Karonis, HPDC 1999, with
 * medians and fresh samples of the slowest, which remove the bias of a maximum of noisy values).
 * bisected-ack: a half of the candidates is watched as a group, then the other half, and the slower half is
 * halved again: 2 ceil(log2(P - 1)) loops of a few calls at most instead of P. trigger: its dual in time, for
 * fan-in: rank 0 releases the late rank by a message. trigger-ack: both, for scans and all-to-all flows:
 * first the rank that finishes last if all start together, then the rank that it waits for longest.
 *
 * The report of a group must not depend on how its ranks are reached, because ranks differ by less than the
 * time of a message. So a group's members learn when rank 0 began, each on its own clock, and start together
 * at a set time after that; and they report when they finished, not that they have. Only the search depends
 * on this. */
#include "core/method.h"

#include "base/json.h"
#include "base/num.h"
#include "core/estimate.h"
#include "core/one_way.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_WARM_UP = 20, CALLS = 3, GUARD_NS = 2000 };

enum side { LATE, OBSERVER };

/* What is watched; the same on all ranks. */
struct path {
    int late, observer;          /* the rank that starts last, the rank whose completion is reported */
    double late_ns, observer_ns; /* how long a message from and to rank 0 takes, one way */
    int64_t loops;               /* of a few calls each, to find it; 0: there was no choice */
    int64_t settle_ns;           /* until early starters are as far as they can be */
    int64_t hold_ns;             /* from rank 0's begin to the start of a group: all of it know by then */
};

static struct path *path_of(const struct bench *b)
{
    return b->own;
}

/* Ranks first to end - 1; the first tells them, and hears from them. */
struct group {
    int first, end;
};

static bool is_member(const struct group *g, int rank)
{
    return rank >= g->first && rank < g->end;
}

/* Ask a rank when something was, on this rank's own clock. The first answer comes when the other is ready,
 * the second at once: it says how long ago that was, and half of its round trip is its path. No message waits
 * for a rank that is not listening yet. */
static int ask(const struct bench *b, int rank, int64_t *then_ns)
{
    int64_t age = 0, asked = 0, answered = 0;
    int err = 0;
    for (int i = 0; i < 2 && !err; ++i) {
        asked = clock_now(b->clock);
        err = team_send(b->team, rank, &age, sizeof age);
        err = err ? err : team_recv(b->team, rank, &age, sizeof age);
        answered = clock_now(b->clock);
    }
    *then_ns = answered - (answered - asked) / 2 - age;
    return err;
}

static int answer(const struct bench *b, int rank, int64_t then_ns)
{
    int64_t age = 0;
    int err = 0;
    for (int i = 0; i < 2 && !err; ++i) {
        err = team_recv(b->team, rank, &age, sizeof age);
        age = clock_now(b->clock) - then_ns;
        err = err ? err : team_send(b->team, rank, &age, sizeof age);
    }
    return err;
}

/* Spread rank 0's begin by a binomial tree inside a group: on each member's own clock, and on rank 0's. */
static int tell_group(const struct bench *b, const struct group *g, int64_t *began_ns)
{
    const struct team *team = b->team;
    int me = team->rank - g->first, size = g->end - g->first, bit = 1, err = 0;
    *began_ns = clock_now(b->clock);
    if (team->rank == 0 && g->first != 0)
        return answer(b, g->first, *began_ns);
    if (!is_member(g, team->rank))
        return 0;
    while (bit < size && !(me & bit))
        bit *= 2;
    if (team->rank != 0)
        err = ask(b, me == 0 ? 0 : team->rank - bit, began_ns);
    for (bit /= 2; bit >= 1 && !err; bit /= 2)
        if (me + bit < size)
            err = answer(b, team->rank + bit, *began_ns);
    return err;
}

/* The later of the known instant and that rank's. */
static int ask_later(const struct bench *b, int rank, int64_t *last_ns)
{
    int64_t then = 0;
    int err = ask(b, rank, &then);
    *last_ns = then > *last_ns ? then : *last_ns;
    return err;
}

/* Collect by the same tree when the last of a group finished: on rank 0's own clock there. */
static int hear_group(const struct bench *b, const struct group *g, int64_t *last_ns)
{
    const struct team *team = b->team;
    int me = team->rank - g->first, size = g->end - g->first, bit = 1, err = 0;
    *last_ns = is_member(g, team->rank) ? clock_now(b->clock) : INT64_MIN;
    if (team->rank == 0 && g->first != 0)
        return ask_later(b, g->first, last_ns);
    if (!is_member(g, team->rank))
        return 0;
    for (; bit < size && !(me & bit) && !err; bit *= 2)
        if (me + bit < size)
            err = ask_later(b, team->rank + bit, last_ns);
    if (!err && team->rank != 0)
        err = answer(b, me == 0 ? 0 : team->rank - bit, *last_ns);
    return err;
}

/* No rank goes on before all have come, and rank 0 gives the others time to come as far as they can. */
static int meet(const struct bench *b)
{
    int err = team_barrier(b->team);
    if (b->team->rank == 0)
        clock_wait(b->clock, clock_now(b->clock) + path_of(b)->settle_ns, NULL);
    return err;
}

/* One call: the late group starts together, last of all; until the last observer has finished. The value is
 * valid on rank 0. */
static int watch_groups(const struct bench *b, const struct group *late, const struct group *observers,
                        double *took_ns)
{
    struct observation o = {0};
    int64_t start = 0, last = 0;
    int err = meet(b);
    err = err ? err : tell_group(b, late, &start);
    start += path_of(b)->hold_ns;
    if (is_member(late, b->team->rank))
        clock_wait(b->clock, start, NULL);
    err = err ? err : method_time(b, &o);
    err = err ? err : hear_group(b, observers, &last);
    if (b->team->rank == 0 && !err)
        *took_ns = (double)(last - start);
    return err;
}

/* One call: one rank starts last, one reports. Rank 0's timestamps are around all of it. */
static int observe(struct bench *b, struct observation *o)
{
    const struct team *team = b->team;
    int late = path_of(b)->late, observer = path_of(b)->observer;
    char token = 0;
    int err = meet(b);
    int64_t start = clock_now(b->clock);
    if (late != 0 && team->rank == 0)
        err = err ? err : team_send(team, late, &token, sizeof token);
    if (late != 0 && team->rank == late)
        err = err ? err : team_recv(team, 0, &token, sizeof token);
    err = err ? err : method_time(b, o);
    if (observer != 0 && team->rank == observer)
        err = err ? err : team_send(team, 0, &token, sizeof token);
    if (observer != 0 && team->rank == 0)
        err = err ? err : team_recv(team, observer, &token, sizeof token);
    if (team->rank == 0) {
        o->start_ns = start;
        o->stop_ns = clock_now(b->clock);
    }
    return err;
}

static double median_of_calls(double took[CALLS])
{
    qsort(took, CALLS, sizeof took[0], num_compare_doubles);
    return took[CALLS / 2];
}

/* The median of a few calls with one group on the side that is searched, another on the other side. */
static int loop_group(struct bench *b, enum side side, struct group group, struct group other,
                      double *median_ns)
{
    double took[CALLS] = {0};
    int err = 0;
    for (int i = 0; i < CALLS && !err; ++i)
        err = side == LATE ? watch_groups(b, &group, &other, &took[i])
                           : watch_groups(b, &other, &group, &took[i]);
    *median_ns = median_of_calls(took);
    ++path_of(b)->loops;
    b->warm_up_reps += CALLS;
    return err;
}

/* Among the candidates, find the one that makes the path longest. On all ranks. */
static int bisect(struct bench *b, enum side side, struct group candidates, struct group other, int *chosen)
{
    struct group *c = &candidates;
    int err = 0;
    while (c->end - c->first > 1 && !err) {
        int middle = (c->first + c->end) / 2;
        struct group halves[2] = {{c->first, middle}, {middle, c->end}};
        double took[2] = {0, 0};
        for (int i = 0; i < 2 && !err; ++i)
            err = loop_group(b, side, halves[i], other, &took[i]);
        *c = halves[took[1] >= took[0]];
        err = err ? err : team_bcast(b->team, c, sizeof *c);
    }
    *chosen = c->first;
    return err;
}

/* The median of a few calls as observed, less the path of the acknowledgement. */
static int loop_one(struct bench *b, double *median_ns)
{
    double took[CALLS] = {0}, way = 0;
    int err = 0;
    for (int i = 0; i < CALLS && !err; ++i) {
        struct observation o = {0};
        err = observe(b, &o);
        took[i] = (double)(o.stop_ns - o.start_ns);
    }
    err = err ? err : one_way(b->team, b->clock, path_of(b)->observer, &way);
    *median_ns = median_of_calls(took) - way;
    ++path_of(b)->loops;
    b->warm_up_reps += CALLS;
    return err;
}

/* The same by trying each as the observer. */
static int choose_observer(struct bench *b, struct group candidates)
{
    double longest = -INFINITY;
    int best = candidates.first, err = 0;
    for (int r = candidates.first; r < candidates.end && !err; ++r) {
        double took = 0;
        path_of(b)->observer = r;
        err = loop_one(b, &took);
        if (took >= longest) {
            longest = took;
            best = r;
        }
    }
    path_of(b)->observer = best;
    return err ? err : team_bcast(b->team, &path_of(b)->observer, sizeof path_of(b)->observer);
}

/* Gauge the time from rank 0's begin to a group's start: twice the time to tell all. */
static int gauge_hold(struct bench *b)
{
    const struct group all = {0, b->team->size};
    int64_t began = 0, longest = 0;
    int err = 0;
    for (int i = 0; i < CALLS && !err; ++i) {
        err = team_barrier(b->team);
        err = err ? err : tell_group(b, &all, &began);
        int64_t took = clock_now(b->clock) - began;
        longest = took > longest ? took : longest;
    }
    path_of(b)->hold_ns = 2 * longest + GUARD_NS;
    return err ? err : team_max(b->team, &path_of(b)->hold_ns);
}

/* Warm up, and gauge the time that early ranks need to come as far as they can. */
static int warm_up(struct bench *b)
{
    double rep_ns = 0;
    int64_t took = 0;
    b->reps = 1;
    b->lead_in = 0;
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    err = err ? err : method_pilot(b, rep_ns, &took);
    path_of(b)->settle_ns = 2 * took + GUARD_NS;
    return err ? err : gauge_hold(b);
}

static int finish(struct bench *b)
{
    int err = one_way(b->team, b->clock, path_of(b)->late, &path_of(b)->late_ns);
    return err ? err : one_way(b->team, b->clock, path_of(b)->observer, &path_of(b)->observer_ns);
}

static const struct group root = {0, 1};

static int begin_ack(struct bench *b)
{
    int err = warm_up(b);
    err = err ? err : choose_observer(b, (struct group){1, b->team->size});
    return err ? err : finish(b);
}

static int begin_bisected_ack(struct bench *b)
{
    int err = warm_up(b);
    err = err ? err : bisect(b, OBSERVER, (struct group){1, b->team->size}, root, &path_of(b)->observer);
    return err ? err : finish(b);
}

static int begin_trigger(struct bench *b)
{
    int err = warm_up(b);
    err = err ? err : bisect(b, LATE, (struct group){1, b->team->size}, root, &path_of(b)->late);
    return err ? err : finish(b);
}

/* Find who finishes last if all start together, and then for whom that rank waits longest. */
static int begin_trigger_ack(struct bench *b)
{
    const struct group all = {0, b->team->size};
    int err = warm_up(b);
    err = err ? err : bisect(b, OBSERVER, all, all, &path_of(b)->observer);
    const struct group last = {path_of(b)->observer, path_of(b)->observer + 1};
    err = err ? err : bisect(b, LATE, all, last, &path_of(b)->late);
    return err ? err : finish(b);
}

static double value(const struct bench *b, const struct chunk *c, int64_t k)
{
    const struct path *path = path_of(b);
    return estimate_local(c, k, OP_ROOT) - path->late_ns - path->observer_ns;
}

static void describe(const struct bench *b, struct json *j)
{
    const struct path *path = path_of(b);
    json_open(j, "path", '{');
    json_int(j, "late", path->late);
    json_int(j, "observer", path->observer);
    json_double(j, "late_ns", path->late_ns);
    json_double(j, "observer_ns", path->observer_ns);
    json_int(j, "loops", path->loops);
    json_close(j, '}');
}

#define PATH_METHOD(begins)                                                                                  \
    .suits = {[OP_COLLECTIVE] = true}, .at_root = true, .least_ranks = 2, .size = sizeof(struct path),       \
    .value = value, .describe = describe, .begin = begins, .observe = observe
#define BELOW .nature = "a lower bound", .bound = BOUND_LOWER

const struct method method_ack = {
    .name = "ack",
    .flows = {[FLOW_OUT] = true, [FLOW_UP] = true},
    .summary =
        "from rank 0's start to the slowest rank's acknowledgement, less the time of that message; every "
        "rank is tried; no common clock; a lower bound",
    BELOW,
    PATH_METHOD(begin_ack),
};

const struct method method_bisected_ack = {
    .name = "bisected-ack",
    .flows = {[FLOW_OUT] = true, [FLOW_UP] = true},
    .summary =
        "from rank 0's start to the slowest rank's acknowledgement, less the time of that message; halving "
        "finds the rank; no common clock; a lower bound",
    BELOW,
    PATH_METHOD(begin_bisected_ack),
};

const struct method method_trigger = {
    .name = "trigger",
    .flows = {[FLOW_IN] = true},
    .summary = "from the message that lets the last rank start to the end at rank 0, less the time of that "
               "message; halving finds the rank; no common clock; a lower bound",
    BELOW,
    PATH_METHOD(begin_trigger),
};

const struct method method_trigger_ack = {
    .name = "trigger-ack",
    .flows = {[FLOW_UP] = true, [FLOW_ALL] = true},
    .summary =
        "from one rank's trigger to another's acknowledgement, less the times of both messages; halving "
        "finds the rank that reports, then the one that starts last; no common clock; no bound",
    .nature = "the time along one path",
    PATH_METHOD(begin_trigger_ack),
};
