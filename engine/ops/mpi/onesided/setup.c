/* Setup, run and check of a one-sided op: by one thread of a rank, or by several at once. */
#include "base/err.h"
#include "base/num.h"
#include "base/pool.h"
#include "ops/mpi/onesided/rma.h"
#include "ops/mpi/threads/threads.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const rma_swap_types[] = {"long", "int", NULL};
const char *const rma_per_words[] = {"batch", "call", NULL};
const char *const rma_windows_words[] = {"one", "thread", NULL};
const char *const rma_comms_words[] = {"thread", "one", NULL};
enum { WINDOWS_ONE, WINDOWS_THREAD };
enum { COMMS_THREAD, COMMS_ONE };
const char *const rma_layout_words[] = {
    [RMA_DISJOINT] = "disjoint", [RMA_LINE] = "line", [RMA_WORD] = "word", NULL};

/* All threads of a rank. If they share a window, only one thread acts for a rank that is just a target. */
struct job {
    struct gate gate;
    const struct rma_row *row;
    struct rma *threads;
    int count, acting;
    bool shares;             /* one window for all */
    struct pool *pool;       /* NULL: there is only the caller */
    struct phases *phases;   /* NULL: phases=off */
    struct lane_time *times; /* of each thread, for its phases */
    int64_t reps;            /* of this run */
    int64_t moved;           /* repetitions since the data were renewed */
};

static double value(const struct op_env *env, const char *name, double absent)
{
    return param_value(env->op->params, env->params, name, absent);
}

/* ---- running ---- */

static void work(void *state, int t)
{
    struct job *job = state;
    struct rma *s = &job->threads[t];
    if (job->phases)
        s->time.start_ns = phase_now(job->phases);
    s->rc = job->shares ? MPI_SUCCESS : rma_leave(s);
    if (s->rc == MPI_SUCCESS)
        s->rc = s->loop(s, job->reps);
    if (s->rc != MPI_SUCCESS && s->gate)
        gate_break(s->gate, s->rc);
    if (!job->shares && s->rc == MPI_SUCCESS)
        s->rc = rma_meet(s);
    if (job->phases && !s->gate)
        s->time.stop_ns = phase_now(job->phases);
}

static void stamp(struct job *job)
{
    for (int t = 0; t < job->acting; ++t)
        job->times[t] = job->threads[t].time;
    mt_stamp(job->phases, job->times, job->acting, job->reps);
}

/* The first error among the threads. */
static int first_error(const struct job *job)
{
    for (int t = 0; t < job->acting; ++t)
        if (job->threads[t].rc != MPI_SUCCESS)
            return team_mpi_err(job->threads[t].rc, job->row->call->call);
    return 0;
}

/* Threads of a shared window have one target, which signals once for all of them. */
static int leave(struct job *job)
{
    const struct rma *first = job->threads;
    const int rc = rma_leave(job->threads);
    for (int t = 1; t < job->count; ++t) {
        struct rma *s = &job->threads[t];
        s->begun = s->early = 0;
        s->last_ns = first->last_ns;
        s->back_ns = first->back_ns;
    }
    return team_mpi_err(rc, "a message of the two ranks");
}

const char *const rma_counters[] = {"begun", "early", NULL};

void rma_counted(void *state, int64_t *values)
{
    const struct job *job = state;
    values[0] = values[1] = 0;
    for (int t = 0; t < job->count; ++t) {
        values[0] += job->threads[t].begun;
        values[1] += job->threads[t].early;
    }
}

void rma_describe_end(const void *state, struct json *j)
{
    const struct job *job = state;
    window_describe(job->threads->window, j);
}

int rma_run(void *state, int64_t reps)
{
    struct job *job = state;
    if (job->threads->rank > 1)
        return 0;
    job->reps = reps;
    job->moved += reps;
    int err = job->shares ? leave(job) : 0;
    if (err)
        return err;
    phase_begin(job->phases);
    if (job->pool)
        pool_run(job->pool, work, job);
    else
        work(job, 0);
    if (job->phases)
        stamp(job);
    err = first_error(job);
    return err || !job->shares ? err : team_mpi_err(rma_meet(job->threads), "a message of the two ranks");
}

/* ---- checking ---- */

/* An error of a thread is reported with its number, if there are several. */
static int say_thread(const struct job *job, int t, int err)
{
    char why[ERR_TEXT_MAX];
    if (!err || !job->row->threaded)
        return err;
    snprintf(why, sizeof why, "%s", err_text());
    return err_say((enum err)err, "thread %d: %.230s", t, why);
}

static int make_windows(struct job *job)
{
    int err = 0;
    for (int t = 0; t < job->count && !err; ++t) {
        struct rma *s = &job->threads[t];
        err = s->window == &s->own ? window_make(s->window, s->comm) : 0;
        if (err)
            break;
        s->win = s->window->win;
        s->there = s->window->first[s->peer] + (MPI_Aint)s->first;
    }
    return err;
}

