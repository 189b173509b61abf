/* Checks, between samples, of what timed calls have moved: for ops with `check`. */
#ifndef CORE_MOVED_H
#define CORE_MOVED_H

#include "base/err.h"
#include "core/method.h"
#include "core/op.h"

struct moved {
    bool each;     /* after each sample; else after chunks of them */
    bool left;     /* something was timed since the last check */
    double took_s; /* by all checks so far */
    int wrong;     /* the worst finding, on all ranks, and its reason, on rank 0 */
    char why[ERR_TEXT_MAX];
};

void moved_open(struct moved *moved, const struct op *op, const double *params);

/* Is a check due after the next chunk, when samples have taken so many seconds so far? Checks take no longer
 * than samples. On rank 0. */
bool moved_is_due(const struct moved *moved, const struct bench *bench, double seconds);

/* Is each repetition checked, if samples have one? Then nothing is repeated without a check. */
bool moved_is_each(const struct bench *bench);

/* Has everything timed arrived? Stops looking after the first mistake. Collective. */
int moved_check(struct moved *moved, const struct bench *bench);

#endif
