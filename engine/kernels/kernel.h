/* Kernels: ops that solve a problem and know its answer. All suites share this: setup, agreement between
 * ranks, memory, the check of each answer, planted mistakes.
 *
 * A kernel is a row: functions that make its data, solve, and give its answer. */
#ifndef KERNELS_KERNEL_H
#define KERNELS_KERNEL_H

#include "base/opt.h"
#include "comm/comm.h"
#include "comm/movers.h"
#include "core/op.h"
#include "core/phase.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KERNEL_VALUES_MAX = 64 };

struct kernel;

/* The input of a kernel; it lives as long as the kernel's state. */
struct kernel_env {
    const struct kernel *kernel;
    enum comm_back back;
    int threads;           /* for `#pragma omp parallel num_threads(env->threads)` */
    const double *params;  /* a value for each row of kernel->params */
    struct comm comm;      /* all ranks */
    struct phases *phases; /* NULL: phases=off */
    bool planted;          /* for tests: reset() corrupts this rank's data by kernel_spoil() */
};

/* Rows in every kernel's parameters; `list` holds the words of comm_backs[] that the kernel takes, the first
 * is the default. */
#define KERNEL_PHASES PARAM_WORDS("phases", "record where the time goes inside", kernel_on_off)
#define KERNEL_BACKEND(list) PARAM_WORDS("backend", "the calls that carry messages", list)
extern const char *const kernel_on_off[3];
/* The list of a kernel whose plans are exchanges, which several threads may move, and all rows that it shares
 * with others. */
extern const char *const kernel_exchanges[COMM_COLLECTIVE + 1];
#define KERNEL_EXCHANGES KERNEL_BACKEND(kernel_exchanges), MOVERS_PARAMS, KERNEL_PHASES

struct kernel {
    const char *name, *summary; /* of the op: "npb.cg" */
    const struct param *params; /* {KERNEL_PHASES, KERNEL_BACKEND(backends), ..., {0}}, in any order */
    const struct phase *phases; /* up to a row without a name */
    const void *own;            /* the difference between kernels that share functions */

    /* Can this many ranks solve this problem? 0, or ERR_UNSUPPORTED and a sentence with the numbers that can.
     * NULL: any can. Called on all ranks alike, before anything else. */
    int (*ranks)(const struct kernel_env *env);

    /* Bytes that open() will allocate on this rank. */
    double (*memory)(const struct kernel_env *env);

    /* Allocate, open plans, make what stays the same from run to run. Collective; ranks agree by
     * kernel_agree() on errors before any collective step. On failure nothing is left behind. */
    int (*open)(struct kernel_env *env, void **state);
    void (*close)(void *state);

    /* Make fresh data: outside the timed region, before each run. */
    int (*reset)(void *state);

    /* The timed section, iterations and all. No allocation, no I/O, no branch on an option inside loops. */
    int (*solve)(void *state);

    /* Outside the timed region, after each run: the values to compare with expected(), the same on all ranks,
     * and their number. Or ERR_WRONG and a sentence, if more is known. */
    int (*answer)(void *state, double values[KERNEL_VALUES_MAX], int *count);

    double tolerance;               /* relative; 0: exact */
    const char *const *value_names; /* up to NULL; value i is value_names[i modulo their number] */

    /* The answer for the values of `params`; NULL: there is none for this problem. Without the function
     * answer() judges alone. */
    const double *(*expected)(const double *params);

    /* Operations of a run, by the suite's own formula; per rank if `weak`, else of all together. */
    double (*work)(const double *params);

    /* For a kernel whose answer is the same however messages go; else NULL: a digest of this rank's part of
     * it, by kernel_digest(). The sum over ranks goes into the records, with the values of answer(). `alike`:
     * the relative difference of values that sums in another order may cause; INFINITY: any. */
    int64_t (*digest)(void *state);
    double (*alike)(const double *params);
    bool sums; /* solve() adds numbers over ranks by a call of the library, which chooses the order */

    /* The share of the work in a phase, 0 to 1; NULL: not counted. */
    double (*phase_work)(const double *params, int phase);
    bool weak; /* the problem grows with the ranks */
};

/* The op of a row; the suite names its family. */
void kernel_op(const struct kernel *kernel, struct op *op);

/* Does any rank have an error? Then all leave, each with its own (0: only others have). Collective over the
 * team. The answer is *stop. */
int kernel_agree(const struct kernel_env *env, int err, bool *stop);

/* An array for this rank, on a cache line or large pages, not touched; free() it. ERR_NOMEM. */
int kernel_alloc(struct kernel_env *env, size_t count, size_t size, void *array_pointer);

/* If `planted`, change the value by 1e-6. */
void kernel_spoil(const struct kernel_env *env, double *value);

/* A sum over every bit of these numbers and its place that stays below 2^63 over all ranks. */
int64_t kernel_digest(const struct kernel_env *env, const double *values, int64_t count);

/* Share `part` of `total` things among `parts`: the first ones have one more. */
struct share {
    int64_t first, count;
};
static inline struct share share_of(int64_t total, int parts, int part)
{
    int64_t each = total / parts, more = total % parts;
    return (struct share){part * each + (part < more ? part : more), each + (part < more)};
}

/* Two factors of `ranks` that are as near to each other as can be; the first is not the larger one. */
void kernel_factors(int ranks, int *small, int *large);

#endif
