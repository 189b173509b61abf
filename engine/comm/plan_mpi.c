/* Plans by MPI. Exchanges are those of exchange_mpi.c, with what is above 1 GiB in several messages. */
#include "comm/comm_mpi.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/comm_internal.h"
#include "comm/exchange_mpi.h"

#include <limits.h>
#include <stdlib.h>

struct comm_own_plan {
    struct exchange *exchange; /* or a collective, by the calls of its row */
    const struct calls *calls;
    enum comm_back back;
    MPI_Comm comm;
    MPI_Request request; /* persistent: until the plan is closed */
    double *values;
    int count;
    struct comm_side out, in;
    struct varying *varying; /* pieces of other sizes at each run; NULL: no such plan */
};

/* Sizes are the caller's; counts and requests have room for all ranks. */
struct varying {
    struct comm_pieces send, recv;
    size_t unit;
    int rank, size, started;
    MPI_Request *requests;
};

struct calls {
    const char *names[COMM_BACKS]; /* for sentences */
    int (*blocking)(struct comm_own_plan *p);
    int (*nonblocking)(struct comm_own_plan *p);
    int (*persistent)(struct comm_own_plan *p); /* its init */
};

static int sum_blocking(struct comm_own_plan *p)
{
    return MPI_Allreduce(MPI_IN_PLACE, p->values, p->count, MPI_DOUBLE, MPI_SUM, p->comm);
}

static int sum_nonblocking(struct comm_own_plan *p)
{
    return MPI_Iallreduce(MPI_IN_PLACE, p->values, p->count, MPI_DOUBLE, MPI_SUM, p->comm, &p->request);
}

static int sum_persistent(struct comm_own_plan *p)
{
    return MPI4_INIT(Allreduce, MPI_IN_PLACE, p->values, p->count, MPI_DOUBLE, MPI_SUM, p->comm,
                     MPI_INFO_NULL, &p->request);
}

static const struct calls sum_calls = {
    .names = {[COMM_COLLECTIVE] = "MPI_Allreduce",
              [COMM_ICOLLECTIVE] = "MPI_Iallreduce",
              [COMM_PCOLLECTIVE] = "MPI_Allreduce_init"},
    .blocking = sum_blocking,
    .nonblocking = sum_nonblocking,
    .persistent = sum_persistent,
};

#define ALLTOALLV                                                                                            \
    p->out.data, p->out.counts, p->out.offsets, p->out.type, p->in.data, p->in.counts, p->in.offsets,        \
        p->in.type, p->comm

static int alltoallv_blocking(struct comm_own_plan *p)
{
    return MPI_Alltoallv(ALLTOALLV);
}

static int alltoallv_nonblocking(struct comm_own_plan *p)
{
    return MPI_Ialltoallv(ALLTOALLV, &p->request);
}

static int alltoallv_persistent(struct comm_own_plan *p)
{
    return MPI4_INIT(Alltoallv, ALLTOALLV, MPI_INFO_NULL, &p->request);
}

static const struct calls alltoallv_calls = {
    .names = {[COMM_COLLECTIVE] = "MPI_Alltoallv",
              [COMM_ICOLLECTIVE] = "MPI_Ialltoallv",
              [COMM_PCOLLECTIVE] = "MPI_Alltoallv_init"},
    .blocking = alltoallv_blocking,
    .nonblocking = alltoallv_nonblocking,
    .persistent = alltoallv_persistent,
};

void comm_own_close(struct comm_own_plan *p)
{
    if (!p)
        return;
    exchange_close(p->exchange);
    if (p->request != MPI_REQUEST_NULL)
        MPI_Request_free(&p->request);
    comm_side_free(&p->out);
    comm_side_free(&p->in);
    if (p->varying)
        free(p->varying->requests);
    free(p->varying);
    free(p);
}

/* The same on all ranks of the team: a plan, or none. */
static int own_open(const struct comm *comm, struct comm_own_plan *p, int failed, struct comm_own_plan **plan)
{
    int64_t worst = failed;
    int broken = team_max(comm->team, &worst);
    int err = failed ? failed : broken;
    if (!err && worst == 0 && p->back == COMM_PCOLLECTIVE)
        err = team_mpi_err(p->calls->persistent(p), p->calls->names[p->back]);
    *plan = NULL;
    if (err || worst != 0)
        comm_own_close(p);
    else
        *plan = p;
    return err;
}

