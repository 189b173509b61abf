/* Types of numbers that MPI reduces: how a number is written, compared and shown. */
#ifndef OPS_MPI_COLL_NUMBER_H
#define OPS_MPI_COLL_NUMBER_H

#include "ops/mpi/coll/reduction.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Small whole numbers, which all types hold exactly; `im` is the imaginary part, or the place of a pair. */
struct value {
    int64_t re, im;
};

/* MPI's groups of types (MPI 4.0, section 6.9.2); no operator is defined for a char. */
enum { INTEGER = 1, FLOATING = 2, COMPLEX = 4, LOGICAL = 8, BYTES = 16, PAIRS = 32, SUMMED = 64 };

struct number {
    const char *name;
    int group;
    size_t size;
    void (*put)(void *element, struct value v);
    bool (*same)(const void *element, struct value v);
    void (*text)(const void *element, char *text, size_t size);
    MPI_User_function *compose;
    int64_t exact; /* whole numbers up to it are exact; 0: all that are met */
};

extern const struct number numbers[NUMBER_TYPES]; /* in the order of number_type_words */

#endif
