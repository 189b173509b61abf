/* Numbers from text, and arithmetic that refuses to overflow. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

/* Read "0", "8", "1Ki", "4MiB" in bytes. ERR_INPUT if it is no size. */
int num_size(const char *text, size_t *bytes);

/* Read a whole number between least and most, or a number likewise; `what` names it in the error.
 * ERR_INPUT. */
int num_int(const char *text, const char *what, int64_t least, int64_t most, int64_t *value);
int num_double(const char *text, const char *what, double least, double most, double *value);

/* a * b; ERR_NOMEM if it does not fit. */
int num_multiply(size_t a, size_t b, size_t *product);

/* A count as MPI's int; ERR_UNSUPPORTED above 2^31 - 1. */
int num_to_int(size_t count, int *narrow);

/* For qsort() of int64_t and of double. */
int num_compare_ints(const void *a, const void *b);
int num_compare_doubles(const void *a, const void *b);

#endif