static struct comm_own_plan *own_new(const struct comm *comm, enum comm_back back, const struct calls *calls)
{
    struct comm_own_plan *p = calloc(1, sizeof *p);
    if (p) {
        p->back = back;
        p->calls = calls;
        p->comm = comm_mpi(comm);
        p->request = MPI_REQUEST_NULL;
        p->out.type = p->in.type = MPI_DATATYPE_NULL;
    }
    return p;
}

static int can_open(const struct comm_own_plan *p, enum comm_back back, int failed)
{
    if (failed || !p)
        return failed ? failed : err_say(ERR_NOMEM, "no memory for a plan of communication");
    const char *missing = back == COMM_PCOLLECTIVE ? MPI4_MISSING : NULL;
    if (back == COMM_SIGNAL)
        missing = "only OpenSHMEM puts data and a signal in one call; give --engine shmem";
    return missing ? err_say(ERR_UNSUPPORTED, "backend=%s: %s", comm_backs[back], missing) : 0;
}

int comm_own_sum(const struct comm *comm, enum comm_back back, double *values, size_t count, int failed,
                 struct comm_own_plan **plan)
{
    struct comm_own_plan *p = own_new(comm, back, &sum_calls);
    int err = can_open(p, back, failed);
    if (!err) {
        p->values = values;
        err = num_to_int(count, &p->count);
    }
    return own_open(comm, p, err, plan);
}

int comm_own_alltoallv(const struct comm *comm, enum comm_back back, const struct comm_pieces *send,
                       const struct comm_pieces *recv, int failed, struct comm_own_plan **plan)
{
    struct comm_own_plan *p = own_new(comm, back, &alltoallv_calls);
    int err = can_open(p, back, failed);
    if (!err)
        err = comm_side_fill(&p->out, send, comm);
    if (!err)
        err = comm_side_fill(&p->in, recv, comm);
    return own_open(comm, p, err, plan);
}

/* ---- pieces of other sizes at each run ---------------------------------------------------------------- */

/* Counts and displacements of this run, in units. */
static int side_refresh(struct comm_side *s, const struct comm_pieces *p, size_t unit, int ranks)
{
    for (int r = 0; r < ranks; ++r) {
        size_t count = p->bytes[r] / unit, at = p->at[r] / unit;
        if (count > INT_MAX || at > INT_MAX)
            return err_say(ERR_UNSUPPORTED, "a piece of %zu elements at %zu is more than MPI's int can say",
                           count, at);
        s->counts[r] = (int)count;
        s->offsets[r] = (int)at;
    }
    return 0;
}

static char *piece_at(const struct comm_side *s, const struct varying *v, int rank)
{
    return (char *)s->data + (size_t)s->offsets[rank] * v->unit;
}

static int varying_nonblocking(struct comm_own_plan *p)
{
    struct varying *v = p->varying;
    int rc = MPI_SUCCESS;
    v->started = 0;
    for (int i = 1; i < v->size && rc == MPI_SUCCESS; ++i) {
        int from = (v->rank - i + v->size) % v->size;
        if (p->in.counts[from] > 0)
            rc = MPI_Irecv(piece_at(&p->in, v, from), p->in.counts[from], p->in.type, from, 0, p->comm,
                           &v->requests[v->started++]);
    }
    for (int i = 1; i < v->size && rc == MPI_SUCCESS; ++i) {
        int to = (v->rank + i) % v->size;
        if (p->out.counts[to] > 0)
            rc = MPI_Isend(piece_at(&p->out, v, to), p->out.counts[to], p->out.type, to, 0, p->comm,
                           &v->requests[v->started++]);
    }
    return rc;
}

static int varying_blocking(struct comm_own_plan *p)
{
    const struct varying *v = p->varying;
    int rc = MPI_SUCCESS;
    for (int i = 1; i < v->size && rc == MPI_SUCCESS; ++i) {
        int to = (v->rank + i) % v->size, from = (v->rank - i + v->size) % v->size;
        rc = MPI_Sendrecv(piece_at(&p->out, v, to), p->out.counts[to], p->out.type, to, 0,
                          piece_at(&p->in, v, from), p->in.counts[from], p->in.type, from, 0, p->comm,
                          MPI_STATUS_IGNORE);
    }
    return rc;
}

