/* The scheme of HCA3 (Hunold and Carpen-Amarie, CLUSTER 2018), for comparison: a tree from the top, where a
 * child fits a line, offset and drift, to offsets found at several times against its parent's reference
 * time. Theirs has up to 1000 fit points back to back; here they are fewer and further apart, for the base
 * line is what a drift rests on. */
#include "sync/pair.h"

#include <math.h>

enum { FIT_POINTS = 20, EXCHANGES = 10 };

static const int64_t GAP_NS = 1000000; /* between fit points */

static bool enough(const struct sync *s, const struct clock_pair *p)
{
    (void)s;
    return p->count >= EXCHANGES;
}

/* Least squares; the map is anchored at the last point. */
static struct clock_map fit(const int64_t *at_ns, const double *offset_ns)
{
    double mean_t = 0, mean_o = 0, tt = 0, to = 0;
    for (int i = 0; i < FIT_POINTS; ++i) {
        mean_t += (double)(at_ns[i] - at_ns[0]) / FIT_POINTS;
        mean_o += offset_ns[i] / FIT_POINTS;
    }
    for (int i = 0; i < FIT_POINTS; ++i) {
        double t = (double)(at_ns[i] - at_ns[0]) - mean_t;
        tt += t * t;
        to += t * (offset_ns[i] - mean_o);
    }
    int64_t last = at_ns[FIT_POINTS - 1];
    double drift = to / tt;
    return (struct clock_map){
        .at_ns = last, .offset_ns = mean_o + drift * ((double)(last - at_ns[0]) - mean_t), .drift = drift};
}

static int learn_from(struct sync *s, int parent)
{
    struct clock_pair p = pair_none;
    int64_t at_ns[FIT_POINTS];
    double offset_ns[FIT_POINTS], parent_bound = 0;
    int err = 0;
    for (int i = 0; i < FIT_POINTS && !err; ++i) {
        if (i > 0)
            clock_wait(s->clock, p.end_ns + GAP_NS, NULL);
        err = pair_ask(s, parent, enough, &p);
        at_ns[i] = pair_time(&p);
        offset_ns[i] = pair_offset(&p);
    }
    if (!err)
        err = pair_parent_bound(s, parent, &parent_bound);
    if (err)
        return err;
    struct clock_map map = fit(at_ns, offset_ns);
    double off_the_line = fabs(map.offset_ns - offset_ns[FIT_POINTS - 1]);
    sync_learned(s, map, pair_bound(&p, s->clock->tick_ns) + off_the_line + parent_bound);
    return 0;
}

static int learn(struct sync *s, int me)
{
    return pair_climb_down(s, me, FIT_POINTS, learn_from);
}

const struct sync_algorithm sync_hca3 = {
    .name = "hca3",
    .summary = "as in HCA3: down a binomial tree, by a line through 20 offsets over 20 ms",
    .learn = learn,
};
