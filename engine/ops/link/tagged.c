/* ofi.tagged, ucx.tagged: tagged messages through libfabric or UCX, there and back or as a stream. */
#include "ops/link/tagged.h"

#include "base/err.h"
#include "base/json.h"
#include "ops/families.h"

#include <dlfcn.h>
#include <string.h>

enum { BEST };

/* The names of libfabric's providers, or of UCX's transports as in UCX_TLS. */
const char *const ofi_providers[17] = {"best", "shm", "tcp",     "verbs", "cxi", "efa", "psm3", "psm2", "opx",
                                       "gni",  "udp", "sockets", "net",   "sm2", "ucx", "lpp",  NULL};
const char *const ucx_transports[8] = {"best", "shm", "tcp", "ib", "rc", "ud", "dc", NULL};

static const struct param ofi_params[] = {OFI_PROVIDER_PARAM, BUFFERS_PARAMS, {0}};
static const struct param ofi_stream_params[] = {OFI_PROVIDER_PARAM, LINK_WINDOW_PARAM, BUFFERS_PARAMS, {0}};
static const struct param ucx_params[] = {UCX_TLS_PARAM, BUFFERS_PARAMS, {0}};
static const struct param ucx_stream_params[] = {UCX_TLS_PARAM, LINK_WINDOW_PARAM, BUFFERS_PARAMS, {0}};

int tagged_load(const char *file, const char *package, const char *const *names, void *calls)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL); /* never closed: it may have threads */
    if (!library)
        return err_say(ERR_UNSUPPORTED, "%s; install it (on Debian and Ubuntu: apt install %s)", dlerror(),
                       package);
    for (size_t i = 0; names[i]; ++i) {
        void *found = dlsym(library, names[i]);
        if (!found)
            return err_say(ERR_UNSUPPORTED, "%s has no %s: another version than the engine was built with",
                           file, names[i]);
        memcpy((char *)calls + i * sizeof found, &found, sizeof found);
    }
    return 0;
}

const char *tagged_asked(const struct op_env *env)
{
    const int word = (int)env->params[TAGGED_TRANSPORT];
    return word == BEST ? NULL : env->op->params[TAGGED_TRANSPORT].words[word];
}

bool tagged_is_local(const char *transport)
{
    static const char *const local[] = {"shm", "sm2", "self", "sysv", "posix", "cma", "knem", "xpmem", NULL};
    for (int i = 0; local[i]; ++i)
        if (strcmp(transport, local[i]) == 0)
            return true;
    return false;
}

void tagged_transport_json(struct json *j, const char *names, bool is_local, const char *library)
{
    json_open(j, "transport", '{');
    json_string(j, "name", names);
    json_string(j, "layer", op_layers[is_local ? LAYER_SHARED_MEMORY : LAYER_NETWORK]);
    json_string(j, "library", library);
    json_close(j, '}');
}

static const struct op rows[] = {
    {.name = "ofi.tagged",
     .summary = "a tagged message there and back through libfabric, without MPI; one way",
     .params = ofi_params,
     .row = &tagged_ofi},
    {.name = "ofi.tagged.stream",
     .summary = "a window of tagged messages through libfabric and an empty answer; the time of the window",
     .params = ofi_stream_params,
     .row = &tagged_ofi},
    {.name = "ucx.tagged",
     .summary = "a tagged message there and back through UCX, without MPI; one way",
     .params = ucx_params,
     .row = &tagged_ucx},
    {.name = "ucx.tagged.stream",
     .summary = "a window of tagged messages through UCX and an empty answer; the time of the window",
     .params = ucx_stream_params,
     .row = &tagged_ucx},
};

/* The record of each test case names the layer. */
static void op_at(size_t i, struct op *op)
{
    const struct tagged_library *library = rows[i].row;
    *op = rows[i];
    op->default_bytes = "0,1..4Mi";
    op->missing = library->missing;
    op->describe_end = library->describe_end;
    link_op(op, LAYER_NETWORK, library->setup, library->teardown);
}

const struct op_family tagged_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
