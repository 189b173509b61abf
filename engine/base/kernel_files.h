/* Numbers in the kernel's files, and the control groups of this process. */
#ifndef BASE_KERNEL_FILES_H
#define BASE_KERNEL_FILES_H

#include <stdint.h>

enum { CGROUP_FOLDER_MAX = 1024, CGROUPS_MOST = 2 };

/* The number behind the first `key` at the beginning of a line of a file, or on its first line if the key is
 * ""; -1 if there is none, as for "max". `root` is put before the path: "" except in tests. */
int64_t kernel_file_number(const char *root, const char *path, const char *key);

/* A control group that this process is in. */
struct cgroup {
    int version;                    /* 2 has one tree, 1 has one for each controller */
    int top;                        /* letters of `folder` that are the tree's own */
    char folder[CGROUP_FOLDER_MAX]; /* "/sys/fs/cgroup/PATH", "/sys/fs/cgroup/memory/PATH" */
};

/* Find those that limit `controller`, such as "memory" or "cpu", in the kernel's order; returns how many. In
 * a container the kernel's path may be missing, and the tree's folder is then the group's. */
int cgroups_of(const char *root, const char *controller, struct cgroup found[CGROUPS_MOST]);

#endif
