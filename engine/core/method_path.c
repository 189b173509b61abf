/* ack, bisected-ack, trigger, trigger-ack: the latency of a collective without a common clock.
 *
 * One rank starts last and one reports its completion; rank 0 times, from when it lets the one go until it
 * has heard of the other, less what these two messages take. All other ranks start early, so the longest such
 * path is a lower bound of the latency, and equals it where early ranks do not help.
 *
 * ack: fan-out; the root starts last, each rank in turn reports (de Supinski and Karonis, HPDC 1999, with
 * medians and fresh observations of the slowest, which do away with the bias of a maximum of noisy values).
 * bisected-ack: a half of the candidates reports as a group, by a tree of its own, then the other half; the
 * slower half is halved again: 2 log2 P loops of a few calls instead of P. trigger: its dual in time, for
 * fan-in: rank 0 lets the late rank go by a message. trigger-ack: both, for scans and for what goes from all
 * to all; the reporting rank and the late one are sought by turns. */
#include "core/method.h"

#include "base/num.h"

#include <math.h>
#include <stdlib.h>

enum { LEAST_WARM_UP = 20, CALLS = 3, ROUNDS = 2, EXCHANGES = 20, DISCARDED = 2, GUARD_NS = 2000 };

/* Groups of unlike depth do not compare; so few candidates are watched one by one instead. */
enum { ONE_BY_ONE = 4 };

enum side { LATE, OBSERVER };

/* Ranks first to end - 1; who tells them, or hears from them, is the first. */
struct group {
    int first, end;
};

static bool is_member(const struct group *g, int rank)
{
    return rank >= g->first && rank < g->end;
}

/* From rank 0 to all of a group, by a binomial tree inside it. */
static int trigger_group(const struct team *team, const struct group *g)
{
    char token = 0;
    int me = team->rank - g->first, size = g->end - g->first, bit = 1, err = 0;
    if (team->rank == 0 && g->first != 0)
        return team_send(team, g->first, &token, sizeof token);
    if (!is_member(g, team->rank))
        return 0;
    while (bit < size && !(me & bit))
        bit *= 2;
    if (team->rank != 0)
        err = team_recv(team, me == 0 ? 0 : team->rank - bit, &token, sizeof token);
    for (bit /= 2; bit >= 1 && !err; bit /= 2)
        if (me + bit < size)
            err = team_send(team, team->rank + bit, &token, sizeof token);
    return err;
}

/* From all of a group to rank 0, by the same tree. */
static int report_group(const struct team *team, const struct group *g)
{
    char token = 0;
    int me = team->rank - g->first, size = g->end - g->first, err = 0;
    bool told = false;
    for (int bit = 1; is_member(g, team->rank) && bit < size && !told && !err; bit *= 2)
        if (me & bit) {
            err = team_send(team, team->rank - bit, &token, sizeof token);
            told = true;
        } else if (me + bit < size)
            err = team_recv(team, team->rank + bit, &token, sizeof token);
    if (!err && g->first != 0 && team->rank == g->first)
        err = team_send(team, 0, &token, sizeof token);
    if (!err && g->first != 0 && team->rank == 0)
        err = team_recv(team, g->first, &token, sizeof token);
    return err;
}

/* One call: the late group starts last, the observers report. Rank 0's stamps are around all of it. */
static int watch(const struct bench *b, const struct group *late, const struct group *observers,
                 struct observation *o)
{
    const struct team *team = b->team;
    int err = team_barrier(team);
    if (team->rank == 0)
        clock_wait(b->clock, clock_now(b->clock) + b->path.settle_ns, NULL);
    int64_t start = clock_now(b->clock);
    err = err ? err : trigger_group(team, late);
    err = err ? err : method_time(b, o);
    err = err ? err : report_group(team, observers);
    if (team->rank == 0) {
        o->start_ns = start;
        o->stop_ns = clock_now(b->clock);
    }
    return err;
}

/* The median of a few calls; it means something on rank 0. */
static int loop(struct bench *b, const struct group *late, const struct group *observers, double *median_ns)
{
    double took[CALLS];
    for (int i = 0; i < CALLS; ++i) {
        struct observation o = {0};
        int err = watch(b, late, observers, &o);
        if (err)
            return err;
        took[i] = (double)(o.stop_ns - o.start_ns);
    }
    qsort(took, CALLS, sizeof took[0], num_compare_doubles);
    *median_ns = took[CALLS / 2];
    ++b->path.loops;
    b->warm_up_reps += CALLS;
    return 0;
}

/* What a message between rank 0 and another takes one way: half of the shortest round trip. On all ranks. */
static int one_way(const struct bench *b, int rank, double *ns)
{
    const struct team *team = b->team;
    char token = 0;
    double least = INFINITY;
    int err = 0;
    for (int i = 0; rank != 0 && i < DISCARDED + EXCHANGES && !err; ++i) {
        int64_t start = clock_now(b->clock);
        if (team->rank == 0)
            err = team_send(team, rank, &token, sizeof token);
        if (!err && team->rank == rank) {
            err = team_recv(team, 0, &token, sizeof token);
            err = err ? err : team_send(team, 0, &token, sizeof token);
        }
        if (!err && team->rank == 0)
            err = team_recv(team, rank, &token, sizeof token);
        if (i >= DISCARDED)
            least = fmin(least, (double)(clock_now(b->clock) - start));
    }
    *ns = rank == 0 ? 0 : (least - b->clock->cost_ns) / 2;
    return err ? err : team_bcast(team, ns, sizeof *ns);
}

