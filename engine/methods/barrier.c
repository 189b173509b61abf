/* barrier: one call at a time, each after the team's own barrier, never the library's. library-barrier: after
 * the library's, as OSU and IMB do; for comparison.
 *
 * Each rank timestamps its own entry and exit. The longest of the local durations is the operation, plus or
 * minus the skew of ranks as they leave the barrier, which the method cannot see. It is a bound without a
 * proof, known to read -8 to +37 % if several ranks share a host; after the library's barrier -62 to +88
 * %. */
#include "core/method.h"

enum { REPS, CACHE };

static const struct param params[] = {
    [REPS] = {"reps", "", "repetitions after each barrier", 1, 1, 1e12},
    [CACHE] = METHOD_CACHE,
    {0},
};

static int begin(struct bench *b)
{
    enum { LEAST_WARM_UP = 20 }; /* libraries change algorithms and open connections in their first calls */
    double rep_ns = 0;
    b->reps = b->op->prepare ? 1 : (int64_t)b->params[REPS];
    b->lead_in = 0;
    return method_warm_up(b, LEAST_WARM_UP, &rep_ns);
}

static int observe(struct bench *b, struct observation *o)
{
    int err = team_barrier(b->team);
    return err ? err : method_time(b, o);
}

static int observe_library(struct bench *b, struct observation *o)
{
    int err = team_library_barrier(b->team);
    return err ? err : method_time(b, o);
}

const struct method method_barrier = {
    .name = "barrier",
    .summary = "one call after each barrier of Steelyard's own: the longest of the ranks' own times; biased "
               "by how far apart ranks leave the barrier",
    .nature = "includes barrier exit skew",
    .suits = {[OP_LOCAL] = true, [OP_P2P] = true, [OP_COLLECTIVE] = true},
    .single = true,
    .params = params,
    .begin = begin,
    .observe = observe,
};

const struct method method_library_barrier = {
    .name = "library-barrier",
    .summary = "one call after each MPI_Barrier, as in OSU and IMB: the longest of the ranks' own times; "
               "biased by how far apart ranks leave it",
    .nature = "includes barrier exit skew",
    .suits = {[OP_P2P] = true, [OP_COLLECTIVE] = true},
    .single = true,
    .params = params,
    .begin = begin,
    .observe = observe_library,
};
