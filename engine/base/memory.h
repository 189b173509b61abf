/* How much memory this process may still take: of the machine, and of the control groups that it is in. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* `root` stands before the paths of the kernel's files: "" but in tests. SIZE_MAX where nothing says. */
size_t memory_left(const char *root);

#endif
