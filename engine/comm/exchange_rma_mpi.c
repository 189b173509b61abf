/* Exchanges by MPI_Put into the neighbours' buffers, which are a window: by fences, by post, start, complete
 * and wait, by locks, by flushes in one epoch that lasts as long as the exchange is open.
 *
 * With locks a target takes no part. So neighbours tell each other by empty messages that a buffer may be
 * written, and that it has been: each rank waits for its own neighbours and for nobody else. */
#include "comm/exchange_internal_mpi.h"

#include "base/err.h"
#include "comm/compat_mpi.h"

#include <stdbool.h>
#include <stdlib.h>

enum { READY = 1, DONE };

/* A message out of this rank: where it goes to in the window of its target. */
struct store {
    const void *data;
    int count, target, tag;
    MPI_Aint there;
};

/* Different ranks, in order. */
struct peers {
    int *ranks, count;
    MPI_Group group;
};

struct remote {
    MPI_Comm comm; /* of the messages that tell */
    MPI_Win win;
    int rank;
    bool held;            /* in an epoch of all locks */
    struct store *stores; /* those to one target are neighbours */
    int count;
    int movers; /* threads that put, and how many stores each has at which place */
    struct part *shares;
    struct peers from, to;
};

/* ---- setup ---- */

static int compare_ranks(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int compare_stores(const void *a, const void *b)
{
    return compare_ranks(&((const struct store *)a)->target, &((const struct store *)b)->target);
}

static int list_peers(struct peers *p, const struct half *halves, int count)
{
    p->ranks = calloc((size_t)count + 1, sizeof *p->ranks);
    if (!p->ranks)
        return err_say(ERR_NOMEM, "no memory for the list of %d neighbours", count);
    for (int i = 0; i < count; ++i)
        p->ranks[i] = halves[i].peer;
    qsort(p->ranks, (size_t)count, sizeof *p->ranks, compare_ranks);
    for (int i = 0; i < count; ++i)
        if (i == 0 || p->ranks[i] != p->ranks[p->count - 1])
            p->ranks[p->count++] = p->ranks[i];
    return 0;
}

static int prepare(struct exchange *x)
{
    struct remote *r = x->remote = calloc(1, sizeof *r);
    if (!r)
        return err_say(ERR_NOMEM, "no memory for a window of %d neighbours", x->ins);
    *r = (struct remote){.comm = MPI_COMM_NULL,
                         .win = MPI_WIN_NULL,
                         .from.group = MPI_GROUP_EMPTY,
                         .to.group = MPI_GROUP_EMPTY,
                         .count = x->outs,
                         .movers = x->movers,
                         .stores = calloc((size_t)x->outs + 1, sizeof *r->stores)};
    if (!r->stores)
        return err_say(ERR_NOMEM, "no memory for the messages to %d neighbours", x->outs);
    for (int i = 0; i < x->outs; ++i) {
        const struct half *h = &x->out[i];
        r->stores[i] = (struct store){.data = h->data, .count = h->count, .target = h->peer, .tag = h->tag};
    }
    int err = list_peers(&r->from, x->in, x->ins);
    return err ? err : list_peers(&r->to, x->out, x->outs);
}

/* From the lowest buffer to the end of the highest. */
static int create_window(struct exchange *x)
{
    uintptr_t low = 0, high = 0;
    for (const struct half *h = x->in; h < x->in + x->ins; ++h) {
        const uintptr_t at = (uintptr_t)h->data, end = at + (uintptr_t)h->count;
        low = h->count > 0 && (low == 0 || at < low) ? at : low;
        high = h->count > 0 && end > high ? end : high;
    }
    x->recv.base = (char *)low; /* NOLINT(performance-no-int-to-ptr) */
    int rc = MPI_Win_create(x->recv.base, (MPI_Aint)(high - low), 1, MPI_INFO_NULL, x->comm, &x->remote->win);
    return rc == MPI_SUCCESS ? MPI_Win_set_errhandler(x->remote->win, MPI_ERRORS_RETURN) : rc;
}

/* So many neighbours for each mover; messages are cut where there are fewer. A put needs no consent. */
static int share_stores(struct remote *r)
{
    struct store *cut = calloc((size_t)(r->count * r->movers) + 1, sizeof *cut);
    int count = 0;
    r->shares = calloc((size_t)r->movers, sizeof *r->shares);
    if (!cut || !r->shares) {
        free(cut);
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < r->count; ++i) {
        const struct store *s = &r->stores[i];
        const size_t bytes = (size_t)s->count;
        const struct part part = movers_of(r->movers, r->count, i, bytes);
        for (int k = 0; k < part.count; ++k) {
            const size_t at = mover_cut(bytes, part.count, k);
            struct part *share = &r->shares[part.first + k];
            share->first = share->count++ == 0 ? count : share->first;
            cut[count] = *s;
            cut[count].data = (const char *)s->data + at;
            cut[count].there += (MPI_Aint)at;
            cut[count++].count = (int)(mover_cut(bytes, part.count, k + 1) - at);
        }
    }
    free(r->stores);
    r->stores = cut;
    r->count = count;
    return MPI_SUCCESS;
}

/* Each rank says to whoever puts where in its window that is to be. */
static int tell_places(struct exchange *x)
{
    struct remote *r = x->remote;
    MPI_Request *request = x->requests;
    int rc = MPI_SUCCESS;
    MPI_Aint *places = calloc((size_t)x->ins + 1, sizeof *places);
    if (!places)
        return MPI_ERR_NO_MEM;
    for (int i = 0; i < r->count && rc == MPI_SUCCESS; ++i)
        rc = MPI_Irecv(&r->stores[i].there, 1, MPI_AINT, r->stores[i].target, r->stores[i].tag, r->comm,
                       request++);
    for (int i = 0; i < x->ins && rc == MPI_SUCCESS; ++i) {
        places[i] = x->in[i].count > 0 ? (char *)x->in[i].data - x->recv.base : 0;
        rc = MPI_Isend(&places[i], 1, MPI_AINT, x->in[i].peer, x->in[i].tag, r->comm, request++);
    }
    if (rc == MPI_SUCCESS)
        rc = MPI_Waitall(x->ins + r->count, x->requests, statuses_ignored());
    free(places);
    qsort(r->stores, (size_t)r->count, sizeof *r->stores, compare_stores);
    return rc == MPI_SUCCESS && r->movers > 1 ? share_stores(r) : rc;
}

static int connect(struct exchange *x)
{
    struct remote *r = x->remote;
    MPI_Group all = MPI_GROUP_EMPTY;
    int rc = MPI_Comm_dup(x->comm, &r->comm);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_rank(r->comm, &r->rank);
    if (rc == MPI_SUCCESS)
        rc = create_window(x);
    if (rc == MPI_SUCCESS)
        rc = tell_places(x);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_group(r->comm, &all);
    if (rc == MPI_SUCCESS)
        rc = MPI_Group_incl(all, r->from.count, r->from.ranks, &r->from.group);
    if (rc == MPI_SUCCESS)
        rc = MPI_Group_incl(all, r->to.count, r->to.ranks, &r->to.group);
    if (all != MPI_GROUP_EMPTY)
        MPI_Group_free(&all);
    return rc;
}

static int connect_and_hold(struct exchange *x)
{
    int rc = connect(x);
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_lock_all(0, x->remote->win);
    x->remote->held = rc == MPI_SUCCESS;
    return rc;
}

static void free_peers(struct peers *p)
{
    if (p->group != MPI_GROUP_EMPTY)
        MPI_Group_free(&p->group);
    free(p->ranks);
}

void exchange_remote_close(struct exchange *x)
{
    struct remote *r = x->remote;
    if (!r)
        return;
    if (r->held)
        MPI_Win_unlock_all(r->win);
    if (r->win != MPI_WIN_NULL)
        MPI_Win_free(&r->win);
    if (r->comm != MPI_COMM_NULL)
        MPI_Comm_free(&r->comm);
    free_peers(&r->from);
    free_peers(&r->to);
    free(r->stores);
    free(r->shares);
    free(r);
    x->remote = NULL;
}

/* ---- what all do ---- */

static int put(const struct remote *r, const struct store *s)
{
    return MPI_Put(s->data, s->count, MPI_BYTE, s->target, s->there, s->count, MPI_BYTE, r->win);
}

/* Those of a mover. Under flushes several complete what is theirs, one leaves it to the end. */
static int put_share(const struct remote *r, struct part share)
{
    const struct store *const first = r->stores + share.first, *const end = first + share.count;
    int rc = MPI_SUCCESS;
    for (const struct store *s = first; s < end && rc == MPI_SUCCESS; ++s)
        rc = put(r, s);
    for (const struct store *s = first; r->held && r->movers > 1 && s < end && rc == MPI_SUCCESS; ++s)
        if (s == first || s->target != s[-1].target)
            rc = MPI_Win_flush(s->target, r->win);
    return rc;
}

static int put_part(const void *of, int mover)
{
    const struct remote *r = of;
    return put_share(r, r->shares[mover]);
}

static int put_all(const struct remote *r)
{
    return r->movers > 1 ? movers_run(r->movers, put_part, r) : put_share(r, (struct part){0, r->count});
}

/* An empty message to each of some, and one from each of others. */
static int tell(const struct exchange *x, const struct peers *to, const struct peers *from, int tag)
{
    MPI_Request *request = x->requests;
    int rc = MPI_SUCCESS;
    for (int i = 0; i < from->count && rc == MPI_SUCCESS; ++i)
        rc = MPI_Irecv(NULL, 0, MPI_BYTE, from->ranks[i], tag, x->remote->comm, request++);
    for (int i = 0; i < to->count && rc == MPI_SUCCESS; ++i)
        rc = MPI_Isend(NULL, 0, MPI_BYTE, to->ranks[i], tag, x->remote->comm, request++);
    return rc == MPI_SUCCESS ? MPI_Waitall(to->count + from->count, x->requests, statuses_ignored()) : rc;
}

/* My buffers may be written; those of my neighbours may be, too. */
static int tell_ready(const struct exchange *x)
{
    return tell(x, &x->remote->from, &x->remote->to, READY);
}

static int tell_done(const struct exchange *x)
{
    return tell(x, &x->remote->to, &x->remote->from, DONE);
}

#define WHOLE(name)                                                                                          \
    static int name##_whole(const struct exchange *x)                                                        \
    {                                                                                                        \
        int rc = name##_start(x);                                                                            \
        return rc == MPI_SUCCESS ? name##_finish(x) : rc;                                                    \
    }

/* ---- fence ---- */

static int fence_start(const struct exchange *x)
{
    int rc = MPI_Win_fence(0, x->remote->win);
    return rc == MPI_SUCCESS ? put_all(x->remote) : rc;
}

static int fence_finish(const struct exchange *x)
{
    return MPI_Win_fence(0, x->remote->win);
}

WHOLE(fence)

/* ---- post, start, complete, wait: who has no neighbour on a side has no epoch of it ---- */

static int pscw_start(const struct exchange *x)
{
    const struct remote *r = x->remote;
    int rc = r->from.count > 0 ? MPI_Win_post(r->from.group, 0, r->win) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && r->to.count > 0)
        rc = MPI_Win_start(r->to.group, 0, r->win);
    return rc == MPI_SUCCESS ? put_all(r) : rc;
}

