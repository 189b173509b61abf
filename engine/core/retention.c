#include "core/retention.h"

#include "base/hash.h"

const char *const keep_words[KEEPS] = {
    [KEEP_RANKS] = "ranks", [KEEP_SAMPLED] = "sampled", [KEEP_SLOWEST] = "slowest", [KEEP_BOTH] = "both"};

enum keep keep_of(enum keep asked, int ranks)
{
    if (asked != KEEP_BY_RANKS)
        return asked;
    return ranks <= KEEP_RANKS_MOST ? KEEP_RANKS : KEEP_SAMPLED;
}

int64_t kept_sample(int64_t chunk, int64_t count)
{
    return (int64_t)(hash_mix((uint64_t)chunk) % (uint64_t)count);
}
