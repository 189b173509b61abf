#define _GNU_SOURCE
#include "ops/link/ofi_provider.h"

#if __has_include(<rdma/fabric.h>)

#include "base/err.h"
#include "ops/link/tagged.h"

#include <arpa/inet.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define OFI_API FI_VERSION(1, 9) /* all that is used here exists since this version */

static const char *const names[] = {"fi_getinfo",  "fi_freeinfo", "fi_dupinfo", "fi_fabric",
                                    "fi_strerror", "fi_version",  NULL};

/* ---- which provider ---------------------------------------------------------------------------------- */

int ofi_refuse(const struct ofi_provider *p, const char *call, int code)
{
    return err_say(ERR_UNSUPPORTED, "libfabric: %s failed: %s", call, p->calls.strerror(-code));
}

/* Providers that support what is needed, in libfabric's order, the best first. NULL: any provider, any
 * address. */
static int ask(const struct ofi_provider *p, const struct ofi_need *need, const char *provider,
               const char *from, struct fi_info **found)
{
    struct fi_info *hints = p->calls.dupinfo(NULL);
    if (!hints)
        return -FI_ENOMEM;
    hints->caps = need->caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->addr_format = from ? FI_SOCKADDR_IN : FI_FORMAT_UNSPEC;
    hints->ep_attr->type = FI_EP_RDM;
    hints->tx_attr->msg_order = hints->rx_attr->msg_order = need->order;
    hints->tx_attr->op_flags = need->flags;
    hints->domain_attr->threading = need->threading;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ENDPOINT;
    hints->fabric_attr->prov_name = provider ? strdup(provider) : NULL;
    const int code = p->calls.getinfo(OFI_API, from, NULL, from ? FI_SOURCE : 0, hints, found);
    p->calls.freeinfo(hints);
    return code;
}

