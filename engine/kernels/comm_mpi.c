/* Communication by MPI. Exchanges are those of ops/mpi_exchange, with what is above 1 GiB in several
 * messages.
 */
#include "kernels/comm.h"

#include "base/err.h"
#include "base/num.h"
#include "kernels/comm_own.h"
#include "ops/mpi_compat.h"
#include "ops/mpi_exchange.h"
#include "team/team_mpi.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct own {
    MPI_Comm comm;
    bool is_part; /* then it is ours to free */
};

/* Of one message; counts are ints. */
static const size_t PIECE = (size_t)1 << 30;
enum { TAGS = 256 }; /* an MPI has at least 32767 of them: room for 127 pieces of each */
_Static_assert((int)COMM_TAG_MAX < (int)TAGS, "tags of pieces must not be those of others");

static MPI_Comm mpi_of(const struct comm *comm)
{
    return ((const struct own *)comm->own)->comm;
}

/* Rank r of the comm is rank members[r] of the team. */
static int list_members(const struct comm *comm, int **members)
{
    *members = calloc((size_t)comm->size, sizeof **members);
    return !*members ? err_say(ERR_NOMEM, "no memory for a list of %d ranks", comm->size)
                     : team_mpi_err(
                           MPI_Allgather(&comm->team->rank, 1, MPI_INT, *members, 1, MPI_INT, mpi_of(comm)),
                           "MPI_Allgather");
}

static int fill_comm(struct comm *comm, const struct team *team, struct phases *phases, struct own own)
{
    struct comm new = {.phases = phases, .team = team};
    int *members = NULL;
    struct own *mine = malloc(sizeof *mine);
    if (!mine)
        return err_say(ERR_NOMEM, "no memory for a group of ranks");
    *mine = own;
    new.own = mine;
    int err = team_mpi_err(MPI_Comm_rank(own.comm, &new.rank), "MPI_Comm_rank");
    if (!err)
        err = team_mpi_err(MPI_Comm_size(own.comm, &new.size), "MPI_Comm_size");
    if (!err)
        err = list_members(&new, &members);
    new.members = members;
    if (err)
        comm_close(&new);
    else
        *comm = new;
    return err;
}

int comm_open(const struct team *team, struct phases *phases, struct comm *comm)
{
    return fill_comm(comm, team, phases, (struct own){.comm = team_comm(team)});
}

void comm_close(struct comm *comm)
{
    struct own *own = comm->own;
    if (own && own->is_part)
        MPI_Comm_free(&own->comm);
    free(own);
    free((void *)(uintptr_t)comm->members);
    *comm = (struct comm){0};
}

int comm_split(const struct comm *whole, int colour, struct comm *part)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int err = team_mpi_err(MPI_Comm_split(mpi_of(whole), colour, whole->rank, &comm), "MPI_Comm_split");
    return err ? err : fill_comm(part, whole->team, whole->phases, (struct own){comm, true});
}

int comm_on_host(const struct comm *comm, int *ranks)
{
    MPI_Comm host = MPI_COMM_NULL;
    int err = team_mpi_err(
        MPI_Comm_split_type(mpi_of(comm), MPI_COMM_TYPE_SHARED, comm->rank, MPI_INFO_NULL, &host),
        "MPI_Comm_split_type");
    if (!err)
        err = team_mpi_err(MPI_Comm_size(host, ranks), "MPI_Comm_size");
    if (host != MPI_COMM_NULL)
        MPI_Comm_free(&host);
    return err;
}

/* ---- once in a while ----------------------------------------------------------------------------------- */

static void count_collective(const struct comm *comm, size_t bytes)
{
    if (!comm->phases)
        return;
    ++comm->phases->collectives;
    comm->phases->collective_bytes += (int64_t)bytes;
}

static int reduce(const struct comm *comm, void *values, size_t count, MPI_Datatype type, MPI_Op op)
{
    int narrow = 0;
    int err = num_to_int(count, &narrow);
    count_collective(comm, count * sizeof(double));
    return err ? err
               : team_mpi_err(MPI_Allreduce(MPI_IN_PLACE, values, narrow, type, op, mpi_of(comm)),
                              "MPI_Allreduce");
}

int comm_sum(const struct comm *comm, double *values, size_t count)
{
    return reduce(comm, values, count, MPI_DOUBLE, MPI_SUM);
}

int comm_sum_ints(const struct comm *comm, int64_t *values, size_t count)
{
    return reduce(comm, values, count, MPI_INT64_T, MPI_SUM);
}

int comm_max(const struct comm *comm, double *values, size_t count)
{
    return reduce(comm, values, count, MPI_DOUBLE, MPI_MAX);
}

