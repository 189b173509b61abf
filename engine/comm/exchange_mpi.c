#include "comm/exchange_internal_mpi.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/compat_mpi.h"
#include "team/team_mpi.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

/* ---- nonblocking --------------------------------------------------------------------------------------- */

static int nonblocking_start(const struct exchange *x)
{
    MPI_Request *request = x->requests;
    int rc = MPI_SUCCESS;
    for (const struct half *h = x->in; h < x->in + x->ins && rc == MPI_SUCCESS; ++h)
        rc = MPI_Irecv(h->data, h->count, MPI_BYTE, h->peer, h->tag, x->comm, request++);
    for (const struct half *h = x->out; h < x->out + x->outs && rc == MPI_SUCCESS; ++h)
        rc = MPI_Isend(h->data, h->count, MPI_BYTE, h->peer, h->tag, x->comm, request++);
    return rc;
}

static int wait_all(const struct exchange *x)
{
    return MPI_Waitall(x->ins + x->outs, x->requests, statuses_ignored());
}

static int nonblocking_whole(const struct exchange *x)
{
    int rc = nonblocking_start(x);
    return rc != MPI_SUCCESS ? rc : wait_all(x);
}

/* ---- sendrecv ------------------------------------------------------------------------------------------ */

static int sendrecv_whole(const struct exchange *x)
{
    int rc = MPI_SUCCESS;
    for (const struct exchange_link *l = x->links; l < x->links + x->count && rc == MPI_SUCCESS; ++l)
        rc = MPI_Sendrecv(l->send, (int)l->send_bytes, MPI_BYTE, l->to, l->tag, l->recv, (int)l->recv_bytes,
                          MPI_BYTE, l->from, l->tag, x->comm, MPI_STATUS_IGNORE);
    return rc;
}

static int nothing(const struct exchange *x)
{
    (void)x;
    return MPI_SUCCESS;
}

/* ---- persistent ---------------------------------------------------------------------------------------- */

static int persistent_connect(struct exchange *x)
{
    int rc = MPI_SUCCESS;
    for (const struct half *h = x->in; h < x->in + x->ins && rc == MPI_SUCCESS; ++h) {
        rc = MPI_Recv_init(h->data, h->count, MPI_BYTE, h->peer, h->tag, x->comm, &x->requests[x->requested]);
        x->requested += rc == MPI_SUCCESS;
    }
    for (const struct half *h = x->out; h < x->out + x->outs && rc == MPI_SUCCESS; ++h) {
        rc = MPI_Send_init(h->data, h->count, MPI_BYTE, h->peer, h->tag, x->comm, &x->requests[x->requested]);
        x->requested += rc == MPI_SUCCESS;
    }
    return rc;
}

static int persistent_start(const struct exchange *x)
{
    return MPI_Startall(x->ins + x->outs, x->requests);
}

static int persistent_whole(const struct exchange *x)
{
    int rc = persistent_start(x);
    return rc != MPI_SUCCESS ? rc : wait_all(x);
}

/* ---- partitioned --------------------------------------------------------------------------------------- */

static int partitioned_connect(struct exchange *x)
{
    int rc = MPI_SUCCESS;
    for (const struct half *h = x->in; h < x->in + x->ins && rc == MPI_SUCCESS; ++h) {
        rc = MPI_Precv_init(h->data, h->partitions, h->count / h->partitions, MPI_BYTE, h->peer, h->tag,
                            x->comm, MPI_INFO_NULL, &x->requests[x->requested]);
        x->requested += rc == MPI_SUCCESS;
    }
    for (const struct half *h = x->out; h < x->out + x->outs && rc == MPI_SUCCESS; ++h) {
        rc = MPI_Psend_init(h->data, h->partitions, h->count / h->partitions, MPI_BYTE, h->peer, h->tag,
                            x->comm, MPI_INFO_NULL, &x->requests[x->requested]);
        x->requested += rc == MPI_SUCCESS;
    }
    return rc;
}