static int varying_start(struct comm_own_plan *p)
{
    struct varying *v = p->varying;
    int err = side_refresh(&p->out, &v->send, v->unit, v->size);
    if (!err)
        err = side_refresh(&p->in, &v->recv, v->unit, v->size);
    if (err)
        return err;
    int rc = p->back == COMM_NONBLOCKING  ? varying_nonblocking(p)
             : p->back == COMM_BLOCKING   ? varying_blocking(p)
             : p->back == COMM_COLLECTIVE ? alltoallv_blocking(p)
                                          : alltoallv_nonblocking(p);
    return team_mpi_err(rc, p->calls->names[p->back]);
}

static int varying_finish(struct comm_own_plan *p)
{
    struct varying *v = p->varying;
    if (p->back == COMM_NONBLOCKING)
        return team_mpi_err(MPI_Waitall(v->started, v->requests, statuses_ignored()), "MPI_Waitall");
    return p->back != COMM_ICOLLECTIVE ? 0
                                       : team_mpi_err(MPI_Wait(&p->request, MPI_STATUS_IGNORE), "MPI_Wait");
}

static int varying_alloc(struct comm_own_plan *p, const struct comm *comm, size_t unit,
                         const struct comm_pieces *send, const struct comm_pieces *recv)
{
    const size_t room = (size_t)(unsigned)comm->size;
    struct varying *v = p->varying = calloc(1, sizeof *v);
    struct comm_side *sides[] = {&p->out, &p->in};
    const struct comm_pieces *pieces[] = {send, recv};
    for (int i = 0; i < 2; ++i) {
        sides[i]->data = pieces[i]->data;
        sides[i]->counts = calloc(room, sizeof *sides[i]->counts);
        sides[i]->offsets = calloc(room, sizeof *sides[i]->offsets);
        int err =
            team_mpi_err(MPI_Type_contiguous((int)unit, MPI_BYTE, &sides[i]->type), "MPI_Type_contiguous");
        err = err ? err : team_mpi_err(MPI_Type_commit(&sides[i]->type), "MPI_Type_commit");
        if (err)
            return err;
    }
    if (v)
        *v = (struct varying){.send = *send,
                              .recv = *recv,
                              .unit = unit,
                              .rank = comm->rank,
                              .size = comm->size,
                              .requests = calloc(2 * room, sizeof(MPI_Request))};
    return v && v->requests && p->out.counts && p->out.offsets && p->in.counts && p->in.offsets
               ? 0
               : err_say(ERR_NOMEM, "no memory for the messages of %d ranks", comm->size);
}

int comm_own_varying(const struct comm *comm, enum comm_back back, size_t unit,
                     const struct comm_pieces *send, const struct comm_pieces *recv, int failed,
                     struct comm_own_plan **plan)
{
    static const struct calls calls = {.names = {[COMM_NONBLOCKING] = "MPI_Irecv or MPI_Isend",
                                                 [COMM_BLOCKING] = "MPI_Sendrecv",
                                                 [COMM_COLLECTIVE] = "MPI_Alltoallv",
                                                 [COMM_ICOLLECTIVE] = "MPI_Ialltoallv"}};
    struct comm_own_plan *p = own_new(comm, back, &calls);
    int err = can_open(p, back, failed);
    if (!err && !calls.names[back])
        err = err_say(ERR_UNSUPPORTED, "pieces whose sizes change cannot use %s; choose another backend",
                      comm_backs[back]);
    if (!err)
        err = varying_alloc(p, comm, unit, send, recv);
    return own_open(comm, p, err, plan);
}

/* ---- exchanges ----------------------------------------------------------------------------------------- */

static size_t piece_count(const struct comm_link *l)
{
    size_t most = l->send_bytes > l->recv_bytes ? l->send_bytes : l->recv_bytes;
    return most == 0 ? 1 : (most + PIECE - 1) / PIECE;
}