static int pscw_finish(const struct exchange *x)
{
    const struct remote *r = x->remote;
    int rc = r->to.count > 0 ? MPI_Win_complete(r->win) : MPI_SUCCESS;
    return rc == MPI_SUCCESS && r->from.count > 0 ? MPI_Win_wait(r->win) : rc;
}

WHOLE(pscw)

/* ---- lock: a shared one for each neighbour, for they put to one rank at the same time ---- */

/* What this rank has stored in its window is there for others, and what they have put is there for it. */
static int order_by_lock(const struct remote *r)
{
    int rc = MPI_Win_lock(MPI_LOCK_SHARED, r->rank, 0, r->win);
    return rc == MPI_SUCCESS ? MPI_Win_unlock(r->rank, r->win) : rc;
}

/* A process has one epoch to a target, so one thread opens and closes those of all movers. */
static int put_in_locks(const struct remote *r)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < r->to.count && rc == MPI_SUCCESS; ++i)
        rc = MPI_Win_lock(MPI_LOCK_SHARED, r->to.ranks[i], 0, r->win);
    if (rc == MPI_SUCCESS)
        rc = put_all(r);
    for (int i = 0; i < r->to.count && rc == MPI_SUCCESS; ++i)
        rc = MPI_Win_unlock(r->to.ranks[i], r->win);
    return rc;
}