static int partitioned_start(const struct exchange *x)
{
    int rc = MPI_Startall(x->ins + x->outs, x->requests);
    for (int i = 0; i < x->outs && rc == MPI_SUCCESS; ++i)
        rc = MPI_Pready_range(0, x->out[i].partitions - 1, x->requests[x->ins + i]);
    return rc;
}

static int partitioned_whole(const struct exchange *x)
{
    int rc = partitioned_start(x);
    return rc != MPI_SUCCESS ? rc : wait_all(x);
}

/* ---- neighbourhood collectives ------------------------------------------------------------------------- */

static int fill_side(struct sides *s, const struct half *halves, int count, bool near)
{
    size_t room = (size_t)count + 1; /* none is no failure */
    s->peers = calloc(room, sizeof *s->peers);
    s->counts = calloc(room, sizeof *s->counts);
    s->offsets = calloc(room, sizeof *s->offsets);
    s->far_offsets = calloc(room, sizeof *s->far_offsets);
    s->types = calloc(room, sizeof *s->types);
    if (!s->peers || !s->counts || !s->offsets || !s->far_offsets || !s->types)
        return err_say(ERR_NOMEM, "no memory for the arguments of a collective of %d neighbours", count);
    for (int i = 0; i < count; ++i)
        if (halves[i].data && (!s->base || (uintptr_t)halves[i].data < (uintptr_t)s->base))
            s->base = halves[i].data;
    for (int i = 0; i < count; ++i) {
        uintptr_t offset = halves[i].data ? (uintptr_t)halves[i].data - (uintptr_t)s->base : 0;
        if (near && offset > INT_MAX)
            return err_say(
                ERR_UNSUPPORTED,
                "buffers are %zu bytes apart, MPI_Neighbor_alltoallv takes %d; choose back=neighborw",
                (size_t)offset, INT_MAX);
        s->peers[i] = halves[i].peer;
        s->counts[i] = halves[i].count;
        s->offsets[i] = near ? (int)offset : 0;
        s->far_offsets[i] = (MPI_Aint)offset;
        s->types[i] = MPI_BYTE;
    }
    return 0;
}

static int near_prepare(struct exchange *x)
{
    int err = fill_side(&x->send, x->out, x->outs, true);
    return err ? err : fill_side(&x->recv, x->in, x->ins, true);
}

static int far_prepare(struct exchange *x)
{
    int err = fill_side(&x->send, x->out, x->outs, false);
    return err ? err : fill_side(&x->recv, x->in, x->ins, false);
}

static int graph_connect(struct exchange *x)
{
    int rc = MPI_Dist_graph_create_adjacent(x->comm, x->ins, x->recv.peers, unweighted(), x->outs,
                                            x->send.peers, unweighted(), MPI_INFO_NULL, 0, &x->graph);
    return rc == MPI_SUCCESS && x->graph == MPI_COMM_NULL ? MPI_ERR_UNSUPPORTED_OPERATION : rc;
}

#define NEAR_ARGUMENTS                                                                                       \
    x->send.base, x->send.counts, x->send.offsets, MPI_BYTE, x->recv.base, x->recv.counts, x->recv.offsets,  \
        MPI_BYTE, x->graph
#define FAR_ARGUMENTS                                                                                        \
    x->send.base, x->send.counts, x->send.far_offsets, x->send.types, x->recv.base, x->recv.counts,          \
        x->recv.far_offsets, x->recv.types, x->graph

static int near_start(const struct exchange *x)
{
    return MPI_Ineighbor_alltoallv(NEAR_ARGUMENTS, x->requests);
}

static int near_whole(const struct exchange *x)
{
    return MPI_Neighbor_alltoallv(NEAR_ARGUMENTS);
}

static int far_start(const struct exchange *x)
{
    return MPI_Ineighbor_alltoallw(FAR_ARGUMENTS, x->requests);
}

static int far_whole(const struct exchange *x)
{
    return MPI_Neighbor_alltoallw(FAR_ARGUMENTS);
}

