/* A libfabric whose providers register memory for one endpoint (FI_MR_ENDPOINT): there is no key before a
 * region is bound to an endpoint and enabled. All else is the library at OFI_REAL. It says that it is 9.9. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdlib.h>
#include <string.h>

enum { REGIONS = 64 };

static struct region {
    struct fid_mr *mr;
    struct fi_ops *real, own;
    uint64_t key;
    int is_bound;
} regions[REGIONS];
static int regions_made;
static struct fi_ops_fabric fabric_ops, *real_fabric;
static struct fi_ops_domain domain_ops, *real_domain;
static struct fi_ops_mr mr_ops, *real_mr;

static void *real(const char *name)
{
    static void *library;
    if (!library)
        library = dlopen(getenv("OFI_REAL"), RTLD_NOW | RTLD_LOCAL);
    return library ? dlsym(library, name) : NULL;
}
#define REAL(name) ((__typeof__(name) *)real(#name))

static struct region *region_of(struct fid *fid)
{
    struct region *r = regions;
    while (&r->mr->fid != fid)
        ++r;
    return r;
}

static int region_bind(struct fid *fid, struct fid *to, uint64_t flags)
{
    (void)flags;
    region_of(fid)->is_bound = to->fclass == FI_CLASS_EP;
    return 0;
}

static int region_control(struct fid *fid, int command, void *argument)
{
    struct region *r = region_of(fid);
    if (command != FI_ENABLE || !r->is_bound)
        return -FI_EINVAL;
    (void)argument;
    r->mr->key = r->key;
    return 0;
}

static int region_close(struct fid *fid)
{
    struct region *r = region_of(fid);
    fid->ops = r->real;
    r->mr = NULL;
    return fid->ops->close(fid);
}

static int region_open(struct fid *fid, const void *data, size_t bytes, uint64_t access, uint64_t offset,
                       uint64_t key, uint64_t flags, struct fid_mr **mr, void *context)
{
    struct region *r = &regions[regions_made++ % REGIONS];
    const int code = real_mr->reg(fid, data, bytes, access, offset, key, flags, mr, context);
    if (code != 0)
        return code;
    *r = (struct region){.mr = *mr, .real = (*mr)->fid.ops, .own = *(*mr)->fid.ops, .key = (*mr)->key};
    r->own.bind = region_bind;
    r->own.control = region_control;
    r->own.close = region_close;
    (*mr)->fid.ops = &r->own;
    (*mr)->key = FI_KEY_NOTAVAIL;
    return 0;
}

static int endpoint_open(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep, void *context)
{
    info->domain_attr->mr_mode &= ~FI_MR_ENDPOINT;
    const int code = real_domain->endpoint(domain, info, ep, context);
    info->domain_attr->mr_mode |= FI_MR_ENDPOINT;
    return code;
}

static int domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
                       void *context)
{
    info->domain_attr->mr_mode &= ~FI_MR_ENDPOINT;
    const int code = real_fabric->domain(fabric, info, domain, context);
    info->domain_attr->mr_mode |= FI_MR_ENDPOINT;
    if (code != 0)
        return code;
    real_domain = (*domain)->ops;
    domain_ops = *real_domain;
    domain_ops.endpoint = endpoint_open;
    (*domain)->ops = &domain_ops;
    real_mr = (*domain)->mr;
    mr_ops = *real_mr;
    mr_ops.reg = region_open;
    (*domain)->mr = &mr_ops;
    return 0;
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
    const int code = REAL(fi_fabric)(attr, fabric, context);
    if (code != 0)
        return code;
    real_fabric = (*fabric)->ops;
    fabric_ops = *real_fabric;
    fabric_ops.domain = domain_open;
    (*fabric)->ops = &fabric_ops;
    return 0;
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
               const struct fi_info *hints, struct fi_info **info)
{
    const int code = REAL(fi_getinfo)(version, node, service, flags, hints, info);
    for (struct fi_info *i = code == 0 ? *info : NULL; i; i = i->next)
        i->domain_attr->mr_mode |= FI_MR_ENDPOINT;
    return code;
}

void fi_freeinfo(struct fi_info *info)
{
    REAL(fi_freeinfo)(info);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
    return REAL(fi_dupinfo)(info);
}

const char *fi_strerror(int error)
{
    return REAL(fi_strerror)(error);
}

uint32_t fi_version(void)
{
    return FI_VERSION(9, 9);
}
