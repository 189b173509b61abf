#include "comm/carrier_shmem.h"

#include "base/err.h"
#include "team/compat_shmem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { NO_TAG = -1, LINE = 64 }; /* bytes of a cache line */

/* Rounded up, so that no two messages share a line. */
static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

/* ---- one message -------------------------------------------------------------------------------------- */

/* The mark of a way in this rank's memory, and where it is in the peer's. */
static struct mark *mark_here(const struct carrier *c, const struct way *w)
{
    return &c->marks[(size_t)w->peer * c->places + w->place];
}

static struct mark *mark_there(const struct carrier *c, const struct way *w)
{
    return &c->marks[(size_t)c->rank * c->places + w->place];
}

void carrier_await_room(const struct carrier *c, const struct way *out)
{
    shmem_uint64_wait_until(&mark_here(c, out)->emptied, SHMEM_CMP_EQ, out->messages);
}

void carrier_tell(const struct carrier *c, struct way *out)
{
    ++out->messages;
    shmem_uint64_p(&mark_there(c, out)->full, out->messages, out->peer);
}

void carrier_signal(const struct carrier *c, struct way *out, const void *data, size_t bytes)
{
    carrier_await_room(c, out);
    ++out->messages;
    SHMEM15(shmem_putmem_signal_nbi(out->room, data, bytes, &mark_there(c, out)->full, out->messages,
                                    SHMEM_SIGNAL_SET, out->peer));
    (void)data, (void)bytes;
}

void carrier_send(const struct carrier *c, struct way *out, const void *data, size_t bytes)
{
    carrier_await_room(c, out);
    shmem_putmem(out->room, data, bytes, out->peer);
    shmem_fence();
    carrier_tell(c, out);
}

void carrier_take(const struct carrier *c, struct way *in, void *data, size_t bytes)
{
    ++in->messages;
    shmem_uint64_wait_until(&mark_here(c, in)->full, SHMEM_CMP_EQ, in->messages);
    memcpy(data, in->room, bytes);
    /* OpenSHMEM orders puts, not loads: the copy is over before the sender may write there again. */
    atomic_thread_fence(memory_order_release);
    shmem_uint64_p(&mark_there(c, in)->emptied, in->messages, in->peer);
}

/* ---- its life ----------------------------------------------------------------------------------------- */

static int peer_of(const struct comm *comm, int rank, size_t bytes)
{
    return rank >= 0 && bytes > 0 ? comm->members[rank] : -1;
}

/* Ways of this rank, those of a peer numbered by the receiver; *places: the most of one peer. */
static int list_ways(struct carrier *c, const struct comm *comm, const struct comm_link *links,
                     int64_t *places, int64_t *room)
{
    c->outs = calloc(c->count + 1, sizeof *c->outs);
    c->ins = calloc(c->count + 1, sizeof *c->ins);
    size_t *from = calloc((size_t)comm->team->size, sizeof *from);
    for (size_t i = 0; c->outs && c->ins && from && i < c->count; ++i) {
        const struct comm_link *l = &links[i];
        c->outs[i].peer = peer_of(comm, l->to, l->send_bytes);
        c->ins[i].peer = peer_of(comm, l->from, l->recv_bytes);
        if (c->ins[i].peer < 0)
            continue;
        c->ins[i].place = from[c->ins[i].peer]++;
        *places = (int64_t)c->ins[i].place >= *places ? (int64_t)c->ins[i].place + 1 : *places;
        *room += (int64_t)whole_lines(l->recv_bytes);
    }
    const bool listed = c->outs && c->ins && from;
    free(from);
    return listed ? 0 : err_say(ERR_NOMEM, "no memory for the messages of %zu neighbours", c->count);
}

/* Tell senders where their messages go to. */
static int tell_rooms(struct carrier *c, const struct team *team, const struct comm_link *links, char *rooms)
{
    const size_t marks = (size_t)team->size * c->places;
    for (size_t i = 0; i < marks; ++i)
        c->marks[i] = (struct mark){.tag = NO_TAG};
    int err = team_barrier(team);
    size_t at = 0;
    for (size_t i = 0; i < c->count && !err; ++i) {
        struct way *in = &c->ins[i];
        if (in->peer < 0)
            continue;
        in->room = rooms + at;
        shmem_uint64_p(&mark_there(c, in)->at, at, in->peer);
        shmem_int64_p(&mark_there(c, in)->tag, links[i].tag, in->peer);
        at += whole_lines(links[i].recv_bytes);
    }
    shmem_quiet();
    return err ? err : team_barrier(team);
}

static int find_rooms(const struct carrier *c, const struct comm_link *links, char *rooms)
{
    for (size_t i = 0; i < c->count; ++i) {
        struct way *out = &c->outs[i];
        if (out->peer < 0)
            continue;
        while (out->place < c->places && mark_here(c, out)->tag != links[i].tag)
            ++out->place;
        if (out->place == c->places)
            return err_say(ERR_SYSTEM, "rank %d has no room for the message %d of rank %d", out->peer,
                           links[i].tag, c->rank);
        out->room = rooms + mark_here(c, out)->at;
    }
    return 0;
}

int carrier_open(const struct comm *comm, const struct comm_link *links, size_t count, int failed,
                 struct carrier *carrier, bool *ready)
{
    const struct team *team = comm->team;
    struct carrier *c = carrier;
    *c = (struct carrier){.rank = team->rank, .count = count};
    int64_t worst = 0, places = 1, room = 0;
    shmem_quiet(); /* flags of messages that were here before */
    int err = failed ? failed : list_ways(c, comm, links, &places, &room);
    worst = err;
    int broken = team_max(team, &worst);
    broken = broken ? broken : team_max(team, &places);
    broken = broken ? broken : team_max(team, &room);
    err = err ? err : broken;
    *ready = !err && worst == 0;
    if (*ready) {
        void *memory = NULL;
        c->places = (size_t)places;
        const size_t marks = whole_lines((size_t)team->size * c->places * sizeof *c->marks);
        err = team_symmetric_more(team, marks + (size_t)room, &memory);
        c->marks = memory;
        err = err ? err : tell_rooms(c, team, links, (char *)memory + marks);
        err = err ? err : find_rooms(c, links, (char *)memory + marks);
    }
    *ready = *ready && !err;
    if (!*ready)
        carrier_close(c);
    return err;
}

void carrier_close(struct carrier *c)
{
    free(c->outs);
    free(c->ins);
    *c = (struct carrier){0};
}
