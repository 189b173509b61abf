/* Plans by OpenSHMEM: exchanges by puts, sums by its reduction, pieces of other sizes at each run through the
 * room that a group has for messages. */
#include "comm/comm_shmem.h"

#include "base/err.h"
#include "comm/carrier_shmem.h"
#include "comm/comm_internal.h"
#include "team/compat_shmem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SETS = 2 }; /* of what a reduction writes to: one call may begin while others end the one before */

/* The library's sum, over ranks of the team that are powers of two apart. */
struct sum {
    double *values, *source, *dest[SETS], *work[SETS];
    long *sync[SETS];
    int first, log_stride, size, count, set;
};

struct varying {
    struct comm comm; /* a copy, whose ranks and room are the caller's */
    struct comm_pieces send, recv;
};

struct comm_own_plan {
    void (*start)(struct comm_own_plan *p);
    void (*finish)(struct comm_own_plan *p);
    struct carrier carrier;
    struct comm_link *links; /* of the exchange */
    struct sum sum;
    struct varying varying;
};

static void nothing(struct comm_own_plan *p)
{
    (void)p;
}

/* ---- exchanges ----------------------------------------------------------------------------------------- */

static void put_all(struct comm_own_plan *p)
{
    const struct carrier *c = &p->carrier;
    for (size_t i = 0; i < c->count; ++i)
        if (c->outs[i].peer >= 0) {
            carrier_await_room(c, &c->outs[i]);
            shmem_putmem_nbi(c->outs[i].room, p->links[i].send, p->links[i].send_bytes, c->outs[i].peer);
        }
    shmem_fence();
    for (size_t i = 0; i < c->count; ++i)
        if (c->outs[i].peer >= 0)
            carrier_tell(c, &c->outs[i]);
}

static void signal_all(struct comm_own_plan *p)
{
    const struct carrier *c = &p->carrier;
    for (size_t i = 0; i < c->count; ++i)
        if (c->outs[i].peer >= 0)
            carrier_signal(c, &c->outs[i], p->links[i].send, p->links[i].send_bytes);
}

static void take_all(struct comm_own_plan *p)
{
    const struct carrier *c = &p->carrier;
    for (size_t i = 0; i < c->count; ++i)
        if (c->ins[i].peer >= 0)
            carrier_take(c, &c->ins[i], p->links[i].recv, p->links[i].recv_bytes);
    shmem_quiet(); /* what was sent may be written again */
}

static void put_and_take_each(struct comm_own_plan *p)
{
    const struct carrier *c = &p->carrier;
    for (size_t i = 0; i < c->count; ++i) {
        if (c->outs[i].peer >= 0)
            carrier_send(c, &c->outs[i], p->links[i].send, p->links[i].send_bytes);
        if (c->ins[i].peer >= 0)
            carrier_take(c, &c->ins[i], p->links[i].recv, p->links[i].recv_bytes);
    }
}

/* ---- the library's sum --------------------------------------------------------------------------------- */

static void sum_all(struct comm_own_plan *p)
{
    struct sum *s = &p->sum;
    const size_t bytes = (size_t)s->count * sizeof *s->values;
    memcpy(s->source, s->values, bytes);
    shmem_double_sum_to_all(s->dest[s->set], s->source, s->count, s->first, s->log_stride, s->size,
                            s->work[s->set], s->sync[s->set]);
    memcpy(s->values, s->dest[s->set], bytes);
    s->set = (s->set + 1) % SETS;
}

/* Are the ranks powers of two apart, as an active set of OpenSHMEM is? */
static bool find_set(const struct comm *comm, struct sum *s)
{
    s->first = comm->members[0];
    s->size = comm->size;
    const int stride = comm->size > 1 ? comm->members[1] - comm->members[0] : 1;
    while (1 << s->log_stride < stride)
        ++s->log_stride;
    for (int r = 0; r < comm->size; ++r)
        if (comm->members[r] != s->first + (r << s->log_stride))
            return false;
    return true;
}

/* All of it from one piece of symmetric memory, of the same size on all ranks. */
static int take_memory(struct sum *s, const struct team *team, int64_t most)
{
    const size_t count = (size_t)most, least = SHMEM_REDUCE_MIN_WRKDATA_SIZE;
    const size_t work = count / 2 + 1 > least ? count / 2 + 1 : least;
    const size_t each = count + SETS * (count + work);
    void *memory = NULL;
    int err = team_symmetric_more(team, each * sizeof(double) + SETS * SHMEM_REDUCE_SYNC_SIZE * sizeof(long),
                                  &memory);
    if (err)
        return err;
    s->source = memory;
    for (int i = 0; i < SETS; ++i) {
        s->dest[i] = s->source + count + (size_t)i * (count + work);
        s->work[i] = s->dest[i] + count;
        s->sync[i] = (long *)(void *)(s->source + each) + (size_t)i * SHMEM_REDUCE_SYNC_SIZE;
        for (int k = 0; k < SHMEM_REDUCE_SYNC_SIZE; ++k)
            s->sync[i][k] = SHMEM_SYNC_VALUE;
    }
    return team_barrier(team);
}

/* ---- pieces of other sizes at each run ----------------------------------------------------------------- */

