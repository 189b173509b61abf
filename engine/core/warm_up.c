/* The warm-up that methods share, in two parts. Before them, repetitions are checked one by one, if an op can
 * check what it has moved. First rounds of doubling length, until the op has run a few times and for a while:
 * caches, branch predictors, connections that open at first use, libraries that change algorithms in their
 * first calls. Then blocks of short rounds, until the medians of two blocks in a row agree, because whatever
 * warms up still becomes faster from block to block. Both are bounded: an op that lasts a second warms up in
 * few calls, and the stop rule judges one that never becomes steady.
 *
 * The idea to go on until a window of measurements is flat is fio's (its "steady state"). */
#include "core/method.h"
#include "core/timed_checks.h"

#include "base/num.h"

#include <math.h>
#include <stdlib.h>

static const double PROOF_NS = 2e6;       /* of repetitions that are checked one by one, some hundreds */
static const double LONG_PROOF_NS = 20e6; /* of the first few of them, if others take the cores */
static const double WARM_NS = 1e6;        /* how long at least */
static const double STEADY_NS = 20e6;     /* from the first call on: afterwards it need not be steady */
static const double LONG_NS = 100e6; /* afterwards it need not have run `least` times: a point has no more
                                        itself */
static const double ROUND_NS = 50e3; /* of a round in a block: many ticks of the clock */
static const double MOST_CHANGE = 0.1;
enum {
    FEWEST = 2,       /* repetitions in any case, because the first is often the slowest */
    FIRST_FEW = 8,    /* that are checked even if that takes long */
    BLOCK = 5,        /* rounds; two that were interrupted do not move the median */
    MOST_BLOCKS = 40, /* if a round takes next to no time */
};

/* The state of a warm-up. Rank 0's plan goes to all after each round. */
struct warm_up {
    struct {
        double rep_ns; /* in the fastest round, which nothing interrupted */
        int64_t next;  /* repetitions; 0: it is over */
    } plan;
    int64_t least, sum;
    double block[BLOCK], before; /* per repetition: of the rounds of this block, the median of the last one */
    int rounds, blocks;
    bool in_blocks;
    bool single; /* repetitions must be prepared, and last long: one has been run for the check, too */
    bool brief;  /* at most `least` repetitions, and no further ones if single. Simulated calls, too: only
                    the library's choices warm up, and calls back to back pile up */
};

/* Have the rounds become steady with this one? */
static bool is_steady(struct warm_up *w, double rep_ns)
{
    w->block[w->rounds++] = rep_ns;
    if (w->rounds < BLOCK)
        return false;
    qsort(w->block, BLOCK, sizeof w->block[0], num_compare_doubles);
    double now = w->block[BLOCK / 2], before = w->before;
    w->before = now;
    w->rounds = 0;
    return ++w->blocks > 1 && fabs(now - before) <= MOST_CHANGE * fmin(now, before);
}

/* The repetitions of the round after one of `reps` that took `rep_ns` each, `passed_ns` after the first
 * began. */
static int64_t next_round(struct warm_up *w, int64_t reps, double rep_ns, double passed_ns)
{
    if (w->brief)
        return w->sum < w->least;
    if (w->in_blocks)
        return is_steady(w, rep_ns) || w->blocks == MOST_BLOCKS || passed_ns >= STEADY_NS ? 0 : reps;
    if (w->single)
        return passed_ns < WARM_NS;
    if (w->sum < (passed_ns < LONG_NS ? w->least : FEWEST)) {
        int64_t missing = passed_ns < LONG_NS ? w->least - w->sum : 1;
        return 2 * reps < missing ? 2 * reps : missing;
    }
    if (passed_ns < WARM_NS)
        return 2 * reps;
    w->in_blocks = true;
    return passed_ns >= STEADY_NS ? 0 : (int64_t)fmax(1, ROUND_NS / w->plan.rep_ns);
}

/* The duration of a round: at rank 0, or on the slowest rank if its duration counts as the op's, because rank
 * 0 may have nothing to do. */
static int round_length(const struct bench *bench, const struct observation *o, int64_t *took_ns)
{
    *took_ns = o->stop_ns > o->start_ns ? o->stop_ns - o->start_ns : 1;
    return bench->report == OP_ROOT ? 0 : team_max(bench->team, took_ns);
}

/* Check the first repetitions one by one: a fault in one call of many is repaired when the next one moves the
 * same data. */
static int prove(struct bench *bench)
{
    struct bench alone = *bench;
    const int64_t begin = clock_now(bench->clock);
    int64_t proved = 0, goes_on = 1; /* as rank 0 decides */
    alone.reps = 1;
    while (goes_on) {
        struct observation o = {0};
        int err = team_barrier(bench->team);
        err = err ? err : method_time(&alone, &o);
        err = err ? err : timed_checks_do(bench->checks, bench);
        if (err)
            return err;
        ++proved;
        const double passed = (double)(clock_now(bench->clock) - begin);
        goes_on = passed < (proved < FIRST_FEW ? LONG_PROOF_NS : PROOF_NS) || proved < FEWEST;
        goes_on = goes_on && !bench->checks->wrong;
        err = team_bcast(bench->team, &goes_on, sizeof goes_on);
        if (err)
            return err;
    }
    bench->warm_up_reps += proved;
    return 0;
}

int method_warm_up(struct bench *bench, int64_t least, double *rep_ns)
{
    struct warm_up w = {.plan = {.rep_ns = INFINITY},
                        .least = least,
                        .single = bench->op->prepare != NULL,
                        .brief = bench->brief || bench->clock->sleeps};
    w.plan.next = !w.single || !w.brief;
    if (bench->op->check && bench->checks && !w.single && !w.brief && !timed_checks_each(bench)) {
        int err = prove(bench);
        if (err)
            return err;
    }
    struct bench round = *bench;
    int64_t begin = clock_now(bench->clock);
    while (w.plan.next > 0) {
        struct observation o = {0};
        round.reps = timed_checks_each(bench) ? 1 : w.plan.next;
        int err = w.single ? method_make_ready(bench) : 0;
        if (!err)
            err = team_barrier(bench->team);
        if (!err)
            err = method_time(&round, &o);
        int64_t took_ns = 0;
        if (!err)
            err = round_length(bench, &o, &took_ns);
        if (!err && timed_checks_each(bench))
            err = timed_checks_do(bench->checks, bench);
        if (err)
            return err;
        double rep_took = (double)took_ns / (double)round.reps;
        w.sum += round.reps;
        w.plan.rep_ns = fmin(w.plan.rep_ns, rep_took);
        w.plan.next = next_round(&w, round.reps, rep_took, (double)(o.start_ns + took_ns - begin));
        err = team_bcast(bench->team, &w.plan, sizeof w.plan);
        if (err)
            return err;
    }
    bench->warm_up_reps += w.sum;
    *rep_ns = w.plan.rep_ns;
    return 0;
}
