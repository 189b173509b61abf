/* each: every message of a ping-pong is a sample of its own, from the sender's stamp to the receiver's, on
 * synchronised clocks: one way, in either direction, as MPIBench does (Grove 2003). If many pairs play at
 * once, a sample is a message of every pair.
 *
 * A rank reads its clock once for a message: its completion is also the start of the answer. Sample 2i is the
 * i-th message from rank 0 to rank 1, sample 2i + 1 the answer. On each rank a sample is an instant: the
 * sender's is when it began to send, the receiver's when it had received. */
#include "core/method.h"

#include "base/err.h"
#include "base/json.h"
#include "core/estimate.h"

#include <stdlib.h>

enum { BLOCK = 1024, LEAST_WARM_UP = 20 };

struct messages {
    int64_t partner;          /* the partner of this rank; -1: none */
    int64_t *partners;        /* on rank 0, of each rank */
    int64_t stamps_ns[BLOCK]; /* of this block, on this rank */
    int64_t told;             /* those that observe() has returned */
    bool writes;              /* this rank writes its data before the stamp of each message */
};

static int begin(struct bench *b)
{
    struct messages *m = b->own;
    const struct team *team = b->team;
    double rep_ns = 0;
    b->reps = 1;
    b->lead_in = 0;
    m->partner = b->op->partner ? b->op->partner(b->state) : team->rank < 2 ? 1 - team->rank : -1;
    if (team->rank == 0 && !(m->partners = calloc((size_t)team->size, sizeof *m->partners)))
        return err_say(ERR_NOMEM, "no memory for the pairs of %d ranks", team->size);
    m->writes = b->op->write && b->op->write(b->state);
    int err = team_gather(team, &m->partner, sizeof m->partner, m->partners);
    return err ? err : method_warm_up(b, LEAST_WARM_UP, &rep_ns);
}

/* Run the block here, with only the op and the clock in its chain; observe() only returns the stamps. */
static int open(struct bench *b)
{
    struct messages *m = b->own;
    const int receives = m->partner < 0 ? -1 : b->team->rank < m->partner; /* even messages, or odd ones */
    const int64_t count = b->count;
    int64_t *stamps = m->stamps_ns;
    int err = team_barrier(b->team);
    int64_t stamp = clock_mark(b->clock);
    for (int64_t i = 0; i < count && !err; ++i) {
        if (m->writes && (i & 1) != receives && b->op->write(b->state))
            stamp = clock_mark(b->clock);
        err = b->op->turn(b->state, i);
        if ((i & 1) == receives)
            stamp = clock_mark(b->clock);
        stamps[i] = stamp;
    }
    m->told = 0;
    return err;
}

static int observe(struct bench *b, struct observation *o)
{
    struct messages *m = b->own;
    o->start_ns = o->stop_ns = m->stamps_ns[m->told++];
    return 0;
}

static double value(const struct bench *b, const struct chunk *c, int64_t k)
{
    const struct messages *m = b->own;
    return estimate_messages(c, k, m->partners);
}

/* In a ping-pong they are ranks 0 and 1. */
static void describe(const struct bench *b, struct json *j)
{
    const struct messages *m = b->own;
    if (!b->op->partner)
        return;
    json_ints(j, "partners", m->partners, b->team->size, sizeof *m->partners);
}

static void end(struct bench *b)
{
    free(((struct messages *)b->own)->partners);
}

const struct method method_each = {
    .name = "each",
    .summary = "every message by itself, one way, on synchronised clocks; there less back means nothing "
               "below the clocks' error",
    .suits = {[OP_P2P] = true, [OP_COLLECTIVE] = true},
    .messages = true,
    .sync = SYNC_BLOCK,
    .block = BLOCK,
    .begin = begin,
    .open = open,
    .observe = observe,
    .size = sizeof(struct messages),
    .value = value,
    .describe = describe,
    .end = end,
};
