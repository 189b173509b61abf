/* npb.*: the NAS Parallel Benchmarks, written from their specification: D. Bailey and others, "The NAS
 * Parallel Benchmarks", NASA Ames RNR-94-007, 1994; "The NAS Parallel Benchmarks 2.0", NAS-95-020, 1995.
 *
 * A kernel is a row: functions that make its data, solve, and say what the answer is. All else (parameters,
 * classes, memory, repetitions, the check of every answer) is npb.c's and the same for all. */
#ifndef KERNELS_NPB_H
#define KERNELS_NPB_H

#include "base/opt.h"
#include "core/op.h"
#include "core/phase.h"
#include "kernels/comm.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Problem sizes, by the letters of the reports. */
enum npb_class { NPB_S, NPB_W, NPB_A, NPB_B, NPB_C, NPB_D, NPB_E, NPB_CLASSES };
extern const char *const npb_classes[NPB_CLASSES + 1];

enum { NPB_VALUES_MAX = 64 };

struct npb_kernel;

/* What a kernel is given; it lives as long as the kernel's state. */
struct npb {
    const struct npb_kernel *kernel;
    enum npb_class class;
    enum comm_back back;
    int threads;           /* for `#pragma omp parallel num_threads(npb->threads)` */
    const double *own;     /* values of the kernel's own parameters, from row NPB_OWN on */
    struct comm comm;      /* all ranks */
    struct phases *phases; /* NULL: phases=off */
    bool planted;          /* for tests: reset() spoils this rank's data by npb_spoil() */
};

/* Rows that every kernel's parameters begin with; `list` are words of comm_backs[] that the kernel takes, the
 * first is the default. */
enum { NPB_CLASS, NPB_PHASES, NPB_BACKEND, NPB_OWN };
#define NPB_PARAMS(list)                                                                                     \
    [NPB_CLASS] = PARAM_WORDS("class", "size of the problem", npb_classes),                                  \
    [NPB_PHASES] = PARAM_WORDS("phases", "whether to stamp where the time goes inside", npb_on_off),         \
    [NPB_BACKEND] = PARAM_WORDS("backend", "how messages go", list)
extern const char *const npb_on_off[3];

/* The published answer of a class; no values: there is none. */
struct npb_reference {
    double values[NPB_VALUES_MAX];
};

struct npb_kernel {
    const char *name, *summary;
    const struct param *params; /* {NPB_PARAMS(backends), ..., {0}} */
    const struct phase *phases; /* up to a row without a name */

    /* Whether this many ranks can solve this class: 0, or ERR_UNSUPPORTED and a sentence that says which can.
     * NULL: any can. Asked on all ranks alike, before anything else. */
    int (*ranks)(const struct npb *npb);

    /* Bytes that open() will allocate on this rank. */
    double (*memory)(const struct npb *npb);

    /* Allocate, open plans, make what stays the same from run to run. Collective; errors before something
     * collective are agreed on with npb_agree(). On failure nothing is left behind. */
    int (*open)(struct npb *npb, void **state);
    void (*close)(void *state);

    /* Fresh data: outside the timed region, before each run. */
    int (*reset)(void *state);

    /* What NPB times, iterations and all. No allocation, no I/O, no branch on an option inside loops. */
    int (*solve)(void *state);

    /* Outside the timed region, after each run: the values that the reference has, the same on all ranks, and
     * how many. Or ERR_WRONG and a sentence where more is known. */
    int (*answer)(void *state, double values[NPB_VALUES_MAX], int *count);

    double tolerance;               /* relative; 0: exact */
    const char *const *value_names; /* up to NULL; value i is value_names[i modulo their number] */
    const struct npb_reference *(*reference)(enum npb_class class);

    /* Operations of a run, by NPB's own formula. */
    double (*work)(enum npb_class class);
};

/* A table of them, up to NULL (npb.c). */
extern const struct npb_kernel *const npb_kernels[];
extern const struct npb_kernel npb_ep, npb_is, npb_cg, npb_mg, npb_ft, npb_bt, npb_sp, npb_lu;

/* The word that was given for a parameter with words. */
const char *npb_word(const struct npb *npb, int row);

/* Whether any rank has an error: then all leave, each with its own (0: only others have). Collective over the
 * team. *stop says so. */
int npb_agree(const struct npb *npb, int err, bool *stop);

/* An array for this rank, on a cache line or large pages, not touched; free() it. ERR_NOMEM. */
int npb_alloc(struct npb *npb, size_t count, size_t size, void *array_pointer);

/* Where `planted`: off by 1e-6. */
void npb_spoil(const struct npb *npb, double *value);

/* Share `part` of `total` things that `parts` divide evenly: the first ones have one more. */
struct npb_share {
    int64_t first, count;
};
static inline struct npb_share npb_share(int64_t total, int parts, int part)
{
    int64_t each = total / parts, more = total % parts;
    return (struct npb_share){part * each + (part < more ? part : more), each + (part < more)};
}

/* Two factors of `ranks` that are as near to each other as can be; the first is not the larger one. */
void npb_factors(int ranks, int *small, int *large);

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
