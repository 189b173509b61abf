/* each and open-loop: every message is a sample of its own, from the sender's instant to the receiver's, on
 * synchronised clocks. If many pairs play at once, a sample is a message of every pair.
 *
 * each: ping-pong, one way, in either direction, as MPIBench does (Grove 2003): a closed loop. A rank reads
 * its clock once for a message: its completion is also the start of the answer. Sample 2i is the i-th message
 * from rank 0 to rank 1, sample 2i + 1 the answer. The sender's instant is when it began to send.
 *
 * open-loop: one way, at instants that are due whatever became of the messages before. The sender's instant
 * is when the message was due, also where it could not be sent in time: what waits behind a slow one is
 * counted (Tene 2013: coordinated omission). Sample i is message 2i of the op. */
#include "core/method.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "core/estimate.h"

#include <math.h>
#include <stdlib.h>

enum { BLOCK = 1024, LEAST_WARM_UP = 20 };

struct messages {
    int64_t partner;          /* the partner of this rank; -1: none */
    int64_t *partners;        /* on rank 0, of each rank */
    int64_t stamps_ns[BLOCK]; /* of this block, on this rank */
    int64_t told;             /* those that observe() has returned */
    int64_t blocks;           /* so far */
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

enum { RATE, ARRIVALS };
enum { EVEN, RANDOM };
static const char *const arrivals[] = {[EVEN] = "even", [RANDOM] = "random", NULL};
static const struct param open_loop_params[] = {
    [RATE] = {"rate", "messages/s", "messages that are due at each sender in a second", 1e4, 1, 1e9},
    [ARRIVALS] =
        PARAM_WORDS("due",
                    "distances of the instants at which messages are due: even, or random, as of many "
                    "senders that know nothing of each other (exponential, the same mean)",
                    arrivals),
    {0},
};

/* When the messages of this block are due after it begins, the same on all ranks: for the first one waits,
 * too.
 */
static void plan_block(const struct bench *b, uint64_t block, int64_t *due_ns)
{
    const double gap_ns = 1e9 / b->params[RATE];
    const bool is_random = (int)b->params[ARRIVALS] == RANDOM;
    double at = 0;
    for (int64_t i = 0; i < b->count; ++i) {
        const uint64_t mixed = hash_mix(b->seed ^ hash_mix(block * BLOCK + (uint64_t)i));
        at += is_random ? -gap_ns * log1p(-hash_unit(mixed)) : gap_ns;
        due_ns[i] = (int64_t)at;
    }
}

static int begin_due(struct bench *b)
{
    b->window_ns = (int64_t)(1e9 / b->params[RATE]);
    return begin(b);
}

/* A rank that only sends waits for instants and not for answers. */
static int open_due(struct bench *b)
{
    enum { READY_NS = 10000 }; /* to leave the barrier of all and come to the first message */
    struct messages *m = b->own;
    const bool sends = m->partner > b->team->rank, receives = m->partner >= 0 && !sends;
    int64_t *stamps = m->stamps_ns, first_ns = 0;
    plan_block(b, (uint64_t)m->blocks++, stamps);
    int err = method_meet(b, READY_NS, &first_ns);
    const int64_t begin_ns = err ? 0 : map_to_local(&b->sync->mine.map, first_ns);
    for (int64_t i = 0; i < b->count && !err; ++i) {
        stamps[i] += begin_ns;
        if (sends) {
            if (m->writes)
                b->op->write(b->state);
            clock_wait(b->clock, stamps[i], NULL);
        }
        if (sends || receives)
            err = b->op->turn(b->state, 2 * i);
        if (receives)
            stamps[i] = clock_mark(b->clock);
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

#define MESSAGE_METHOD(begins, opens)                                                                        \
    .suits = {[OP_P2P] = true, [OP_COLLECTIVE] = true}, .messages = true, .sync = SYNC_BLOCK,                \
    .block = BLOCK, .begin = begins, .open = opens, .observe = observe, .size = sizeof(struct messages),     \
    .value = value, .describe = describe, .end = end

const struct method method_each = {
    .name = "each",
    .summary = "every message by itself, one way, on synchronised clocks; there less back means nothing "
               "below the clocks' error",
    MESSAGE_METHOD(begin, open),
};

const struct method method_open_loop = {
    .name = "open-loop",
    .summary = "every message by itself, one way, from when it was due, at a rate that does not wait for "
               "answers, on synchronised clocks; what waits behind a slow message is counted",
    .nature = "from when it was due",
    .streams = true,
    .least_ranks = 2,
    .params = open_loop_params,
    MESSAGE_METHOD(begin_due, open_due),
};
