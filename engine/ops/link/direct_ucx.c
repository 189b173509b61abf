/* Puts, gets and atomics of UCX on memory that it has mapped, a worker for each thread. */
#include "ops/link/direct.h"
#include "ops/link/tagged.h"
#include "ops/link/ucx_context.h"

static const struct param params[] = {UCX_TLS_PARAM, {0}};

#if __has_include(<ucp/api/ucp.h>)

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_MOST = 1024 };

/* Beside those of its context. */
static const char *const names[] = {"ucp_mem_map",
                                    "ucp_mem_unmap",
                                    "ucp_mem_query",
                                    "ucp_rkey_pack",
                                    "ucp_rkey_buffer_release",
                                    "ucp_ep_rkey_unpack",
                                    "ucp_rkey_destroy",
                                    "ucp_put_nbx",
                                    "ucp_get_nbx",
                                    "ucp_atomic_op_nbx",
                                    "ucp_ep_flush_nbx",
                                    "ucp_worker_fence",
                                    NULL};

struct rma_calls {
    __typeof__(ucp_mem_map) *map;
    __typeof__(ucp_mem_unmap) *unmap;
    __typeof__(ucp_mem_query) *query;
    __typeof__(ucp_rkey_pack) *pack;
    __typeof__(ucp_rkey_buffer_release) *release_packed;
    __typeof__(ucp_ep_rkey_unpack) *unpack;
    __typeof__(ucp_rkey_destroy) *destroy;
    __typeof__(ucp_put_nbx) *put;
    __typeof__(ucp_get_nbx) *get;
    __typeof__(ucp_atomic_op_nbx) *atomic;
    __typeof__(ucp_ep_flush_nbx) *flush;
    __typeof__(ucp_worker_fence) *fence;
};

/* Once for all lanes of a rank. */
struct mapped {
    struct ucx_context ucx;
    struct rma_calls calls;
    ucp_mem_h memory;
    char *mine;
    size_t bytes;
};

struct ucx_lane {
    struct direct direct;
    const struct mapped *all;
    struct ucx_end end;
    ucp_rkey_h key;
    uint64_t there; /* the address of the other rank's window of this lane, there */
};

/* What the ranks tell each other of their memory, and of each lane. */
struct told {
    uint64_t address;
    size_t key_bytes;
    unsigned char key[KEY_MOST];
};

/* ---- calls ------------------------------------------------------------------------------------------- */

static void fail(struct direct *s, ucs_status_t status)
{
    if (status != UCS_OK && !s->lane.failed)
        s->lane.failed = ((const struct ucx_lane *)s)->all->ucx.calls.say(status);
}

/* A flush completes it; nobody waits for it alone. */
static void let_go(struct direct *s, ucs_status_ptr_t request)
{
    if (UCS_PTR_IS_ERR(request))
        fail(s, UCS_PTR_STATUS(request));
    else if (request)
        ((const struct ucx_lane *)s)->all->ucx.calls.release(request);
}

static void put(struct direct *s, size_t to, const void *from, size_t bytes)
{
    const struct ucx_lane *u = (const struct ucx_lane *)s;
    const ucp_request_param_t plain = {.op_attr_mask = 0};
    let_go(s, u->all->calls.put(u->end.peer, from, bytes, u->there + to, u->key, &plain));
}

static void get(struct direct *s, void *to, size_t from, size_t bytes)
{
    const struct ucx_lane *u = (const struct ucx_lane *)s;
    const ucp_request_param_t plain = {.op_attr_mask = 0};
    let_go(s, u->all->calls.get(u->end.peer, to, bytes, u->there + from, u->key, &plain));
}

/* Until UCX has given it to the transport. */
static void tell(struct direct *s, size_t to, const uint64_t *number)
{
    const struct ucx_lane *u = (const struct ucx_lane *)s;
    const ucp_request_param_t plain = {.op_attr_mask = 0};
    const ucs_status_ptr_t request =
        u->all->calls.put(u->end.peer, number, sizeof *number, u->there + to, u->key, &plain);
    fail(s, ucx_await(&u->all->ucx, &u->end, request));
}

static uint64_t fetch_add(struct direct *s, size_t to, uint64_t value)
{
    const struct ucx_lane *u = (const struct ucx_lane *)s;
    uint64_t before = 0;
    const ucp_request_param_t fetching = {.op_attr_mask =
                                              UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER,
                                          .datatype = ucp_dt_make_contig(sizeof value),
                                          .reply_buffer = &before};
    const ucs_status_ptr_t request =
        u->all->calls.atomic(u->end.peer, UCP_ATOMIC_OP_ADD, &value, 1, u->there + to, u->key, &fetching);
    fail(s, ucx_await(&u->all->ucx, &u->end, request));
    return before;
}

static void fence(struct direct *s)
{
    const struct ucx_lane *u = (const struct ucx_lane *)s;
    fail(s, u->all->calls.fence(u->end.worker));
}

static void quiet(struct direct *s)
{
    const struct ucx_lane *u = (const struct ucx_lane *)s;
    const ucp_request_param_t plain = {.op_attr_mask = 0};
    fail(s, ucx_await(&u->all->ucx, &u->end, u->all->calls.flush(u->end.peer, &plain)));
}

static void look(struct direct *s)
{
    const struct ucx_lane *u = (const struct ucx_lane *)s;
    u->all->ucx.calls.progress(u->end.worker);
}

