/* What a program promises to the library by an info key, and what the library then says that it has. MPI lets
 * a library ignore any of them (MPI 4.0, section 10). */
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
    const struct hint *hint;    /* NULL: nobody looked */
    bool kept;                  /* the library says what it has */
    char value[HINT_VALUE_MAX]; /* that */
};

/* To be freed where it is not MPI_INFO_NULL. MPI's code. */
int hint_make(const struct hint *hint, MPI_Info *made);

/* What a window or a communicator says that it has, MPI_Win_get_info()'s answer, which is freed. `hint` lasts
 * as long as what was seen of it. MPI's code. */
int hint_look(const struct hint *hint, MPI_Info has, struct hint_seen *seen);

/* "hint": its key, what was asked, and what the library has, null where it does not say; nothing where nobody
 * looked. */
void hint_describe(const struct hint_seen *seen, struct json *j);

#endif
