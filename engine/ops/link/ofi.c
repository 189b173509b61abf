/* Tagged messages between two endpoints of libfabric, as MPI libraries send them over it: connectionless,
 * reliable, in order, short ones injected. */
#define _GNU_SOURCE
#include "ops/link/tagged.h"

#if __has_include(<rdma/fi_tagged.h>)

#include "base/err.h"
#include "base/wait.h"
#include "ops/link/address.h"

#include <arpa/inet.h>
#include <limits.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 512, PROVIDER_MOST = 64, TAG = 1, EVENTS = 16 };
#define OFI_API FI_VERSION(1, 9) /* all that is used here exists since this version */

static const char *const names[] = {"fi_getinfo",  "fi_freeinfo", "fi_dupinfo", "fi_fabric",
                                    "fi_strerror", "fi_version",  NULL};

struct calls {
    __typeof__(fi_getinfo) *getinfo;
    __typeof__(fi_freeinfo) *freeinfo;
    __typeof__(fi_dupinfo) *dupinfo;
    __typeof__(fi_fabric) *fabric;
    __typeof__(fi_strerror) *strerror;
    __typeof__(fi_version) *version;
};

struct ofi {
    struct link f; /* first */
    struct calls calls;
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
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

/* What one rank sends to the other at setup. */
struct ofi_hello {
    struct link_seat seat;
    struct addresses addresses;
    char provider[PROVIDER_MOST];
    size_t length;
    unsigned char name[NAME_MOST]; /* the endpoint's address in the provider's form */
};

/* ---- messages ---------------------------------------------------------------------------------------- */

static int fail(const struct ofi *s, ssize_t n)
{
    struct fi_cq_err_entry entry = {0};
    if (n == -FI_EAVAIL && fi_cq_readerr(s->cq, &entry, 0) > 0)
        n = -entry.err;
    return err_say(ERR_SYSTEM, "a message between ranks %d and %d failed: %s", s->f.rank, s->f.peer,
                   s->calls.strerror((int)-n));
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
    const int most = s->info->rx_attr->size < INT_MAX ? (int)s->info->rx_attr->size : INT_MAX;
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

/* ---- which provider ---------------------------------------------------------------------------------- */

static int refuse(const struct ofi *s, const char *call, int code)
{
    return err_say(ERR_UNSUPPORTED, "libfabric: %s failed: %s", call, s->calls.strerror(-code));
}

/* Providers that support what is needed, in libfabric's order, the best first. NULL: any provider, any
 * address. */
static int ask(const struct ofi *s, const char *provider, const char *from, struct fi_info **found)
{
    struct fi_info *hints = s->calls.dupinfo(NULL);
    if (!hints)
        return -FI_ENOMEM;
    hints->caps = FI_TAGGED;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->addr_format = from ? FI_SOCKADDR_IN : FI_FORMAT_UNSPEC;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = FI_ORDER_SAS;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ENDPOINT;
    hints->fabric_attr->prov_name = provider ? strdup(provider) : NULL;
    const int code = s->calls.getinfo(OFI_API, from, NULL, from ? FI_SOURCE : 0, hints, found);
    s->calls.freeinfo(hints);
    return code;
}

/* The names of all suitable providers. */
static void list(const struct ofi *s, char *text, size_t room)
{
    struct fi_info *all = NULL;
    size_t at = 0;
    text[0] = '\0';
    if (ask(s, NULL, NULL, &all) != 0)
        return;
    for (const struct fi_info *i = all; i; i = i->next) {
        const char *name = i->fabric_attr->prov_name;
        if (strstr(text, name) || at + strlen(name) + sizeof ", " > room)
            continue;
        at += (size_t)snprintf(text + at, room - at, "%s%s", at > 0 ? ", " : "", name);
    }
    s->calls.freeinfo(all);
}

static const struct fi_info *first_fitting(const struct fi_info *all, const char *asked, bool one_host)
{
    const struct fi_info *other = NULL;
    for (const struct fi_info *i = all; i; i = i->next) {
        const bool is_local = tagged_is_local(i->fabric_attr->prov_name);
        if (asked || (is_local && one_host))
            return i;
        other = other || is_local ? other : i;
    }
    return other;
}

/* Providers of IP have an endpoint for each address. Take the address by which the other rank reaches this
 * one. */
static void move_to_address(struct ofi *s, const struct ofi_hello *mine, const struct ofi_hello *theirs)
{
    struct in_addr address;
    struct fi_info *there = NULL;
    char text[INET_ADDRSTRLEN];
    if (s->info->addr_format != FI_SOCKADDR_IN && s->info->addr_format != FI_SOCKADDR)
        return;
    if (addresses_choose(&theirs->addresses, &mine->addresses, seat_same_network(&mine->seat, &theirs->seat),
                         &address) != 0 ||
        !inet_ntop(AF_INET, &address, text, sizeof text))
        return;
    if (ask(s, s->info->fabric_attr->prov_name, text, &there) == 0) {
        s->calls.freeinfo(s->info);
        s->info = there;
    }
}

static int choose(struct ofi *s, const struct op_env *env, struct ofi_hello *mine,
                  const struct ofi_hello *theirs)
{
    const char *asked = tagged_asked(env);
    const bool one_host = seat_same_host(&mine->seat, &theirs->seat);
    struct fi_info *all = NULL;
    char others[128];
    const int code = ask(s, asked, NULL, &all);
    const struct fi_info *chosen = code == 0 ? first_fitting(all, asked, one_host) : NULL;
    s->info = chosen ? s->calls.dupinfo(chosen) : NULL;
    if (all)
        s->calls.freeinfo(all);
    if (!s->info) {
        list(s, others, sizeof others);
        return err_say(ERR_UNSUPPORTED, "libfabric has no provider %s here, which has %s for tagged messages",
                       asked ? asked : "between hosts", others[0] ? others : "none");
    }
    if (tagged_is_local(s->info->fabric_attr->prov_name) && !one_host)
        return err_say(ERR_UNSUPPORTED,
                       "provider=%s is for two ranks of one host, and ranks 0 and 1 are on two or in two "
                       "containers",
                       asked);
    move_to_address(s, mine, theirs);
    snprintf(mine->provider, sizeof mine->provider, "%s", s->info->fabric_attr->prov_name);
    const size_t most = s->info->ep_attr->max_msg_size;
    return env->bytes <= most ? 0
                              : err_say(ERR_UNSUPPORTED, "%s takes messages of at most %zu bytes, not %zu",
                                        mine->provider, most, env->bytes);
}

/* ---- endpoints --------------------------------------------------------------------------------------- */

static int endpoint_open(struct ofi *s)
{
    struct fi_av_attr av = {.type = s->info->domain_attr->av_type, .count = 1};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};
    struct fi_cntr_attr counter = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};
    const size_t flying = s->f.window > 1 ? (size_t)s->f.window : 1;
    int code;
    cq.size = flying + EVENTS;
    s->inject = s->info->tx_attr->inject_size;
    s->contexts = calloc(flying, sizeof *s->contexts);
    if (!s->contexts)
        return err_say(ERR_NOMEM, "no memory for %zu messages on their way", flying);
    if ((code = s->calls.fabric(s->info->fabric_attr, &s->fabric, NULL)) != 0)
        return refuse(s, "fi_fabric", code);
    if ((code = fi_domain(s->fabric, s->info, &s->domain, NULL)) != 0)
        return refuse(s, "fi_domain", code);
    if ((code = fi_av_open(s->domain, &av, &s->av, NULL)) != 0)
        return refuse(s, "fi_av_open", code);
    if ((code = fi_cq_open(s->domain, &cq, &s->cq, NULL)) != 0)
        return refuse(s, "fi_cq_open", code);
    if (fi_cntr_open(s->domain, &counter, &s->left, NULL) != 0) {
        s->left = NULL; /* it would not show when an injected message has left */
        s->inject = 0;
    }
    if ((code = fi_endpoint(s->domain, s->info, &s->ep, NULL)) != 0)
        return refuse(s, "fi_endpoint", code);
    if ((code = fi_ep_bind(s->ep, &s->av->fid, 0)) != 0 ||
        (code = fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV)) != 0)
        return refuse(s, "fi_ep_bind", code);
    if (s->left && (code = fi_ep_bind(s->ep, &s->left->fid, FI_SEND)) != 0)
        return refuse(s, "fi_ep_bind", code);
    if ((code = fi_enable(s->ep)) != 0)
        return refuse(s, "fi_enable", code);
    return 0;
}

