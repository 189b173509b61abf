/* The intended places of this process's threads: CPUs in the order of the lanes of a pool. */
#ifndef BASE_BINDING_H
#define BASE_BINDING_H

#include <stdbool.h>
#include <stddef.h>

/* Call first, from the first thread: OpenMP's run-time system may bind it to one place before main begins.
 * This frees it to run wherever the process may. */
void binding_start(void);

/* Bind the caller, the first thread, where OpenMP's run-time system wants it, while its teams are measured;
 * false: free it again. Does nothing if that system does not bind. */
void binding_openmp(bool on);

/* Where that system wants the calling thread of a team: 0-1; "" if it does not bind it. */
void binding_openmp_meant(char *text, size_t size);

/* Make the CPUs of `text` those of this process, and bind it to them all; lane i of a pool belongs on the
 * i-th. A list is 3,1 or 0-3,8 or 0,0. Several lists, separated by '/', are of the ranks of a host, and
 * `rank` chooses one (a single list is for all ranks; with several and rank < 0, nothing is done yet).
 * "unbound": nothing is bound, and threads stay where the process may run. ERR_INPUT: it is no list, or names
 * a CPU that does not exist or is not allowed. If the kernel refuses to bind at all, that is no error: see
 * binding_refused(). */
int binding_set(const char *text, int rank);
bool binding_is_set(void);

/* The CPU of a lane; -1: it is not bound, or there are fewer CPUs than lanes. Without a list, the CPUs are
 * those of the process, one of each core before the core's others. */
int binding_cpu(int lane);

/* Does the caller, lane 0 of so many, belong on one CPU, too? Yes if a list was given, or the process has as
 * many cores as lanes. */
bool binding_binds_caller(int lanes);

/* Bind the calling thread to a CPU; -1: to all that the process may use. Returns the kernel's errno, or 0. */
int binding_thread(int cpu);

/* The kernel's reason why threads are not bound as they should be, NULL if they are. */
const char *binding_refused(void);
void binding_refuse(int errno_code);

/* Where the calling thread may run, as the kernel says: 0-3,8; "" if it does not say. */
void binding_allowed(char *text, size_t size);

#endif
