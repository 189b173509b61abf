#include "ops/mpi/overlap/overlap.h"

#include "base/err.h"
#include "base/pool.h"
#include "base/work.h"
#include "comm/compat_mpi.h"
#include "team/team_mpi.h"

#include <math.h>

enum { BY_SELF, BY_THREAD };
const char *const overlap_waiters[3] = {[BY_SELF] = "self", [BY_THREAD] = "thread", NULL};

/* Wait for one request with MPI_Wait, for two with MPI_Waitall: chosen at setup. */

static int wait_one(struct overlap *o)
{
    return MPI_Wait(&o->requests[0], MPI_STATUS_IGNORE);
}

static int wait_two(struct overlap *o)
{
    return MPI_Waitall(2, o->requests, statuses_ignored());
}

static int test_one(struct overlap *o, int *done)
{
    return MPI_Test(&o->requests[0], done, MPI_STATUS_IGNORE);
}

static int test_two(struct overlap *o, int *done)
{
    return MPI_Testall(2, o->requests, done, statuses_ignored());
}

/* The four ways from start to completion. */

static int finish_at_once(struct overlap *o)
{
    return o->wait(o);
}

static int finish_after_work(struct overlap *o)
{
    o->x = work_do(o->x, o->steps);
    return o->wait(o);
}

static int finish_testing(struct overlap *o)
{
    int rc = MPI_SUCCESS, done = 0;
    o->x = work_do(o->x, o->rest);
    for (int i = 0; i < o->pieces && rc == MPI_SUCCESS; ++i) {
        o->x = work_do(o->x, o->piece);
        rc = o->test(o, &done);
    }
    return rc == MPI_SUCCESS ? o->wait(o) : rc;
}

static void work_or_wait(void *state, int lane)
{
    struct overlap *o = state;
    if (lane == 0)
        o->x = work_do(o->x, o->steps);
    else
        o->rc = o->wait(o);
}

static int finish_in_thread(struct overlap *o)
{
    pool_run(o->pool, work_or_wait, o);
    return o->rc;
}

/* Only one of the two threads calls MPI at a time, but not always the same one. */
static int open_waiter(const struct op_env *env, struct overlap *o)
{
    int level = MPI_THREAD_SINGLE;
    int err = team_mpi_err(MPI_Query_thread(&level), "MPI_Query_thread");
    if (err)
        return err;
    if (level < MPI_THREAD_SERIALIZED)
        return err_say(
            ERR_INPUT,
            "waiter=thread calls MPI from another thread than the main one, which this launch does "
            "not allow; give --thread-level multiple (or serialized)");
    if (env->params[OVERLAP_TESTS] > 0)
        return err_say(ERR_INPUT, "waiter=thread waits for the request all the time: tests must be 0, not %g",
                       env->params[OVERLAP_TESTS]);
    o->finish = finish_in_thread;
    return pool_open(2, &o->pool);
}

int overlap_open(const struct op_env *env, int count, MPI_Request *requests, struct overlap *o)
{
    const double us = env->params[OVERLAP_WORK_US];
    if (us > 0 && env->work_per_us <= 0)
        return err_say(ERR_UNSUPPORTED,
                       "the clock stands still while a rank computes: work has no duration; give work_us=0");
    if (env->threads > 2)
        return err_say(ERR_INPUT, "%s has use for 2 threads at most (waiter=thread), not %d", env->op->name,
                       env->threads);
    *o = (struct overlap){.count = count,
                          .test = count == 1 ? test_one : test_two,
                          .wait = count == 1 ? wait_one : wait_two,
                          .requests = requests,
                          .steps = llround(us * env->work_per_us),
                          .pieces = (int)env->params[OVERLAP_TESTS]};
    o->piece = o->pieces > 0 ? o->steps / o->pieces : 0;
    o->rest = o->steps - o->piece * o->pieces;
    o->finish = o->steps == 0 ? finish_at_once : o->pieces > 0 ? finish_testing : finish_after_work;
    return (int)env->params[OVERLAP_WAITER] == BY_THREAD ? open_waiter(env, o) : 0;
}

void overlap_close(struct overlap *o)
{
    pool_close(o->pool);
}

void overlap_mark(struct overlap *o)
{
    o->checked = o->x;
}

int overlap_check(const struct overlap *o)
{
    return o->x == work_after(o->checked, o->steps)
               ? 0
               : err_say(ERR_WRONG, "not all of the %lld steps of work were done", (long long)o->steps);
}
