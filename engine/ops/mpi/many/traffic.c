#include "ops/mpi/many/traffic_state.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <limits.h>
#include <stdlib.h>

/* A call may go both ways between two ranks: then the tag distinguishes the two. The first tag is that of all
 * point-to-point ops. */
enum { TAG_THERE = 1, TAG_BACK };

const struct traffic_row traffic_rows[TRAFFIC_KINDS] = {
    [TRAFFIC_PINGPONG] = {0},
    [TRAFFIC_SEND] = {.answered = true},
    [TRAFFIC_EXCHANGE] = {.at_once = true},
    [TRAFFIC_WINDOW] = {.windowed = true, .answered = true},
    [TRAFFIC_BIWINDOW] = {.windowed = true, .at_once = true},
    [TRAFFIC_SENDRECV] = {.at_once = true, .one_way = true},
    [TRAFFIC_SERVED] = {.windowed = true, .answered = true, .served = true},
    [TRAFFIC_ISEND] = {.at_once = true, .waits = true},
};

const char *const traffic_kinds[TRAFFIC_KINDS + 1] = {"pingpong", "send",   "exchange", "window", "biwindow",
                                                      "sendrecv", "served", "isend",    NULL};

double traffic_moved(enum traffic_kind kind, size_t bytes, int window)
{
    double one_way = (double)bytes * (traffic_rows[kind].windowed ? window : 1);
    return traffic_rows[kind].answered || traffic_rows[kind].one_way ? one_way : 2 * one_way;
}

void traffic_close(struct traffic *t)
{
    if (!t)
        return;
    struct slab *const slabs[] = {&t->out, &t->in};
    for (int i = 0; i < 2; ++i) {
        free(slabs[i]->peers);
        free(slabs[i]->tags);
        free(t->phases[i].recv);
        free(t->phases[i].send);
    }
    free(t->requests);
    free(t->ended);
    free(t->left);
    free(t);
}

/* Room for `most` messages in each direction of a phase. */
static int phase_alloc(struct traffic_phase *p, size_t most)
{
    p->recv = calloc(most, sizeof *p->recv);
    p->send = calloc(most, sizeof *p->send);
    return p->recv && p->send
               ? 0
               : err_say(ERR_NOMEM, "no memory to keep %zu messages, %zu bytes; use a smaller window", most,
                         2 * most * sizeof *p->recv);
}

/* Allocate all memory. `ends` are the calls that this rank takes part in. */
static int reserve(struct traffic *t, struct buffers *store, size_t ends)
{
    struct slab *const slabs[] = {&t->out, &t->in};
    size_t most = 0, buffers = 0;
    int narrow = 0;
    int err = num_multiply(ends, (size_t)t->window, &most);
    if (!err)
        err = num_to_int(2 * most, &narrow); /* of MPI_Waitall */
    if (!err)
        err = num_multiply(ends, (size_t)t->buffers, &buffers);
    for (int i = 0; i < 2 && !err; ++i) {
        err = buffers_take(store, buffers, t->stride, (void **)&slabs[i]->data);
        slabs[i]->peers = calloc(ends, sizeof(int));
        slabs[i]->tags = calloc(ends, sizeof(int));
        if (!err && (!slabs[i]->peers || !slabs[i]->tags))
            err = err_say(ERR_NOMEM, "no memory for %zu peers, %zu bytes", ends, 2 * ends * sizeof(int));
        if (!err)
            err = phase_alloc(&t->phases[i], most);
    }
    buffers_count(store, 2 * most * (2 * sizeof(struct message) + sizeof *t->requests + sizeof *t->ended));
    t->requests = err ? NULL : calloc(2 * most, sizeof *t->requests);
    t->ended = err ? NULL : calloc(most, sizeof *t->ended);
    t->left = err ? NULL : calloc(most, sizeof *t->left);
    if (!err && (!t->requests || !t->ended || !t->left))
        err = err_say(ERR_NOMEM, "no memory for %zu requests, %zu bytes; use a smaller window", 2 * most,
                      2 * most * sizeof *t->requests);
    return err;
}

static char *buffer_of(const struct traffic *t, const struct slab *slab, int group, int b)
{
    return slab->data ? slab->data + ((size_t)group * (size_t)t->buffers + (size_t)b) * t->stride : NULL;
}