/* ---- memory ------------------------------------------------------------------------------------------ */

static int map(struct mapped *all, const struct op_env *env, size_t bytes)
{
    /* Allocated by UCX: memory of its own choice is shared with others of the host. */
    const ucp_mem_map_params_t wanted = {.field_mask =
                                             UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
                                         .length = bytes,
                                         .flags = UCP_MEM_MAP_ALLOCATE};
    ucp_mem_attr_t got = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
    int err = ucx_open(&all->ucx, env, UCP_FEATURE_RMA | UCP_FEATURE_AMO64);
    err = err ? err : tagged_load("libucp.so.0", "libucx0", names, &all->calls);
    if (err)
        return err;
    ucs_status_t status = all->calls.map(all->ucx.context, &wanted, &all->memory);
    if (status != UCS_OK)
        return ucx_refuse(&all->ucx, "ucp_mem_map", status);
    if ((status = all->calls.query(all->memory, &got)) != UCS_OK)
        return ucx_refuse(&all->ucx, "ucp_mem_query", status);
    all->mine = got.address;
    all->bytes = bytes;
    return 0;
}

static int memory(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **mine)
{
    const struct link ends = direct_ends(lanes);
    struct mapped *all = calloc(1, sizeof *all);
    lanes->shared = all;
    if (ends.rank > 1)
        return err;
    if (!err && !all)
        err = err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    err = err ? err : map(all, env, bytes);
    *mine = err ? NULL : all->mine;
    return err;
}

static int key_of(const struct mapped *all, struct told *mine)
{
    void *packed = NULL;
    const ucs_status_t status = all->calls.pack(all->ucx.context, all->memory, &packed, &mine->key_bytes);
    if (status != UCS_OK)
        return ucx_refuse(&all->ucx, "ucp_rkey_pack", status);
    const bool fits = mine->key_bytes <= sizeof mine->key;
    if (fits)
        memcpy(mine->key, packed, mine->key_bytes);
    all->calls.release_packed(packed);
    mine->address = (uint64_t)(uintptr_t)all->mine;
    return fits ? 0
                : err_say(ERR_UNSUPPORTED, "a key of UCX has %zu bytes, not %d at most; give tls=WORD",
                          mine->key_bytes, KEY_MOST);
}

/* ---- lanes ------------------------------------------------------------------------------------------- */

static int lane_join(struct ucx_lane *u, const struct link *ends, int err, const struct told *theirs)
{
    struct ucx_hello *hellos = calloc(2, sizeof *hellos);
    const struct mapped *all = u->all;
    err = err || hellos ? err : err_say(ERR_NOMEM, "no memory for two addresses of UCX");
    err = err ? err : ucx_worker(&all->ucx, &u->end, &hellos[0]);
    err = link_meet(ends, err, hellos ? &hellos[0] : NULL, hellos ? &hellos[1] : NULL, sizeof *hellos);
    err = err ? err : ucx_connect(&all->ucx, &u->end, &hellos[1]);
    free(hellos);
    if (err)
        return err;
    u->there = theirs->address + (uint64_t)(u->direct.lane.window - all->mine);
    const ucs_status_t status = all->calls.unpack(u->end.peer, theirs->key, &u->key);
    return status == UCS_OK ? 0 : ucx_refuse(&all->ucx, "ucp_ep_rkey_unpack", status);
}

static int join(struct lanes *lanes, const struct op_env *env, int err)
{
    const struct link ends = direct_ends(lanes);
    struct told mine, theirs;
    if (ends.rank > 1)
        return err;
    memset(&mine, 0, sizeof mine); /* padding too: it is sent */
    err = err ? err : key_of(lanes->shared, &mine);
    err = link_meet(&ends, err, &mine, &theirs, sizeof mine);
    for (int t = 0; t < env->threads && !err; ++t) {
        struct ucx_lane *u = (struct ucx_lane *)lane_at(lanes, t);
        u->all = lanes->shared;
        err = link_meet(&ends, lane_join(u, &ends, err, &theirs), NULL, NULL, 0);
    }
    return err;
}

static void lane_drop(const struct mapped *all, struct ucx_lane *u)
{
    if (u->key)
        all->calls.destroy(u->key);
    ucx_drop(&all->ucx, &u->end);
}

static void leave(struct lanes *lanes)
{
    struct mapped *all = lanes->shared;
    if (!all)
        return;
    for (int t = 0; t < lanes->count; ++t)
        lane_drop(all, (struct ucx_lane *)lane_at(lanes, t));
    if (all->memory)
        all->calls.unmap(all->ucx.context, all->memory);
    ucx_close(&all->ucx);
    free(all);
}

static void describe_end(const void *state, struct json *j)
{
    const struct ucx_lane *u = (const struct ucx_lane *)lane_at(state, 0);
    ucx_describe(&u->all->ucx, &u->end, j);
}

const struct direct_library direct_ucx = {.prefix = "ucx",
                                          .size = sizeof(struct ucx_lane),
                                          .params = params,
                                          .put = put,
                                          .get = get,
                                          .add = fetch_add,
                                          .tell = tell,
                                          .fence = fence,
                                          .quiet = quiet,
                                          .look = look,
                                          .memory = memory,
                                          .join = join,
                                          .leave = leave,
                                          .describe_end = describe_end};

#else

const struct direct_library direct_ucx = {
    .prefix = "ucx", .size = sizeof(struct direct), .params = params, .missing = UCX_MISSING};

#endif
