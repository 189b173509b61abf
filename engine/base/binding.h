/* Where the threads of this process are meant to be: CPUs in the order of the lanes of a pool. */
#ifndef BASE_BINDING_H
#define BASE_BINDING_H

#include <stdbool.h>
#include <stddef.h>

/* Before anything else, by the first thread: OpenMP's run-time system binds it to one place before main
 * begins, if it binds at all; here it may run wherever the process may again. */
void binding_start(void);

/* Bind the caller, the first thread, where OpenMP's run-time system wants it, for as long as its teams are
 * measured; false: it may run wherever the process may again. Nothing where that system does not bind. */
void binding_openmp(bool on);

/* Where that system wants the calling thread of a team: 0-1; "": it does not bind it. */
void binding_openmp_meant(char *text, size_t size);

/* The CPUs of `text` become those of this process, which is bound to them all; lane i of a pool belongs on
 * the i-th. A list is 3,1 or 0-3,8 or 0,0; several of them, apart by '/', are of the ranks of a host, and
 * `rank` says which counts (one alone is for all ranks; of several and rank < 0, nothing is done yet).
 * "unbound": nothing is bound, threads stay where the process may run. ERR_INPUT: it is no list, or names a
 * CPU that is not there or not allowed. Where the kernel refuses to bind at all, that is no error:
 * binding_refused(). */
int binding_set(const char *text, int rank);
bool binding_is_set(void);

/* The CPU of a lane; -1: it is not bound, or there are fewer CPUs than lanes. Without a list they are those
 * of the process, one of each core before a core's others. */
int binding_cpu(int lane);

/* Does the caller, lane 0 of so many, belong on one CPU too? When a list was given, or the process has as
 * many cores as lanes. */
bool binding_binds_caller(int lanes);

/* Bind the calling thread to a CPU; -1: to all that the process may use. The kernel's errno, or 0. */
int binding_thread(int cpu);

/* Why threads are not bound as they should be: the kernel's words, NULL if they are. */
const char *binding_refused(void);
void binding_refuse(int errno_code);

/* Where the calling thread may run, as the kernel says: 0-3,8; "" when it does not. */
void binding_allowed(char *text, size_t size);

#endif