static int graph_finish(const struct exchange *x)
{
    return MPI_Wait(x->requests, MPI_STATUS_IGNORE);
}

/* ---- all of them --------------------------------------------------------------------------------------- */

const char *const exchange_backs[EXCHANGE_BACKS + 1] = {
    "nonblocking", "sendrecv", "persistent", "neighbor", "neighborw", "partitioned",
    "fence",       "pscw",     "lock",       "flush",    NULL};

static const struct back by_nonblocking = {.calls = "MPI_Irecv, MPI_Isend or MPI_Waitall",
                                           .start = nonblocking_start,
                                           .finish = wait_all,
                                           .whole = nonblocking_whole};
static const struct back by_sendrecv = {
    .calls = "MPI_Sendrecv", .start = sendrecv_whole, .finish = nothing, .whole = sendrecv_whole};
static const struct back by_persistent = {.calls =
                                              "MPI_Recv_init, MPI_Send_init, MPI_Startall or MPI_Waitall",
                                          .connect = persistent_connect,
                                          .start = persistent_start,
                                          .finish = wait_all,
                                          .whole = persistent_whole};
static const struct back by_neighbor = {.calls = "MPI_Dist_graph_create_adjacent or MPI_Neighbor_alltoallv",
                                        .missing = NEIGHBOURS_MISSING,
                                        .prepare = near_prepare,
                                        .connect = graph_connect,
                                        .start = near_start,
                                        .finish = graph_finish,
                                        .whole = near_whole};
static const struct back by_neighborw = {.calls = "MPI_Dist_graph_create_adjacent or MPI_Neighbor_alltoallw",
                                         .missing = NEIGHBOURS_MISSING,
                                         .prepare = far_prepare,
                                         .connect = graph_connect,
                                         .start = far_start,
                                         .finish = graph_finish,
                                         .whole = far_whole};
static const struct back by_partitioned = {
    .calls = "MPI_Precv_init, MPI_Psend_init, MPI_Startall, MPI_Pready_range or "
             "MPI_Waitall",
    .missing = MPI4_MISSING,
    .connect = partitioned_connect,
    .start = partitioned_start,
    .finish = wait_all,
    .whole = partitioned_whole};

static const struct back *const backs[EXCHANGE_BACKS] = {
    [EXCHANGE_NONBLOCKING] = &by_nonblocking, [EXCHANGE_SENDRECV] = &by_sendrecv,
    [EXCHANGE_PERSISTENT] = &by_persistent,   [EXCHANGE_NEIGHBOR] = &by_neighbor,
    [EXCHANGE_NEIGHBORW] = &by_neighborw,     [EXCHANGE_PARTITIONED] = &by_partitioned,
    [EXCHANGE_FENCE] = &exchange_fence,       [EXCHANGE_PSCW] = &exchange_pscw,
    [EXCHANGE_LOCK] = &exchange_lock,         [EXCHANGE_FLUSH] = &exchange_flush,
};

