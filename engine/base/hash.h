/* A hash for data that depend on their sender, their receiver and their place. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit. */
static inline uint64_t hash_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* A number in [0, 1) from the upper 53 bits of a hash, the precision of a double. */
static inline double hash_unit(uint64_t hash)
{
    return (double)(hash >> 11) / 9007199254740992.0;
}

#endif
