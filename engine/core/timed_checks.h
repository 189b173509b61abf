/* Checks, between samples, of what timed calls have moved: for ops with `check`. */
#ifndef CORE_TIMED_CHECKS_H
#define CORE_TIMED_CHECKS_H

#include "base/err.h"
#include "core/method.h"
#include "core/op.h"

struct timed_checks {
    bool each;     /* after each sample; else after chunks of them */
    bool left;     /* something was timed since the last check */
    double took_s; /* by all checks so far */
    int wrong;     /* the worst finding, on all ranks, and its reason, on rank 0 */
    char why[ERR_TEXT_MAX];
};

void timed_checks_open(struct timed_checks *checks, const struct op *op, const double *params);

/* Is a check due after the next chunk, when samples have taken so many seconds so far? Checks take no longer
 * than samples. On rank 0. */
bool timed_checks_due(const struct timed_checks *checks, const struct bench *bench, double seconds);

/* Is each repetition checked, if samples have one? Then nothing is repeated without a check. */
bool timed_checks_each(const struct bench *bench);

/* Has everything timed arrived? Stops looking after the first mistake. Collective. */
int timed_checks_do(struct timed_checks *checks, const struct bench *bench);

#endif
