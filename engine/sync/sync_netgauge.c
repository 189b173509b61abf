/* The scheme of Netgauge (Hoefler, Schneider, Lumsdaine, PMEO 2008), for comparison: a tree from the
 * bottom. Among a pair's exchanges the one with the shortest round trip counts, once 100 in a row were no
 * shorter. Offsets of a sub-tree go up with it and are added to; rank 0 has all in the end and hands them
 * out. No drift. The numbers of leaders that are no power of two need no round of their own here: the
 * sub-tree of a leader just ends where there are no more. */
#include "sync/pair.h"

#include <stdlib.h>

enum { NO_SHORTER = 100 };

/* For a leader in my sub-tree: its clock minus mine, and how wrong that can be, but for the drift since. */
struct below {
    double offset_ns, bound_ns;
};

static bool enough(const struct sync *s, const struct clock_pair *p)
{
    (void)s;
    return p->since_shortest >= NO_SHORTER;
}

static int up_to(int most, int count)
{
    return count < most ? count : most;
}

/* The child's clock as it is, and all that the child knows, as seen from mine. */
static int add_child(struct sync *s, int child, struct below *below, int count)
{
    struct clock_pair p;
    int err = pair_ask(s, child, enough, &p);
    if (!err)
        err = team_recv(s->team, child, below, (size_t)count * sizeof *below);
    for (int i = 0; i < count && !err; ++i) {
        below[i].offset_ns -= p.middle;
        below[i].bound_ns += p.shortest_ns / 2 + (double)s->clock->tick_ns;
    }
    return err;
}

/* below[i] is of leader me + i; until my own parent has come for it. */
static int gather_up(struct sync *s, int me, struct below *below)
{
    static const struct clock_map raw = {0};
    int err = 0;
    for (int bit = 1; bit < s->leader_count && !err; bit *= 2) {
        if (me % (2 * bit) == bit) {
            int parent = s->leaders[me - bit];
            err = pair_answer(s, parent, &raw);
            return err ? err
                       : team_send(s->team, parent, below,
                                   (size_t)up_to(bit, s->leader_count - me) * sizeof *below);
        }
        if (me + bit < s->leader_count)
            err = add_child(s, s->leaders[me + bit], below + bit, up_to(bit, s->leader_count - me - bit));
    }
    return err;
}

static int hand_out(struct sync *s, int me, const struct below *below)
{
    struct below mine = {0};
    int err = 0;
    for (int i = 1; i < s->leader_count && me == 0 && !err; ++i)
        err = team_send(s->team, s->leaders[i], &below[i], sizeof *below);
    if (me == 0)
        return err;
    err = team_recv(s->team, s->leaders[0], &mine, sizeof mine);
    int links = 0;
    for (int rest = me; rest > 0; rest &= rest - 1)
        ++links;
    int64_t now = clock_now(s->clock);
    double age = (double)(now - s->begin_ns); /* of the oldest link on my way, at most */
    if (!err)
        sync_learned(s, (struct clock_map){.at_ns = now, .offset_ns = mine.offset_ns},
                     mine.bound_ns + links * pair_most_drift * age);
    return err;
}

static int learn(struct sync *s, int me)
{
    struct below *below = calloc((size_t)(s->leader_count - me), sizeof *below);
    if (!below)
        return err_say(ERR_NOMEM, "no memory for the offsets of %d clocks", s->leader_count);
    int err = gather_up(s, me, below);
    if (!err)
        err = hand_out(s, me, below);
    free(below);
    return err;
}

const struct sync_algorithm sync_netgauge = {
    .name = "netgauge",
    .summary = "as in Netgauge: up a tree, by the shortest round trip, with offsets added up; no drift",
    .learn = learn,
};
