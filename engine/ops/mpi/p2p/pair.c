#include "ops/mpi/p2p/pair.h"

#include "base/err.h"
#include "team/team_mpi.h"

#include <limits.h>

const char *const p2p_matches[] = {"exact", "any_tag", "any_source", "any", NULL};

void p2p_match(struct p2p_pair *p, int word)
{
    enum { EXACT, ANY_TAG, ANY_SOURCE, ANY };
    p->from = word == ANY_SOURCE || word == ANY ? MPI_ANY_SOURCE : p->peer;
    p->tag = word == ANY_TAG || word == ANY ? MPI_ANY_TAG : p->label;
}

int p2p_count(const struct op_env *env, int *count)
{
    if (env->bytes > INT_MAX)
        return err_say(ERR_UNSUPPORTED,
                       "%s counts in MPI's int: %zu bytes are more than 2147483647; use mpi.pingpong_c or "
                       "mpi.bandwidth_c, which count in MPI_Count",
                       env->op->name, env->bytes);
    *count = (int)env->bytes;
    return 0;
}

/* A process' rank in the communicator: that of its thread of this lane, where threads are ranks. */
static int rank_in_comm(const struct op_env *env, int rank)
{
    return rank == MPI_PROC_NULL || env->lanes_as_ranks == 0 ? rank : rank * env->lanes_as_ranks + env->lane;
}

int p2p_open_to(struct p2p_pair *p, const struct op_env *env, int peer, int sends, int recvs)
{
    enum {
        LINE = 64,
        LANE_GENERATIONS = 6
    }; /* data of threads differ: one thread has so many checks with
          data of their own */
    *p = (struct p2p_pair){.comm = team_comm(env->team),
                           .rank = env->team->rank,
                           .other = peer,
                           .peer = rank_in_comm(env, peer),
                           .bytes = env->bytes,
                           .stride = (env->bytes + LINE - 1) / LINE * LINE,
                           .sends = sends,
                           .recvs = recvs,
                           .label = P2P_TAG + env->lane,
                           .generation = env->lane << LANE_GENERATIONS,
                           .state = data_state_of(env),
                           .planted = env->planted};
    p2p_match(p, 0);
    p->source = p->state == DATA_SAME && p->rank < peer ? p->rank : peer;
    int err = buffers_take(env->buffers, (size_t)sends, p->stride, (void **)&p->send);
    p->recv = p->send;
    return err || p->state == DATA_SAME
               ? err
               : buffers_take(env->buffers, (size_t)recvs, p->stride, (void **)&p->recv);
}

int p2p_open_large(struct p2p_pair *p, const struct op_env *env, int sends, int recvs)
{
    const int rank = env->team->rank;
    return rank > 1 ? p2p_open_to(p, env, MPI_PROC_NULL, 0, 0) : p2p_open_to(p, env, 1 - rank, sends, recvs);
}

int p2p_open(struct p2p_pair *p, const struct op_env *env, int sends, int recvs)
{
    int count = 0;
    *p = (struct p2p_pair){.rank = env->team->rank};
    int err = p2p_count(env, &count);
    err = err ? err : p2p_open_large(p, env, sends, recvs);
    p->count = count;
    return err;
}

int p2p_number(const struct p2p_pair *p, int b)
{
    return (int)((unsigned)p->generation << 20) + b;
}

void p2p_fill(struct p2p_pair *p)
{
    ++p->generation;
    p->moved = 0;
    if (p->state == DATA_SAME && p->rank > p->other)
        return;
    for (int b = 0; b < p->sends && p->bytes > 0; ++b)
        data_fill(p->send + (size_t)b * p->stride, p->bytes, p->rank, p2p_number(p, b));
}

void p2p_poison(struct p2p_pair *p, int buffer)
{
    if (p->bytes > 0 && buffer < p->recvs)
        data_poison(p->recv + (size_t)buffer * p->stride, p->bytes);
}

void p2p_poison_all(struct p2p_pair *p)
{
    for (int b = 0; b < p->recvs; ++b)
        p2p_poison(p, b);
    p->moved = 0;
}

void p2p_follow(struct p2p_pair *p)
{
    p->source = p->moved % 2 == 1 ? p->other : p->rank;
}

static int check(const struct p2p_pair *p, int buffer, int sent)
{
    return data_check(p->recv + (size_t)buffer * p->stride, p->bytes, p->source, p2p_number(p, sent), buffer);
}

int p2p_check_one(const struct p2p_pair *p, int buffer, int sent)
{
    if (p->bytes == 0)
        return 0;
    data_arrived(p->recv + (size_t)buffer * p->stride, p->bytes, p->planted);
    return check(p, buffer, sent);
}

int p2p_check(const struct p2p_pair *p, int used)
{
    int err = 0;
    if (p->bytes > 0 && used > 0)
        data_arrived(p->recv, (size_t)(used - 1) * p->stride + p->bytes, p->planted);
    for (int b = 0; b < used && p->bytes > 0 && !err; ++b)
        err = check(p, b, b);
    return err;
}

void p2p_op(struct op *op)
{
    op->family = "p2p";
    op->class = OP_P2P;
    op->role = ROLE_LATENCY;
    op->report = OP_ROOT;
    op->least_ranks = 2;
}
