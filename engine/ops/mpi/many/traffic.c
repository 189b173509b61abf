#include "ops/mpi/many/traffic.h"

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

/* The properties of each kind of traffic. */
static const struct {
    bool windowed; /* a window of messages instead of one */
    bool at_once;  /* messages back do not wait for those that arrive */
    bool answered; /* the message back is empty */
    bool one_way;  /* there is no message back */
    bool served;   /* callers are answered one by one */
    bool waits;    /* messages are received one after the other, when all have been sent */
} kinds[TRAFFIC_KINDS] = {
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

struct message {
    void *data;
    int count, peer, tag;
};

/* Messages in flight at once, all complete before the next phase. */
struct traffic_phase {
    struct message *recv, *send;
    int recvs, sends;
};

/* The buffers of one direction: `buffers` for each peer, one after the other. */
struct slab {
    char *data;
    int *peers, *tags; /* the peer and the tag of each group of buffers */
    int groups;
};

struct traffic {
    MPI_Comm comm;
    int rank, buffers, window;
    size_t bytes, stride; /* of a buffer, rounded up to whole cache lines */
    struct slab out, in;
    struct traffic_phase phases[2]; /* traffic that goes both ways at once has only one */
    MPI_Request *requests;
    int *ended, *left; /* of served calls: receives that have ended; messages that each caller still owes */
    struct message single[2]; /* for a rank with one call: the message there and the one back */
    int (*run)(struct traffic *t, int64_t reps);
    int generation; /* number of the check, which the data depend on */
    bool came;      /* a message has arrived since the receive buffers were poisoned */
};

double traffic_moved(enum traffic_kind kind, size_t bytes, int window)
{
    double one_way = (double)bytes * (kinds[kind].windowed ? window : 1);
    return kinds[kind].answered || kinds[kind].one_way ? one_way : 2 * one_way;
}

static int run_nothing(struct traffic *t, int64_t reps)
{
    (void)t, (void)reps;
    return 0;
}

static int run_caller(struct traffic *t, int64_t reps)
{
    const struct message there = t->single[0], back = t->single[1];
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Send(there.data, there.count, MPI_BYTE, there.peer, there.tag, t->comm);
        if (rc == MPI_SUCCESS)
            rc = MPI_Recv(back.data, back.count, MPI_BYTE, back.peer, back.tag, t->comm, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

static int run_callee(struct traffic *t, int64_t reps)
{
    const struct message there = t->single[0], back = t->single[1];
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Recv(there.data, there.count, MPI_BYTE, there.peer, there.tag, t->comm, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Send(back.data, back.count, MPI_BYTE, back.peer, back.tag, t->comm);
    }
    return team_mpi_err(rc, "MPI_Recv or MPI_Send");
}

static int run_phase(const struct traffic *t, const struct traffic_phase *p)
{
    MPI_Request *request = t->requests;
    int rc = MPI_SUCCESS;
    for (const struct message *m = p->recv; m < p->recv + p->recvs && rc == MPI_SUCCESS; ++m)
        rc = MPI_Irecv(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    for (const struct message *m = p->send; m < p->send + p->sends && rc == MPI_SUCCESS; ++m)
        rc = MPI_Isend(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    return rc != MPI_SUCCESS ? rc
                             : MPI_Waitall((int)(request - t->requests), t->requests, statuses_ignored());
}

static int run_at_once(struct traffic *t, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = run_phase(t, &t->phases[0]);
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}

/* The last that calls this rank is received first: in a ring, the one from before, which was sent first. */
static int run_isend(struct traffic *t, int64_t reps)
{
    const struct traffic_phase *p = &t->phases[0];
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Request *request = t->requests;
        for (const struct message *m = p->send; m < p->send + p->sends && rc == MPI_SUCCESS; ++m)
            rc = MPI_Isend(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
        for (const struct message *m = p->recv + p->recvs; m-- > p->recv && rc == MPI_SUCCESS;)
            rc = MPI_Recv(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(p->sends, t->requests, statuses_ignored());
    }
    return team_mpi_err(rc, "MPI_Isend, MPI_Recv or MPI_Waitall");
}

/* One MPI_Sendrecv after the other; the i-th call of this rank with the i-th that calls it. */
static int run_sendrecv(struct traffic *t, int64_t reps)
{
    const struct traffic_phase *p = &t->phases[0];
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        for (int m = 0; m < p->sends && rc == MPI_SUCCESS; ++m) {
            const struct message *to = &p->send[m], *from = &p->recv[m];
            rc = MPI_Sendrecv(to->data, to->count, MPI_BYTE, to->peer, to->tag, from->data, from->count,
                              MPI_BYTE, from->peer, from->tag, t->comm, MPI_STATUS_IGNORE);
        }
    return team_mpi_err(rc, "MPI_Sendrecv");
}

static int run_in_turns(struct traffic *t, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = run_phase(t, &t->phases[0]);
        if (rc == MPI_SUCCESS)
            rc = run_phase(t, &t->phases[1]);
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}

/* Receives stand first, those of a caller together; answers of others and sends after them. */
static int serve(struct traffic *t)
{
    const struct traffic_phase *there = &t->phases[0], *back = &t->phases[1];
    MPI_Request *request = t->requests, *const sent = request + there->recvs;
    int rc = MPI_SUCCESS, count = 0;
    for (const struct message *m = there->recv; m < there->recv + there->recvs && rc == MPI_SUCCESS; ++m)
        rc = MPI_Irecv(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    for (const struct message *m = back->recv; m < back->recv + back->recvs && rc == MPI_SUCCESS; ++m)
        rc = MPI_Irecv(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    for (const struct message *m = there->send; m < there->send + there->sends && rc == MPI_SUCCESS; ++m)
        rc = MPI_Isend(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    for (int k = 0; k < back->sends; ++k)
        t->left[k] = t->window;
    for (int all = 0; all < there->recvs && rc == MPI_SUCCESS; all += count) {
        rc = MPI_Waitsome(there->recvs, t->requests, &count, t->ended, statuses_ignored());
        for (int i = 0; i < count && rc == MPI_SUCCESS; ++i) {
            const struct message *answer = &back->send[t->ended[i] / t->window];
            if (--t->left[t->ended[i] / t->window] == 0)
                rc = MPI_Isend(answer->data, 0, MPI_BYTE, answer->peer, answer->tag, t->comm, request++);
        }
    }
    return rc != MPI_SUCCESS ? rc : MPI_Waitall((int)(request - sent), sent, statuses_ignored());
}

static int run_served(struct traffic *t, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = serve(t);
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend, MPI_Waitsome or MPI_Waitall");
}

int traffic_run(struct traffic *t, int64_t reps)
{
    t->came = true;
    return t->run(t, reps);
}

bool traffic_by_turns(const struct traffic *t)
{
    const bool single = t->run == run_caller || t->run == run_callee;
    return t->run == run_nothing || (single && t->single[0].count == t->single[1].count);
}

int traffic_partner(const struct traffic *t)
{
    return t->run == run_nothing ? -1 : t->single[0].peer;
}

int traffic_turn(struct traffic *t, int64_t message)
{
    if (t->run == run_nothing)
        return 0;
    const bool sends = (message % 2 == 0) == (t->rank < t->single[0].peer);
    const struct message m = t->single[sends == (t->run == run_caller) ? 0 : 1];
    t->came = t->came || !sends;
    return sends
               ? team_mpi_err(MPI_Send(m.data, m.count, MPI_BYTE, m.peer, m.tag, t->comm), "MPI_Send")
               : team_mpi_err(MPI_Recv(m.data, m.count, MPI_BYTE, m.peer, m.tag, t->comm, MPI_STATUS_IGNORE),
                              "MPI_Recv");
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
    const int window = kinds[kind].windowed ? t->window : 1;
    struct traffic_phase *there = &t->phases[0], *back = &t->phases[kinds[kind].at_once ? 0 : 1];
    add_messages(t, there, i_call, peer, TAG_THERE, false, window);
    if (kinds[kind].one_way)
        return;
    add_messages(t, back, !i_call, peer, TAG_BACK, kinds[kind].answered, window);
}

static void choose_run(struct traffic *t, const struct layout_peers *peers, enum traffic_kind kind)
{
    const struct traffic_phase *p = t->phases;
    t->run = kinds[kind].at_once ? run_at_once : run_in_turns;
    if (peers->to_count + peers->from_count == 0)
        t->run = run_nothing;
    else if (kinds[kind].one_way)
        t->run = run_sendrecv;
    else if (kinds[kind].served && peers->from_count > 0)
        t->run = run_served;
    else if (kinds[kind].waits)
        t->run = run_isend;
    else if (!kinds[kind].at_once && p[0].sends == 1 && p[0].recvs == 0) {
        t->run = run_caller;
        t->single[0] = p[0].send[0];
        t->single[1] = p[1].recv[0];
    } else if (!kinds[kind].at_once && p[0].sends == 0 && p[0].recvs == 1) {
        t->run = run_callee;
        t->single[0] = p[0].recv[0];
        t->single[1] = p[1].send[0];
    }
}

int traffic_open(const struct traffic_ask *ask, const struct layout_peers *peers, struct traffic **traffic)
{
    if (kinds[ask->kind].one_way && peers->to_count != peers->from_count)
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
                          .window = kinds[ask->kind].windowed ? ask->window : 1};
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
    choose_run(t, peers, ask->kind);
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