/* The names of all suitable providers. */
static void list(const struct ofi_provider *p, const struct ofi_need *need, char *text, size_t room)
{
    struct fi_info *all = NULL;
    size_t at = 0;
    text[0] = '\0';
    if (ask(p, need, NULL, NULL, &all) != 0)
        return;
    for (const struct fi_info *i = all; i; i = i->next) {
        const char *name = i->fabric_attr->prov_name;
        if (strstr(text, name) || at + strlen(name) + sizeof ", " > room)
            continue;
        at += (size_t)snprintf(text + at, room - at, "%s%s", at > 0 ? ", " : "", name);
    }
    p->calls.freeinfo(all);
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
static void move_to_address(struct ofi_provider *p, const struct ofi_need *need, const struct ofi_seat *mine,
                            const struct ofi_seat *theirs)
{
    struct in_addr address;
    struct fi_info *there = NULL;
    char text[INET_ADDRSTRLEN];
    if (p->info->addr_format != FI_SOCKADDR_IN && p->info->addr_format != FI_SOCKADDR)
        return;
    if (addresses_choose(&theirs->addresses, &mine->addresses, seat_same_network(&mine->seat, &theirs->seat),
                         &address) != 0 ||
        !inet_ntop(AF_INET, &address, text, sizeof text))
        return;
    if (ask(p, need, p->info->fabric_attr->prov_name, text, &there) == 0) {
        p->calls.freeinfo(p->info);
        p->info = there;
    }
}

/* The provider shm calls its memory in /dev/shm PID:UID:N. A rank that is killed leaves it there, and whoever
 * gets that pid later is refused ("Device or resource busy"). A name that no process had cannot be taken. */
static void take_new_name(struct ofi_provider *p, const struct ofi_seat *mine)
{
    uint64_t salt;
    char name[64];
    if (strcmp(p->info->fabric_attr->prov_name, "shm") != 0 ||
        getrandom(&salt, sizeof salt, GRND_NONBLOCK) != sizeof salt)
        return;
    snprintf(name, sizeof name, "fi_shm://steelyard-%ld-%llx", (long)mine->seat.pid,
             (unsigned long long)salt);
    char *address = strdup(name);
    if (!address)
        return;
    free(p->info->src_addr);
    p->info->src_addr = address;
    p->info->src_addrlen = strlen(address) + 1;
}

static int choose(struct ofi_provider *p, const struct op_env *env, const struct ofi_need *need,
                  struct ofi_seat *mine, const struct ofi_seat *theirs)
{
    const char *asked = tagged_asked(env);
    const bool one_host = seat_same_host(&mine->seat, &theirs->seat);
    struct fi_info *all = NULL;
    char others[128];
    const int code = ask(p, need, asked, NULL, &all);
    const struct fi_info *chosen = code == 0 ? first_fitting(all, asked, one_host) : NULL;
    p->info = chosen ? p->calls.dupinfo(chosen) : NULL;
    if (all)
        p->calls.freeinfo(all);
    if (!p->info) {
        list(p, need, others, sizeof others);
        return err_say(ERR_UNSUPPORTED, "libfabric has no provider %s here, which has %s for %s",
                       asked ? asked : "between hosts", others[0] ? others : "none", need->what);
    }
    if (tagged_is_local(p->info->fabric_attr->prov_name) && !one_host)
        return err_say(ERR_UNSUPPORTED,
                       "provider=%s is for two ranks of one host, and ranks 0 and 1 are on two or in two "
                       "containers",
                       asked);
    move_to_address(p, need, mine, theirs);
    take_new_name(p, mine);
    snprintf(mine->provider, sizeof mine->provider, "%s", p->info->fabric_attr->prov_name);
    const size_t most = p->info->ep_attr->max_msg_size;
    return env->bytes <= most ? 0
                              : err_say(ERR_UNSUPPORTED, "%s takes messages of at most %zu bytes, not %zu",
                                        mine->provider, most, env->bytes);
}

/* ---- its life ---------------------------------------------------------------------------------------- */

int ofi_load(struct ofi_provider *p, const struct team *team, struct ofi_seat *mine)
{
    memset(mine, 0, sizeof *mine); /* padding too: it is sent */
    seat_read(team, &mine->seat);
    addresses_read(&mine->addresses);
    setenv("IPATH_NO_BACKTRACE", "1", 0); /* else libpsm, which it loads, replaces our signal handlers */
    return tagged_load("libfabric.so.1", "libfabric1", names, &p->calls);
}

int ofi_open(struct ofi_provider *p, const struct op_env *env, const struct ofi_need *need,
             struct ofi_seat *mine, const struct ofi_seat *theirs)
{
    const int err = choose(p, env, need, mine, theirs);
    int code;
    if (err)
        return err;
    if ((code = p->calls.fabric(p->info->fabric_attr, &p->fabric, NULL)) != 0)
        return ofi_refuse(p, "fi_fabric", code);
    if ((code = fi_domain(p->fabric, p->info, &p->domain, NULL)) != 0)
        return ofi_refuse(p, "fi_domain", code);
    return 0;
}

int ofi_alike(const struct link *ends, const struct ofi_seat *mine, const struct ofi_seat *theirs)
{
    return strcmp(mine->provider, theirs->provider) == 0
               ? 0
               : err_say(ERR_UNSUPPORTED,
                         "libfabric would take %s on rank %d and %s on rank %d; give provider=WORD",
                         mine->provider, ends->rank, theirs->provider, ends->peer);
}

void ofi_close(struct ofi_provider *p)
{
    struct fid *const opened[] = {p->domain ? &p->domain->fid : NULL, p->fabric ? &p->fabric->fid : NULL};
    for (size_t i = 0; i < sizeof opened / sizeof opened[0]; ++i)
        if (opened[i])
            fi_close(opened[i]);
    if (p->info)
        p->calls.freeinfo(p->info);
}

int ofi_name(const struct ofi_provider *p, struct fid_ep *ep, struct ofi_name *mine)
{
    mine->length = sizeof mine->name;
    const int code = fi_getname(&ep->fid, mine->name, &mine->length);
    return code == 0 ? 0 : ofi_refuse(p, "fi_getname", code);
}

int ofi_insert(const struct ofi_provider *p, struct fid_av *av, const struct ofi_name *theirs,
               fi_addr_t *peer)
{
    const int count = fi_av_insert(av, theirs->name, 1, peer, 0, NULL);
    return count == 1 ? 0 : ofi_refuse(p, "fi_av_insert", count < 0 ? count : -FI_EADDRNOTAVAIL);
}

void ofi_describe(const struct ofi_provider *p, struct json *j)
{
    const char *provider = p->info->fabric_attr->prov_name;
    const uint32_t version = p->calls.version();
    char library[64];
    snprintf(library, sizeof library, "libfabric %u.%u", FI_MAJOR(version), FI_MINOR(version));
    tagged_transport_json(j, provider, tagged_is_local(provider), library);
}

#endif
