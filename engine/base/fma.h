/* Multiply-adds on independent numbers, as many at once as a core has units for: what bounds arithmetic. */
#ifndef BASE_FMA_H
#define BASE_FMA_H

#include <stdint.h>

enum { FMA_LANES_MOST = 96 };

struct fma {
    const char *name; /* of its instructions: avx512, avx2, baseline */
    int lanes;        /* numbers at once; FMA_LANES_MOST is a multiple of it */
    /* So many steps x = x * factor + addend of each lane. */
    void (*steps)(double *lanes, int64_t steps, double factor, double addend);
};

/* The kernels that this processor has, the widest first; NULL after the last. */
const struct fma *fma_kernel(int i);

#endif
