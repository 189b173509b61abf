/* How much memory there is for a process, and memory for large arrays. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that this process may still take without swapping: of the machine, and of the control groups that it
 * is in. `root` stands before the paths of the kernel's files: "" but in tests. SIZE_MAX where nothing says.
 */
size_t memory_left(const char *root);

/* Bytes of this process that are in memory now; 0 where nothing says. */
int64_t memory_resident(void);

/* An array that begins on a cache line, or on a large page where it fills some, for which the system is asked
 * for large pages. Nothing of it has been touched. free() it. ERR_NOMEM. */
int memory_array(size_t count, size_t size, void **array);

#endif
