/* Writes, reads and atomics of libfabric on registered memory, an endpoint for each thread. */
#define _GNU_SOURCE
#include "ops/link/direct.h"
#include "ops/link/ofi_provider.h"
#include "ops/link/tagged.h"

static const struct param params[] = {OFI_PROVIDER_PARAM, {0}};

#if __has_include(<rdma/fi_rma.h>)

#include "base/err.h"
#include "base/wait.h"

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { EVENTS = 16, QUEUE = 256 };

/* Once for all lanes of a rank. */
struct registered {
    struct ofi_provider provider;
    struct ofi_seat mine, theirs;
    char *memory;
    size_t bytes;
};

struct ofi_lane {
    struct direct direct;
    const struct registered *all;
    struct fid_av *av;
    struct fid_cq *cq;
    struct fid_ep *ep;
    struct fid_mr *region; /* its window: some providers register memory for one endpoint alone */
    fi_addr_t peer;
    uint64_t there, key; /* the address of the other rank's window of this lane, as calls take it */
    int64_t begun, done;
    struct fi_context2 context; /* of all calls: each ends by an event, in any order */
};

/* What the ranks tell each other of a lane. */
struct told {
    struct ofi_name name;
    uint64_t address, key;
};

/* ---- calls ------------------------------------------------------------------------------------------- */

static void fail(struct ofi_lane *u, ssize_t n)
{
    struct fi_cq_err_entry entry = {0};
    if (n == -FI_EAVAIL && fi_cq_readerr(u->cq, &entry, 0) > 0)
        n = -entry.err;
    if (!u->direct.lane.failed)
        u->direct.lane.failed = u->all->provider.calls.strerror((int)-n);
}

static void look(struct direct *s)
{
    struct ofi_lane *u = (struct ofi_lane *)s;
    struct fi_cq_entry done[EVENTS];
    const ssize_t n = fi_cq_read(u->cq, done, EVENTS);
    if (n > 0)
        u->done += n;
    else if (n != -FI_EAGAIN)
        fail(u, n);
}

/* Where nothing has ended, let others have the core: the provider may wait for them. */
static void look_again(struct direct *s, int *looks)
{
    const struct ofi_lane *u = (const struct ofi_lane *)s;
    const int64_t before = u->done;
    look(s);
    if (u->done == before)
        wait_a_little(looks);
}

static void quiet(struct direct *s)
{
    const struct ofi_lane *u = (const struct ofi_lane *)s;
    for (int looks = 0; u->done < u->begun && !s->lane.failed;)
        look_again(s, &looks);
}

/* Again and again while the provider is busy. */
#define BEGIN(call)                                                                                          \
    do {                                                                                                     \
        int looks = 0;                                                                                       \
        ssize_t n;                                                                                           \
        if (u->begun - u->done >= QUEUE)                                                                     \
            quiet(s); /* more events than the queue holds */                                                 \
        while ((n = (call)) == -FI_EAGAIN && !s->lane.failed)                                                \
            look_again(s, &looks);                                                                           \
        if (n == 0)                                                                                          \
            ++u->begun;                                                                                      \
        else                                                                                                 \
            fail(u, n);                                                                                      \
    } while (0)

static void put(struct direct *s, size_t to, const void *from, size_t bytes)
{
    struct ofi_lane *u = (struct ofi_lane *)s;
    BEGIN(fi_write(u->ep, from, bytes, NULL, u->peer, u->there + to, u->key, &u->context));
}

static void get(struct direct *s, void *to, size_t from, size_t bytes)
{
    struct ofi_lane *u = (struct ofi_lane *)s;
    BEGIN(fi_read(u->ep, to, bytes, NULL, u->peer, u->there + from, u->key, &u->context));
}

