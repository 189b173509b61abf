/* A context of UCX, with workers and endpoints: what its messages and its one-sided calls share. */
#ifndef OPS_LINK_UCX_CONTEXT_H
#define OPS_LINK_UCX_CONTEXT_H

#include "core/op.h"

#define UCX_MISSING                                                                                          \
    "this engine was built without UCX; install its headers (on Debian and Ubuntu: apt install "             \
    "libucx-dev), and it is built anew"

#if __has_include(<ucp/api/ucp.h>)

#include <ucp/api/ucp.h>

enum { UCX_ADDRESS_MOST = 4096 };

struct ucx_calls {
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

struct ucx_context {
    struct ucx_calls calls;
    ucp_context_h context;
};

/* A worker of one thread, and its endpoint to the other rank's. */
struct ucx_end {
    ucp_worker_h worker;
    ucp_ep_h peer;
};

/* What one rank sends to the other at setup. */
struct ucx_hello {
    size_t length;
    unsigned char address[UCX_ADDRESS_MOST]; /* the worker's address in UCX's form */
};

/* Load the library and make a context with such features (UCP_FEATURE_...) by the transports that the test
 * case asks for. ERR_UNSUPPORTED. */
int ucx_open(struct ucx_context *ucx, const struct op_env *env, uint64_t features);
void ucx_close(struct ucx_context *ucx);

/* Make a worker, and write its address into `mine`; connect it by that of the other rank. ERR_UNSUPPORTED. */
int ucx_worker(const struct ucx_context *ucx, struct ucx_end *end, struct ucx_hello *mine);
int ucx_connect(const struct ucx_context *ucx, struct ucx_end *end, const struct ucx_hello *theirs);

/* Destroying a worker closes its endpoints; the other rank need not take part. */
void ucx_drop(const struct ucx_context *ucx, struct ucx_end *end);

/* Wait for a request; NULL is done already. */
ucs_status_t ucx_await(const struct ucx_context *ucx, const struct ucx_end *end, ucs_status_ptr_t request);

/* ERR_UNSUPPORTED: a call of UCX failed. */
int ucx_refuse(const struct ucx_context *ucx, const char *call, ucs_status_t status);

/* "transport" of the record. */
void ucx_describe(const struct ucx_context *ucx, const struct ucx_end *end, struct json *j);

#endif
#endif
