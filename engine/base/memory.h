/* How much memory there is for a process, and memory for large arrays. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that this process may still get on this host without swapping: what Linux calls available, or what is
 * left of the least limit of its control groups. INT64_MAX where nothing says. */
int64_t memory_available(void);

/* Bytes of this process that are in memory now; 0 where nothing says. */
int64_t memory_resident(void);

/* An array that begins on a cache line, or on a large page where it fills some, for which the system is asked
 * for large pages. Nothing of it has been touched. free() it. ERR_NOMEM. */
int memory_array(size_t count, size_t size, void **array);

#endif
