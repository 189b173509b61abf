/* Tagged messages through a library that MPIs rest on. What libfabric's and UCX's have in common. */
#ifndef OPS_LINK_TAGGED_H
#define OPS_LINK_TAGGED_H

#include "core/op.h"
#include "ops/link/link.h"

/* A library. Its functions are looked up in a file that is loaded when an op asks for it: an engine that was
 * linked with it would bring it to each MPI in the place of the MPI's own. */
struct tagged_library {
    const char *missing; /* why this engine has none of the following; NULL: it has */
    int (*setup)(const struct op_env *env, void **state);
    void (*teardown)(void *state);
    void (*describe_end)(const void *state, struct json *j);
};
extern const struct tagged_library tagged_ofi, tagged_ucx;

/* Load it from that file, which is of a package of Debian, and look up functions by their names, up to NULL;
 * `calls` is a struct of pointers to them in the same order. ERR_UNSUPPORTED. */
int tagged_load(const char *file, const char *package, const char *const *names, void *calls);

/* The transport that the parameters ask for; NULL: the best. */
const char *tagged_asked(const struct op_env *env);

/* Whether a transport, by the name that its library gives it, stays within a host. */
bool tagged_is_local(const char *transport);

/* "transport" of the record: what carried the messages, which layer of the floor that is, and in the words of
 * which library. */
void tagged_transport_json(struct json *j, const char *names, bool is_local, const char *library);

#endif
