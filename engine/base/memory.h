/* The memory available to a process, and memory for large arrays. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that this process may still take without swapping, by the machine and by its control groups. `root`
 * is put before the paths of the kernel's files: "" except in tests. SIZE_MAX if the kernel does not say. */
size_t memory_left(const char *root);

/* Bytes that this process has from malloc() and has not freed, all threads together. Before glibc 2.33 modulo
 * 4 GiB. */
int64_t memory_heap(void);

/* What this process has in memory, in bytes: from malloc(), in pages, of these such as others may share
 * (files, shared memory), locked by itself, pinned by a driver (registered with an adapter). 0 if the kernel
 * does not say. */
struct footprint {
    int64_t heap, resident, shared, locked, pinned;
};

struct footprint memory_footprint(void);

/* Make an array that begins on a cache line, or on a large page if it fills some; then the system is asked
 * for large pages. It is not touched. free() it. ERR_NOMEM. */
int memory_array(size_t count, size_t size, void **array);

#endif
