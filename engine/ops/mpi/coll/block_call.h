/* A call of MPI on blocks that are checked byte by byte: of all ranks, of the two groups of an
 * intercommunicator, or of rank 0 on the window of rank 1. Rows of such calls are in large.c and inter.c. */
#ifndef OPS_MPI_COLL_BLOCK_CALL_H
#define OPS_MPI_COLL_BLOCK_CALL_H

#include "core/op.h"
#include "ops/common/data.h"

#include <mpi.h>

enum { CALL_ROOT, CALL_TARGET }; /* of a broadcast; of a one-sided call of the root */

struct call {
    MPI_Comm comm, group, inter; /* of all; my half; both halves, if the row is over two */
    int rank, size;              /* mine in `comm`, or in my half */
    int first, others;           /* the ranks whose blocks come to me: the first of them, and how many */
    bool is_lower;               /* half */
    size_t bytes;                /* of a block */
    MPI_Count count;             /* of elements of `type` in a block */
    MPI_Datatype type;
    MPI_Count stated;  /* bytes of a `type` that was made, as MPI states them */
    int narrow;        /* the bytes as an int; 0: of a call that takes more */
    char *send, *recv; /* NULL where the row has no blocks there */
    MPI_Win window; /* of a one-sided call, on what the target has in `send` or `recv`; else MPI_WIN_NULL */
    bool planted;
    const struct call_row *row;
};

/* Blocks of a rank's buffer: EACH is one for each of the others. */
enum call_blocks { CALL_NONE, CALL_ONE, CALL_EACH };
enum call_data { CALL_BYTES, CALL_SUMS }; /* sums: numbers of MPI's own types alone */
enum call_over { CALL_ALL, CALL_TWO_GROUPS, CALL_INTO_WINDOW, CALL_FROM_WINDOW };

struct call_row {
    const char *name, *summary, *calls;
    enum call_over over;
    enum call_blocks send, recv;
    enum op_flow flow;
    int (*once)(struct call *c);
    void (*fill)(struct call *c);
    int (*check)(struct call *c);
    enum call_data data;
};

/* The parameter of calls whose blocks may be elements of a type that setup makes. Rows of sums, and of calls
 * that count in an int, have none. */
extern const char *const call_types[4];

void call_fill_nothing(struct call *c);
void call_fill_root(struct call *c);
void call_fill_one(struct call *c);
void call_fill_each(struct call *c);
void call_fill_sum(struct call *c); /* as `one`, and zeros in the window */

int call_check_nothing(struct call *c);
int call_check_root(struct call *c);
int call_check_target(struct call *c); /* the target's block at the root */
int call_check_bits(struct call *c);
int call_check_bits_at_root(struct call *c);
int call_check_gathered_at_root(struct call *c);
int call_check_mine(struct call *c);
int call_check_each(struct call *c);
int call_check_gathered(struct call *c);

/* Fill in an op of such a row; `missing` as of struct op. */
void call_op(const struct call_row *row, const char *missing, struct op *op);

#endif
