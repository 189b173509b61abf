/* Which ranks call which, and what each rank sets up for it. */
#include "ops/mpi/onesided/many_ranks.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/traffic_patterns.h"
#include "team/team_mpi.h"

#include <stdlib.h>

static double value(const struct op_env *env, const char *name, double absent)
{
    return param_value(env->op->params, env->params, name, absent);
}

/* ---- which ranks call which ---- */

static int who_of(const struct op_env *env)
{
    return (int)value(env, "who", WHO_NEIGHBOURS);
}

int rma_many_peers(const struct op_env *env, struct layout_peers *peers)
{
    return who_peers(who_of(env), (int)value(env, "neighbours", 1), env->team->rank, env->team->size, peers);
}

double rma_many_links(const struct op_env *env)
{
    return who_calls(who_of(env), (int)value(env, "neighbours", 1), env->team->size);
}

/* ---- setup ---- */

static enum rma_role role_of(const struct layout_peers *peers)
{
    static const enum rma_role roles[2][2] = {{RMA_IDLE, RMA_TARGET}, {RMA_ORIGIN, RMA_BOTH}};
    return roles[peers->to_count > 0][peers->from_count > 0];
}

/* What the ends of all links and the rank itself have in common. */
static int open_end(struct many *m, const struct op_env *env, enum rma_role role, int peer, struct rma *s)
{
    const bool one_by_one = value(env, "per", 0) == RMA_PER_CALL;
    const int sync = (int)env->params[RMA_SYNC], complete = (int)env->params[RMA_COMPLETE];
    const bool is_last = s == &m->whole || (m->outs > 0 && s == &m->links[m->outs - 1]);
    *s = (struct rma){.row = m->whole.row,
                      .role = role,
                      .rank = env->team->rank,
                      .peer = peer,
                      .threads = 1,
                      .comm = team_comm(env->team),
                      .group = MPI_GROUP_NULL,
                      .callers = MPI_GROUP_NULL,
                      .own.win = MPI_WIN_NULL,
                      .window = &m->whole.own,
                      .bytes = env->bytes,
                      .planted = env->planted};
    int err = rma_choose_state(s, env);
    err = err ? err : rma_choose_epochs(s, env, sync, is_last ? complete : rma_complete_one(complete));
    s->places = (int)value(env, "calls", 1);
    s->completions = one_by_one ? s->places : 1;
    s->batch = one_by_one ? 1 : s->places;
    err = err ? err : rma_choose_type(s, env);
    s->stride = s->apart = rma_stride(s);
    return err;
}

/* A link has a number, as a thread does: its place among the callers of the target, and the target's rank.
 * The target sends it to each caller. */
static int exchange_numbers(struct many *m, int size)
{
    const int ends = m->outs + m->ins;
    MPI_Request *requests = malloc((size_t)(ends > 0 ? ends : 1) * sizeof *requests);
    int rc = MPI_SUCCESS, posted = 0;
    if (!requests)
        return err_say(ERR_NOMEM, "no memory for %d requests", ends);
    for (int i = 0; i < m->ins; ++i)
        m->links[m->outs + i].thread = i * size + m->whole.rank;
    for (; posted < ends && rc == MPI_SUCCESS; ++posted) {
        struct rma *s = &m->links[posted];
        rc = posted < m->outs ? MPI_Irecv(&s->thread, 1, MPI_INT, s->peer, 0, s->comm, &requests[posted])
                              : MPI_Isend(&s->thread, 1, MPI_INT, s->peer, 0, s->comm, &requests[posted]);
    }
    if (rc == MPI_SUCCESS)
        rc = MPI_Waitall(posted, requests, MPI_STATUSES_IGNORE);
    free(requests);
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}

static int ascending(const void *a, const void *b)
{
    const struct rma *const *one = a, *const *other = b;
    return (*one)->peer - (*other)->peer;
}

