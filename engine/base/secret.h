/* What a value tells that is nobody's business: records are passed on. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stddef.h>

/* The value of a variable whose name has `length` letters, with `***` in place of what is a secret in it: all
 * where the name tells so, else the user and password of an address, and what follows such a name:
 * `tcp:...?token=***`. To be freed; NULL for want of memory. */
char *secret_masked(const char *name, size_t length, const char *value);

#endif