/* One group on the side that is searched, one rank on the other. */
static int loop_side(struct bench *b, enum side side, struct group group, double *ns)
{
    struct group late = {b->path.late, b->path.late + 1},
                 observers = {b->path.observer, b->path.observer + 1};
    *(side == LATE ? &late : &observers) = group;
    return loop(b, &late, &observers, ns);
}

/* Of the candidates, the one that makes the path longest. On all ranks. */
static int choose_one(struct bench *b, enum side side, struct group candidates, int *chosen)
{
    double longest = -INFINITY;
    int err = 0;
    for (int r = candidates.first; r < candidates.end && !err; ++r) {
        double took = 0, way = 0;
        err = loop_side(b, side, (struct group){r, r + 1}, &took);
        err = err ? err : one_way(b, r, &way);
        if (took - way >= longest) {
            longest = took - way;
            *chosen = r;
        }
    }
    return err ? err : team_bcast(b->team, chosen, sizeof *chosen);
}

/* Halves are of one size, and overlap by one where the number is odd, so that their trees are alike. */
static int bisect(struct bench *b, enum side side, struct group candidates, int *chosen)
{
    struct group *c = &candidates;
    int err = 0;
    while (c->end - c->first > ONE_BY_ONE && !err) {
        int half = (c->end - c->first + 1) / 2;
        struct group halves[2] = {{c->first, c->first + half}, {c->end - half, c->end}};
        double took[2] = {0, 0};
        for (int i = 0; i < 2 && !err; ++i)
            err = loop_side(b, side, halves[i], &took[i]);
        *c = halves[took[1] >= took[0]];
        err = err ? err : team_bcast(b->team, c, sizeof *c);
    }
    return err ? err : choose_one(b, side, candidates, chosen);
}

/* Warm up, and how long early ranks are given to come as far as they can. */
static int warm_up(struct bench *b)
{
    double rep_ns = 0;
    int64_t took = 0;
    b->reps = 1;
    b->lead_in = 0;
    b->path = (struct path){0};
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    err = err ? err : method_pilot(b, rep_ns, &took);
    b->path.settle_ns = 2 * took + GUARD_NS;
    return err;
}

static int finish(struct bench *b)
{
    int err = one_way(b, b->path.late, &b->path.late_ns);
    return err ? err : one_way(b, b->path.observer, &b->path.observer_ns);
}

static int begin_ack(struct bench *b)
{
    int err = warm_up(b);
    err = err ? err : choose_one(b, OBSERVER, (struct group){1, b->team->size}, &b->path.observer);
    return err ? err : finish(b);
}

static int begin_bisected_ack(struct bench *b)
{
    int err = warm_up(b);
    err = err ? err : bisect(b, OBSERVER, (struct group){1, b->team->size}, &b->path.observer);
    return err ? err : finish(b);
}

static int begin_trigger(struct bench *b)
{
    int err = warm_up(b);
    err = err ? err : bisect(b, LATE, (struct group){1, b->team->size}, &b->path.late);
    return err ? err : finish(b);
}

static int begin_trigger_ack(struct bench *b)
{
    const struct group all = {0, b->team->size};
    int err = warm_up(b);
    for (int round = 0, changed = 1; round < ROUNDS && changed && !err; ++round) {
        struct path before = b->path;
        err = bisect(b, OBSERVER, all, &b->path.observer);
        err = err ? err : bisect(b, LATE, all, &b->path.late);
        changed = before.late != b->path.late || before.observer != b->path.observer;
    }
    return err ? err : finish(b);
}

static int observe(struct bench *b, struct observation *o)
{
    const struct path *p = &b->path;
    return watch(b, &(const struct group){p->late, p->late + 1},
                 &(const struct group){p->observer, p->observer + 1}, o);
}

#define PATH_METHOD(begins, text)                                                                            \
    .summary = text, .suits = {[OP_COLLECTIVE] = true}, .at_root = true, .least_ranks = 2, .begin = begins,  \
    .observe = observe

const struct method method_ack = {
    .name = "ack",
    .flows = {[FLOW_OUT] = true, [FLOW_UP] = true},
    PATH_METHOD(begin_ack,
                "until the slowest rank's acknowledgement, each tried; no common clock; a lower bound"),
};

const struct method method_bisected_ack = {
    .name = "bisected-ack",
    .flows = {[FLOW_OUT] = true, [FLOW_UP] = true},
    PATH_METHOD(begin_bisected_ack,
                "ack with the slowest rank found by halving; no common clock; a lower bound"),
};

const struct method method_trigger = {
    .name = "trigger",
    .flows = {[FLOW_IN] = true},
    PATH_METHOD(begin_trigger, "from when the last rank is let go; no common clock; a lower bound"),
};

const struct method method_trigger_ack = {
    .name = "trigger-ack",
    .flows = {[FLOW_UP] = true, [FLOW_ALL] = true},
    PATH_METHOD(begin_trigger_ack,
                "from one rank's trigger to another's acknowledgement; no common clock; a lower bound"),
};
