/* A provider of libfabric: what its messages and its one-sided calls share. */
#ifndef OPS_LINK_OFI_PROVIDER_H
#define OPS_LINK_OFI_PROVIDER_H

#include "ops/link/address.h"
#include "ops/link/link.h"

#define OFI_MISSING                                                                                          \
    "this engine was built without libfabric; install its headers (on Debian and Ubuntu: apt install "       \
    "libfabric-dev), and it is built anew"

#if __has_include(<rdma/fabric.h>)

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

struct ofi_calls {
    __typeof__(fi_getinfo) *getinfo;
    __typeof__(fi_freeinfo) *freeinfo;
    __typeof__(fi_dupinfo) *dupinfo;
    __typeof__(fi_fabric) *fabric;
    __typeof__(fi_strerror) *strerror;
    __typeof__(fi_version) *version;
};

struct ofi_provider {
    struct ofi_calls calls;
    struct fi_info *info; /* what was chosen */
    struct fid_fabric *fabric;
    struct fid_domain *domain;
};

/* What an op needs of it. */
struct ofi_need {
    uint64_t caps, order; /* FI_TAGGED, ...; FI_ORDER_SAS, ... */
    uint64_t flags;       /* of each call */
    enum fi_threading threading;
    const char *what; /* in a sentence: "tagged messages" */
};

/* What a rank tells the other one, which chooses a provider by it. */
enum { OFI_NAME_MOST = 512, OFI_PROVIDER_MOST = 64 };
struct ofi_seat {
    struct link_seat seat;
    struct addresses addresses;
    char provider[OFI_PROVIDER_MOST]; /* what it chose */
};

/* An endpoint's address in the provider's form. */
struct ofi_name {
    size_t length;
    unsigned char name[OFI_NAME_MOST];
};

/* Load the library, and read this rank's seat. ERR_UNSUPPORTED. */
int ofi_load(struct ofi_provider *p, const struct team *team, struct ofi_seat *mine);

/* Choose a provider for the test case, and open its domain. ERR_UNSUPPORTED. */
int ofi_open(struct ofi_provider *p, const struct op_env *env, const struct ofi_need *need,
             struct ofi_seat *mine, const struct ofi_seat *theirs);
int ofi_alike(const struct link *ends, const struct ofi_seat *mine, const struct ofi_seat *theirs);
void ofi_close(struct ofi_provider *p);

/* An endpoint's name; the other rank's, in a table of addresses. ERR_UNSUPPORTED. */
int ofi_name(const struct ofi_provider *p, struct fid_ep *ep, struct ofi_name *mine);
int ofi_insert(const struct ofi_provider *p, struct fid_av *av, const struct ofi_name *theirs,
               fi_addr_t *peer);

/* ERR_UNSUPPORTED: a call of libfabric failed. */
int ofi_refuse(const struct ofi_provider *p, const char *call, int code);

/* "transport" of the record. */
void ofi_describe(const struct ofi_provider *p, struct json *j);

#endif
#endif
