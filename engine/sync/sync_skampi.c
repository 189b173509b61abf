/* The scheme of SKaMPI-5 (Worsch, Reussner, Augustin, EuroPVM/MPI 2002), for comparison: rank 0
 * with one leader after the other, offsets without drift. A pair keeps the tightest bounds of up to 100
 * exchanges; once it knows its shortest round trip, it ends as soon as one is nearly as short. */
#include "sync/pair.h"

#include <math.h>

enum { MOST_EXCHANGES = 100, LEAST_EXCHANGES = 8 };

static const double NEARLY = 1.1; /* times the shortest round trip of the pair */

static bool enough(const struct sync *s, const struct clock_pair *p)
{
    bool is_short = s->shortest_ns > 0 && p->last_ns <= NEARLY * s->shortest_ns;
    return p->count >= MOST_EXCHANGES || (is_short && p->count >= LEAST_EXCHANGES);
}

static int learn(struct sync *s, int me)
{
    int err = 0;
    for (int i = 1; i < s->leader_count && me == 0 && !err; ++i)
        err = pair_answer(s, s->leaders[i], &s->mine.map);
    if (me == 0)
        return err;
    struct clock_pair p;
    err = pair_ask(s, s->leaders[0], enough, &p);
    if (err)
        return err;
    s->shortest_ns = s->shortest_ns > 0 ? fmin(s->shortest_ns, p.shortest_ns) : p.shortest_ns;
    sync_learned(s, (struct clock_map){.at_ns = pair_time(&p), .offset_ns = pair_offset(&p)},
                 pair_bound(&p, s->clock->tick_ns));
    return 0;
}

const struct sync_algorithm sync_skampi = {
    .name = "skampi",
    .summary = "as in SKaMPI-5: rank 0 with each rank in turn, ended early by a short round trip; no drift",
    .learn = learn,
};
