/* A tree from the top: who has reference time gives it to a child (as HCA3 does, Hunold and Carpen-Amarie,
 * CLUSTER 2018, but offsets alone: the drift comes from the history of synchronisations, where the base line
 * is long). Among a pair's exchanges the tightest bound of either side is kept, and the middle taken. */
#include "sync/pair.h"

enum { EXCHANGES = 30 }; /* more improve nothing: what is left is asymmetry of the path */

/* The first drift rests on two synchronisations so far apart: 20 ns over it make 0.2 ppm, 10 ns in a block of
 * 50 ms. */
static const int64_t FIRST_BASE_LINE_NS = 100000000;

/* Later ones on a base line as long as this, so that noise of the offsets does not shake the drift. */
static const int64_t BASE_LINE_NS = 1000000000;

static bool enough(const struct sync *s, const struct clock_pair *p)
{
    (void)s;
    return p->count >= EXCHANGES;
}

static void remember(struct sync *s, struct clock_map *map)
{
    int64_t base_line = map->at_ns - s->anchor.at_ns;
    bool is_new = s->history == SYNC_NEW;
    bool is_first = s->history == SYNC_ANCHORED && base_line >= FIRST_BASE_LINE_NS;
    bool is_long = !is_new && base_line >= BASE_LINE_NS;
    if (is_first || is_long) {
        map->drift = (map->offset_ns - s->anchor.offset_ns) / (double)base_line;
        s->history = SYNC_DRIFT_KNOWN;
    }
    if (is_new || is_long)
        s->anchor = *map;
    if (is_new)
        s->history = SYNC_ANCHORED;
}

static int learn_from(struct sync *s, int parent)
{
    struct clock_pair p;
    double parent_bound = 0;
    int err = pair_ask(s, parent, enough, &p);
    if (!err)
        err = pair_parent_bound(s, parent, &parent_bound);
    if (err)
        return err;
    struct clock_map map = {.at_ns = pair_time(&p), .offset_ns = pair_offset(&p), .drift = s->mine.map.drift};
    remember(s, &map);
    sync_learned(s, map, pair_bound(&p, s->clock->tick_ns) + parent_bound);
    return 0;
}

static int learn(struct sync *s, int me)
{
    return pair_climb_down(s, me, 1, learn_from);
}

const struct sync_algorithm sync_tree = {
    .name = "tree",
    .summary = "down a binomial tree, by the tightest bounds of 30 exchanges; drift from the history",
    .learn = learn,
    .base_line_ns = FIRST_BASE_LINE_NS,
};
