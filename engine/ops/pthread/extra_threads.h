/* Threads beside the lanes of a pool, and the placement of lanes. */
#ifndef OPS_PTHREAD_EXTRA_THREADS_H
#define OPS_PTHREAD_EXTRA_THREADS_H

#include <stdbool.h>

/* Make the process one that has had a second thread. Before that, glibc locks without atomic operations, four
 * times as fast; afterwards never again. Otherwise the cost of an op would depend on earlier points.
 * ERR_SYSTEM. */
int process_be_threaded(void);

struct beside;
struct op_env;
struct pinned;
struct pool;

/* `count` threads that are blocked, or `busy`: spinning on CPUs without a lane of the pool. All have begun
 * when it returns. ERR_UNSUPPORTED if there is no such CPU, ERR_SYSTEM, ERR_NOMEM. */
int beside_open(const struct op_env *env, int count, bool busy, struct pool *pool, struct beside **beside);
void beside_close(struct beside *beside);

/* Put all lanes on the CPU of the caller, lane 0; closing restores the caller's CPUs. ERR_SYSTEM,
 * ERR_NOMEM. */
int pinned_open(struct pool *pool, struct pinned **pinned);
void pinned_close(struct pinned *pinned);

/* The CPUs of lanes 0 and 1. ERR_UNSUPPORTED if they are the same. */
int two_cpus(struct pool *pool, int cpus[2]);

#endif
