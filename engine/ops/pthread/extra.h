/* Threads beside the lanes of a pool, and where lanes are. */
#ifndef OPS_PTHREAD_EXTRA_H
#define OPS_PTHREAD_EXTRA_H

#include <stdbool.h>

/* A process that has had a second thread. Until it has, glibc locks without atomic operations, four times as
 * fast; after that never again. Without this, what an op costs would hang on which points came before.
 * ERR_SYSTEM. */
int process_be_threaded(void);

struct beside;
struct op_env;
struct pinned;
struct pool;

/* `count` threads that are blocked, or `busy`: they spin on CPUs that no lane of the pool is on. All have
 * begun when it returns. ERR_UNSUPPORTED where there is no such CPU, ERR_SYSTEM, ERR_NOMEM. */
int beside_open(const struct op_env *env, int count, bool busy, struct pool *pool, struct beside **beside);
void beside_close(struct beside *beside);

/* All lanes on the CPU that the caller, lane 0, runs on; closing gives the caller back what it had.
 * ERR_SYSTEM, ERR_NOMEM. */
int pinned_open(struct pool *pool, struct pinned **pinned);
void pinned_close(struct pinned *pinned);

/* The CPU of lanes 0 and 1. ERR_UNSUPPORTED where that is one. */
int two_cpus(struct pool *pool, int cpus[2]);

#endif
