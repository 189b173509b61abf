/* A clock that goes wrong on purpose: offset, drift, a drift that takes a random walk in steps of 1 ms,
 * jumps.
 */
#include "time/clock.h"

#include "base/err.h"
#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

static const double OFFSET_NS = 10e9; /* up to, either way */
static const double DRIFT = 20e-6;
static const double WALK = 1e-7; /* standard deviation of the drift's change in one second */
static const double STEP_NS = 1e6;
static const int64_t JUMP_NS = 20000000, JUMP_EVERY_NS = 50000000;
static const double WILD_NS = 2e6; /* standard deviation of what a wild clock adds at each reading */

struct skew {
    int64_t (*read)(const struct clock *clock); /* of the true source */
    int64_t begin_ns;                           /* of the true source */
    uint64_t seed;
    double offset_ns, drift, wander;
    bool jumps;
    /* The walk so far: drift and sum after `steps` steps. Time goes forward, so earlier steps are not kept.
     */
    int64_t steps;
    double walk, sum_ns;
};

static double uniform(uint64_t *seed)
{
    return hash_unit(hash_mix((*seed)++));
}

static double normal(uint64_t *seed)
{
    double u = uniform(seed), v = uniform(seed);
    return sqrt(-2 * log(u + 1e-300)) * cos(2 * M_PI * v);
}

/* By how much the clock is ahead when the true one shows `true_ns`. */
static double skew_at(const struct skew *skew, double true_ns)
{
    double t = true_ns - (double)skew->begin_ns;
    return skew->offset_ns + skew->drift * t + skew->sum_ns +
           skew->walk * (t - (double)skew->steps * STEP_NS);
}

static int64_t read_skewed(const struct clock *clock)
{
    struct skew *skew = clock->skew;
    int64_t now = skew->read(clock);
    while ((double)(now - skew->begin_ns) >= (double)(skew->steps + 1) * STEP_NS) {
        skew->sum_ns += skew->walk * STEP_NS;
        skew->walk += skew->wander * sqrt(STEP_NS / 1e9) * normal(&skew->seed);
        ++skew->steps;
    }
    int64_t jumped = skew->jumps ? (now - skew->begin_ns) / JUMP_EVERY_NS * JUMP_NS : 0;
    return now + llround(skew_at(skew, (double)now)) - jumped;
}

/* From now on the clock may go wrong; a clock that does so already does both. */
static int go_wrong(struct clock *clock)
{
    if (clock->skew)
        return 0;
    struct skew *skew = calloc(1, sizeof *skew);
    if (!skew)
        return err_say(ERR_NOMEM, "no memory for a skewed clock");
    skew->read = clock->read;
    skew->begin_ns = clock->read(clock);
    clock->skew = skew;
    clock->read = read_skewed;
    clock->mark = NULL;
    return 0;
}

int clock_skew(struct clock *clock, uint64_t seed)
{
    int err = go_wrong(clock);
    if (err)
        return err;
    struct skew *skew = clock->skew;
    skew->seed = hash_mix(seed);
    skew->offset_ns = (2 * uniform(&skew->seed) - 1) * OFFSET_NS;
    skew->drift = (2 * uniform(&skew->seed) - 1) * DRIFT;
    skew->wander = WALK;
    return 0;
}

int clock_jump(struct clock *clock)
{
    int err = go_wrong(clock);
    if (!err)
        clock->skew->jumps = true;
    return err;
}

static int64_t read_wild(const struct clock *clock)
{
    clock->skew->sum_ns +=
        WILD_NS * fabs(normal(&clock->skew->seed)); /* forward: it runs, and never jumps back */
    return read_skewed(clock);
}

int clock_go_wild(struct clock *clock, uint64_t seed)
{
    int err = clock->skew ? 0 : clock_skew(clock, seed);
    if (!err)
        clock->read = read_wild;
    return err;
}

int64_t clock_true(const struct clock *clock, int64_t local_ns)
{
    double true_ns = (double)(local_ns + clock->base);
    for (int i = 0; clock->skew && i < 4; ++i) /* each step divides the error by the drift */
        true_ns = (double)(local_ns + clock->base) - skew_at(clock->skew, true_ns);
    return llround(true_ns);
}

struct clock clock_truth(const struct clock *clock)
{
    struct clock truth = *clock;
    if (clock->skew)
        truth.read = clock->skew->read;
    truth.skew = NULL;
    truth.base = 0;
    return truth;
}

void clock_close(struct clock *clock)
{
    free(clock->skew);
    clock->skew = NULL;
}
