/* Setup, run and check of a one-sided op of many ranks. With locks of one target each link has its own epoch.
 * All other epochs cover all links of a rank. */
#include "ops/mpi/onesided/many_ranks.h"

#include "base/err.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- running ---- */

/* Call along all links, then complete the calls. */
static int batch(struct many *m, int first)
{
    int rc = MPI_SUCCESS;
    for (struct rma *s = m->links; s < m->links + m->outs && rc == MPI_SUCCESS; ++s)
        rc = s->loops->calls(s, first);
    for (struct rma *s = m->links; s < m->links + m->outs && rc == MPI_SUCCESS; ++s)
        rc = s->finish(s, first);
    return rc;
}

static int epochs_of_all(struct many *m, int64_t reps)
{
    struct rma *whole = &m->whole;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        for (int k = 0; k < whole->completions && rc == MPI_SUCCESS; ++k) {
            rc = whole->open(whole);
            if (rc == MPI_SUCCESS)
                rc = batch(m, k * whole->batch);
            if (rc == MPI_SUCCESS)
                rc = whole->close(whole);
        }
    return rc;
}

static int epochs_of_each(struct many *m, int64_t reps)
{
    const struct rma *whole = &m->whole;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        for (int k = 0; k < whole->completions && rc == MPI_SUCCESS; ++k)
            for (struct rma *s = m->links; s < m->links + m->outs && rc == MPI_SUCCESS; ++s) {
                rc = s->open(s);
                if (rc == MPI_SUCCESS)
                    rc = s->loops->calls(s, k * whole->batch);
                if (rc == MPI_SUCCESS)
                    rc = s->finish(s, k * whole->batch);
                if (rc == MPI_SUCCESS)
                    rc = s->close(s);
            }
    return rc;
}

static int batches(struct many *m, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        for (int k = 0; k < m->whole.completions && rc == MPI_SUCCESS; ++k)
            rc = batch(m, k * m->whole.batch);
    return rc;
}

static int within_all(struct many *m, int64_t reps)
{
    int rc = m->whole.open(&m->whole);
    rc = rc == MPI_SUCCESS ? batches(m, reps) : rc;
    return rc == MPI_SUCCESS ? m->whole.close(&m->whole) : rc;
}

static int within_each(struct many *m, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < m->target_count && rc == MPI_SUCCESS; ++i)
        rc = m->targets[i]->open(m->targets[i]);
    rc = rc == MPI_SUCCESS ? batches(m, reps) : rc;
    for (int i = 0; i < m->target_count && rc == MPI_SUCCESS; ++i)
        rc = m->targets[i]->close(m->targets[i]);
    return rc;
}

/* The variants: whether each repetition has epochs, and whether an epoch is for one target. */
static int (*const loops[2][2])(struct many *m, int64_t reps) = {{within_all, within_each},
                                                                 {epochs_of_all, epochs_of_each}};

/* A rank that others lock stays in MPI until all are done. */
int rma_many_run(void *state, int64_t reps)
{
    struct many *m = state;
    m->moved += reps;
    const int err = team_mpi_err(m->loop(m, reps), m->whole.row->call);
    return err || !m->whole.locks ? err : team_mpi_err(MPI_Barrier(m->whole.comm), "MPI_Barrier");
}

/* ---- checking ---- */

static int each_link(const struct many *m, int (*check)(const struct rma *s, int64_t arg), int64_t arg)
{
    char why[ERR_TEXT_MAX];
    int err = 0;
    const struct rma *s = m->links;
    for (; s < m->links + m->outs + m->ins && !err; ++s)
        err = check(s, arg);
    if (!err)
        return 0;
    --s;
    snprintf(why, sizeof why, "%s", err_text());
    return err_say((enum err)err, "%s rank %d: %.230s", s->role == RMA_ORIGIN ? "calls to" : "calls of",
                   s->peer, why);
}

static int check_once(const struct rma *s, int64_t second)
{
    return rma_check(s, second);
}

