/* The engine's own sched_yield(): libraries that give their core away while they wait are counted at it.
 *
 * MPICH built with per-VCI locks calls sched_yield() after every poll, which costs a system call and can make
 * up most of a short message. The dynamic linker binds the library's call to the symbol of the executable, so
 * that the count costs nothing else. */
#ifndef BASE_YIELD_H
#define BASE_YIELD_H

#include <stdbool.h>
#include <stdint.h>

/* Calls by this thread since it began. */
int64_t yield_count(void);

/* A what-if, recorded by who asks for it: from now on, sched_yield() returns at once. */
void yield_disable(void);
bool yield_disabled(void);

#endif
