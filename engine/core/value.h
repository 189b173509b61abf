/* What an observation took, for the stop rule: the engine's own estimate, which is in no record. */
#ifndef CORE_VALUE_H
#define CORE_VALUE_H

#include "core/op.h"

#include <stdint.h>

struct chunk;

/* Of observation k, the longest of the ranks' own durations, or rank 0's. */
double value_local(const struct chunk *chunk, int64_t k, enum op_report report);

/* From when the first rank starts until the last has finished, on the reference clock, whose
 * origin is of no matter. */
double value_global(const struct chunk *chunk, int64_t k);

/* What message k took one way, on the mean of all pairs; partners[i] is whom rank i talks to, -1: nobody. */
double value_messages(const struct chunk *chunk, int64_t k, const int64_t *partners);

#endif
