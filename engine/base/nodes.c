#define _GNU_SOURCE
#include "base/nodes.h"

#include "base/err.h"
#include "base/kernel_files.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NODES_MOST = 1024, TEXT_MOST = 4096, PATH_BYTES = 512 };
static const char folder[] = "/sys/devices/system/node";

const char *const node_words[4] = {[NODE_ANY] = "any", [NODE_NEAR] = "near", [NODE_FAR] = "far", NULL};

static bool read_line(const char *root, int node, const char *name, char text[TEXT_MOST])
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s%s/node%d/%s", root, folder, node, name);
    FILE *file = fopen(path, "r");
    const bool there = file && fgets(text, TEXT_MOST, file);
    if (file)
        fclose(file);
    return there;
}

/* The next run of a list such as "0-3,8". */
static const char *run_read(const char *list, long *first, long *last)
{
    char *end = NULL;
    *first = *last = strtol(list, &end, 10);
    if (end == list)
        return NULL;
    if (*end == '-')
        *last = strtol(end + 1, &end, 10);
    return *end == ',' ? end + 1 : end;
}

/* How many of the CPUs are in a node. */
static int shared(const char *root, int node, const cpu_set_t *cpus)
{
    char list[TEXT_MOST];
    int count = 0;
    long first = 0, last = 0;
    if (!read_line(root, node, "cpulist", list))
        return 0;
    for (const char *at = list; at && (at = run_read(at, &first, &last));)
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu)
            count += cpu >= 0 && CPU_ISSET((size_t)cpu, cpus);
    return count;
}

static bool has_memory(const char *root, int node)
{
    char path[PATH_BYTES], key[64];
    snprintf(path, sizeof path, "%s/node%d/meminfo", folder, node);
    snprintf(key, sizeof key, "Node %d MemTotal:", node);
    return kernel_file_number(root, path, key) > 0;
}

/* The distances of a node from all, in the order of nodes. The farthest with memory; -1: there is no other.
 */
static int farthest(const char *root, int from, const bool there[NODES_MOST])
{
    char text[TEXT_MOST], *at = text;
    long most = 0;
    int best = -1;
    if (!read_line(root, from, "distance", text))
        return -1;
    for (int node = 0; node < NODES_MOST; ++node) {
        if (!there[node])
            continue;
        char *end = NULL;
        const long distance = strtol(at, &end, 10);
        if (end == at)
            break;
        at = end;
        if (node != from && distance > most && has_memory(root, node)) {
            most = distance;
            best = node;
        }
    }
    return best;
}

int node_choose(const char *root, const cpu_set_t *cpus, enum node_choice choice, int *node)
{
    bool there[NODES_MOST];
    char list[TEXT_MOST];
    int mine = -1, homes = 0, count = 0;
    for (int n = 0; n < NODES_MOST; ++n) {
        there[n] = read_line(root, n, "cpulist", list);
        count += there[n];
        if (there[n] && shared(root, n, cpus) > 0) {
            mine = n;
            ++homes;
        }
    }
    const char *word = node_words[choice];
    if (homes == 0)
        return err_say(ERR_UNSUPPORTED, "node=%s: this system does not tell the NUMA nodes of its CPUs",
                       word);
    if (homes > 1)
        return err_say(ERR_UNSUPPORTED,
                       "node=%s: this rank may run on the CPUs of %d NUMA nodes; bind it by --placement",
                       word, homes);
    *node = choice == NODE_FAR ? farthest(root, mine, there) : mine;
    if (*node < 0)
        return err_say(ERR_UNSUPPORTED,
                       "node=far needs another NUMA node with memory, and this host has %d; leave node out",
                       count);
    return 0;
}

static int bind_pages(void *pages, size_t bytes, int node)
{
    enum { BITS = 8 * sizeof(unsigned long), BIND = 2 }; /* MPOL_BIND of set_mempolicy(2) */
    unsigned long mask[NODES_MOST / BITS + 1] = {0};
    mask[(size_t)node / BITS] = 1UL << (size_t)node % BITS;
    if (syscall(SYS_mbind, pages, bytes, BIND, mask, NODES_MOST + 1, 0) == 0)
        return 0;
    return err_say(ERR_UNSUPPORTED, "the kernel does not keep buffers on NUMA node %d: %s", node,
                   strerror(errno));
}

int node_keep(enum node_choice choice, void *pages, size_t bytes)
{
    cpu_set_t cpus;
    int node = 0;
    if (choice == NODE_ANY)
        return 0;
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
    const int err = node_choose("", &cpus, choice, &node);
    return err ? err : bind_pages(pages, bytes, node);
}
