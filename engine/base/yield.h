/* The engine's own sched_yield(), which counts the calls of libraries that yield their core while they wait.
 *
 * MPICH built with per-VCI locks calls sched_yield() after every poll, which costs a system call and can be
 * most of a short message. The dynamic linker binds the library's call to the executable's symbol, so
 * counting costs nothing more. */
#ifndef BASE_YIELD_H
#define BASE_YIELD_H

#include <stdbool.h>
#include <stdint.h>

/* Calls by this thread since it began. */
int64_t yield_count(void);

/* A what-if, which the caller records: from now on, sched_yield() returns at once. */
void yield_disable(void);
bool yield_disabled(void);

#endif