static int for_links(const struct many *m, int (*prepare)(struct rma *s))
{
    int err = 0;
    for (int i = 0; i < m->outs + m->ins && !err; ++i)
        err = prepare(&m->links[i]);
    return err;
}

static int make_window(struct many *m)
{
    int err = window_make(m->whole.window, m->whole.comm);
    for (int i = 0; i < m->outs + m->ins && !err; ++i) {
        struct rma *s = &m->links[i];
        s->win = s->window->win;
        s->there = s->window->first[s->peer] + (MPI_Aint)s->first;
    }
    m->whole.win = m->whole.window->win;
    return err;
}

static int barrier(const struct many *m)
{
    return team_mpi_err(MPI_Barrier(m->whole.comm), "MPI_Barrier");
}

static int repeat(struct many *m)
{
    const int err = barrier(m);
    return err ? err : rma_many_run(m, 1);
}

/* Write the data of timed calls, on all ranks before any of them goes on. */
static int refresh(struct many *m)
{
    const int err = for_links(m, rma_refresh);
    m->moved = 0;
    return err ? err : barrier(m);
}

int rma_many_verify(void *state)
{
    struct many *m = state;
    int err = make_window(m);
    err = err ? err : for_links(m, rma_prepare);
    err = err ? err : repeat(m);
    if (err)
        return err;
    int wrong = each_link(m, check_once, false);
    if (m->whole.row->effect == RMA_SWAP) {
        err = repeat(m);
        wrong = wrong || err ? wrong : each_link(m, check_once, true);
    }
    err = err ? err : refresh(m);
    return err ? err : wrong;
}

int rma_many_check_moved(void *state)
{
    struct many *m = state;
    const int wrong = each_link(m, rma_check_timed, m->moved);
    const int err = refresh(m); /* together with the others, which may have found no error */
    return wrong ? wrong : err;
}

void rma_many_describe_end(const void *state, struct json *j)
{
    const struct many *m = state;
    window_describe(m->whole.window, j);
}

/* ---- setup ---- */

static void close_link(struct rma *s)
{
    reduction_close(&s->sum);
    free(s->requests);
}

void rma_many_teardown(void *state)
{
    struct many *m = state;
    window_free(&m->whole.own);
    if (m->whole.group != MPI_GROUP_NULL)
        MPI_Group_free(&m->whole.group);
    if (m->whole.callers != MPI_GROUP_NULL)
        MPI_Group_free(&m->whole.callers);
    close_link(&m->whole);
    for (int i = 0; m->links && i < m->outs + m->ins; ++i)
        close_link(&m->links[i]);
    free(m->links);
    free(m->targets);
    free(m);
}

int rma_many_setup(const struct op_env *env, const struct rma_call *call, void **state)
{
    struct layout_peers peers;
    int err = rma_many_peers(env, &peers);
    if (err)
        return err;
    const size_t ends = (size_t)(peers.to_count + peers.from_count);
    struct many *m = aligned_alloc(_Alignof(struct many), sizeof *m);
    struct rma *links = aligned_alloc(_Alignof(struct rma), (ends > 0 ? ends : 1) * sizeof *links);
    if (!m || !links) {
        free(m);
        free(links);
        layout_free(&peers);
        return err_say(ERR_NOMEM, "no memory for %zu links of %s", ends, env->op->name);
    }
    memset(m, 0, sizeof *m);
    memset(links, 0, ends * sizeof *links);
    m->whole = (struct rma){
        .row = call, .own.win = MPI_WIN_NULL, .group = MPI_GROUP_NULL, .callers = MPI_GROUP_NULL};
    m->links = links;
    m->outs = peers.to_count;
    m->ins = peers.from_count;
    err = rma_many_open(m, env, &peers);
    layout_free(&peers);
    if (err) {
        rma_many_teardown(m);
        return err;
    }
    m->loop = loops[m->whole.loop == m->whole.loops->epochs][rma_sync_is_of_one((int)env->params[RMA_SYNC])];
    *state = m;
    return 0;
}
