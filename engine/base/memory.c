#define _GNU_SOURCE
#include "base/memory.h"

#include "base/err.h"
#include "base/num.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, LARGE_PAGE = 2 << 20, PATH_BYTES = 1024 };

static FILE *open_in(const char *root, const char *folder, const char *name)
{
    char path[PATH_BYTES];
    const int length = snprintf(path, sizeof path, "%s%s%s", root, folder, name);
    return length < (int)sizeof path ? fopen(path, "r") : NULL;
}

/* The number behind `key` at the beginning of a line, or the first line's where there is no key; SIZE_MAX
 * where there is none, as for "max". */
static size_t number_in(const char *root, const char *folder, const char *name, const char *key)
{
    FILE *file = open_in(root, folder, name);
    char line[256];
    unsigned long long number = 0;
    size_t found = SIZE_MAX;
    while (file && found == SIZE_MAX && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), " %llu", &number) == 1)
            found = number;
    if (file)
        fclose(file);
    return found;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The names of a version's files. */
static const struct version {
    const char *folder, *limit, *used, *of_files;
} versions[] = {
    {"/sys/fs/cgroup", "/memory.max", "/memory.current", "file"},
    {"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_cache"},
};

static size_t left_in(const char *root, const struct version *v, const char *folder)
{
    const size_t limit = number_in(root, folder, v->limit, "");
    const size_t used = number_in(root, folder, v->used, "");
    const size_t files = number_in(root, folder, "/memory.stat", v->of_files);
    if (limit == SIZE_MAX || used == SIZE_MAX)
        return SIZE_MAX;
    const size_t kept = files == SIZE_MAX || files > used ? used : used - files;
    return limit > kept ? limit - kept : 0;
}

/* A group and those that it is in. */
static size_t left_up_from(const char *root, const struct version *v, const char *group)
{
    char folder[PATH_BYTES];
    if (snprintf(folder, sizeof folder, "%s%s", v->folder, group) >= (int)sizeof folder)
        return SIZE_MAX;
    size_t left = SIZE_MAX;
    while (strlen(folder) >= strlen(v->folder)) {
        left = smaller(left, left_in(root, v, folder));
        *strrchr(folder, '/') = '\0';
    }
    return left;
}

/* The kernel's estimate of what can be taken without swapping (MemAvailable), and of each control group the
 * limit less what is used; pages of files do not count as used, for they can be dropped. Version 2 has its
 * limits in /sys/fs/cgroup/PATH, version 1 in /sys/fs/cgroup/memory/PATH. In a container the path that the
 * kernel says may not be there, and the folder itself is the group's. */
size_t memory_left(const char *root)
{
    const size_t kib = number_in(root, "/proc", "/meminfo", "MemAvailable:");
    size_t left = kib < SIZE_MAX / 1024 ? kib * 1024 : SIZE_MAX;
    FILE *file = open_in(root, "/proc", "/self/cgroup");
    char line[PATH_BYTES];
    while (file && fgets(line, sizeof line, file)) { /* hierarchy:controllers:path */
        line[strcspn(line, "\n")] = '\0';
        const char *first = strchr(line, ':'), *second = first ? strchr(first + 1, ':') : NULL;
        if (!second)
            continue;
        if (strncmp(line, "0::", 3) == 0)
            left = smaller(left, left_up_from(root, &versions[0], second + 1));
        else if (strncmp(first, ":memory:", 8) == 0)
            left = smaller(left, left_up_from(root, &versions[1], second + 1));
    }
    if (file)
        fclose(file);
    return left;
}

int64_t memory_resident(void)
{
    long long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%lld %lld", &pages, &resident) != 2)
        resident = 0;
    if (file)
        fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
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
