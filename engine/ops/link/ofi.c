/* Tagged messages between two endpoints of libfabric, as MPI libraries send them over it: connectionless,
 * reliable, in order, short ones injected. */
#define _GNU_SOURCE
#include "ops/link/ofi_provider.h"
#include "ops/link/tagged.h"

#if __has_include(<rdma/fi_tagged.h>)

#include "base/err.h"
#include "base/wait.h"

#include <limits.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdlib.h>
#include <string.h>

enum { TAG = 1, EVENTS = 16 };

struct ofi {
    struct link f; /* first */
    struct ofi_provider provider;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_cntr *left; /* counts messages that have left, injected ones too */
    struct fid_ep *ep;
    fi_addr_t peer;
    uint64_t sent;                /* messages so far */
    size_t inject;                /* longest message that is injected */
    int sending, receiving;       /* messages in flight */
    struct fi_context2 *contexts; /* one for each message in flight */
};

/* ---- messages ---------------------------------------------------------------------------------------- */

static int fail(const struct ofi *s, ssize_t n)
{
    struct fi_cq_err_entry entry = {0};
    if (n == -FI_EAVAIL && fi_cq_readerr(s->cq, &entry, 0) > 0)
        n = -entry.err;
    return err_say(ERR_SYSTEM, "a message between ranks %d and %d failed: %s", s->f.rank, s->f.peer,
                   s->provider.calls.strerror((int)-n));
}

/* Count the messages that have arrived or left. */
static int look(struct ofi *s, int *looks)
{
    struct fi_cq_msg_entry done[EVENTS];
    const ssize_t n = fi_cq_read(s->cq, done, EVENTS);
    if (n == -FI_EAGAIN)
        wait_a_little(looks);
    else if (n < 0)
        return fail(s, n);
    else
        *looks = 0;
    for (ssize_t i = 0; i < n; ++i)
        --*(done[i].flags & FI_RECV ? &s->receiving : &s->sending);
    return 0;
}

static int send_some(struct ofi *s, const void *data, size_t bytes, int count)
{
    const bool is_short = bytes <= s->inject;
    int looks = 0, err = 0;
    for (int i = 0; i < count && !err;) {
        const ssize_t n = is_short ? fi_tinject(s->ep, data, bytes, s->peer, TAG)
                                   : fi_tsend(s->ep, data, bytes, NULL, s->peer, TAG, s->contexts + i);
        if (n == -FI_EAGAIN) {
            err = look(s, &looks);
            continue;
        }
        if (n < 0)
            return fail(s, n);
        ++i;
        ++s->sent;
        s->sending += !is_short;
    }
    while (s->sending > 0 && !err)
        err = look(s, &looks);
    return err;
}

/* As many messages at once as the provider allows. Beyond that its behaviour is not specified. */
static int recv_some(struct ofi *s, void *data, size_t bytes, int count)
{
    const int most =
        s->provider.info->rx_attr->size < INT_MAX ? (int)s->provider.info->rx_attr->size : INT_MAX;
    int looks = 0, err = 0;
    for (int i = 0; i < count && !err;) {
        const ssize_t n = s->receiving >= most
                              ? -FI_EAGAIN
                              : fi_trecv(s->ep, data, bytes, NULL, FI_ADDR_UNSPEC, TAG, 0, s->contexts + i);
        if (n == -FI_EAGAIN) {
            err = look(s, &looks);
            continue;
        }
        if (n < 0)
            return fail(s, n);
        ++i;
        ++s->receiving;
    }
    while (s->receiving > 0 && !err)
        err = look(s, &looks);
    return err;
}

static int put(struct link *f, const void *data, size_t bytes)
{
    return send_some((struct ofi *)f, data, bytes, 1);
}

static int get(struct link *f, void *data, size_t bytes)
{
    return recv_some((struct ofi *)f, data, bytes, 1);
}

static int put_all(struct link *f, int count)
{
    return send_some((struct ofi *)f, f->send, f->bytes, count);
}

static int get_all(struct link *f, int count)
{
    return recv_some((struct ofi *)f, f->recv, f->bytes, count);
}

/* A provider may keep an injected message until its next call. */
static int settle(struct link *f)
{
    struct ofi *s = (struct ofi *)f;
    int looks = 0, err = 0;
    while (s->left && fi_cntr_read(s->left) < s->sent && !err)
        err = look(s, &looks);
    return err;
}

