#include "base/fma.h"

#include <stddef.h>

/* On x86-64 a step takes 4 or 5 cycles (6 to 8 as two instructions) and a core begins two in each: a dozen
 * vectors keep it busy, and fit into 16 registers with the factor and the addend. On a core that begins four
 * in each cycle they are too few, and ARM's instruction overwrites its addend, so that a copy comes before
 * each step: there the number is below the peak. */
#define VECTORS(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
enum { VECTORS = 12 };

#define LOAD(i) vector x##i = in[i];
#define STEP(i) x##i = x##i * a + b;
#define STORE(i) in[i] = x##i;
#define KERNEL(called, bytes, ...)                                                                           \
    __VA_ARGS__ static void called(double *lanes, int64_t steps, double factor, double addend)               \
    {                                                                                                        \
        typedef double vector __attribute__((vector_size(bytes), aligned(8), may_alias));                    \
        vector *in = (vector *)lanes;                                                                        \
        const vector zero = {0}, a = zero + factor, b = zero + addend;                                       \
        VECTORS(LOAD)                                                                                        \
        for (int64_t k = 0; k < steps; ++k) {                                                                \
            VECTORS(STEP)                                                                                    \
        }                                                                                                    \
        VECTORS(STORE)                                                                                       \
    }
#define LANES(bytes) (VECTORS * (bytes) / (int)sizeof(double))

KERNEL(baseline, 16)

#if defined(__x86_64__)
KERNEL(avx2, 32, __attribute__((target("avx2,fma"))))
KERNEL(avx512, 64, __attribute__((target("avx512f,fma"))))
#endif

const struct fma *fma_kernel(int i)
{
    static const struct fma kernels[] = {
#if defined(__x86_64__)
        {"avx512", LANES(64), avx512},
        {"avx2", LANES(32), avx2},
#endif
        {"baseline", LANES(16), baseline}};
    enum { KERNELS = sizeof kernels / sizeof kernels[0] };
    int first = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    const int has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    first = __builtin_cpu_supports("avx512f") ? 0 : has_avx2 ? 1 : 2;
#endif
    return i < KERNELS - first ? &kernels[first + i] : NULL;
}
