/* Mask secrets in values, because records are passed on. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stddef.h>

/* The value of a variable whose name has `length` letters, with `***` in place of secrets: all of it if the
 * name says so and it is no switch, else the user and password of an address, and what follows such a name or
 * `Bearer`: `tcp:...?token=***`, `--password ***`. Free it; NULL for lack of memory. */
char *secret_masked(const char *name, size_t length, const char *value);

#endif
