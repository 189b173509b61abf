#define _GNU_SOURCE
#include "base/memory.h"

#include "base/err.h"
#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LINE = 64, LARGE_PAGE = 2 << 20, PATH_ROOM = 1024 };

/* The number after `key` at the start of a line of a file; -1: there is none. An empty key: the first number.
 */
static int64_t number_in(const char *path, const char *key)
{
    char line[256];
    int64_t found = -1;
    size_t length = strlen(key);
    FILE *file = fopen(path, "r");
    while (file && found < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, key, length) == 0) {
            char *end = NULL;
            long long number = strtoll(line + length, &end, 10);
            found = end != line + length ? number : -1;
        }
    if (file)
        fclose(file);
    return found;
}

/* What is left in the control group at `folder`; INT64_MAX: it has no limit. */
static int64_t group_left(const char *folder)
{
    char path[PATH_ROOM + 32];
    snprintf(path, sizeof path, "%s/memory.max", folder);
    int64_t most = number_in(path, "");
    snprintf(path, sizeof path, "%s/memory.current", folder);
    int64_t used = number_in(path, "");
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    int64_t cached = number_in(path, "inactive_file "); /* is given back when it is wanted */
    if (most < 0 || used < 0)
        return INT64_MAX;
    return most - used + (cached > 0 ? cached : 0);
}

/* The least of this process's control group (version 2) and of those around it. */
static int64_t groups_left(void)
{
    static const char root[] = "/sys/fs/cgroup";
    char line[PATH_ROOM] = "", folder[PATH_ROOM + sizeof root];
    int64_t least = INT64_MAX;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file) && strncmp(line, "0::", 3) != 0)
        line[0] = '\0';
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = '\0';
    snprintf(folder, sizeof folder, "%s%s", root, line[0] ? line + 3 : "");
    for (char *end = folder + strlen(folder); end && end >= folder + sizeof root - 1;
         end = strrchr(folder, '/')) {
        *end = '\0';
        int64_t left = group_left(folder);
        least = left < least ? left : least;
    }
    return least;
}

int64_t memory_available(void)
{
    enum { KIB = 1024 };
    int64_t free_kib = number_in("/proc/meminfo", "MemAvailable:");
    int64_t host = free_kib < 0 ? INT64_MAX : free_kib * KIB, groups = groups_left();
    return host < groups ? host : groups;
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