/* Piece k of a message: nobody is told of an empty one, unless the whole message is. */
static size_t piece_bytes(size_t bytes, size_t k)
{
    size_t at = k * PIECE;
    return at >= bytes ? 0 : bytes - at < PIECE ? bytes - at : PIECE;
}

static struct exchange_link piece_of(const struct comm *comm, const struct comm_link *l, size_t k)
{
    struct exchange_link piece = {
        .tag = l->tag + (int)k * TAGS,
        .send = (char *)(uintptr_t)l->send + k * PIECE,
        .recv = (char *)l->recv + k * PIECE,
        .send_bytes = piece_bytes(l->send_bytes, k),
        .recv_bytes = piece_bytes(l->recv_bytes, k),
    };
    piece.to = l->to >= 0 && piece.send_bytes > 0 ? comm->members[l->to] : MPI_PROC_NULL;
    piece.from = l->from >= 0 && piece.recv_bytes > 0 ? comm->members[l->from] : MPI_PROC_NULL;
    return piece;
}

int comm_own_exchange(const struct comm *comm, enum comm_back back, const struct comm_link *links,
                      size_t count, int failed, struct comm_own_plan **plan)
{
    static const enum exchange_back backs[COMM_BACKS] = {
        [COMM_NONBLOCKING] = EXCHANGE_NONBLOCKING,
        [COMM_BLOCKING] = EXCHANGE_SENDRECV,
        [COMM_PERSISTENT] = EXCHANGE_PERSISTENT,
        [COMM_NEIGHBOUR] = EXCHANGE_NEIGHBORW,
        [COMM_PARTITIONED] = EXCHANGE_PARTITIONED,
        [COMM_FENCE] = EXCHANGE_FENCE,
        [COMM_PSCW] = EXCHANGE_PSCW,
        [COMM_LOCK] = EXCHANGE_LOCK,
        [COMM_FLUSH] = EXCHANGE_FLUSH,
    };
    struct comm_own_plan *p = own_new(comm, back, NULL);
    int err = can_open(p, back, failed);
    size_t pieces = 0, at = 0;
    for (size_t i = 0; !err && i < count; ++i)
        pieces += piece_count(&links[i]);
    struct exchange_link *split = calloc(pieces + 1, sizeof *split);
    if (!err && !split)
        err = err_say(ERR_NOMEM, "no memory for %zu messages", pieces);
    for (size_t i = 0; !err && i < count; ++i)
        for (size_t k = 0; k < piece_count(&links[i]); ++k)
            split[at++] = piece_of(comm, &links[i], k);
    const bool alone = comm->team->size == 1; /* some MPIs make no window for one rank, which needs none */
    struct exchange_ask ask = {.team = comm->team,
                               .movers = comm->movers,
                               .apart = comm->apart,
                               .back = alone ? EXCHANGE_NONBLOCKING : backs[back],
                               .partitions = 1,
                               .op = "a kernel",
                               .param = "backend",
                               .word = comm_backs[back]};
    struct exchange *exchange = NULL;
    err = exchange_open(&ask, split, at, err, &exchange);
    free(split);
    if (exchange)
        p->exchange = exchange;
    else
        comm_own_close(p);
    *plan = exchange ? p : NULL;
    return err;
}

/* ---- running ------------------------------------------------------------------------------------------- */

int comm_own_start(struct comm_own_plan *p)
{
    if (p->exchange)
        return exchange_start(p->exchange);
    if (p->varying)
        return varying_start(p);
    int rc = p->back == COMM_COLLECTIVE    ? p->calls->blocking(p)
             : p->back == COMM_ICOLLECTIVE ? p->calls->nonblocking(p)
                                           : MPI_Start(&p->request);
    return team_mpi_err(rc, p->calls->names[p->back]);
}

int comm_own_finish(struct comm_own_plan *p)
{
    if (p->exchange)
        return exchange_finish(p->exchange);
    if (p->varying)
        return varying_finish(p);
    return p->back == COMM_COLLECTIVE ? 0
                                      : team_mpi_err(MPI_Wait(&p->request, MPI_STATUS_IGNORE), "MPI_Wait");
}

int comm_own_run(struct comm_own_plan *p)
{
    if (p->exchange)
        return exchange_run(p->exchange, 1);
    int err = comm_own_start(p);
    return err ? err : comm_own_finish(p);
}