static int lock_start(const struct exchange *x)
{
    const struct remote *r = x->remote;
    const struct store *s = r->stores, *const end = s + r->count;
    int rc = order_by_lock(r);
    if (rc == MPI_SUCCESS)
        rc = tell_ready(x);
    if (r->movers > 1)
        return rc == MPI_SUCCESS ? put_in_locks(r) : rc;
    while (s < end && rc == MPI_SUCCESS) {
        const int target = s->target;
        rc = MPI_Win_lock(MPI_LOCK_SHARED, target, 0, r->win);
        for (; s < end && s->target == target && rc == MPI_SUCCESS; ++s)
            rc = put(r, s);
        if (rc == MPI_SUCCESS)
            rc = MPI_Win_unlock(target, r->win);
    }
    return rc;
}

static int lock_finish(const struct exchange *x)
{
    int rc = tell_done(x);
    return rc == MPI_SUCCESS ? order_by_lock(x->remote) : rc;
}

WHOLE(lock)

/* ---- flush: all locks are held from the first exchange to the last ---- */

static int flush_start(const struct exchange *x)
{
    int rc = MPI_Win_sync(x->remote->win);
    if (rc == MPI_SUCCESS)
        rc = tell_ready(x);
    return rc == MPI_SUCCESS ? put_all(x->remote) : rc;
}

