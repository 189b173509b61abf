/* Tagged messages between two endpoints of UCX, as MPI libraries send them over it. */
#define _GNU_SOURCE
#include "ops/link/tagged.h"
#include "ops/link/ucx_context.h"

#if __has_include(<ucp/api/ucp.h>)

#include "base/err.h"

#include <stdlib.h>

enum { TAG = 1 };

struct ucx {
    struct link f; /* first */
    struct ucx_context ucx;
    struct ucx_end end;
    ucs_status_ptr_t *flying; /* the requests of a window */
};

/* ---- messages ---------------------------------------------------------------------------------------- */

static int await(const struct ucx *s, ucs_status_ptr_t request)
{
    const ucs_status_t status = ucx_await(&s->ucx, &s->end, request);
    return status == UCS_OK ? 0
                            : err_say(ERR_SYSTEM, "a message between ranks %d and %d failed: %s", s->f.rank,
                                      s->f.peer, s->ucx.calls.say(status));
}

static ucs_status_ptr_t post(const struct ucx *s, const void *data, size_t bytes)
{
    const ucp_request_param_t plain = {.op_attr_mask = 0};
    return s->ucx.calls.send(s->end.peer, data, bytes, TAG, &plain);
}

static ucs_status_ptr_t expect(const struct ucx *s, void *data, size_t bytes)
{
    const ucp_request_param_t plain = {.op_attr_mask = 0};
    return s->ucx.calls.recv(s->end.worker, data, bytes, TAG, UINT64_MAX, &plain);
}

static int put(struct link *f, const void *data, size_t bytes)
{
    const struct ucx *s = (const struct ucx *)f;
    return await(s, post(s, data, bytes));
}

static int get(struct link *f, void *data, size_t bytes)
{
    const struct ucx *s = (const struct ucx *)f;
    return await(s, expect(s, data, bytes));
}

static int await_all(const struct ucx *s, int count)
{
    int err = 0;
    for (int i = 0; i < count && !err; ++i)
        err = await(s, s->flying[i]);
    return err;
}

static int put_all(struct link *f, int count)
{
    struct ucx *s = (struct ucx *)f;
    for (int i = 0; i < count; ++i)
        s->flying[i] = post(s, f->send, f->bytes);
    return await_all(s, count);
}

static int get_all(struct link *f, int count)
{
    struct ucx *s = (struct ucx *)f;
    for (int i = 0; i < count; ++i)
        s->flying[i] = expect(s, f->recv, f->bytes);
    return await_all(s, count);
}

/* ---- setting up -------------------------------------------------------------------------------------- */

static int ends_open(void *state, const struct op_env *env, int err)
{
    struct ucx *s = state;
    const size_t flying = s->f.window > 1 ? (size_t)s->f.window : 1;
    struct ucx_hello *hellos = calloc(2, sizeof *hellos);
    s->flying = calloc(flying, sizeof *s->flying);
    if (!err && (!hellos || !s->flying))
        err = err_say(ERR_NOMEM, "no memory for two addresses of UCX and %zu messages on their way", flying);
    err = err ? err : ucx_open(&s->ucx, env, UCP_FEATURE_TAG);
    err = err ? err : ucx_worker(&s->ucx, &s->end, &hellos[0]);
    err = link_meet(&s->f, err, hellos ? &hellos[0] : NULL, hellos ? &hellos[1] : NULL, sizeof *hellos);
    err = err ? err : ucx_connect(&s->ucx, &s->end, &hellos[1]);
    err = link_meet(&s->f, err, NULL, NULL, 0);
    free(hellos);
    return err;
}

/* All messages have been received. */
static void teardown(void *state)
{
    struct ucx *s = state;
    ucx_drop(&s->ucx, &s->end);
    ucx_close(&s->ucx);
    free(s->flying);
    free(s);
}

static const struct link_kind link_of = {.state_bytes = sizeof(struct ucx),
                                         .put = put,
                                         .get = get,
                                         .put_all = put_all,
                                         .get_all = get_all,
                                         .connect = ends_open,
                                         .teardown = teardown};

static int setup(const struct op_env *env, void **state)
{
    return link_setup(&link_of, env, state);
}

static void describe_end(const void *state, struct json *j)
{
    const struct ucx *s = state;
    ucx_describe(&s->ucx, &s->end, j);
}

const struct tagged_library tagged_ucx = {.setup = setup, .teardown = teardown, .describe_end = describe_end};

#else

const struct tagged_library tagged_ucx = {.missing = UCX_MISSING};

#endif
