/* What ranks add up in numbers of 16 bits, without a job. However many ranks there are, each sum is at most
 * the number up to which a type has all whole ones, so that it is exact in any order; and each rank adds to
 * one of them. */
#include "ops/mpi/coll/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RANKS_MOST = 3000, SUM = 0 };

static double of_float16(int bits)
{
    return bits ? ldexp(1024 + (bits & 1023), (bits >> 10) - 25) : 0;
}

static double of_bfloat16(int bits)
{
    return bits ? ldexp(128 + (bits & 127), (bits >> 7) - 134) : 0;
}

static const struct {
    const char *name;
    double (*value)(int bits);
    double most; /* 2 to the number of binary digits that it keeps */
} types[] = {{"float16", of_float16, 2048}, {"bfloat16", of_bfloat16, 256}};

static int wrong(int type, int ranks)
{
    static uint16_t data[RANKS_MOST];
    static double sums[RANKS_MOST];
    struct reduction r = {.which = SUM, .size = sizeof *data, .number = numbers, .ranks = ranks, .stride = 1};
    int found = 0;
    while (strcmp(r.number->name, types[type].name) != 0)
        ++r.number;
    memset(sums, 0, sizeof sums);
    for (int rank = 0; rank < ranks; ++rank) {
        double added = 0;
        reduction_fill(&r, data, (size_t)ranks, rank, 0);
        for (int i = 0; i < ranks; ++i) {
            sums[i] += types[type].value(data[i]);
            added += types[type].value(data[i]);
        }
        found += !(added > 0);
    }
    for (int i = 0; i < ranks; ++i) {
        found += !(sums[i] > 0 && sums[i] <= types[type].most);
        r.number->put(&data[i], (struct value){(int64_t)sums[i], 0});
    }
    return found + (reduction_check(&r, data, (size_t)ranks, ranks - 1, 0) != 0);
}

int main(void)
{
    static const int ranks[] = {1, 2, 100, 256, 257, 511, 2048, 2049, RANKS_MOST};
    int sum = 0;
    for (int type = 0; type < 2; ++type)
        for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; ++i) {
            const int found = wrong(type, ranks[i]);
            if (found)
                printf("%s, %d ranks: %d wrong\n", types[type].name, ranks[i], found);
            sum += found;
        }
    return sum > 0;
}
