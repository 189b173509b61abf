/* What a sample took, for the stop rule: the engine's own estimate, which is in no record. */
#ifndef CORE_ESTIMATE_H
#define CORE_ESTIMATE_H

#include "core/op.h"

#include <stdint.h>

struct chunk;

/* For sample k, the longest of the ranks' own durations, or rank 0's. */
double estimate_local(const struct chunk *chunk, int64_t k, enum op_report report);

/* From when the first rank starts until the last has finished, on the reference clock, whose
 * origin is of no matter. */
double estimate_global(const struct chunk *chunk, int64_t k);

/* What message k took one way, on the mean of all pairs; partners[i] is whom rank i talks to, -1: nobody. */
double estimate_messages(const struct chunk *chunk, int64_t k, const int64_t *partners);

#endif
