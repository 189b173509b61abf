/* The promises of a program to the library by an info key, and the library's value for that key. MPI lets a
 * library ignore any of them (MPI 4.0, section 10). */
#ifndef COMM_HINT_MPI_H
#define COMM_HINT_MPI_H

#include "base/json.h"

#include <mpi.h>
#include <stdbool.h>

struct hint {
    const char *key, *value; /* key NULL: nothing is promised */
};

enum { HINT_VALUE_MAX = 64 };
struct hint_seen {
    const struct hint *hint;    /* NULL: not looked at */
    bool kept;                  /* the library has a value for it */
    char value[HINT_VALUE_MAX]; /* that */
};

/* Free it if it is not MPI_INFO_NULL. Returns MPI's code. */
int hint_make(const struct hint *hint, MPI_Info *made);

/* Read the value of a window or a communicator from the answer of MPI_Win_get_info(), which is freed. `hint`
 * must live as long as the result. Returns MPI's code. */
int hint_look(const struct hint *hint, MPI_Info has, struct hint_seen *seen);

/* "hint": its key, the promise, and the library's value, null if it has none; nothing if it was not looked
 * at. */
void hint_describe(const struct hint_seen *seen, struct json *j);

#endif
