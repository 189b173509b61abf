#include "sync/pair.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DISCARDED = 2 }; /* the first exchanges wait for the partner to come */

const double pair_most_drift = 1000e-6;

const struct clock_pair pair_none = {.low = -INFINITY, .high = INFINITY, .shortest_ns = INFINITY};

void pair_add(struct clock_pair *p, int64_t sent_ns, int64_t stamp_ns, int64_t received_ns)
{
    double least = (double)(sent_ns - stamp_ns), most = (double)(received_ns - stamp_ns);
    p->low = fmax(p->low, least);
    p->high = fmin(p->high, most);
    p->begin_ns = p->count == 0 ? sent_ns : p->begin_ns;
    p->end_ns = received_ns;
    p->last_ns = most - least;
    if (p->count < PAIR_KEPT)
        p->round_trips[p->count] = p->last_ns;
    ++p->count;
    ++p->since_shortest;
    if (p->last_ns < p->shortest_ns) {
        p->shortest_ns = p->last_ns;
        p->middle = (least + most) / 2;
        p->since_shortest = 0;
    }
}

/* By how much an offset may have changed while the pair talked. */
static double drifted(const struct clock_pair *p)
{
    return pair_most_drift * (double)(p->end_ns - p->begin_ns);
}

double pair_offset(const struct clock_pair *p)
{
    return (p->low + p->high) / 2;
}

int64_t pair_time(const struct clock_pair *p)
{
    return p->begin_ns + (p->end_ns - p->begin_ns) / 2;
}

double pair_bound(const struct clock_pair *p, int64_t tick_ns)
{
    return (p->high - p->low) / 2 + drifted(p) / 2 + (double)tick_ns;
}

double pair_apart(const struct clock_pair *p, int64_t tick_ns)
{
    return fabs(pair_offset(p)) + pair_bound(p, tick_ns);
}

double pair_unseen(const struct clock_pair *p, int64_t tick_ns)
{
    /* Chosen from what was seen and not derived (docs/internals/sync.md). Where a kernel carries messages and
     * wakes who waits, offsets were off by up to 0.29 of the bound, while the closure saw a tenth of it;
     * where ranks poll memory or an adapter, by up to 35 ns of 120, of which it saw a part. */
    static const double by_kernel = 1.0 / 3, by_polling = 1.0 / 4;
    static const double polled_ns = 2000;        /* bounds above this have a kernel in the path */
    const double rounding = 4 * (double)tick_ns; /* each round trip is cut at either end */
    double sorted[PAIR_KEPT], bound = pair_bound(p, tick_ns);
    size_t count = p->count < PAIR_KEPT ? (size_t)p->count : PAIR_KEPT;
    memcpy(sorted, p->round_trips, count * sizeof sorted[0]);
    qsort(sorted, count, sizeof sorted[0], num_compare_doubles);
    if (count == 0 || sorted[count / 2] - sorted[0] <= rounding)
        return 0;
    return (bound > polled_ns ? by_kernel : by_polling) * bound;
}

double pair_contradiction(const struct clock_pair *p, int64_t tick_ns)
{
    /* Both sides may have drifted the whole way, and either stamp been cut to its tick. */
    return p->low - p->high - 2 * fabs(drifted(p)) - 2 * (double)tick_ns;
}

int pair_ask(struct sync *s, int partner, bool (*enough)(const struct sync *, const struct clock_pair *),
             struct clock_pair *p)
{
    *p = pair_none;
    int err = 0;
    int64_t more = 1, stamp = 0;
    for (int i = 0; !err && !(p->count > 0 && enough(s, p)); ++i) {
        int64_t sent = clock_now(s->clock);
        err = team_send(s->team, partner, &more, sizeof more);
        if (!err)
            err = team_recv(s->team, partner, &stamp, sizeof stamp);
        int64_t received = clock_now(s->clock);
        if (i >= DISCARDED)
            pair_add(p, sent, stamp, received);
    }
    more = 0;
    if (!err)
        err = team_send(s->team, partner, &more, sizeof more);
    if (!s->clock->sleeps) /* simulated paths are what the model says, with no software on the way */
        s->unseen_ns = fmax(s->unseen_ns, pair_unseen(p, s->clock->tick_ns));
    double contradiction = pair_contradiction(p, s->clock->tick_ns);
    if (!err && contradiction > 0 && !s->doubt[0])
        snprintf(s->doubt, sizeof s->doubt,
                 "the clocks of ranks %d and %d cannot be related: exchanges of messages contradict each "
                 "other by %.3g us",
                 s->team->rank, partner, contradiction / 1e3);
    return err;
}

int pair_answer(const struct sync *s, int partner, const struct clock_map *map)
{
    for (;;) {
        int64_t more = 0;
        int err = team_recv(s->team, partner, &more, sizeof more);
        int64_t stamp = map_to_reference(map, clock_now(s->clock));
        if (err || !more)
            return err;
        err = team_send(s->team, partner, &stamp, sizeof stamp);
        if (err)
            return err;
    }
}

/* My bound grows with its age, for I know my drift from the reference no better. */
static int teach(const struct sync *s, int child, int times)
{
    int err = 0;
    for (int i = 0; i < times && !err; ++i)
        err = pair_answer(s, child, &s->mine.map);
    double age = s->team->rank == 0 ? 0 : (double)(clock_now(s->clock) - s->mine.map.at_ns);
    double bound = s->mine.bound_ns + pair_most_drift * age;
    return err ? err : team_send(s->team, child, &bound, sizeof bound);
}

int pair_parent_bound(const struct sync *s, int parent, double *bound_ns)
{
    return team_recv(s->team, parent, bound_ns, sizeof *bound_ns);
}

int pair_climb_down(struct sync *s, int me, int times, int (*learn)(struct sync *, int))
{
    int bit = 1, err = 0;
    while (bit < s->leader_count)
        bit *= 2;
    for (bit /= 2; bit >= 1 && !err; bit /= 2) {
        if (me % (2 * bit) == bit)
            err = learn(s, s->leaders[me - bit]);
        else if (me % (2 * bit) == 0 && me + bit < s->leader_count)
            err = teach(s, s->leaders[me + bit], times);
    }
    return err;
}