static int list_targets(struct many *m)
{
    m->targets = malloc((size_t)(m->outs > 0 ? m->outs : 1) * sizeof(struct rma *));
    if (!m->targets)
        return err_say(ERR_NOMEM, "no memory for %d links", m->outs);
    for (int i = 0; i < m->outs; ++i)
        m->targets[i] = &m->links[i];
    qsort(m->targets, (size_t)m->outs, sizeof(struct rma *), ascending);
    for (int i = 0; i < m->outs; ++i)
        if (m->target_count == 0 || m->targets[m->target_count - 1]->peer != m->targets[i]->peer)
            m->targets[m->target_count++] = m->targets[i];
    return 0;
}

/* The group of the ranks at the other ends of links, each once. */
static int make_group(MPI_Group all, const struct rma *links, int count, MPI_Group *group)
{
    int distinct = 0;
    if (count == 0)
        return 0;
    int *ranks = malloc((size_t)count * sizeof *ranks);
    if (!ranks)
        return err_say(ERR_NOMEM, "no memory for %d ranks", count);
    for (int i = 0; i < count; ++i) {
        bool known = false;
        for (int k = 0; k < distinct && !known; ++k)
            known = ranks[k] == links[i].peer;
        if (!known)
            ranks[distinct++] = links[i].peer;
    }
    const int rc = MPI_Group_incl(all, distinct, ranks, group);
    free(ranks);
    return team_mpi_err(rc, "MPI_Group_incl");
}

static int make_groups(struct many *m)
{
    MPI_Group all;
    int err = team_mpi_err(MPI_Comm_group(m->whole.comm, &all), "MPI_Comm_group");
    if (err)
        return err;
    err = make_group(all, m->links, m->outs, &m->whole.group);
    err = err ? err : make_group(all, m->links + m->outs, m->ins, &m->whole.callers);
    MPI_Group_free(&all);
    return err;
}

/* This rank's memory in the window: places for each of its callers, or as much as the rank with the most. */
static int plan_window(struct many *m, const struct op_env *env)
{
    const int info = (int)env->params[RMA_INFO];
    size_t bytes = 0;
    int callers = m->ins, err = 0;
    if (window_is_even(info))
        err = team_mpi_err(MPI_Allreduce(MPI_IN_PLACE, &callers, 1, MPI_INT, MPI_MAX, m->whole.comm),
                           "MPI_Allreduce");
    if (!err && callers > 0)
        err = num_multiply((size_t)callers * (size_t)m->whole.places, m->whole.stride, &bytes);
    return err ? err
               : window_plan(m->whole.window, env,
                             &(struct window_ask){.kind = (int)env->params[RMA_WINDOW],
                                                  .info = info,
                                                  .locks = m->whole.locks,
                                                  .ranks = env->team->size,
                                                  .bytes = bytes});
}

static int open_links(struct many *m, const struct op_env *env, const struct layout_peers *peers)
{
    int err = 0;
    for (int i = 0; i < m->outs && !err; ++i)
        err = open_end(m, env, RMA_ORIGIN, peers->to[i], &m->links[i]);
    for (int i = 0; i < m->ins && !err; ++i)
        err = open_end(m, env, RMA_TARGET, peers->from[i], &m->links[m->outs + i]);
    return err;
}

/* Memory may be unavailable on one rank alone. That is reported when no more calls are collective. */
int rma_many_open(struct many *m, const struct op_env *env, const struct layout_peers *peers)
{
    int err = open_end(m, env, role_of(peers), env->team->rank, &m->whole);
    err = err ? err : open_links(m, env, peers);
    err = err ? err : exchange_numbers(m, env->team->size);
    err = err ? err : plan_window(m, env);
    err = err ? err : list_targets(m);
    err = err ? err : make_groups(m);
    for (int i = 0; i < m->outs + m->ins && !err; ++i) {
        struct rma *s = &m->links[i];
        s->first = (size_t)(s->thread / env->team->size) * (size_t)s->places * s->stride;
        err = rma_take_buffers(s, env);
        err = err ? err : rma_take_requests(s);
    }
    return err;
}