static int divisor(int a, int b)
{
    while (b > 0) {
        int rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The links of this rank in MPI's terms, and room for them. */
static int reserve(struct exchange *x, const struct exchange_ask *ask, const struct exchange_link *links)
{
    x->links = calloc(x->count + 1, sizeof *x->links);
    x->out = calloc(x->count + 1, sizeof *x->out);
    x->in = calloc(x->count + 1, sizeof *x->in);
    x->requests = calloc(2 * x->count + 1, sizeof *x->requests);
    if (!x->links || !x->out || !x->in || !x->requests)
        return err_say(ERR_NOMEM, "no memory for the %zu neighbours of %s", x->count, ask->op);
    int err = 0;
    for (size_t i = 0; i < x->count && !err; ++i) {
        const struct exchange_link *l = &links[i];
        struct half out = {.data = l->send, .peer = l->to, .tag = l->tag};
        struct half in = {.data = l->recv, .peer = l->from, .tag = l->tag};
        err = num_to_int(l->send_bytes, &out.count);
        if (!err)
            err = num_to_int(l->recv_bytes, &in.count);
        out.partitions = divisor(ask->partitions, out.count);
        in.partitions = divisor(ask->partitions, in.count);
        x->links[i] = *l;
        if (l->to != MPI_PROC_NULL)
            x->out[x->outs++] = out;
        if (l->from != MPI_PROC_NULL)
            x->in[x->ins++] = in;
    }
    return err;
}

bool exchange_is_one_sided(enum exchange_back back)
{
    return back >= EXCHANGE_FENCE;
}

static int connect_exchange(struct exchange *x, const struct exchange_ask *ask)
{
    int rc = MPI_SUCCESS;
    if (ask->apart && !exchange_is_one_sided(ask->back)) {
        rc = MPI_Comm_dup(x->comm, &x->comm);
        x->own_comm = rc == MPI_SUCCESS;
    }
    if (rc == MPI_SUCCESS && x->back->connect)
        rc = x->back->connect(x);
    return team_mpi_err(rc, x->back->calls);
}

/* What is of no use without all movers' parts, which all ranks have or none. */
static int finish_movers(struct exchange *x, int err, int movers, struct exchange **exchange)
{
    if (err || !x || x->lane_count < movers)
        exchange_close(x);
    else
        *exchange = x;
    return err;
}

int exchange_open(const struct exchange_ask *ask, const struct exchange_link *links, size_t count, int failed,
                  struct exchange **exchange)
{
    *exchange = NULL;
    const struct back *back = backs[ask->back];
    struct exchange *x = calloc(1, sizeof *x);
    int err = failed;
    if (!err && !x)
        err = err_say(ERR_NOMEM, "no memory for the state of %s", ask->op);
    if (!err && back->missing)
        err = err_say(ERR_UNSUPPORTED, "%s=%s: %s", ask->param, ask->word, back->missing);
    if (!err) {
        *x = (struct exchange){.back = back,
                               .comm = team_comm(ask->team),
                               .graph = MPI_COMM_NULL,
                               .count = count,
                               .movers = ask->movers > 1 ? ask->movers : 1};
        if (ask->movers > 1)
            err = team_threads_allowed(ask->op, ask->movers);
        err = err ? err : reserve(x, ask, links);
    }
    if (ask->movers > 1 && (ask->apart || !exchange_is_one_sided(ask->back)))
        return finish_movers(x, movers_open(x, ask, links, count, err), ask->movers, exchange);
    if (!err && back->prepare)
        err = back->prepare(x);
    int64_t worst = err;
    int broken = team_max(ask->team, &worst);
    err = err ? err : broken;
    if (!err && worst == 0)
        err = connect_exchange(x, ask);
    if (err || worst != 0)
        exchange_close(x);
    else
        *exchange = x;
    return err;
}

static void free_side(struct sides *s)
{
    free(s->peers);
    free(s->counts);
    free(s->offsets);
    free(s->far_offsets);
    free(s->types);
}

void exchange_close(struct exchange *x)
{
    if (!x)
        return;
    for (int i = 0; i < x->requested; ++i)
        MPI_Request_free(&x->requests[i]);
    if (x->back && x->graph != MPI_COMM_NULL)
        MPI_Comm_free(&x->graph);
    exchange_remote_close(x);
    movers_close(x);
    if (x->own_comm)
        MPI_Comm_free(&x->comm);
    free_side(&x->send);
    free_side(&x->recv);
    free(x->links);
    free(x->out);
    free(x->in);
    free(x->requests);
    free(x);
}

int exchange_run(struct exchange *x, int64_t reps)
{
    int (*const whole)(const struct exchange *) = x->lanes ? movers_whole : x->back->whole;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = whole(x);
    return team_mpi_err(rc, x->back->calls);
}

int exchange_start(struct exchange *x)
{
    return team_mpi_err(x->lanes ? movers_start(x) : x->back->start(x), x->back->calls);
}

int exchange_finish(struct exchange *x)
{
    return team_mpi_err(x->lanes ? movers_finish(x) : x->back->finish(x), x->back->calls);
}
