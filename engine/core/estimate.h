/* The time of a sample for the stop rule: the engine's own estimate, which is in no record. */
#ifndef CORE_ESTIMATE_H
#define CORE_ESTIMATE_H

#include "core/op.h"

#include <stdint.h>

struct bench;
struct chunk;
struct method;

/* For sample k, as its method says. */
double estimate_sample(const struct bench *bench, const struct method *method, const struct chunk *chunk,
                       int64_t k);

/* For sample k, the longest of the ranks' own durations, or rank 0's. */
double estimate_local(const struct chunk *chunk, int64_t k, enum op_report report);

/* From the first rank's start to the last rank's stop, on the reference clock, whose origin does not
 * matter. */
double estimate_global(const struct chunk *chunk, int64_t k);

/* The one-way time of message k, the mean of all pairs; partners[i] is the partner of rank i, -1: none. */
double estimate_messages(const struct chunk *chunk, int64_t k, const int64_t *partners);

#endif