/* Until it has left, which is less than that it has been delivered. */
static void tell(struct direct *s, size_t to, const uint64_t *number)
{
    struct ofi_lane *u = (struct ofi_lane *)s;
    const struct iovec here = {.iov_base = (void *)(uintptr_t)number, .iov_len = sizeof *number};
    const struct fi_rma_iov there = {.addr = u->there + to, .len = sizeof *number, .key = u->key};
    const struct fi_msg_rma message = {.msg_iov = &here,
                                       .iov_count = 1,
                                       .addr = u->peer,
                                       .rma_iov = &there,
                                       .rma_iov_count = 1,
                                       .context = &u->context};
    BEGIN(fi_writemsg(u->ep, &message, FI_COMPLETION | FI_TRANSMIT_COMPLETE));
    quiet(s);
}

static uint64_t fetch_add(struct direct *s, size_t to, uint64_t value)
{
    struct ofi_lane *u = (struct ofi_lane *)s;
    uint64_t before = 0;
    BEGIN(fi_fetch_atomic(u->ep, &value, 1, NULL, &before, NULL, u->peer, u->there + to, u->key, FI_UINT64,
                          FI_SUM, &u->context));
    quiet(s);
    return before;
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static int memory(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **mine)
{
    const struct link ends = direct_ends(lanes);
    struct registered *all = calloc(1, sizeof *all);
    lanes->shared = all;
    if (ends.rank > 1)
        return err;
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all && mapped != MAP_FAILED)
        *all = (struct registered){.memory = mapped, .bytes = bytes};
    if (!err && (!all || !all->memory))
        err = err_say(ERR_NOMEM, "no memory of %zu bytes for %s", bytes, env->op->name);
    *mine = err ? NULL : all->memory;
    return err;
}

static int provider_open(struct registered *all, const struct op_env *env, const struct link *ends, int err)
{
    const bool adds = !env->op->default_bytes; /* few providers have atomics */
    const struct ofi_need need = {.caps = adds ? FI_RMA | FI_ATOMIC : FI_RMA,
                                  .flags = FI_DELIVERY_COMPLETE,
                                  .threading = env->threads > 1 ? FI_THREAD_SAFE : FI_THREAD_DOMAIN,
                                  .what = adds ? "atomics" : "one-sided calls"};
    struct ofi_seat none;
    const int lacks = err ? err : ofi_load(&all->provider, env->team, &all->mine);
    err = link_meet(ends, lacks, all ? &all->mine : &none, all ? &all->theirs : &none, sizeof none);
    err = err ? err : ofi_open(&all->provider, env, &need, &all->mine, &all->theirs);
    err = link_meet(ends, err, all ? &all->mine : &none, all ? &all->theirs : &none, sizeof none);
    return err ? err : ofi_alike(ends, &all->mine, &all->theirs);
}

/* ---- lanes ------------------------------------------------------------------------------------------- */

static int endpoint_open(struct ofi_lane *u)
{
    const struct ofi_provider *p = &u->all->provider;
    struct fi_av_attr av = {.type = p->info->domain_attr->av_type, .count = 1};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_NONE, .size = QUEUE + EVENTS};
    int code;
    if ((code = fi_av_open(p->domain, &av, &u->av, NULL)) != 0)
        return ofi_refuse(p, "fi_av_open", code);
    if ((code = fi_cq_open(p->domain, &cq, &u->cq, NULL)) != 0)
        return ofi_refuse(p, "fi_cq_open", code);
    if ((code = fi_endpoint(p->domain, p->info, &u->ep, NULL)) != 0)
        return ofi_refuse(p, "fi_endpoint", code);
    if ((code = fi_ep_bind(u->ep, &u->av->fid, 0)) != 0 ||
        (code = fi_ep_bind(u->ep, &u->cq->fid, FI_TRANSMIT | FI_RECV)) != 0)
        return ofi_refuse(p, "fi_ep_bind", code);
    return (code = fi_enable(u->ep)) == 0 ? 0 : ofi_refuse(p, "fi_enable", code);
}