static int repeat(struct job *job)
{
    int err = team_mpi_err(MPI_Barrier(job->threads->comm), "MPI_Barrier");
    return err ? err : rma_run(job, 1);
}

static int check(const struct job *job, bool second)
{
    int err = 0;
    if (job->threads->layout == RMA_WORD && job->row->call->effect != RMA_GET)
        return rma_check_word(job->threads, job->count, second, 1);
    for (int t = 0; t < job->count && !err; ++t)
        err = say_thread(job, t, rma_check(&job->threads[t], second));
    return err;
}

/* Write the data of timed calls, on both ranks before either goes on. */
static int refresh(struct job *job)
{
    int err = 0;
    for (int t = 0; t < job->count && !err; ++t)
        err = rma_refresh(&job->threads[t]);
    job->moved = 0;
    return err ? err : team_mpi_err(MPI_Barrier(job->threads->comm), "MPI_Barrier");
}

int rma_verify(void *state)
{
    struct job *job = state;
    if (job->threads->rank > 1)
        return 0;
    int err = make_windows(job);
    for (int t = 0; t < job->count && !err; ++t)
        err = rma_prepare(&job->threads[t]);
    err = err ? err : repeat(job);
    if (err)
        return err;
    int wrong = check(job, false);
    if (job->row->call->effect == RMA_SWAP) {
        err = repeat(job);
        wrong = wrong || err ? wrong : check(job, true);
    }
    err = err ? err : refresh(job);
    return err ? err : wrong;
}

/* Timed swaps find the values that those of the check have left. */
static int check_moved(const struct job *job)
{
    const enum rma_effect effect = job->row->call->effect;
    const bool swaps = effect == RMA_SWAP;
    int err = 0;
    if (job->threads->layout == RMA_WORD && effect != RMA_GET)
        return rma_settles(job->threads)
                   ? 0
                   : rma_check_word(job->threads, job->count, swaps, swaps ? 1 : job->moved);
    for (int t = 0; t < job->count && !err; ++t)
        err = say_thread(job, t, rma_check_timed(&job->threads[t], job->moved));
    return err;
}

int rma_check_moved(void *state)
{
    struct job *job = state;
    if (job->threads->rank > 1 || job->moved == 0)
        return 0;
    const int wrong = check_moved(job);
    const int err = refresh(job); /* together with the other rank, which may have found no error */
    return wrong ? wrong : err;
}

/* ---- setup ---- */

static void close_thread(struct rma *s)
{
    window_free(&s->own);
    if (s->group != MPI_GROUP_NULL && !s->borrows)
        MPI_Group_free(&s->group);
    if (s->comm != MPI_COMM_NULL && !s->borrows)
        MPI_Comm_free(&s->comm);
    reduction_close(&s->sum);
    free(s->requests);
}

void rma_teardown(void *state)
{
    struct job *job = state;
    pool_close(job->pool);
    for (int t = 0; t < job->count; ++t)
        close_thread(&job->threads[t]);
    free(job->threads);
    free(job->times);
    free(job);
}