static int flush_finish(const struct exchange *x)
{
    const struct remote *r = x->remote;
    int rc = MPI_SUCCESS;
    for (int i = 0; r->movers == 1 && i < r->to.count && rc == MPI_SUCCESS; ++i)
        rc = MPI_Win_flush(r->to.ranks[i], r->win);
    if (rc == MPI_SUCCESS)
        rc = tell_done(x);
    return rc == MPI_SUCCESS ? MPI_Win_sync(r->win) : rc;
}

WHOLE(flush)

/* ---- all of them ---- */

#define BACK(name, connects, text)                                                                           \
    const struct back exchange_##name = {.calls = text,                                                      \
                                         .prepare = prepare,                                                 \
                                         .connect = connects,                                                \
                                         .start = name##_start,                                              \
                                         .finish = name##_finish,                                            \
                                         .whole = name##_whole}

BACK(fence, connect, "MPI_Win_create, MPI_Win_fence or MPI_Put");
BACK(pscw, connect, "MPI_Win_create, MPI_Win_post, MPI_Win_start, MPI_Put, MPI_Win_complete or MPI_Win_wait");
BACK(lock, connect, "MPI_Win_create, MPI_Win_lock, MPI_Put or MPI_Win_unlock");
BACK(flush, connect_and_hold, "MPI_Win_create, MPI_Win_lock_all, MPI_Put, MPI_Win_flush or MPI_Win_sync");