int comm_offset(const struct comm *comm, int64_t mine, int64_t *offset)
{
    *offset = 0; /* rank 0 is told nothing */
    count_collective(comm, sizeof mine);
    int err = team_mpi_err(MPI_Exscan(&mine, offset, 1, MPI_INT64_T, MPI_SUM, mpi_of(comm)), "MPI_Exscan");
    if (comm->rank == 0)
        *offset = 0;
    return err;
}

int comm_bcast(const struct comm *comm, int root, void *data, size_t bytes)
{
    int err = 0;
    count_collective(comm, comm->rank == root ? bytes : 0);
    for (size_t at = 0; at < bytes && !err; at += PIECE)
        err = team_mpi_err(MPI_Bcast((char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE),
                                     MPI_BYTE, root, mpi_of(comm)),
                           "MPI_Bcast");
    return err;
}

int comm_allgather(const struct comm *comm, const void *mine, size_t bytes, void *all)
{
    int count = 0;
    int err = num_to_int(bytes, &count);
    count_collective(comm, bytes);
    return err ? err
               : team_mpi_err(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, mpi_of(comm)),
                              "MPI_Allgather");
}

int comm_alltoall(const struct comm *comm, const void *send, void *recv, size_t bytes)
{
    int count = 0;
    int err = num_to_int(bytes, &count);
    count_collective(comm, bytes * (size_t)comm->size);
    return err ? err
               : team_mpi_err(MPI_Alltoall(send, count, MPI_BYTE, recv, count, MPI_BYTE, mpi_of(comm)),
                              "MPI_Alltoall");
}

int comm_barrier(const struct comm *comm)
{
    return team_mpi_err(MPI_Barrier(mpi_of(comm)), "MPI_Barrier");
}

int comm_send(const struct comm *comm, int to, int tag, const void *data, size_t bytes)
{
    int err = 0;
    if (to < 0)
        return 0;
    if (comm->phases) {
        ++comm->phases->messages;
        comm->phases->bytes += (int64_t)bytes;
    }
    for (size_t at = 0; at < bytes && !err; at += PIECE)
        err = team_mpi_err(MPI_Send((const char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE),
                                    MPI_BYTE, to, tag, mpi_of(comm)),
                           "MPI_Send");
    return err;
}

int comm_recv(const struct comm *comm, int from, int tag, void *data, size_t bytes)
{
    int err = 0;
    for (size_t at = 0; from >= 0 && at < bytes && !err; at += PIECE)
        err = team_mpi_err(MPI_Recv((char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE),
                                    MPI_BYTE, from, tag, mpi_of(comm), MPI_STATUS_IGNORE),
                           "MPI_Recv");
    return err;
}

/* ---- alltoallv with sizes above int ----------------------------------------------------------------------
 */

/* One side of an MPI_Alltoallv: counts and displacements in elements of a type that is as large as they
 * allow.
 */
struct side {
    void *data;
    int *counts, *offsets;
    MPI_Datatype type;
};

static void side_free(struct side *s)
{
    free(s->counts);
    free(s->offsets);
    if (s->type != MPI_DATATYPE_NULL && s->type != MPI_BYTE)
        MPI_Type_free(&s->type);
    s->type = MPI_DATATYPE_NULL;
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int side_fill(struct side *s, const struct comm_pieces *p, const struct comm *comm)
{
    const int ranks = comm->size;
    const size_t room = (size_t)(unsigned)ranks;
    size_t unit = 0, most = 0;
    *s = (struct side){.data = p->data, .type = MPI_DATATYPE_NULL};
    for (int r = 0; r < ranks; ++r) {
        unit = common_divisor(common_divisor(unit, p->bytes[r]), p->at[r]);
        most = p->bytes[r] > most ? p->bytes[r] : most;
        most = p->at[r] > most ? p->at[r] : most;
    }
    unit = unit == 0 || most <= INT_MAX ? 1 : unit; /* bytes, as long as they are enough */
    if (unit > INT_MAX || most / unit > INT_MAX)
        return err_say(
            ERR_UNSUPPORTED,
            "pieces of up to %zu bytes are more than MPI_Alltoallv can take; choose backend=nonblocking",
            most);
    s->counts = calloc(room, sizeof *s->counts);
    s->offsets = calloc(room, sizeof *s->offsets);
    if (!s->counts || !s->offsets)
        return err_say(ERR_NOMEM, "no memory for the counts of %d ranks", ranks);
    for (int r = 0; r < ranks; ++r) {
        s->counts[r] = (int)(p->bytes[r] / unit);
        s->offsets[r] = (int)(p->at[r] / unit);
    }
    s->type = MPI_BYTE;
    if (unit == 1)
        return 0;
    int err = team_mpi_err(MPI_Type_contiguous((int)unit, MPI_BYTE, &s->type), "MPI_Type_contiguous");
    return err ? err : team_mpi_err(MPI_Type_commit(&s->type), "MPI_Type_commit");
}

int comm_alltoallv(const struct comm *comm, const struct comm_pieces *send, const struct comm_pieces *recv)
{
    struct side out = {.type = MPI_DATATYPE_NULL}, in = {.type = MPI_DATATYPE_NULL};
    int err = side_fill(&out, send, comm);
    if (!err)
        err = side_fill(&in, recv, comm);
    size_t bytes = 0;
    for (int r = 0; r < comm->size; ++r)
        bytes += send->bytes[r];
    count_collective(comm, bytes);
    if (!err)
        err = team_mpi_err(MPI_Alltoallv(out.data, out.counts, out.offsets, out.type, in.data, in.counts,
                                         in.offsets, in.type, mpi_of(comm)),
                           "MPI_Alltoallv");
    side_free(&out);
    side_free(&in);
    return err;
}

/* ---- plans --------------------------------------------------------------------------------------------- */

struct comm_own_plan {
    struct exchange *exchange; /* or a collective, by the calls of its row */
    const struct calls *calls;
    enum comm_back back;
    MPI_Comm comm;
    MPI_Request request; /* persistent: until the plan is closed */
    double *values;
    int count;
    struct side out, in;
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
    return MPI_Allreduce_init(MPI_IN_PLACE, p->values, p->count, MPI_DOUBLE, MPI_SUM, p->comm, MPI_INFO_NULL,
                              &p->request);
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
    return MPI_Alltoallv_init(ALLTOALLV, MPI_INFO_NULL, &p->request);
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
    side_free(&p->out);
    side_free(&p->in);
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
        p->comm = mpi_of(comm);
        p->request = MPI_REQUEST_NULL;
        p->out.type = p->in.type = MPI_DATATYPE_NULL;
    }
    return p;
}

