/* npb.*: the NAS Parallel Benchmarks, written from their specification: D. Bailey and others, "The NAS
 * Parallel Benchmarks", NASA Ames RNR-94-007, 1994; "The NAS Parallel Benchmarks 2.0", NAS-95-020, 1995.
 *
 * What its kernels share beyond kernel.h: classes, and the generator of random numbers. */
#ifndef KERNELS_NPB_NPB_H
#define KERNELS_NPB_NPB_H

#include "kernels/kernel.h"

/* Problem sizes, by the letters of the reports. */
enum npb_class { NPB_S, NPB_W, NPB_A, NPB_B, NPB_C, NPB_D, NPB_E, NPB_CLASSES };
extern const char *const npb_classes[NPB_CLASSES + 1];

/* Rows that every kernel's parameters begin with. */
enum { NPB_CLASS, NPB_PHASES, NPB_BACKEND, NPB_OWN };
#define NPB_PARAMS(backends)                                                                                 \
    [NPB_CLASS] = PARAM_WORDS("class", "size of the problem", npb_classes), [NPB_PHASES] = KERNEL_PHASES,    \
    [NPB_BACKEND] = KERNEL_BACKEND(backends)

/* The class that the values of the parameters ask for. */
static inline enum npb_class npb_class(const double *params)
{
    return (enum npb_class)params[NPB_CLASS];
}

/* The published answer of a class. */
struct npb_answer {
    double values[KERNEL_VALUES_MAX];
};

extern const struct kernel npb_ep, npb_is, npb_cg, npb_mg, npb_ft, npb_bt, npb_sp, npb_lu;

/* ---- the generator: section 2.3 of RNR-94-007 -----------------------------------------------------------
 */

/* x <- a x mod 2^46; the number is 2^-46 x. In integers: the low 46 bits of a product are right whatever is
 * lost above. */
#define NPB_MULTIPLIER UINT64_C(1220703125) /* 5^13 */
#define NPB_MASK ((UINT64_C(1) << 46) - 1)
#define NPB_SCALE 0x1p-46
#define NPB_SEED UINT64_C(314159265) /* of all kernels but EP */

static inline double npb_random(uint64_t *x, uint64_t a)
{
    *x = *x * a & NPB_MASK;
    return (double)*x * NPB_SCALE;
}

/* a^k mod 2^46; so the state k numbers after x is x * npb_power(NPB_MULTIPLIER, k) & NPB_MASK. */
uint64_t npb_power(uint64_t a, uint64_t k);

/* The next `count` numbers, as npb_random() would give them, and the state after. Faster: several streams. */
void npb_fill(uint64_t *x, uint64_t a, size_t count, double *numbers);

#endif
