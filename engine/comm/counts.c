#include "comm/counts.h"

#include "base/hash.h"

const char *const counts_words[COUNTS_FAMILIES + 1] = {"even", "random", "heavy", "zipf", "whole", NULL};

static void draw_even(int parts, size_t total, size_t *share)
{
    for (int k = 0; k < parts; ++k)
        share[k] = total / (size_t)parts + ((size_t)k < total % (size_t)parts);
}

static void draw_heavy(uint64_t seed, int parts, size_t total, size_t *share)
{
    const int heavy = (int)(hash_mix(seed) % (uint64_t)parts);
    const size_t half = parts == 1 ? total : (total + 1) / 2, rest = total - half;
    for (int k = 0, light = 0; k < parts; ++k) {
        if (k == heavy) {
            share[k] = half;
            continue;
        }
        share[k] = rest / (size_t)(parts - 1) + ((size_t)light < rest % (size_t)(parts - 1));
        ++light;
    }
}

/* A number in (0, 1]. */
static double uniform(uint64_t seed, int k)
{
    return (double)((hash_mix(seed ^ hash_mix((uint64_t)k)) >> 11) + 1) / (double)(UINT64_C(1) << 53);
}

/* Places 1 to `parts` in a random order (Fisher and Yates, as Durstenfeld wrote it down in 1964). */
static void shuffle(uint64_t seed, int parts, size_t *place)
{
    for (int k = 0; k < parts; ++k)
        place[k] = (size_t)k + 1;
    for (int k = parts - 1; k > 0; --k) {
        const size_t other = hash_mix(seed ^ hash_mix((uint64_t)k)) % ((uint64_t)k + 1), held = place[k];
        place[k] = place[other];
        place[other] = held;
    }
}

/* In proportion to weights: where the running sum of the weights stands, rounded down, so that no share is
 * lost. For Zipf's law `share` has the places. */
static void draw_weights(enum counts family, uint64_t seed, int parts, size_t total, size_t *share)
{
    double all = 0, passed = 0;
    for (int k = 0; k < parts; ++k)
        all += family == COUNTS_ZIPF ? 1 / (double)share[k] : uniform(seed, k);
    for (int k = 0, left = parts; k < parts; ++k, --left) {
        const double before = passed;
        passed += family == COUNTS_ZIPF ? 1 / (double)share[k] : uniform(seed, k);
        const size_t begin = (size_t)((double)total * (before / all));
        size_t end = left == 1 ? total : (size_t)((double)total * (passed / all));
        end = end > total ? total : end;
        share[k] = end - begin;
    }
}

void counts_draw(enum counts family, uint64_t seed, int parts, size_t total, size_t *share)
{
    if (parts == 0)
        return;
    if (family == COUNTS_EVEN || family == COUNTS_WHOLE)
        draw_even(parts, total, share);
    else if (family == COUNTS_HEAVY)
        draw_heavy(seed, parts, total, share);
    else {
        if (family == COUNTS_ZIPF)
            shuffle(seed, parts, share);
        draw_weights(family, seed, parts, total, share);
    }
}