/* A communicator of the two ranks, so that no other rank is in their epochs. */
static int make_pair(struct rma *s, const struct op_env *env)
{
    int rc = MPI_Comm_split(team_comm(env->team), s->rank > 1 ? MPI_UNDEFINED : 0, s->rank, &s->comm);
    if (rc != MPI_SUCCESS || s->rank > 1)
        return team_mpi_err(rc, "MPI_Comm_split");
    MPI_Group both;
    rc = MPI_Comm_set_errhandler(s->comm, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_group(s->comm, &both);
    if (rc != MPI_SUCCESS)
        return team_mpi_err(rc, "MPI_Comm_group");
    rc = MPI_Group_incl(both, 1, &s->peer, &s->group);
    MPI_Group_free(&both);
    s->callers = s->group;
    return team_mpi_err(rc, "MPI_Group_incl");
}

static void borrow_pair(struct rma *s, const struct rma *from)
{
    s->borrows = true;
    s->comm = from->comm;
    s->group = from->group;
    s->callers = from->callers;
}

/* A pair for each thread that opens and closes epochs. */
static int make_pairs(struct job *job, const struct op_env *env)
{
    const int epochs = job->shares ? 1 : env->threads;
    const int pairs = value(env, "comms", COMMS_THREAD) == COMMS_ONE ? 1 : epochs;
    int err = 0;
    for (int t = 0; t < pairs && !err; ++t)
        err = make_pair(&job->threads[t], env);
    for (int t = pairs; t < epochs && !err; ++t)
        borrow_pair(&job->threads[t], job->threads);
    return err;
}

int rma_choose_type(struct rma *s, const struct op_env *env)
{
    if (s->row->effect == RMA_COMBINE || s->row->effect == RMA_FETCH)
        return rma_choose_numbers(s, env, (int)value(env, "operator", 0), (int)value(env, "type", 0));
    s->type = MPI_BYTE;
    s->count = 1;
    if (!s->row->single)
        return num_to_int(s->bytes, &s->count);
    s->type = reduction_type(rma_swap_types[(int)value(env, "type", 0)], &s->bytes);
    s->swaps = value(env, "swaps", 0) == 0;
    return 0;
}

static int open_thread(struct job *job, const struct op_env *env, int t)
{
    const bool one_by_one = value(env, "per", RMA_PER_BATCH) == RMA_PER_CALL;
    struct rma *s = &job->threads[t];
    const int rank = env->team->rank;
    *s = (struct rma){.row = job->row->call,
                      .role = job->row->both ? RMA_BOTH
                              : rank == 0    ? RMA_ORIGIN
                                             : RMA_TARGET,
                      .rank = rank,
                      .peer = 1 - rank,
                      .thread = t,
                      .threads = env->threads,
                      .comm = MPI_COMM_NULL,
                      .group = MPI_GROUP_NULL,
                      .callers = MPI_GROUP_NULL,
                      .own.win = MPI_WIN_NULL,
                      .window = job->shares ? &job->threads->own : &s->own,
                      .layout = (enum rma_layout)value(env, "target", RMA_DISJOINT),
                      .bytes = env->bytes,
                      .phases = job->phases,
                      .planted = env->planted && t == env->threads - 1};
    s->gate = job->shares && env->threads > 1 && s->role != RMA_TARGET ? &job->gate : NULL;
    job->count = t + 1;
    int err = rma_choose_state(s, env);
    err = err ? err : rma_choose_epochs(s, env, (int)env->params[RMA_SYNC], (int)env->params[RMA_COMPLETE]);
    err = err ? err : rma_choose_stay(s, env, (int)value(env, "target_does", 0), value(env, "away_us", 0));
    err = err ? err : rma_choose_type(s, env);
    err = err ? err : rma_refuse_word(s);
    s->places = (int)value(env, "calls", 1);
    s->completions = s->role == RMA_TARGET && s->locks ? 0 : one_by_one ? s->places : 1;
    s->batch = s->role == RMA_TARGET ? 0 : one_by_one ? 1 : s->places;
    return err;
}

/* Memory may be unavailable on one rank alone. That is reported when no more calls are collective. */
static int open_threads(struct job *job, const struct op_env *env)
{
    int err = 0;
    for (int t = 0; t < env->threads && !err; ++t)
        err = open_thread(job, env, t);
    err = err ? err : make_pairs(job, env);
    for (int t = 0; t < env->threads && !err && env->team->rank <= 1; ++t)
        err = rma_take_memory(&job->threads[t], env, job->shares ? env->threads : 1);
    job->acting = job->shares && job->threads->role == RMA_TARGET ? 1 : env->threads;
    if (!err && job->row->threaded && env->team->rank <= 1)
        err = pool_open(job->acting, &job->pool);
    return err;
}

/* Parameters that no layout has. */
static int refuse(const struct op_env *env, const struct rma_row *row)
{
    const bool one = value(env, "windows", WINDOWS_ONE) == WINDOWS_ONE;
    int err = row->threaded ? mt_allowed(env) : 0;
    if (!err && !one && value(env, "target", RMA_DISJOINT) != RMA_DISJOINT)
        err = err_say(ERR_INPUT,
                      "windows=thread gives each thread memory of its own, which target=%s has none of; give "
                      "windows=one",
                      rma_layout_words[(int)value(env, "target", 0)]);
    return err;
}

int rma_setup(const struct op_env *env, const struct rma_row *row, void **state)
{
    const size_t threads = (size_t)env->threads;
    int err = refuse(env, row);
    if (err)
        return err;
    struct job *job = aligned_alloc(_Alignof(struct job), sizeof *job);
    struct rma *each = aligned_alloc(_Alignof(struct rma), threads * sizeof *each);
    struct lane_time *times = calloc(threads, sizeof *times);
    if (!job || !each || !times) {
        free(job);
        free(each);
        free(times);
        return err_say(ERR_NOMEM, "no memory for %zu threads of %s", threads, env->op->name);
    }
    memset(job, 0, sizeof *job);
    *job = (struct job){.row = row, .threads = each, .times = times};
    job->shares = value(env, "windows", WINDOWS_ONE) == WINDOWS_ONE;
    gate_open(&job->gate, env->threads);
    err = mt_open_phases(env, &job->phases);
    err = err ? err : open_threads(job, env);
    if (err)
        rma_teardown(job);
    else
        *state = job;
    return err;
}