static void pass_pieces(struct comm_own_plan *p)
{
    comm_pass_pieces(&p->varying.comm, &p->varying.send, &p->varying.recv);
}

/* ---- opening ------------------------------------------------------------------------------------------- */

static const struct {
    void (*start)(struct comm_own_plan *p), (*finish)(struct comm_own_plan *p);
} exchanges[COMM_BACKS] = {[COMM_NONBLOCKING] = {put_all, take_all},
                           [COMM_BLOCKING] = {put_and_take_each, nothing},
                           [COMM_SIGNAL] = {signal_all, take_all}};

/* A plan, if this rank has had no error and OpenSHMEM has such a back end; `has`: it has. */
static int new_plan(const struct comm *comm, enum comm_back back, bool has, int failed,
                    struct comm_own_plan **plan)
{
    const char *const missing = SHMEM15_MISSING;
    *plan = NULL;
    if (failed)
        return failed;
    if (!has)
        return err_say(ERR_UNSUPPORTED,
                       "OpenSHMEM has nothing like backend=%s for this; give backend=blocking",
                       comm_backs[back]);
    if (back == COMM_SIGNAL && missing)
        return err_say(ERR_UNSUPPORTED, "backend=%s: %s", comm_backs[back], missing);
    if (comm->movers > 1)
        return err_say(ERR_UNSUPPORTED, "by OpenSHMEM one thread moves all messages; leave movers=%d out",
                       comm->movers);
    *plan = calloc(1, sizeof **plan);
    return *plan ? 0 : err_say(ERR_NOMEM, "no memory for a plan of communication");
}

/* The same on all ranks of the team: a plan, or none. */
static int agree(const struct team *team, int err, struct comm_own_plan **plan)
{
    int64_t worst = err;
    const int broken = team_max(team, &worst);
    if (err || broken || worst != 0) {
        comm_own_close(*plan);
        *plan = NULL;
    }
    return err ? err : broken;
}

int comm_own_exchange(const struct comm *comm, enum comm_back back, const struct comm_link *links,
                      size_t count, int failed, struct comm_own_plan **plan)
{
    struct carrier carrier;
    bool ready = false;
    int err = new_plan(comm, back, exchanges[back].start != NULL, failed, plan);
    struct comm_own_plan *p = *plan;
    if (p) {
        p->start = exchanges[back].start;
        p->finish = exchanges[back].finish;
        p->links = calloc(count + 1, sizeof *p->links);
        if (p->links)
            memcpy(p->links, links, count * sizeof *links);
        else
            err = err_say(ERR_NOMEM, "no memory for the messages of %zu neighbours", count);
    }
    err = carrier_open(comm, links, count, err, &carrier, &ready);
    if (ready) {
        p->carrier = carrier;
        return 0;
    }
    comm_own_close(p);
    *plan = NULL;
    return err;
}

int comm_own_sum(const struct comm *comm, enum comm_back back, double *values, size_t count, int failed,
                 struct comm_own_plan **plan)
{
    int64_t most = (int64_t)count;
    int err = new_plan(comm, back, back == COMM_COLLECTIVE, failed, plan);
    struct comm_own_plan *p = *plan;
    if (!err && count > INT_MAX)
        err = err_say(ERR_UNSUPPORTED, "a reduction of OpenSHMEM takes %d numbers at most", INT_MAX);
    if (!err) {
        p->start = sum_all;
        p->finish = nothing;
        p->sum.values = values;
        p->sum.count = (int)count;
        err = find_set(comm, &p->sum)
                  ? 0
                  : err_say(ERR_UNSUPPORTED,
                            "a reduction of OpenSHMEM takes ranks that are powers of two apart; give "
                            "backend=nonblocking");
    }
    err = agree(comm->team, err, plan);
    if (!*plan)
        return err;
    err = team_max(comm->team, &most);
    return agree(comm->team, err ? err : take_memory(&p->sum, comm->team, most), plan);
}

int comm_own_alltoallv(const struct comm *comm, enum comm_back back, const struct comm_pieces *send,
                       const struct comm_pieces *recv, int failed, struct comm_own_plan **plan)
{
    (void)send, (void)recv; /* OpenSHMEM's takes blocks of one size */
    return agree(comm->team, new_plan(comm, back, false, failed, plan), plan);
}

int comm_own_varying(const struct comm *comm, enum comm_back back, size_t unit,
                     const struct comm_pieces *send, const struct comm_pieces *recv, int failed,
                     struct comm_own_plan **plan)
{
    (void)unit;
    const int err = new_plan(comm, back, back == COMM_BLOCKING, failed, plan);
    struct comm_own_plan *p = *plan;
    if (p) {
        p->start = pass_pieces;
        p->finish = nothing;
        p->varying = (struct varying){*comm, *send, *recv};
    }
    return agree(comm->team, err, plan);
}

void comm_own_close(struct comm_own_plan *p)
{
    if (!p)
        return;
    carrier_close(&p->carrier);
    free(p->links);
    free(p);
}

int comm_own_start(struct comm_own_plan *p)
{
    p->start(p);
    return 0;
}

int comm_own_finish(struct comm_own_plan *p)
{
    p->finish(p);
    return 0;
}

int comm_own_run(struct comm_own_plan *p)
{
    p->start(p);
    p->finish(p);
    return 0;
}
