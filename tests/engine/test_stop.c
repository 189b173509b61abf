#include "test.h"

#include "base/hash.h"
#include "core/stop.h"

#include <math.h>
#include <string.h>

/* A number in [0, 1) that depends on the seed. */
static double uniform(uint64_t *seed)
{
    return (double)(hash_mix((*seed)++) >> 11) / 9007199254740992.0;
}

/* Feed values made by `next` one by one until the rule stops; how many it took, or `most`. */
static size_t feed(const char *rule, const double *change, double tick, double (*next)(uint64_t *, double),
                   size_t most, enum stop *stop)
{
    const struct stop_rule *r = stop_find(rule);
    double params[PARAMS_MAX];
    param_defaults(r->params, params);
    for (; change && change[0] >= 0; change += 2)
        params[(size_t)change[0]] = change[1];
    struct series s = {.tick = tick};
    uint64_t seed = 1;
    double last = 0;
    *stop = STOP_NOT_YET;
    while (s.count < most && *stop == STOP_NOT_YET) {
        CHECK(series_add(&s, last = next(&seed, last)) == 0);
        s.seconds = (double)s.count * 1e-3;
        *stop = r->done(&s, params);
    }
    size_t count = s.count;
    series_free(&s);
    return count;
}

static double constant(uint64_t *seed, double last)
{
    (void)seed, (void)last;
    return 100;
}

static double noisy(uint64_t *seed, double last)
{
    (void)last;
    return 100 + 10 * uniform(seed);
}

/* AR(1) around 100 with a correlation time of 50 samples. */
static double correlated(uint64_t *seed, double last)
{
    const double r = 0.98;
    double deviation = (last == 0 ? 0 : last - 100) * r + (uniform(seed) - 0.5) * 2;
    return 100 + deviation;
}

static double wild(uint64_t *seed, double last)
{
    (void)last;
    return 1 / (uniform(seed) + 1e-9);
}

int main(void)
{
    enum stop stop;
    CHECK(stop_find("nonsense") == NULL);
    CHECK(strcmp(stop_rules[0]->name, "median") == 0);

    CHECK(feed("fixed", NULL, 0, constant, 1000, &stop) == 100 && stop == STOP_SETTLED);
    CHECK(feed("fixed", (const double[]){0, 7, -1}, 0, constant, 1000, &stop) == 7 && stop == STOP_SETTLED);
    CHECK(feed("fixed", (const double[]){1, 0.005, -1}, 0, constant, 1000, &stop) == 5 && stop == STOP_TIME);

    /* What does not vary needs the fewest blocks; also when the clock's tick is coarse. */
    const double unhurried[] = {3, 1000, -1};
    CHECK(feed("median", unhurried, 0, constant, 100000, &stop) == 128 && stop == STOP_SETTLED);
    CHECK(feed("median", unhurried, 10, constant, 100000, &stop) == 128 && stop == STOP_SETTLED);
    /* Independent noise of 10 %: an interval of 1 % soon, of 0.1 % later. */
    size_t soon = feed("median", unhurried, 0, noisy, 100000, &stop);
    CHECK(stop == STOP_SETTLED && soon < 1000);
    const double narrow[] = {0, 0.001, 3, 1000, -1};
    size_t later = feed("median", narrow, 0, noisy, 100000, &stop);
    CHECK(stop == STOP_SETTLED && later > 4 * soon);
    /* Values that follow each other: blocks must be longer than the correlation before they are believed. */
    const double patient[] = {0, 0.05, 3, 1000, -1};
    CHECK(feed("median", patient, 0, correlated, 1000000, &stop) > 128 * 50 && stop == STOP_SETTLED);
    /* What never settles ends by time, or by count. */
    const double short_time[] = {0, 1e-6, 3, 2, -1}, few[] = {0, 1e-6, 3, 1000, 4, 500, -1};
    CHECK(feed("median", short_time, 0, wild, 100000, &stop) == 2000 && stop == STOP_TIME);
    CHECK(feed("median", few, 0, wild, 100000, &stop) == 500 && stop == STOP_UNSETTLED);
    /* A quantile waits for ten values beyond it in each of 128 blocks, and says when to look again. */
    const double p90[] = {3, 1000, 5, 0.9, -1};
    CHECK(feed("quantile", p90, 0, constant, 100000, &stop) == 12800 && stop == STOP_SETTLED);
    CHECK(feed("quantile", p90, 10, constant, 100000, &stop) == 12800 && stop == STOP_SETTLED);
    const double at_least[] = {2, 5, 3, 2, -1}; /* 5 s at least, which outweigh 2 s at most */
    CHECK(feed("median", at_least, 0, wild, 100000, &stop) == 5000 && stop == STOP_TIME);
    CHECK(feed("quantile", short_time, 0, wild, 100000, &stop) == 2000 && stop == STOP_TIME);
    double q90[PARAMS_MAX];
    param_defaults(stop_find("quantile")->params, q90);
    q90[5] = 0.9;
    struct series few_values = {.count = 1024};
    CHECK(stop_find("quantile")->done(&few_values, q90) == STOP_NOT_YET && few_values.next_look == 12800);
    return test_result();
}