static int name_read(const struct ofi *s, struct ofi_hello *mine)
{
    mine->length = sizeof mine->name;
    const int code = fi_getname(&s->ep->fid, mine->name, &mine->length);
    return code == 0 ? 0 : refuse(s, "fi_getname", code);
}

static int peer_insert(struct ofi *s, const struct ofi_hello *mine, const struct ofi_hello *theirs)
{
    if (strcmp(mine->provider, theirs->provider) != 0)
        return err_say(ERR_UNSUPPORTED,
                       "libfabric would take %s on rank %d and %s on rank %d; give provider=WORD",
                       mine->provider, s->f.rank, theirs->provider, s->f.peer);
    const int count = fi_av_insert(s->av, theirs->name, 1, &s->peer, 0, NULL);
    return count == 1 ? 0 : refuse(s, "fi_av_insert", count < 0 ? count : -FI_EADDRNOTAVAIL);
}

static int ends_open(void *state, const struct op_env *env, int err)
{
    struct ofi *s = state;
    struct ofi_hello mine, theirs;
    memset(&mine, 0, sizeof mine); /* padding too: it is sent */
    seat_read(env->team, &mine.seat);
    addresses_read(&mine.addresses);
    setenv("IPATH_NO_BACKTRACE", "1", 0); /* else libpsm, which it loads, replaces our signal handlers */
    err = err ? err : tagged_load("libfabric.so.1", "libfabric1", names, &s->calls);
    err = link_meet(&s->f, err, &mine, &theirs, sizeof mine);
    err = err ? err : choose(s, env, &mine, &theirs);
    err = err ? err : endpoint_open(s);
    err = err ? err : name_read(s, &mine);
    err = link_meet(&s->f, err, &mine, &theirs, sizeof mine);
    err = err ? err : peer_insert(s, &mine, &theirs);
    return link_meet(&s->f, err, NULL, NULL, 0);
}

static void teardown(void *state)
{
    struct ofi *s = state;
    struct fid *const opened[] = {s->ep ? &s->ep->fid : NULL,         s->left ? &s->left->fid : NULL,
                                  s->cq ? &s->cq->fid : NULL,         s->av ? &s->av->fid : NULL,
                                  s->domain ? &s->domain->fid : NULL, s->fabric ? &s->fabric->fid : NULL};
    for (size_t i = 0; i < sizeof opened / sizeof opened[0]; ++i)
        if (opened[i])
            fi_close(opened[i]);
    if (s->info)
        s->calls.freeinfo(s->info);
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
    const char *provider = s->info->fabric_attr->prov_name;
    const uint32_t version = s->calls.version();
    char library[64];
    snprintf(library, sizeof library, "libfabric %u.%u", FI_MAJOR(version), FI_MINOR(version));
    tagged_transport_json(j, provider, tagged_is_local(provider), library);
}

const struct tagged_library tagged_ofi = {.setup = setup, .teardown = teardown, .describe_end = describe_end};

#else

const struct tagged_library tagged_ofi = {
    .missing = "this engine was built without libfabric; install its headers (on Debian and Ubuntu: apt "
               "install libfabric-dev), and it is built anew"};

#endif
