/* Where OpenMP's run-time system binds threads, as it says itself. Without one, or if it binds none, nothing
 * is added to a set. */
#ifndef BASE_OPENMP_PLACES_H
#define BASE_OPENMP_PLACES_H

#include <sched.h>

/* Add the CPUs of the place of the calling thread. */
void openmp_place(cpu_set_t *set);

/* Add the CPUs of all places. */
void openmp_all_places(cpu_set_t *set);

#endif
