/* each: every message of a ping-pong is an observation of its own, from the sender's stamp to the receiver's,
 * on synchronised clocks: one way, in either direction, as MPIBench does (Grove 2003). Where many pairs play
 * at once, an observation is a message of every pair.
 *
 * A rank reads its clock once for a message: its completion is also the start of the answer. Observation 2i
 * is the i-th message from rank 0 to rank 1, observation 2i + 1 the answer. On each rank an observation is an
 * instant: the sender's is when it began to send, the receiver's when it had received. */
#include "core/method.h"

enum { BLOCK = 1024, LEAST_WARM_UP = 20 };

static int begin(struct bench *b)
{
    double rep_ns = 0;
    b->reps = 1;
    b->partner = b->op->partner ? b->op->partner(b->state) : b->team->rank < 2 ? 1 - b->team->rank : -1;
    b->lead_in = 0;
    return method_warm_up(b, LEAST_WARM_UP, &rep_ns);
}

/* The block runs here, with nothing but the op and the clock in its chain; observe() only tells of it. */
static int open(struct bench *b)
{
    const int receives = b->partner < 0 ? -1 : b->team->rank < b->partner; /* even messages, or odd ones */
    const int64_t count = b->count;
    int64_t *stamps = b->stamps_ns;
    int err = team_barrier(b->team);
    int64_t stamp = clock_mark(b->clock);
    for (int64_t i = 0; i < count && !err; ++i) {
        err = b->op->turn(b->state, i);
        if ((i & 1) == receives)
            stamp = clock_mark(b->clock);
        stamps[i] = stamp;
    }
    b->next = 0;
    return err;
}

static int observe(struct bench *b, struct observation *o)
{
    o->start_ns = o->stop_ns = b->stamps_ns[b->next++];
    return 0;
}

const struct method method_each = {
    .name = "each",
    .summary = "every message timed one way, from the sender's stamp to the receiver's on one clock",
    .suits = {[OP_P2P] = true, [OP_COLLECTIVE] = true},
    .messages = true,
    .sync = SYNC_BLOCK,
    .block = BLOCK,
    .begin = begin,
    .open = open,
    .observe = observe,
};
