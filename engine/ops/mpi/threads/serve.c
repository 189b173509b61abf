/* mpi.mt.serve: one thread of rank 0 asks, and whichever of the threads of rank 1 receives it answers: what a
 * server pays for threads that wait for the same message. */
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

static const struct param params[] = {BUFFERS_PARAMS, {0}};

/* A thread of rank 1. */
struct server {
    _Alignas(128) char *buffer; /* of the question, and of the answer, which is the same */
    int64_t served;             /* since somebody looked */
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

/* A thread takes a ticket before it receives, so that all are back when the last question is answered. */
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

/* One question: rank 0 has back what it sent, and the thread that served has received that. */
static int check(struct serve *s, int question)
{
    const struct p2p_pair *p = &s->p;
    int err = 0;
    if (p->bytes > 0 && p->rank == 0) {
        data_arrived(p->recv, p->bytes, p->planted);
        err = data_check(p->recv, p->bytes, 0, question, 0);
    }
    for (int t = 0; t < s->threads && !err; ++t)
        if (s->servers[t].served > 0 && p->bytes > 0) {
            data_arrived(s->servers[t].buffer, p->bytes, p->planted);
            err = data_check(s->servers[t].buffer, p->bytes, 0, question, t);
        }
    return err;
}

/* Question by question, so that it is known what each thread received. All are asked, for the other rank goes
 * on after a wrong answer too. */
static int verify(void *state)
{
    enum { QUESTIONS = 16 };
    struct serve *s = state;
    struct p2p_pair *p = &s->p;
    int err = 0, wrong = 0;
    for (int i = 0; i < QUESTIONS && !err; ++i) {
        const int question = ++p->generation;
        int64_t served = 0;
        if (p->bytes > 0 && p->rank == 0)
            data_fill(p->send, p->bytes, 0, question);
        for (int b = 0; b < p->recvs; ++b)
            p2p_poison(p, b);
        for (int t = 0; t < s->threads; ++t)
            s->servers[t].served = 0;
        err = run(s, 1);
        for (int t = 0; t < s->threads; ++t)
            served += s->servers[t].served;
        if (!err && !wrong && p->rank == 1 && served != 1)
            wrong = err_say(ERR_WRONG, "one question was answered %lld times", (long long)served);
        if (!err && !wrong)
            wrong = check(s, question);
    }
    return err ? err : wrong;
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
        .teardown = teardown,
        .moved = moved,
    };
    p2p_op(op);
    op->family = "mt";
}

const struct op_family mpi_mt_serve_ops = {.count = 1, .op_at = op_at};
