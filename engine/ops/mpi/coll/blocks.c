/* The blocks of a collective's buffers: how many elements each has, where it begins, and which rank it
 * belongs to. */
#include "ops/mpi/coll/coll.h"

#include "base/err.h"
#include "base/hash.h"
#include "base/num.h"
#include "ops/common/data.h"

#include <stdlib.h>

enum blocks coll_sends(const struct coll *c, int root)
{
    return c->rank == root ? c->row->send_root : c->row->send_other;
}

enum blocks coll_recvs(const struct coll *c, int root)
{
    return c->rank == root ? c->row->recv_root : c->row->recv_other;
}

bool coll_sends_in_place(const struct coll *c, int root)
{
    const enum place place = c->row->place;
    return c->in_place && (place == PLACE_SEND || (place == PLACE_ROOT_SEND && c->rank == root));
}

bool coll_recvs_in_place(const struct coll *c, int root)
{
    return c->in_place && c->row->place == PLACE_ROOT_RECV && c->rank == root;
}

static enum blocks more(enum blocks a, enum blocks b)
{
    return a > b ? a : b;
}

/* How shares are drawn for the blocks that a rank sends, or for those of all ranks. */
struct draw {
    enum counts family;
    uint64_t seed;
    size_t *share; /* room for all ranks */
    int *list;     /* likewise */
};

static void draw_row(const struct coll *c, const struct draw *d, int rank, int parts, size_t *share)
{
    const uint64_t who = (uint64_t)(c->first + rank * c->stride);
    const size_t blocks = d->family == COUNTS_WHOLE ? 1 : (size_t)parts;
    counts_draw(d->family, d->seed ^ hash_mix(who), parts, blocks * (size_t)c->count, share);
}

/* The elements that rank `from` sends to me. */
static size_t share_from(const struct coll *c, const struct draw *d, int from)
{
    int parts = c->size, mine = c->rank;
    if (c->row->neighbours) {
        parts = graph_out(&c->graph, from, d->list);
        for (mine = 0; d->list[mine] != c->rank; ++mine)
            ;
    }
    draw_row(c, d, from, parts, d->share);
    return d->share[mine];
}

/* The elements of each block of a side. */
static void draw_side(const struct coll *c, const struct draw *d, const struct side *s, size_t *elements)
{
    const bool sending = s == &c->send;
    if (c->row->shape == BY_PAIR && sending) {
        draw_row(c, d, c->rank, s->count, elements);
        return;
    }
    if (c->row->shape == BY_RANK) /* the same draw for all ranks of a group */
        draw_row(c, d, 0, c->size, d->share);
    for (int b = 0; b < s->count; ++b) {
        const int peer = s->peer ? s->peer[b] : s->blocks == ONE ? c->rank : b;
        elements[b] = c->row->shape == EQUAL     ? (size_t)c->count
                      : c->row->shape == BY_RANK ? d->share[s->blocks == ONE ? c->rank : peer]
                                                 : share_from(c, d, peer);
    }
}

static int lay_out(const struct coll *c, struct side *s, const size_t *elements)
{
    int err = 0;
    for (int b = 0; b < s->count; ++b) {
        s->at[b + 1] = s->at[b] + elements[b] * c->element;
        s->types[b] = c->type;
        s->aints[b] = (MPI_Aint)s->at[b];
    }
    const size_t unit = c->row->in_bytes ? 1 : c->element;
    if (c->row->shape != EQUAL && !(c->row->neighbours && c->row->in_bytes))
        err = num_to_int(s->at[s->count] / unit, &s->all);
    for (int b = 0; b < s->count && !err; ++b) {
        err = num_to_int(elements[b], &s->counts[b]);
        s->displs[b] = (int)(s->at[b] / unit);
    }
    s->one = s->count > 0 ? s->counts[0] : 0;
    return err;
}

static int plan_side(const struct coll *c, const struct draw *d, struct side *s)
{
    if (s->blocks != ALL || !c->row->neighbours)
        s->count = s->blocks == ALL ? c->size : s->blocks == ONE ? 1 : 0;
    if (s->blocks == ONE)
        s->peer = NULL;
    const size_t count = (size_t)s->count;
    int err = 0;
    size_t *elements = coll_array(count, sizeof *elements, &err);
    s->at = coll_array(count + 1, sizeof *s->at, &err);
    s->counts = coll_array(count, sizeof *s->counts, &err);
    s->displs = coll_array(count, sizeof *s->displs, &err);
    s->aints = coll_array(count, sizeof *s->aints, &err);
    s->types = coll_array(count, sizeof *s->types, &err);
    if (!err) {
        draw_side(c, d, s, elements);
        err = lay_out(c, s, elements);
    }
    free(elements);
    return err;
}

static size_t whole_lines(size_t bytes)
{
    enum { LINE = 64 };
    return (bytes + LINE - 1) / LINE * LINE;
}

/* Both sides and their memory. If input stands in the other buffer, that buffer has room for it. */
int coll_plan_blocks(const struct op_env *env, struct coll *c)
{
    const struct coll_row *row = c->row;
    const int root = (int)coll_param(env, "root", 0);
    const bool rotates = coll_param(env, "roots", 0) != 0;
    struct draw d = {.family = (enum counts)(int)coll_param(env, "counts", COUNTS_EVEN),
                     .seed = (uint64_t)coll_param(env, "seed", 1)};
    if (c->in_place && row->shape == BY_PAIR && d.family != COUNTS_EVEN)
        return err_say(ERR_INPUT,
                       "inplace=yes of %s needs blocks that are as large there as back; use counts=even",
                       env->op->name);
    c->send.blocks = rotates ? more(row->send_root, row->send_other) : coll_sends(c, root);
    c->recv.blocks = rotates ? more(row->recv_root, row->recv_other) : coll_recvs(c, root);
    int err = 0;
    d.share = coll_array((size_t)c->size, sizeof *d.share, &err);
    d.list = coll_array((size_t)c->size, sizeof *d.list, &err);
    err = err ? err : plan_side(c, &d, &c->send);
    err = err ? err : plan_side(c, &d, &c->recv);
    free(d.share);
    free(d.list);
    if (err)
        return err;
    const bool all_in_place = c->in_place && row->place == PLACE_SEND;
    const size_t sent = c->send.at[c->send.count], received = c->recv.at[c->recv.count];
    const size_t least = row->neighbours ? env->bytes : 0; /* a rank without neighbours needs a buffer too */
    const size_t sets = (size_t)c->sets;
    c->recv_bytes = all_in_place && sent > received ? sent : received ? received : least;
    c->send.stride = whole_lines(all_in_place ? 0 : sent ? sent : least);
    c->recv.stride = whole_lines(c->recv_bytes);
    err = buffers_take(env->buffers, sets, c->send.stride, (void **)&c->send.data);
    return err ? err : buffers_take(env->buffers, sets, c->recv.stride, (void **)&c->recv.data);
}
