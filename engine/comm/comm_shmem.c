/* Groups of ranks by OpenSHMEM, and what they do at once: between any two ranks of the team there is room for
 * a piece of a message each way, and collectives are messages from each to each. Plans: plan_shmem.c. */
#include "comm/comm_shmem.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/carrier_shmem.h"
#include "comm/comm_internal.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16 }; /* of a message; the heap has as much for each rank of the team */

struct own {
    struct carrier *carrier; /* way r is that to and from rank r of the team */
    bool is_part;            /* then the carrier is another's */
};

/* ---- groups -------------------------------------------------------------------------------------------- */

static int open_carrier(const struct comm *whole, struct carrier *carrier)
{
    struct comm_link *links = calloc((size_t)whole->size, sizeof *links);
    bool ready = false;
    int err = links ? 0 : err_say(ERR_NOMEM, "no memory for the messages of %d ranks", whole->size);
    for (int r = 0; r < whole->size && !err; ++r) {
        const int peer = r == whole->rank ? -1 : r;
        links[r] = (struct comm_link){.to = peer, .from = peer, .send_bytes = PIECE, .recv_bytes = PIECE};
    }
    err = carrier_open(whole, links, (size_t)whole->size, err, carrier, &ready);
    free(links);
    return err ? err : ready ? 0 : err_say(ERR_NOMEM, "another rank has no memory for its messages");
}

static struct comm new_comm(const struct team *team, struct phases *phases, int rank, int size)
{
    int *members = calloc((size_t)size, sizeof *members);
    for (int r = 0; members && r < size; ++r)
        members[r] = r;
    return (struct comm){.rank = rank,
                         .size = size,
                         .phases = phases,
                         .team = team,
                         .members = members,
                         .own = calloc(1, sizeof(struct own))};
}

int comm_open(const struct team *team, struct phases *phases, struct comm *comm)
{
    struct comm new = new_comm(team, phases, team->rank, team->size);
    struct own *own = new.own;
    void *nothing = NULL;
    int err = team_symmetric(team, 0, &nothing); /* what kernels take begins anew */
    if (!err && own)
        own->carrier = calloc(1, sizeof *own->carrier);
    if (!err && (!own || !own->carrier || !new.members))
        err = err_say(ERR_NOMEM, "no memory for a group of ranks");
    err = err ? err : open_carrier(&new, own->carrier);
    if (err)
        comm_close(&new);
    else
        *comm = new;
    return err;
}

void comm_close(struct comm *comm)
{
    struct own *own = comm->own;
    if (own && own->carrier && !own->is_part) {
        carrier_close(own->carrier);
        free(own->carrier);
    }
    free(own);
    free((void *)(uintptr_t)comm->members);
    *comm = (struct comm){0};
}

int comm_split(const struct comm *whole, int colour, struct comm *part)
{
    const struct own *own = whole->own;
    struct comm new = new_comm(whole->team, whole->phases, 0, whole->size);
    int *colours = calloc((size_t)whole->size, sizeof *colours), *members = (int *)(uintptr_t)new.members;
    int err = !new.own || !members || !colours ? err_say(ERR_NOMEM, "no memory for a group of ranks") : 0;
    err = err ? err : comm_allgather(whole, &colour, sizeof colour, colours);
    new.size = 0;
    for (int r = 0; r < whole->size && !err; ++r) {
        if (colours[r] != colour)
            continue;
        new.rank = r == whole->rank ? new.size : new.rank;
        members[new.size++] = whole->members[r];
    }
    free(colours);
    new.movers = whole->movers;
    new.apart = whole->apart;
    if (!err)
        *(struct own *)new.own = (struct own){own->carrier, true};
    if (err)
        comm_close(&new);
    else
        *part = new;
    return err;
}

/* ---- messages ------------------------------------------------------------------------------------------ */

/* A message to a rank and one from a rank, at once, in pieces; -1: none. */
struct passed {
    int to, from;
    const char *send;
    char *recv;
    size_t send_bytes, recv_bytes;
};

static size_t piece_of(size_t bytes, size_t at)
{
    return bytes - at < PIECE ? bytes - at : PIECE;
}

static void pass(const struct comm *comm, const struct passed *p)
{
    const struct carrier *c = ((const struct own *)comm->own)->carrier;
    const size_t out = p->to < 0 ? 0 : p->send_bytes, in = p->from < 0 ? 0 : p->recv_bytes;
    for (size_t at = 0; at < out || at < in; at += PIECE) {
        if (at < out)
            carrier_send(c, &c->outs[comm->members[p->to]], p->send + at, piece_of(out, at));
        if (at < in)
            carrier_take(c, &c->ins[comm->members[p->from]], p->recv + at, piece_of(in, at));
    }
}

void comm_pass_pieces(const struct comm *comm, const struct comm_pieces *send, const struct comm_pieces *recv)
{
    for (int distance = 1; distance < comm->size; ++distance) {
        const int to = (comm->rank + distance) % comm->size;
        const int from = (comm->rank - distance + comm->size) % comm->size;
        const struct passed p = {.to = to,
                                 .from = from,
                                 .send = (const char *)send->data + send->at[to],
                                 .recv = (char *)recv->data + recv->at[from],
                                 .send_bytes = send->bytes[to],
                                 .recv_bytes = recv->bytes[from]};
        pass(comm, &p);
    }
}