/* The window of lane t, so many bytes, of which other ranks are told. */
static int region_open(struct ofi_lane *u, int t, size_t bytes, struct told *mine)
{
    const struct ofi_provider *p = &u->all->provider;
    const uint64_t access = FI_REMOTE_READ | FI_REMOTE_WRITE, wanted_key = (uint64_t)t + 1;
    const int mode = p->info->domain_attr->mr_mode;
    void *window = u->direct.lane.window;
    int code = fi_mr_reg(p->domain, window, bytes, access, 0, wanted_key, 0, &u->region, NULL);
    if (code != 0)
        return ofi_refuse(p, "fi_mr_reg", code);
    if (mode & FI_MR_ENDPOINT && (code = fi_mr_bind(u->region, &u->ep->fid, 0)) != 0)
        return ofi_refuse(p, "fi_mr_bind", code);
    if (mode & FI_MR_ENDPOINT && (code = fi_mr_enable(u->region)) != 0)
        return ofi_refuse(p, "fi_mr_enable", code);
    mine->address = mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)window : 0;
    mine->key = fi_mr_key(u->region);
    return 0;
}

static int lane_join(struct ofi_lane *u, const struct link *ends, int t, size_t bytes)
{
    struct told mine, theirs;
    memset(&mine, 0, sizeof mine); /* padding too: it is sent */
    int err = endpoint_open(u);
    err = err ? err : region_open(u, t, bytes, &mine);
    err = err ? err : ofi_name(&u->all->provider, u->ep, &mine.name);
    err = link_meet(ends, err, &mine, &theirs, sizeof mine);
    if (err)
        return err;
    u->key = theirs.key;
    u->there = theirs.address;
    return ofi_insert(&u->all->provider, u->av, &theirs.name, &u->peer);
}

/* A write of 0 bytes never ends with the provider shm of libfabric 1.17. */
static int refuse_nothing(const struct registered *all, const struct blocks *blocks)
{
    const bool ends = blocks->bytes > 0 || blocks->gets || !tagged_is_local(all->mine.provider);
    return ends
               ? 0
               : err_say(ERR_UNSUPPORTED,
                         "the provider %s of libfabric may never end a write of 0 bytes; give larger --bytes",
                         all->mine.provider);
}

static int join(struct lanes *lanes, const struct op_env *env, int err)
{
    const struct link ends = direct_ends(lanes);
    struct registered *all = lanes->shared;
    if (ends.rank > 1)
        return err;
    err = provider_open(all, env, &ends, err);
    err = err ? err : refuse_nothing(all, &direct_at(lanes, 0)->blocks);
    err = link_meet(&ends, err, NULL, NULL, 0);
    for (int t = 0; t < env->threads && !err; ++t) {
        struct ofi_lane *u = (struct ofi_lane *)lane_at(lanes, t);
        u->all = all;
        const int joined = lane_join(u, &ends, t, all->bytes / (size_t)env->threads);
        err = link_meet(&ends, joined, NULL, NULL, 0);
    }
    return err;
}

static void lane_drop(struct ofi_lane *u)
{
    struct fid *const opened[] = {u->region ? &u->region->fid : NULL, u->ep ? &u->ep->fid : NULL,
                                  u->cq ? &u->cq->fid : NULL, u->av ? &u->av->fid : NULL};
    for (size_t i = 0; i < sizeof opened / sizeof opened[0]; ++i)
        if (opened[i])
            fi_close(opened[i]);
}

static void leave(struct lanes *lanes)
{
    struct registered *all = lanes->shared;
    if (!all)
        return;
    for (int t = 0; t < lanes->count; ++t)
        lane_drop((struct ofi_lane *)lane_at(lanes, t));
    ofi_close(&all->provider);
    if (all->memory)
        munmap(all->memory, all->bytes);
    free(all);
}

static void describe_end(const void *state, struct json *j)
{
    ofi_describe(&((const struct ofi_lane *)lane_at(state, 0))->all->provider, j);
}

const struct direct_library direct_ofi = {.prefix = "ofi",
                                          .size = sizeof(struct ofi_lane),
                                          .params = params,
                                          .put = put,
                                          .get = get,
                                          .add = fetch_add,
                                          .tell = tell,
                                          .fence = quiet,
                                          .quiet = quiet,
                                          .look = look,
                                          .memory = memory,
                                          .join = join,
                                          .leave = leave,
                                          .describe_end = describe_end};

#else

const struct direct_library direct_ofi = {
    .prefix = "ofi", .size = sizeof(struct direct), .params = params, .missing = OFI_MISSING};

#endif
