/* Checks, between samples, of what timed calls have moved: for ops that have `check`. */
#ifndef CORE_MOVED_H
#define CORE_MOVED_H

#include "base/err.h"
#include "core/method.h"
#include "core/op.h"

struct moved {
    bool each;     /* after each sample; else after chunks of them */
    bool left;     /* something was timed since the last check */
    double took_s; /* by all checks so far */
    int wrong;     /* the worst that they have found, on all ranks, and why, on rank 0 */
    char why[ERR_TEXT_MAX];
};

void moved_open(struct moved *moved, const struct op *op, const double *params);

/* Whether to check after the next chunk, where samples have taken so many seconds so far: checks take no
 * longer. On rank 0. */
bool moved_is_due(const struct moved *moved, const struct bench *bench, double seconds);

/* Whether each repetition is to be checked where samples have one: then nothing is repeated without a check.
 */
bool moved_is_each(const struct bench *bench);

/* Whether what was timed has arrived; nothing is looked for after a first mistake. Collective. */
int moved_check(struct moved *moved, const struct bench *bench);

#endif