int comm_send(const struct comm *comm, int to, int tag, const void *data, size_t bytes)
{
    (void)tag; /* both sides of a pipeline have one order */
    if (to >= 0)
        comm_count_message(comm, bytes);
    pass(comm, &(struct passed){.to = to, .from = -1, .send = data, .send_bytes = bytes});
    return 0;
}

int comm_recv(const struct comm *comm, int from, int tag, void *data, size_t bytes)
{
    (void)tag;
    pass(comm, &(struct passed){.to = -1, .from = from, .recv = data, .recv_bytes = bytes});
    return 0;
}

/* ---- once in a while ----------------------------------------------------------------------------------- */

int comm_alltoallv(const struct comm *comm, const struct comm_pieces *send, const struct comm_pieces *recv)
{
    const int me = comm->rank;
    size_t bytes = 0;
    for (int r = 0; r < comm->size; ++r)
        bytes += send->bytes[r];
    comm_count(comm, bytes);
    memcpy((char *)recv->data + recv->at[me], (const char *)send->data + send->at[me], send->bytes[me]);
    comm_pass_pieces(comm, send, recv);
    return 0;
}

/* Pieces of one size, one after the other, or all of them one (`apart` 0). */
static int exchange(const struct comm *comm, const void *send, size_t apart, void *recv, size_t bytes)
{
    const size_t count = (size_t)comm->size;
    size_t *sizes = calloc(3 * count, sizeof *sizes), *out = sizes + count, *in = out + count;
    if (!sizes)
        return err_say(ERR_NOMEM, "no memory for the messages of %d ranks", comm->size);
    for (size_t r = 0; r < count; ++r) {
        sizes[r] = bytes;
        out[r] = r * apart;
        in[r] = r * bytes;
    }
    const struct comm_pieces from = {(void *)(uintptr_t)send, sizes, out}, to = {recv, sizes, in};
    const int err = comm_alltoallv(comm, &from, &to);
    free(sizes);
    return err;
}

int comm_allgather(const struct comm *comm, const void *mine, size_t bytes, void *all)
{
    return exchange(comm, mine, 0, all, bytes);
}

int comm_alltoall(const struct comm *comm, const void *send, void *recv, size_t bytes)
{
    return exchange(comm, send, bytes, recv, bytes);
}

/* Values of 8 bytes of all ranks, joined in the order of ranks: each rank has the same bits. */
typedef void join(void *into, const void *from, size_t count);

static int reduce(const struct comm *comm, void *values, size_t count, join *joined)
{
    size_t bytes = 0, whole = 0;
    int err = num_multiply(count, sizeof(double), &bytes);
    err = err ? err : num_multiply(bytes, (size_t)comm->size, &whole);
    char *all = err ? NULL : malloc(whole + 1);
    if (!err && !all)
        err = err_say(ERR_NOMEM, "no memory for a reduction over %d ranks", comm->size);
    err = err ? err : comm_allgather(comm, values, bytes, all);
    for (int r = 0; r < comm->size && !err; ++r)
        if (r == 0)
            memcpy(values, all, bytes);
        else
            joined(values, all + (size_t)r * bytes, count);
    free(all);
    return err;
}

#define JOIN(name, type, expression)                                                                         \
    static void name(void *into, const void *from, size_t count)                                             \
    {                                                                                                        \
        type *a = into;                                                                                      \
        const type *b = from;                                                                                \
        for (size_t i = 0; i < count; ++i)                                                                   \
            a[i] = (expression);                                                                             \
    }
JOIN(add, double, a[i] + b[i])
JOIN(add_ints, int64_t, a[i] + b[i])
JOIN(larger, double, b[i] > a[i] ? b[i] : a[i])

int comm_sum(const struct comm *comm, double *values, size_t count)
{
    return reduce(comm, values, count, add);
}

int comm_sum_ints(const struct comm *comm, int64_t *values, size_t count)
{
    return reduce(comm, values, count, add_ints);
}

int comm_max(const struct comm *comm, double *values, size_t count)
{
    return reduce(comm, values, count, larger);
}

int comm_offset(const struct comm *comm, int64_t mine, int64_t *offset)
{
    int64_t *all = calloc((size_t)comm->size, sizeof *all);
    *offset = 0;
    if (!all)
        return err_say(ERR_NOMEM, "no memory for the parts of %d ranks", comm->size);
    const int err = comm_allgather(comm, &mine, sizeof mine, all);
    for (int r = 0; r < comm->rank && !err; ++r)
        *offset += all[r];
    free(all);
    return err;
}

int comm_bcast(const struct comm *comm, int root, void *data, size_t bytes)
{
    comm_count(comm, comm->rank == root ? bytes : 0);
    for (int r = 0; r < comm->size; ++r)
        if (r != root)
            pass(comm, &(struct passed){.to = comm->rank == root ? r : -1,
                                        .from = comm->rank == r ? root : -1,
                                        .send = data,
                                        .recv = data,
                                        .send_bytes = bytes,
                                        .recv_bytes = bytes});
    return 0;
}

int comm_barrier(const struct comm *comm)
{
    double none = 0;
    return comm_max(comm, &none, 1);
}
