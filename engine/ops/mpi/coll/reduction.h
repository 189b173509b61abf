/* Reductions: an operator on a type of number, with answers that are exact in any order of computation. */
#ifndef OPS_MPI_COLL_REDUCTION_H
#define OPS_MPI_COLL_REDUCTION_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REDUCE_OPS = 13, REDUCE_TYPES = 10, NUMBER_TYPES = 14, DATA_TYPES = 8 };

/* The words of the parameters `operator` and `type`; for ops that only move data, `type` again, bytes
 * first. */
extern const char *const reduce_op_words[REDUCE_OPS + 1];
extern const char *const reduce_type_words[REDUCE_TYPES + 1];
/* The same with further types, of collectives alone. */
extern const char *const number_type_words[NUMBER_TYPES + 1];
/* The size of an element of a number on which each arithmetic operator is defined; 0: no such number. */
extern const int reduce_type_bytes[REDUCE_TYPES], number_type_bytes[NUMBER_TYPES];
extern const char *const data_type_words[DATA_TYPES + 1];
extern const int data_type_bytes[DATA_TYPES];

struct number;

struct reduction {
    MPI_Op op;
    MPI_Datatype type;
    size_t size; /* of an element */
    int which;   /* the index of the operator's word */
    const struct number *number;
    int ranks;         /* how many numbers are reduced */
    int first, stride; /* rank r of them is rank first + r * stride of all, so that groups differ */
};

/* A type by its word, and its size. */
MPI_Datatype reduction_type(const char *word, size_t *size);

/* Open row `op` of the one table of words with row `type` of the other; ERR_INPUT for a pair that MPI does
 * not define, ERR_UNSUPPORTED for a type that this MPI lacks. Communicates with no rank. */
int reduction_open(struct reduction *r, int op, int type);
void reduction_close(struct reduction *r);

/* Fill in elements 0 to count - 1 of a rank's part of a block. */
void reduction_fill(const struct reduction *r, void *data, size_t count, int rank, int block);

/* Fill in numbers that do not grow if the answer of one repetition is the input of the next. */
void reduction_settle(const struct reduction *r, void *data, size_t count);

/* Is the exact answer known after a number was combined with another so many times? */
bool reduction_repeats(const struct reduction *r, int64_t times);

/* Check the block of rank 0 after each of ranks 1 to last was combined with it so many times. ERR_WRONG. */
int reduction_check_times(const struct reduction *r, const void *data, size_t count, int last, int64_t times,
                          int block);

/* Compare the block with the answer over ranks 0 to last, in this order. ERR_WRONG. */
int reduction_check(const struct reduction *r, const void *data, size_t count, int last, int block);

#endif