static int can_open(const struct comm_own_plan *p, enum comm_back back, int failed)
{
    if (failed)
        return failed;
    if (!p)
        return err_say(ERR_NOMEM, "no memory for a plan of communication");
    const char *missing = MPI4_MISSING;
    if (back == COMM_PCOLLECTIVE && missing)
        return err_say(ERR_UNSUPPORTED, "backend=%s: %s", comm_backs[back], missing);
    return 0;
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
        err = side_fill(&p->out, send, comm);
    if (!err)
        err = side_fill(&p->in, recv, comm);
    return own_open(comm, p, err, plan);
}

/* ---- pieces of other sizes at each run ------------------------------------------------------------------
 */

/* Counts and displacements of this run, in units. */
static int side_refresh(struct side *s, const struct comm_pieces *p, size_t unit, int ranks)
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

static char *piece_at(const struct side *s, const struct varying *v, int rank)
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
        return team_mpi_err(MPI_Waitall(v->started, v->requests, MPI_STATUSES_IGNORE), "MPI_Waitall");
    return p->back != COMM_ICOLLECTIVE ? 0
                                       : team_mpi_err(MPI_Wait(&p->request, MPI_STATUS_IGNORE), "MPI_Wait");
}

static int varying_alloc(struct comm_own_plan *p, const struct comm *comm, size_t unit,
                         const struct comm_pieces *send, const struct comm_pieces *recv)
{
    const size_t room = (size_t)(unsigned)comm->size;
    struct varying *v = p->varying = calloc(1, sizeof *v);
    struct side *sides[] = {&p->out, &p->in};
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
               : err_say(ERR_NOMEM, "no memory for what %d ranks say to each other", comm->size);
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
        err = err_say(ERR_UNSUPPORTED, "pieces whose sizes change do not go by %s; choose another backend",
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
    };
    struct comm_own_plan *p = own_new(comm, back, NULL);
    int err = failed ? failed : !p ? err_say(ERR_NOMEM, "no memory for a plan of communication") : 0;
    size_t pieces = 0, at = 0;
    for (size_t i = 0; !err && i < count; ++i)
        pieces += piece_count(&links[i]);
    struct exchange_link *split = calloc(pieces + 1, sizeof *split);
    if (!err && !split)
        err = err_say(ERR_NOMEM, "no memory for %zu messages", pieces);
    for (size_t i = 0; !err && i < count; ++i)
        for (size_t k = 0; k < piece_count(&links[i]); ++k)
            split[at++] = piece_of(comm, &links[i], k);
    struct exchange_ask ask = {.team = comm->team, .back = backs[back], .partitions = 1, .op = "a kernel"};
    struct exchange *exchange = NULL;
    err = exchange_open(&ask, split, at, err, &exchange);
    free(split);
    *plan = NULL;
    if (!exchange)
        comm_own_close(p);
    else {
        p->exchange = exchange;
        *plan = p;
    }
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
