#define _GNU_SOURCE
#include "ops/link/ucx_context.h"

#if __has_include(<ucp/api/ucp.h>)

#include "base/err.h"
#include "base/wait.h"
#include "ops/link/tagged.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MOST = 128 };

static const char *const names[] = {
    "ucp_config_read",    "ucp_config_modify",          "ucp_config_release",  "ucp_init_version",
    "ucp_cleanup",        "ucp_context_print_info",     "ucp_worker_create",   "ucp_worker_get_address",
    "ucp_worker_destroy", "ucp_worker_release_address", "ucp_worker_progress", "ucp_ep_create",
    "ucp_ep_print_info",  "ucp_tag_send_nbx",           "ucp_tag_recv_nbx",    "ucp_request_check_status",
    "ucp_request_free",   "ucp_get_version_string",     "ucs_status_string",   NULL};

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
static void transports_of(const struct ucx_context *ucx, ucp_ep_h endpoint, char *text, size_t room)
{
    char *printed = NULL;
    size_t length;
    FILE *stream = open_memstream(&printed, &length);
    text[0] = '\0';
    if (!stream)
        return;
    if (endpoint)
        ucx->calls.ep_print(endpoint, stream);
    else
        ucx->calls.context_print(ucx->context, stream);
    if (fclose(stream) == 0)
        transports_read(printed, endpoint ? "lane[" : "resource", endpoint ? "]:" : "-- ", text, room);
    free(printed);
}

/* ---- its life ---------------------------------------------------------------------------------------- */

int ucx_refuse(const struct ucx_context *ucx, const char *call, ucs_status_t status)
{
    return err_say(ERR_UNSUPPORTED, "UCX: %s failed: %s", call, ucx->calls.say(status));
}

static ucs_status_t context_open(struct ucx_context *ucx, uint64_t features, const char *transports)
{
    const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
    ucp_config_t *config;
    ucs_status_t status = ucx->calls.config_read(NULL, NULL, &config);
    if (status != UCS_OK)
        return status;
    if (transports)
        status = ucx->calls.config_modify(config, "TLS", transports);
    if (status == UCS_OK)
        status = ucx->calls.init(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &ucx->context);
    ucx->calls.config_release(config);
    return status;
}

static int refuse_transports(struct ucx_context *ucx, uint64_t features, const char *asked,
                             ucs_status_t status)
{
    char there[NAMES_MOST] = "";
    if (context_open(ucx, features, "all") == UCS_OK)
        transports_of(ucx, NULL, there, sizeof there);
    return err_say(ERR_UNSUPPORTED, "UCX cannot use %s here, where it has %s: %s", asked ? asked : "UCX_TLS",
                   there[0] ? there : "no transport", ucx->calls.say(status));
}

int ucx_open(struct ucx_context *ucx, const struct op_env *env, uint64_t features)
{
    const char *asked = tagged_asked(env);
    /* The engine reports crashes itself. Nothing else of UCX's behaviour is changed. */
    setenv("UCX_HANDLE_ERRORS", "none", 0);
    const int err = tagged_load("libucp.so.0", "libucx0", names, &ucx->calls);
    if (err)
        return err;
    const ucs_status_t status = context_open(ucx, features, asked);
    return status == UCS_OK ? 0 : refuse_transports(ucx, features, asked, status);
}

void ucx_close(struct ucx_context *ucx)
{
    if (ucx->context)
        ucx->calls.cleanup(ucx->context);
    ucx->context = NULL;
}

int ucx_worker(const struct ucx_context *ucx, struct ucx_end *end, struct ucx_hello *mine)
{
    /* Made by one thread and used by another. */
    const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
                                        .thread_mode = UCS_THREAD_MODE_SERIALIZED};
    ucp_address_t *address;
    ucs_status_t status = ucx->calls.worker_create(ucx->context, &params, &end->worker);
    if (status != UCS_OK)
        return ucx_refuse(ucx, "ucp_worker_create", status);
    if ((status = ucx->calls.get_address(end->worker, &address, &mine->length)) != UCS_OK)
        return ucx_refuse(ucx, "ucp_worker_get_address", status);
    const bool fits = mine->length <= sizeof mine->address;
    if (fits)
        memcpy(mine->address, address, mine->length);
    ucx->calls.release_address(end->worker, address);
    return fits ? 0
                : err_say(ERR_UNSUPPORTED, "an address of UCX has %zu bytes, not %d at most; give tls=WORD",
                          mine->length, UCX_ADDRESS_MOST);
}

int ucx_connect(const struct ucx_context *ucx, struct ucx_end *end, const struct ucx_hello *theirs)
{
    const ucp_ep_params_t params = {.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS,
                                    .address = (const ucp_address_t *)theirs->address};
    const ucs_status_t status = ucx->calls.ep_create(end->worker, &params, &end->peer);
    return status == UCS_OK ? 0 : ucx_refuse(ucx, "ucp_ep_create", status);
}

void ucx_drop(const struct ucx_context *ucx, struct ucx_end *end)
{
    if (end->worker)
        ucx->calls.worker_destroy(end->worker);
    end->worker = NULL;
}

ucs_status_t ucx_await(const struct ucx_context *ucx, const struct ucx_end *end, ucs_status_ptr_t request)
{
    if (!request)
        return UCS_OK;
    if (UCS_PTR_IS_ERR(request))
        return UCS_PTR_STATUS(request);
    ucs_status_t status;
    for (int looks = 0; (status = ucx->calls.check(request)) == UCS_INPROGRESS;)
        if (ucx->calls.progress(end->worker) == 0)
            wait_a_little(&looks);
    ucx->calls.release(request);
    return status;
}

void ucx_describe(const struct ucx_context *ucx, const struct ucx_end *end, struct json *j)
{
    char used[NAMES_MOST], first[NAMES_MOST], library[64];
    transports_of(ucx, end->peer, used, sizeof used);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(used, ","), used); /* the lane of messages */
    snprintf(library, sizeof library, "UCX %s", ucx->calls.version());
    tagged_transport_json(j, used, tagged_is_local(first), library);
}

#endif