/* One direction of a call: the messages of a window, or an empty message. */
static void add_messages(struct traffic *t, struct traffic_phase *p, bool is_send, int peer, int tag,
                         bool empty, int window)
{
    struct slab *slab = is_send ? &t->out : &t->in;
    struct message *list = is_send ? p->send : p->recv;
    int *count = is_send ? &p->sends : &p->recvs;
    if (empty) {
        list[(*count)++] = (struct message){NULL, 0, peer, tag};
        return;
    }
    for (int w = 0; w < window; ++w)
        list[(*count)++] =
            (struct message){buffer_of(t, slab, slab->groups, w % t->buffers), (int)t->bytes, peer, tag};
    slab->peers[slab->groups] = peer;
    slab->tags[slab->groups++] = tag;
}

static void add_call(struct traffic *t, enum traffic_kind kind, int peer, bool i_call)
{
    const int window = traffic_rows[kind].windowed ? t->window : 1;
    struct traffic_phase *there = &t->phases[0], *back = &t->phases[traffic_rows[kind].at_once ? 0 : 1];
    add_messages(t, there, i_call, peer, TAG_THERE, false, window);
    if (traffic_rows[kind].one_way)
        return;
    add_messages(t, back, !i_call, peer, TAG_BACK, traffic_rows[kind].answered, window);
}

int traffic_open(const struct traffic_ask *ask, const struct layout_peers *peers, struct traffic **traffic)
{
    if (traffic_rows[ask->kind].one_way && peers->to_count != peers->from_count)
        return err_say(ERR_UNSUPPORTED,
                       "%s: kind=%s is for layouts in which each rank receives as many messages as it sends; "
                       "choose another kind, or a ring, a shift or all",
                       ask->op, traffic_kinds[ask->kind]);
    struct traffic *t = calloc(1, sizeof *t);
    if (!t)
        return err_say(ERR_NOMEM, "no memory for the state of %s", ask->op);
    int count = 0;
    *t = (struct traffic){.comm = ask->comm,
                          .rank = ask->rank,
                          .bytes = ask->bytes,
                          .stride = (ask->bytes + 63) / 64 * 64,
                          .window = traffic_rows[ask->kind].windowed ? ask->window : 1};
    t->buffers = ask->buffers < t->window ? ask->buffers : t->window;
    int ends = peers->to_count + peers->from_count;
    int err = num_to_int(ask->bytes, &count);
    if (!err)
        err = reserve(t, ask->store, ends > 0 ? (size_t)ends : 1);
    if (err) {
        traffic_close(t);
        return err;
    }
    for (int i = 0; i < peers->to_count; ++i)
        add_call(t, ask->kind, ask->first + peers->to[i], true);
    for (int i = 0; i < peers->from_count; ++i)
        add_call(t, ask->kind, ask->first + peers->from[i], false);
    traffic_choose(t, peers, ask->kind);
    *traffic = t;
    return 0;
}

/* A number for data_fill() that differs for each message of a rank. */
static int key(const struct traffic *t, int to, int tag, int b)
{
    const uint64_t time = hash_mix((uint64_t)t->generation);
    return (int)(hash_mix(time ^ (uint64_t)to << 32 ^ (uint64_t)b << 2 ^ (uint64_t)tag) & INT_MAX);
}

void traffic_poison(struct traffic *t)
{
    if (t->in.data)
        data_poison(t->in.data, (size_t)t->in.groups * (size_t)t->buffers * t->stride);
    t->came = false;
}

void traffic_fill(struct traffic *t)
{
    ++t->generation;
    for (int g = 0; g < t->out.groups && t->bytes > 0; ++g)
        for (int b = 0; b < t->buffers; ++b)
            data_fill(buffer_of(t, &t->out, g, b), t->bytes, t->rank,
                      key(t, t->out.peers[g], t->out.tags[g], b));
    traffic_poison(t);
}

int traffic_check(struct traffic *t, bool planted)
{
    int err = 0;
    if (t->bytes == 0 || t->in.groups == 0 || !t->came)
        return 0;
    data_arrived(t->in.data, ((size_t)t->in.groups * (size_t)t->buffers - 1) * t->stride + t->bytes, planted);
    for (int g = 0; g < t->in.groups && !err; ++g)
        for (int b = 0; b < t->buffers && !err; ++b)
            err = data_check(buffer_of(t, &t->in, g, b), t->bytes, t->in.peers[g],
                             key(t, t->rank, t->in.tags[g], b), b);
    return err;
}
