/* What an engine can hold on any machine. `describe` states it, and what reads a number refuses more. */
#ifndef CORE_LIMITS_H
#define CORE_LIMITS_H

#include <stdint.h>

enum {
    MOST_RANKS = 1 << 30, /* sums of two are still an int, as MPI counts them */
    MOST_THREADS = 4096,  /* of a rank: each has a stack, and a line in records */
};

static const int64_t MOST_BYTES = (int64_t)1 << 50; /* no memory is as large; sums of some still fit */
static const int64_t MOST_SEED = INT64_MAX;

#endif
