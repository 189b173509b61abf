/* Which variables of the environment decide how MPI, OpenMP and the C library behave. */
#ifndef BASE_VARIABLES_H
#define BASE_VARIABLES_H

#include <stdbool.h>

/* Whether `NAME=value` is one of them. All others are none of our business, for an environment holds secrets;
 * so are those by which a launcher tells its ranks who they are. */
bool variable_is_setting(const char *entry);

#endif
