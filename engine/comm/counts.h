/* Irregular counts: a total shared among ranks, the same way on each of them. */
#ifndef COMM_COUNTS_H
#define COMM_COUNTS_H

#include <stddef.h>
#include <stdint.h>

/* How the shares differ. */
enum counts {
    COUNTS_EVEN,
    COUNTS_RANDOM, /* in proportion to independent uniform numbers */
    COUNTS_HEAVY,  /* one has half of all, the others the rest in even parts */
    COUNTS_ZIPF,   /* the k-th largest in proportion to 1/k, in a random order */
    COUNTS_WHOLE,  /* even, where the size is that of all of them together; the first may have one more */
    COUNTS_FAMILIES
};

extern const char *const counts_words[COUNTS_FAMILIES + 1];

/* share[0] to share[parts - 1], made of the seed alone; they add up to the total exactly. */
void counts_draw(enum counts family, uint64_t seed, int parts, size_t total, size_t *share);

#endif
