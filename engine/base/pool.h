/* Threads that wait, each on its own CPU, for work that all of them do at once. Lane 0 is the caller. */
#ifndef BASE_POOL_H
#define BASE_POOL_H

struct pool;

/* `lanes` >= 1, each on its CPU by base/binding.h: the CPUs of --cpus in their order, with the caller on the
 * first until the pool is closed. The pool opened last must be closed first. Without --cpus, lane i is bound
 * to the i-th CPU of the process, if there are enough, and the caller stays where it is. ERR_SYSTEM,
 * ERR_NOMEM. */
int pool_open(int lanes, struct pool **pool);

/* Lane i on cpus[i] whatever --cpus says; -1: not bound. ERR_INPUT: such a CPU does not exist or is not
 * allowed. */
int pool_open_on(int lanes, const int *cpus, struct pool **pool);
void pool_close(struct pool *pool);

/* Every lane calls work(arg, lane) once; returns when all have. */
void pool_run(struct pool *pool, void (*work)(void *arg, int lane), void *arg);

/* The same for lanes 1, 2, ... only, while the caller does something else: from begin to end. */
void pool_begin(struct pool *pool, void (*work)(void *arg, int lane), void *arg);
void pool_end(struct pool *pool);

#endif
