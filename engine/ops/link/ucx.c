/* Tagged messages between two endpoints of UCX, as MPI libraries send them over it. */
#define _GNU_SOURCE
#include "ops/link/tagged.h"

#if __has_include(<ucp/api/ucp.h>)

#include "base/err.h"
#include "base/wait.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucp/api/ucp.h>

enum { ADDRESS_MOST = 4096, NAMES_MOST = 128, TAG = 1 };

static const char *const names[] = {
    "ucp_config_read",    "ucp_config_modify",          "ucp_config_release",  "ucp_init_version",
    "ucp_cleanup",        "ucp_context_print_info",     "ucp_worker_create",   "ucp_worker_get_address",
    "ucp_worker_destroy", "ucp_worker_release_address", "ucp_worker_progress", "ucp_ep_create",
    "ucp_ep_print_info",  "ucp_tag_send_nbx",           "ucp_tag_recv_nbx",    "ucp_request_check_status",
    "ucp_request_free",   "ucp_get_version_string",     "ucs_status_string",   NULL};

struct calls {
    __typeof__(ucp_config_read) *config_read;
    __typeof__(ucp_config_modify) *config_modify;
    __typeof__(ucp_config_release) *config_release;
    __typeof__(ucp_init_version) *init;
    __typeof__(ucp_cleanup) *cleanup;
    __typeof__(ucp_context_print_info) *context_print;
    __typeof__(ucp_worker_create) *worker_create;
    __typeof__(ucp_worker_get_address) *get_address;
    __typeof__(ucp_worker_destroy) *worker_destroy;
    __typeof__(ucp_worker_release_address) *release_address;
    __typeof__(ucp_worker_progress) *progress;
    __typeof__(ucp_ep_create) *ep_create;
    __typeof__(ucp_ep_print_info) *ep_print;
    __typeof__(ucp_tag_send_nbx) *send;
    __typeof__(ucp_tag_recv_nbx) *recv;
    __typeof__(ucp_request_check_status) *check;
    __typeof__(ucp_request_free) *release;
    __typeof__(ucp_get_version_string) *version;
    __typeof__(ucs_status_string) *say;
};

struct ucx {
    struct link f; /* first */
    struct calls calls;
    ucp_context_h context;
    ucp_worker_h worker;
    ucp_ep_h peer;
    ucs_status_ptr_t *flying; /* the requests of a window */
};

/* What one rank sends to the other at setup. */
struct ucx_hello {
    size_t length;
    unsigned char address[ADDRESS_MOST]; /* the worker's address in UCX's form */
};

/* ---- messages ---------------------------------------------------------------------------------------- */

static int fail(const struct ucx *s, ucs_status_t status)
{
    return err_say(ERR_SYSTEM, "a message between ranks %d and %d failed: %s", s->f.rank, s->f.peer,
                   s->calls.say(status));
}

static int await(const struct ucx *s, ucs_status_ptr_t request)
{
    if (!request)
        return 0;
    if (UCS_PTR_IS_ERR(request))
        return fail(s, UCS_PTR_STATUS(request));
    ucs_status_t status;
    for (int looks = 0; (status = s->calls.check(request)) == UCS_INPROGRESS;)
        if (s->calls.progress(s->worker) == 0)
            wait_a_little(&looks);
    s->calls.release(request);
    return status == UCS_OK ? 0 : fail(s, status);
}

static ucs_status_ptr_t post(const struct ucx *s, const void *data, size_t bytes)
{
    const ucp_request_param_t plain = {.op_attr_mask = 0};
    return s->calls.send(s->peer, data, bytes, TAG, &plain);
}

static ucs_status_ptr_t expect(const struct ucx *s, void *data, size_t bytes)
{
    const ucp_request_param_t plain = {.op_attr_mask = 0};
    return s->calls.recv(s->worker, data, bytes, TAG, UINT64_MAX, &plain);
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

/* ---- what UCX prints about itself -------------------------------------------------------------------- */

/* Append a transport, the word before a '/', to names separated by commas. */
static void append(char *text, size_t room, const char *word)
{
    const size_t at = strlen(text), length = strcspn(word, "/ \n");
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    if (!strstr(text, name) && at + length + sizeof ", " < room)
        snprintf(text + at, room - at, "%s%s", at > 0 ? ", " : "", name);
}

/* Find the transports in UCX's text: behind a mark, in lines that have a certain word. For an endpoint:
 * `lane[0]:  3:posix/memory.0 md[2] ...`; for a context: `resource 1 :  md 1  dev 1  flags -- tcp/lo`. */
static void transports_read(char *printed, const char *has, const char *mark, char *text, size_t room)
{
    char *rest = printed;
    text[0] = '\0';
    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *at = strstr(line, has);
        at = at ? strstr(at, mark) : NULL;
        if (!at)
            continue;
        at += strlen(mark);
        at += strspn(at, " 0123456789:");
        if (isalpha((unsigned char)*at))
            append(text, room, at);
    }
}

/* The transports that an endpoint uses, with that of messages first; if it names none, those of the
 * context. */
