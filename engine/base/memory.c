#define _GNU_SOURCE
#include "base/memory.h"

#include "base/err.h"
#include "base/kernel_files.h"
#include "base/num.h"

#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, LARGE_PAGE = 2 << 20, PATH_BYTES = CGROUP_FOLDER_MAX + 64 };

/* The names of a version's files. */
static const struct version {
    const char *limit, *used, *of_files;
} versions[] = {
    [1] = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache"},
    [2] = {"memory.max", "memory.current", "file"},
};

static int64_t number_in(const char *root, const char *folder, const char *name, const char *key)
{
    char path[PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length < (int)sizeof path ? kernel_file_number(root, path, key) : -1;
}

static size_t left_in(const char *root, const struct version *v, const char *folder)
{
    const int64_t limit = number_in(root, folder, v->limit, "");
    const int64_t used = number_in(root, folder, v->used, "");
    const int64_t files = number_in(root, folder, "memory.stat", v->of_files);
    if (limit < 0 || used < 0)
        return SIZE_MAX;
    const int64_t kept = files < 0 || files > used ? used : used - files;
    return limit > kept ? (size_t)(limit - kept) : 0;
}

/* The kernel's estimate of what can be taken without swapping (MemAvailable), and of each control group and
 * those that it is in the limit less what is used; pages of files do not count as used, for they can be
 * dropped. */
size_t memory_left(const char *root)
{
    const int64_t kib = kernel_file_number(root, "/proc/meminfo", "MemAvailable:");
    size_t left = kib >= 0 ? (size_t)kib * 1024 : SIZE_MAX;
    struct cgroup groups[CGROUPS_MOST];
    const int count = cgroups_of(root, "memory", groups);
    for (struct cgroup *g = groups; g < groups + count; ++g)
        while (strlen(g->folder) >= (size_t)g->top) {
            const size_t here = left_in(root, &versions[g->version], g->folder);
            left = here < left ? here : left;
            *strrchr(g->folder, '/') = '\0';
        }
    return left;
}

int64_t memory_heap(void)
{
#if __GLIBC_PREREQ(2, 33)
    const struct mallinfo2 info = mallinfo2();
    return (int64_t)info.uordblks + (int64_t)info.hblkhd;
#else
    const struct mallinfo info = mallinfo();
    return (int64_t)(unsigned)info.uordblks + (int64_t)(unsigned)info.hblkhd;
#endif
}

/* A number of KiB behind a key of this process' status. */
static int64_t status_bytes(const char *key)
{
    const int64_t kib = kernel_file_number("", "/proc/self/status", key);
    return kib > 0 ? kib * 1024 : 0;
}

struct footprint memory_footprint(void)
{
    long long pages = 0, resident = 0, shared = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lld %lld %lld", &pages, &resident, &shared) != 3)
        resident = shared = 0;
    if (file)
        fclose(file);
    const int64_t page = sysconf(_SC_PAGESIZE);
    return (struct footprint){.heap = memory_heap(),
                              .resident = resident * page,
                              .shared = shared * page,
                              .locked = status_bytes("VmLck:"),
                              .pinned = status_bytes("VmPin:")};
}

int memory_array(size_t count, size_t size, void **array)
{
    size_t bytes = 0;
    int err = num_multiply(count, size, &bytes);
    size_t unit = bytes >= LARGE_PAGE ? LARGE_PAGE : LINE;
    if (err || bytes > SIZE_MAX - unit)
        return err ? err : err_say(ERR_NOMEM, "%zu bytes are more than any memory", bytes);
    size_t whole = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
    void *new = aligned_alloc(unit, whole);
    if (!new)
        return err_say(ERR_NOMEM, "no memory for an array of %zu bytes", bytes);
    if (unit == LARGE_PAGE)
        madvise(new, whole, MADV_HUGEPAGE); /* a wish: without it the array is as good, and slower */
    *array = new;
    return 0;
}
