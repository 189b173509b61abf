/* Tagged messages through a library below MPIs: the common part of libfabric and UCX. */
#ifndef OPS_LINK_TAGGED_H
#define OPS_LINK_TAGGED_H

#include "core/op.h"
#include "ops/link/link.h"

/* The parameter that names a transport: it comes first. */
extern const char *const ofi_providers[17], *const ucx_transports[8];
enum { TAGGED_TRANSPORT };
#define OFI_PROVIDER_PARAM                                                                                   \
    [TAGGED_TRANSPORT] =                                                                                     \
        PARAM_WORDS("provider", "of libfabric; best: shm within a host, else its first", ofi_providers)
#define UCX_TLS_PARAM                                                                                        \
    [TAGGED_TRANSPORT] =                                                                                     \
        PARAM_WORDS("tls", "transports of UCX; best: UCX_TLS, else its choice", ucx_transports)

/* A library. It is loaded when an op needs it, and its functions are looked up. If the engine were linked
 * with it, it would replace the one of each MPI. */
struct tagged_library {
    const char *missing; /* why this engine lacks the rest; NULL if it has it */
    int (*setup)(const struct op_env *env, void **state);
    void (*teardown)(void *state);
    void (*describe_end)(const void *state, struct json *j);
};
extern const struct tagged_library tagged_ofi, tagged_ucx;

/* Load it from that file, which is of a package of Debian, and look up functions by their names, up to NULL;
 * `calls` is a struct of pointers to them in the same order. ERR_UNSUPPORTED. */
int tagged_load(const char *file, const char *package, const char *const *names, void *calls);

/* The transport in the parameters; NULL: the best. */
const char *tagged_asked(const struct op_env *env);

/* Does a transport, by its library's name for it, stay within a host? */
bool tagged_is_local(const char *transport);

/* "transport" of the record: what carried the messages, its layer of the floor, and the library of these
 * names. */
void tagged_transport_json(struct json *j, const char *names, bool is_local, const char *library);

#endif
