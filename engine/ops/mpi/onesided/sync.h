/* What the ops of synchronisation alone share with their check. */
#ifndef OPS_MPI_ONESIDED_SYNC_H
#define OPS_MPI_ONESIDED_SYNC_H

#include "ops/mpi/onesided/window.h"

#include <stdint.h>

enum {
    SYNC_LINE = 64
}; /* bytes that a rank puts in the check, at a place of its own; one more is a number */

struct sync;
typedef int sync_call(struct sync *s);

struct sync_row {
    const char *name, *summary;
    const struct param *params;
    sync_call *begin, *end;  /* once in a sample; NULL: nothing */
    sync_call *open, *close; /* what is repeated, by those who act: one that opens and one that closes */
    int (*loop)(struct sync *s, int64_t reps);
    enum op_class class;
    bool locks;     /* epochs of rank 0's window, which it has no part in */
    bool delivers;  /* after `close` a put is there, though its epoch goes on */
    bool localises; /* after `close` what was sent may be overwritten */
    bool updates;   /* its epochs may exclude each other */
    bool exposes;   /* rank 0 repeats what shows it that rank 1 has not finished */
    const char *missing;
};

struct sync {
    const struct sync_row *row;
    MPI_Comm comm;
    int rank, size, target;
    MPI_Group from, to; /* who puts to this rank, and to whom it may; MPI_GROUP_NULL: those of locks */
    struct window window;
    MPI_Win win;
    bool acts, puts;
    int first, count;           /* whose bytes arrive here */
    int actors;                 /* on all ranks */
    int lock, opening, closing; /* MPI's words: the lock, and what is asserted */
    sync_call *await;           /* the end of an exposure epoch */
    char *send;
    int generation;
    bool planted;
};

/* What comes before and after the repetitions of a sample; MPI's code. */
int sync_begin(struct sync *s);
int sync_end(struct sync *s);

/* The op's own, with a put in each epoch (sync_check.c). */
int sync_verify(void *state);

#endif
