/* mpi.mt.serve: one thread of rank 0 sends questions, and whichever thread of rank 1 receives one answers it:
 * the cost of server threads that wait for the same message. */
#include "ops/families.h"

#include "base/err.h"
#include "base/pool.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/p2p/pair.h"
#include "ops/mpi/threads/threads.h"
#include "team/team_mpi.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct param params[] = {OP_CHECKS_PARAM, BUFFERS_PARAMS, {0}};

/* A thread of rank 1. */
struct server {
    _Alignas(128) char *buffer; /* of the question and of the answer, which is the same */
    int64_t served;             /* since the last check */
    int rc;
};

struct serve {
    struct p2p_pair p;
    int threads; /* of rank 1 */
    struct server *servers;
    struct pool *pool;
    int64_t reps; /* of this run */
    _Alignas(128) atomic_int_fast64_t taken;
};

static int ask(const struct p2p_pair *p, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Send(p->send, p->count, MPI_BYTE, p->peer, p->label, p->comm);
        if (rc == MPI_SUCCESS)
            rc = MPI_Recv(p->recv, p->count, MPI_BYTE, p->peer, p->label, p->comm, MPI_STATUS_IGNORE);
    }
    return rc;
}

/* A thread takes a ticket before it receives, so that no thread waits after the last question. */
static void answer(void *state, int thread)
{
    struct serve *s = state;
    struct server *me = &s->servers[thread];
    const struct p2p_pair *p = &s->p;
    int rc = MPI_SUCCESS;
    while (rc == MPI_SUCCESS && atomic_fetch_add_explicit(&s->taken, 1, memory_order_relaxed) < s->reps) {
        rc = MPI_Recv(me->buffer, p->count, MPI_BYTE, p->peer, p->label, p->comm, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Send(me->buffer, p->count, MPI_BYTE, p->peer, p->label, p->comm);
        ++me->served;
    }
    me->rc = rc;
}

static int run(void *state, int64_t reps)
{
    struct serve *s = state;
    int rc = MPI_SUCCESS;
    s->p.moved += reps;
    if (s->p.rank == 0)
        rc = ask(&s->p, reps);
    if (s->p.rank == 1) {
        s->reps = reps;
        atomic_store_explicit(&s->taken, 0, memory_order_relaxed);
        pool_run(s->pool, answer, s);
        for (int t = 0; t < s->threads && rc == MPI_SUCCESS; ++t)
            rc = s->servers[t].rc;
    }
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

static void teardown(void *state)
{
    struct serve *s = state;
    pool_close(s->pool);
    free(s->servers);
    free(s);
}

static int open_servers(const struct op_env *env, struct serve *s)
{
    int err = mt_allowed(env);
    err = err ? err : p2p_open(&s->p, env, 1, env->threads);
    if (err || s->p.rank != 1)
        return err;
    s->threads = env->threads;
    s->servers = aligned_alloc(_Alignof(struct server), (size_t)env->threads * sizeof *s->servers);
    if (!s->servers)
        return err_say(ERR_NOMEM, "no memory for %d threads of %s", env->threads, env->op->name);
    memset(s->servers, 0, (size_t)env->threads * sizeof *s->servers);
    for (int t = 0; t < env->threads; ++t)
        s->servers[t].buffer = s->p.recv + (size_t)t * s->p.stride;
    return pool_open(env->threads, &s->pool);
}

static int setup(const struct op_env *env, void **state)
{
    struct serve *s = aligned_alloc(_Alignof(struct serve), sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    memset(s, 0, sizeof *s);
    int err = open_servers(env, s);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

static void poison(void *state)
{
    struct serve *s = state;
    p2p_poison_all(&s->p);
    for (int t = 0; t < s->threads; ++t)
        s->servers[t].served = 0;
}

static void fill(void *state)
{
    struct serve *s = state;
    p2p_fill(&s->p);
    poison(s);
}

/* Check that a receiving thread holds rank 0's question, and that it came back unchanged. */
static int check_buffer(const struct serve *s, char *data, int which)
{
    const struct p2p_pair *p = &s->p;
    data_arrived(data, p->bytes, p->planted);
    return data_check(data, p->bytes, 0, p2p_number(p, 0), which);
}

/* Check that each question was answered once, that rank 0 has back what it sent, and that the threads that
 * served received it. */
static int look(void *state)
{
    struct serve *s = state;
    const struct p2p_pair *p = &s->p;
    int64_t served = 0;
    int err = 0;
    for (int t = 0; t < s->threads; ++t)
        served += s->servers[t].served;
    if (p->rank == 1 && served != p->moved)
        return err_say(ERR_WRONG, "%lld questions were answered %lld times", (long long)p->moved,
                       (long long)served);
    if (p->rank == 0 && p->moved > 0 && p->bytes > 0)
        err = check_buffer(s, p->recv, 0);
    for (int t = 0; t < s->threads && p->bytes > 0 && !err; ++t)
        if (s->servers[t].served > 0)
            err = check_buffer(s, s->servers[t].buffer, t);
    return err;
}

static const struct data_round a_round = {fill, run, look, poison};

/* Check question by question, so that it is known what each thread received. */
static int verify(void *state)
{
    enum { QUESTIONS = 16 };
    return data_verify(&a_round, state, QUESTIONS);
}

static int check(void *state)
{
    return data_check_left(&a_round, state);
}

static double moved(const struct op_env *env)
{
    return 2 * (double)env->bytes;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = (struct op){
        .name = "mpi.mt.serve",
        .summary = "a question of one thread of rank 0, which any thread of rank 1 answers; one way, half "
                   "the round trip",
        .parts = 2,
        .threaded = true,
        .thread_level = "multiple",
        .default_bytes = "0,1..4Mi",
        .params = params,
        .missing = THREADS_MISSING,
        .setup = setup,
        .run = run,
        .verify = verify,
        .check = check,
        .teardown = teardown,
        .moved = moved,
    };
    p2p_op(op);
    op->family = "mt";
}

const struct op_family mpi_mt_serve_ops = {.count = 1, .op_at = op_at};
