/* A window over memory of each rank of a communicator, of every kind that MPI has. */
#ifndef OPS_MPI_ONESIDED_WINDOW_H
#define OPS_MPI_ONESIDED_WINDOW_H

#include "comm/hint_mpi.h"
#include "core/op.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum { WINDOW_KINDS = 4, WINDOW_SHARED = 2, WINDOW_DYNAMIC, WINDOW_PROMISES = 6 };

/* The words of the parameters `window` and `info`; the first are MPI_Win_allocate and no promise. */
extern const char *const window_words[WINDOW_KINDS + 1], *const window_info_words[WINDOW_PROMISES + 1];

#define WINDOW_PARAM                                                                                         \
    PARAM_WORDS("window", "the call that makes the window: MPI_Win_allocate, MPI_Win_create, ...",           \
                window_words)
#define WINDOW_INFO_PARAM                                                                                    \
    PARAM_WORDS("info", "what is promised to the library when the window is made", window_info_words)

struct window {
    MPI_Win win; /* MPI_WIN_NULL until it is made */
    char *memory;
    size_t bytes;
    MPI_Aint *first; /* the beginning of the memory of each rank, as a displacement */
    int kind, info, rank;
    struct hint_seen hint; /* the library's value for the promise, after the window is made */
    const char *model;     /* the memory model, as the library says */
};

/* At setup: check whether there can be such a window of ranks 0 to `ranks` - 1, with locks or without; and
 * take this rank's memory in it from the op's buffers, or count it among them. All ranks have the same size
 * if `info` promises it: window_is_even(). ERR_INPUT, ERR_UNSUPPORTED, ERR_NOMEM. */
struct window_ask {
    int kind, info; /* by their words */
    bool locks;
    int ranks;
    size_t bytes;
};
int window_plan(struct window *w, const struct op_env *env, const struct window_ask *ask);
bool window_is_even(int info);

/* Make it, unless it is made. Collective over `comm`: all ranks have the error of any. ERR_MPI. */
int window_make(struct window *w, MPI_Comm comm);
void window_describe(const struct window *w,
                     struct json *j); /* "hint", "window_model" of the record that ends a test case */
void window_free(struct window *w);   /* collective; nothing where it was not made */

/* Its parts, for ops that time them; MPI's code. The call alone, which attaches nothing; the promise by the
 * word of `info`, which must be freed if it is not MPI_INFO_NULL. */
int window_call(struct window *w, MPI_Info info, MPI_Comm comm);
int window_promise(int info, MPI_Info *made);

/* Around a rank's accesses to its own memory, if others reach it under locks; 0: they do not. */
int window_enter(const struct window *w, bool locks);
int window_leave(const struct window *w, bool locks);

#endif
