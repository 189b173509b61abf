/* batch, root, rank: many repetitions back to back between two timestamps, so many that reading the clock
 * costs a thousandth of them.
 *
 * The right method for a ping-pong, where each repetition waits for the one before, and for ops of single
 * ranks. For a collective it measures the pipeline and not the latency: rooted ones overlap with themselves.
 *
 * The busy time of one task in a collective is its overhead: root, at task zero; rank, at each (the longest
 * is the row's value, all are in the records). Neither is a latency. */
#include "core/method.h"
#include "core/timed_checks.h"

#include <math.h>

enum { REPS, CACHE };

static const struct param params[] = {
    [REPS] = {"reps", "", "repetitions in a sample; 0: as many as the clock needs", 0, 0, 1e12},
    [CACHE] = METHOD_CACHE,
    {0},
};

/* The clock's cost and tick are at most this share of a sample. */
static const double CLOCK_SHARE = 1e-3;

/* Below this, the few 100 ns by which ranks leave the barrier at different times show in the sample: one
 * untimed repetition first brings the ranks into step. */
static const double STEP_MATTERS_BELOW_NS = 1e6;

static int begin(struct bench *b)
{
    enum { LEAST_WARM_UP = 3 };
    double rep_ns = 0;
    int err = method_warm_up(b, LEAST_WARM_UP, &rep_ns);
    if (err)
        return err;
    double enough = fmax((b->clock->cost_ns + (double)b->clock->tick_ns) / CLOCK_SHARE, b->op->least_ns);
    double reps = b->params[REPS] > 0 ? b->params[REPS] : ceil(enough / rep_ns);
    int64_t plan[2] = {reps < 1 ? 1 : (int64_t)reps, 0}; /* rank 0's: clocks differ between ranks */
    plan[1] = rep_ns * (double)plan[0] < STEP_MATTERS_BELOW_NS && !b->op->gapless && !timed_checks_each(b);
    if (b->op->lead_in)
        plan[1] = b->op->lead_in;
    if (b->evict) /* only the first repetition is cold */
        plan[0] = 1, plan[1] = 0;
    err = team_bcast(b->team, plan, sizeof plan);
    b->reps = plan[0];
    b->lead_in = plan[1];
    return err;
}

/* Run untimed repetitions, whose phases are not counted. */
static int lead_in(struct bench *b)
{
    const struct phases before = b->phases ? *b->phases : (struct phases){0};
    if (b->phases)
        b->phases->lanes = NULL;
    int err = b->op->run(b->state, b->lead_in);
    if (b->phases)
        *b->phases = before;
    return err;
}

static int observe(struct bench *b, struct observation *o)
{
    int err = team_barrier(b->team);
    if (!err && b->lead_in > 0)
        err = lead_in(b);
    return err ? err : method_time(b, o);
}

const struct method method_batch = {
    .name = "batch",
    .summary = "repetitions back to back between two timestamps; a collective then overlaps with itself: "
               "throughput, not latency",
    .nature = "throughput, not latency",
    .of_collectives = true,
    .suits = {[OP_LOCAL] = true, [OP_P2P] = true, [OP_COLLECTIVE] = true},
    .leads_in = true,
    .params = params,
    .begin = begin,
    .observe = observe,
};

const struct method method_root = {
    .name = "root",
    .summary = "overhead at task zero: the time of a call on rank 0, back to back; not a latency",
    .nature = "overhead, not a latency",
    .suits = {[OP_COLLECTIVE] = true},
    .at_root = true,
    .leads_in = true,
    .params = params,
    .begin = begin,
    .observe = observe,
};

const struct method method_rank = {
    .name = "rank",
    .summary = "overhead per task: the time of a call on the rank where it takes longest, back to back; not "
               "a latency",
    .nature = "overhead, not a latency",
    .suits = {[OP_COLLECTIVE] = true},
    .leads_in = true,
    .params = params,
    .begin = begin,
    .observe = observe,
};