static void transports_of(const struct ucx *s, ucp_ep_h endpoint, char *text, size_t room)
{
    char *printed = NULL;
    size_t length;
    FILE *stream = open_memstream(&printed, &length);
    text[0] = '\0';
    if (!stream)
        return;
    if (endpoint)
        s->calls.ep_print(endpoint, stream);
    else
        s->calls.context_print(s->context, stream);
    if (fclose(stream) == 0)
        transports_read(printed, endpoint ? "lane[" : "resource", endpoint ? "]:" : "-- ", text, room);
    free(printed);
}

/* ---- setting up -------------------------------------------------------------------------------------- */

static int refuse(const struct ucx *s, const char *call, ucs_status_t status)
{
    return err_say(ERR_UNSUPPORTED, "UCX: %s failed: %s", call, s->calls.say(status));
}

static ucs_status_t context_open(struct ucx *s, const char *transports)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = UCP_FEATURE_TAG};
    ucp_config_t *config;
    ucs_status_t status = s->calls.config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return status;
    if (transports)
        status = s->calls.config_modify(config, "TLS", transports);
    if (status == UCS_OK)
        status = s->calls.init(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &s->context);
    s->calls.config_release(config);
    return status;
}

static int refuse_transports(struct ucx *s, const char *asked, ucs_status_t status)
{
    char there[NAMES_MOST] = "";
    if (context_open(s, "all") == UCS_OK)
        transports_of(s, NULL, there, sizeof there);
    return err_say(ERR_UNSUPPORTED, "UCX cannot use %s here, where it has %s: %s", asked ? asked : "UCX_TLS",
                   there[0] ? there : "no transport", s->calls.say(status));
}

static int worker_open(struct ucx *s, const struct op_env *env, struct ucx_hello *mine)
{
    const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SINGLE};
    const char *asked = tagged_asked(env);
    ucp_address_t *address;
    const size_t flying = s->f.window > 1 ? (size_t)s->f.window : 1;
    s->flying = calloc(flying, sizeof *s->flying);
    if (!s->flying)
        return err_say(ERR_NOMEM, "no memory for %zu messages on their way", flying);
    ucs_status_t status = context_open(s, asked);
    if (status != UCS_OK)
        return refuse_transports(s, asked, status);
    if ((status = s->calls.worker_create(s->context, &params, &s->worker)) != UCS_OK)
        return refuse(s, "ucp_worker_create", status);
    if ((status = s->calls.get_address(s->worker, &address, &mine->length)) != UCS_OK)
        return refuse(s, "ucp_worker_get_address", status);
    const bool fits = mine->length <= sizeof mine->address;
    if (fits)
        memcpy(mine->address, address, mine->length);
    s->calls.release_address(s->worker, address);
    return fits ? 0
                : err_say(ERR_UNSUPPORTED, "an address of UCX has %zu bytes, not %d at most; give tls=WORD",
                          mine->length, ADDRESS_MOST);
}

static int peer_open(struct ucx *s, const struct ucx_hello *theirs)
{
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                    .address = (const ucp_address_t *)theirs->address};
    const ucs_status_t status = s->calls.ep_create(s->worker, &params, &s->peer);
    return status == UCS_OK ? 0 : refuse(s, "ucp_ep_create", status);
}

static int ends_open(void *state, const struct op_env *env, int err)
{
    struct ucx *s = state;
    struct ucx_hello *hellos = calloc(2, sizeof *hellos);
    err = err || hellos ? err : err_say(ERR_NOMEM, "no memory for two addresses of UCX");
    /* The engine reports crashes itself. Nothing else of UCX's behaviour is changed. */
    setenv("UCX_HANDLE_ERRORS", "none", 0);
    err = err ? err : tagged_load("libucp.so.0", "libucx0", names, &s->calls);
    err = err ? err : worker_open(s, env, &hellos[0]);
    err = link_meet(&s->f, err, &hellos[0], &hellos[1], sizeof *hellos);
    err = err ? err : peer_open(s, &hellos[1]);
    err = link_meet(&s->f, err, NULL, NULL, 0);
    free(hellos);
    return err;
}

/* Destroying a worker closes its endpoints. All messages have been received, and the other rank need not take
 * part. */
static void teardown(void *state)
{
    struct ucx *s = state;
    if (s->worker)
        s->calls.worker_destroy(s->worker);
    if (s->context)
        s->calls.cleanup(s->context);
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
    char used[NAMES_MOST], first[NAMES_MOST], library[64];
    transports_of(s, s->peer, used, sizeof used);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(used, ","), used); /* the lane of messages */
    snprintf(library, sizeof library, "UCX %s", s->calls.version());
    tagged_transport_json(j, used, tagged_is_local(first), library);
}

const struct tagged_library tagged_ucx = {.setup = setup, .teardown = teardown, .describe_end = describe_end};

#else

const struct tagged_library tagged_ucx = {
    .missing = "this engine was built without UCX; install its headers (on Debian and Ubuntu: apt install "
               "libucx-dev), and it is built anew"};

#endif
