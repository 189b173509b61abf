/* Shared by the ops of synchronisation without calls and their check. */
#ifndef OPS_MPI_ONESIDED_SYNC_H
#define OPS_MPI_ONESIDED_SYNC_H

#include "ops/mpi/onesided/window.h"

#include <stdint.h>

enum { SYNC_LINE = 64 }; /* bytes that a rank puts in the check, at its own place; one more is a number */

struct sync;
typedef int sync_call(struct sync *s);

struct sync_row {
    const char *name, *summary;
    const struct param *params;
    sync_call *begin, *end;  /* once in a sample; NULL: nothing */
    sync_call *open, *close; /* repeated by those who act: one opens and one closes */
    int (*loop)(struct sync *s, int64_t reps);
    enum op_class class;
    bool locks;     /* epochs of rank 0's window, in which rank 0 has no part */
    bool delivers;  /* after `close` a put has arrived, though its epoch goes on */
    bool localises; /* after `close` the source may be overwritten */
    bool updates;   /* its epochs may exclude each other */
    bool exposes;   /* rank 0 repeats the call that shows it that rank 1 has not finished */
    const char *missing;
};

struct sync {
    const struct sync_row *row;
    MPI_Comm comm;
    int rank, size, target;
    MPI_Group from, to; /* ranks that put to this one, and those that it may put to; MPI_GROUP_NULL: those
                           of locks */
    struct window window;
    MPI_Win win;
    bool acts, puts;
    int first, count;           /* the ranks whose bytes arrive here */
    int actors;                 /* of all ranks */
    int lock, opening, closing; /* MPI's words: the lock, and what is asserted */
    sync_call *await;           /* the end of an exposure epoch */
    char *send;
    int generation;
    bool planted;
};

/* Calls before and after the repetitions of a sample; MPI's code. */
int sync_begin(struct sync *s);
int sync_end(struct sync *s);

/* The op's own, with a put in each epoch (sync_check.c). */
int sync_verify(void *state);

#endif