/* ---- endpoints --------------------------------------------------------------------------------------- */

static int endpoint_open(struct ofi *s)
{
    struct fi_av_attr av = {.type = s->provider.info->domain_attr->av_type, .count = 1};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};
    struct fi_cntr_attr counter = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};
    const size_t flying = s->f.window > 1 ? (size_t)s->f.window : 1;
    int code;
    cq.size = flying + EVENTS;
    s->inject = s->provider.info->tx_attr->inject_size;
    s->contexts = calloc(flying, sizeof *s->contexts);
    if (!s->contexts)
        return err_say(ERR_NOMEM, "no memory for %zu messages on their way", flying);
    if ((code = fi_av_open(s->provider.domain, &av, &s->av, NULL)) != 0)
        return ofi_refuse(&s->provider, "fi_av_open", code);
    if ((code = fi_cq_open(s->provider.domain, &cq, &s->cq, NULL)) != 0)
        return ofi_refuse(&s->provider, "fi_cq_open", code);
    if (fi_cntr_open(s->provider.domain, &counter, &s->left, NULL) != 0) {
        s->left = NULL; /* it would not show when an injected message has left */
        s->inject = 0;
    }
    if ((code = fi_endpoint(s->provider.domain, s->provider.info, &s->ep, NULL)) != 0)
        return ofi_refuse(&s->provider, "fi_endpoint", code);
    if ((code = fi_ep_bind(s->ep, &s->av->fid, 0)) != 0 ||
        (code = fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV)) != 0)
        return ofi_refuse(&s->provider, "fi_ep_bind", code);
    if (s->left && (code = fi_ep_bind(s->ep, &s->left->fid, FI_SEND)) != 0)
        return ofi_refuse(&s->provider, "fi_ep_bind", code);
    if ((code = fi_enable(s->ep)) != 0)
        return ofi_refuse(&s->provider, "fi_enable", code);
    return 0;
}

static const struct ofi_need need = {
    .caps = FI_TAGGED, .order = FI_ORDER_SAS, .threading = FI_THREAD_DOMAIN, .what = "tagged messages"};

static int ends_open(void *state, const struct op_env *env, int err)
{
    struct ofi *s = state;
    struct ofi_seat mine, theirs;
    struct ofi_name my_name, their_name;
    memset(&my_name, 0, sizeof my_name); /* padding too: it is sent */
    const int lacks = ofi_load(&s->provider, env->team, &mine);
    err = link_meet(&s->f, err ? err : lacks, &mine, &theirs, sizeof mine);
    err = err ? err : ofi_open(&s->provider, env, &need, &mine, &theirs);
    err = err ? err : endpoint_open(s);
    err = err ? err : ofi_name(&s->provider, s->ep, &my_name);
    err = link_meet(&s->f, err, &mine, &theirs, sizeof mine);
    err =
        link_meet(&s->f, err ? err : ofi_alike(&s->f, &mine, &theirs), &my_name, &their_name, sizeof my_name);
    err = err ? err : ofi_insert(&s->provider, s->av, &their_name, &s->peer);
    return link_meet(&s->f, err, NULL, NULL, 0);
}

static void teardown(void *state)
{
    struct ofi *s = state;
    struct fid *const opened[] = {s->ep ? &s->ep->fid : NULL, s->left ? &s->left->fid : NULL,
                                  s->cq ? &s->cq->fid : NULL, s->av ? &s->av->fid : NULL};
    for (size_t i = 0; i < sizeof opened / sizeof opened[0]; ++i)
        if (opened[i])
            fi_close(opened[i]);
    ofi_close(&s->provider);
    free(s->contexts);
    free(s);
}

static const struct link_kind link_of = {.state_bytes = sizeof(struct ofi),
                                         .put = put,
                                         .get = get,
                                         .put_all = put_all,
                                         .get_all = get_all,
                                         .settle = settle,
                                         .connect = ends_open,
                                         .teardown = teardown};

static int setup(const struct op_env *env, void **state)
{
    return link_setup(&link_of, env, state);
}

static void describe_end(const void *state, struct json *j)
{
    const struct ofi *s = state;
    ofi_describe(&s->provider, j);
}

const struct tagged_library tagged_ofi = {.setup = setup, .teardown = teardown, .describe_end = describe_end};

#else

const struct tagged_library tagged_ofi = {.missing = OFI_MISSING};

#endif
