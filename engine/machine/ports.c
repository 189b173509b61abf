#define _GNU_SOURCE
#include "machine/ports.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 1024, LINE_MOST = 512, NAMES_MOST = 16, SOCKETS_MOST = 4096 };

/* ---- addresses --------------------------------------------------------------------------------------- */

/* The kernel writes words as they lie in memory. */
static bool address_write(const struct sockaddr *from, char address[PORT_ADDRESS_MAX])
{
    uint32_t word[4] = {0};
    if (from->sa_family == AF_INET)
        memcpy(word, &((const struct sockaddr_in *)(const void *)from)->sin_addr, sizeof word[0]);
    else if (from->sa_family == AF_INET6)
        memcpy(word, &((const struct sockaddr_in6 *)(const void *)from)->sin6_addr, sizeof word);
    else
        return false;
    const int words = from->sa_family == AF_INET ? 1 : 4;
    for (int i = 0; i < words; ++i)
        snprintf(address + (size_t)i * 8, PORT_ADDRESS_MAX - (size_t)i * 8, "%08X", word[i]);
    return true;
}

int port_addresses(struct port_address addresses[PORT_ADDRESSES_MOST])
{
    struct ifaddrs *all = NULL;
    int count = 0;
    if (getifaddrs(&all) != 0)
        return 0;
    for (const struct ifaddrs *one = all; one && count < PORT_ADDRESSES_MOST; one = one->ifa_next) {
        struct port_address *to = &addresses[count];
        if (!one->ifa_addr || (one->ifa_flags & (IFF_UP | IFF_LOOPBACK)) != IFF_UP)
            continue;
        snprintf(to->name, sizeof to->name, "%s", one->ifa_name);
        count += address_write(one->ifa_addr, to->address);
    }
    freeifaddrs(all);
    return count;
}

/* ---- what this process has open ---------------------------------------------------------------------- */

struct open_files {
    unsigned long long sockets[SOCKETS_MOST]; /* inodes */
    int count;
};

struct names {
    char of[NAMES_MOST][PORT_NAME_MAX];
    int count;
};

static void name_add(struct names *names, const char *name)
{
    for (int i = 0; i < names->count; ++i)
        if (strcmp(names->of[i], name) == 0)
            return;
    if (names->count < NAMES_MOST)
        snprintf(names->of[names->count++], PORT_NAME_MAX, "%s", name);
}

/* The device of a file /dev/infiniband/uverbsN, "mlx5_0". */
static void device_add(const char *root, const char *file, struct names *names)
{
    char path[PATH_BYTES], name[PORT_NAME_MAX] = "";
    snprintf(path, sizeof path, "%s/sys/class/infiniband_verbs/%.64s/ibdev", root, file);
    FILE *from = fopen(path, "r");
    if (from && fgets(name, sizeof name, from)) {
        name[strcspn(name, "\n")] = '\0';
        name_add(names, name);
    }
    if (from)
        fclose(from);
}

static void files_read(const char *root, struct open_files *files, struct names *names)
{
    static const char verbs[] = "/dev/infiniband/uverbs";
    char path[PATH_BYTES], to[PATH_BYTES];
    snprintf(path, sizeof path, "%s/proc/self/fd", root);
    DIR *all = opendir(path);
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        unsigned long long inode = 0;
        const ssize_t length = readlinkat(dirfd(all), entry->d_name, to, sizeof to - 1);
        to[length > 0 ? length : 0] = '\0';
        if (sscanf(to, "socket:[%llu]", &inode) == 1 && files->count < SOCKETS_MOST)
            files->sockets[files->count++] = inode;
        else if (strncmp(to, verbs, sizeof verbs - 1) == 0)
            device_add(root, strrchr(to, '/') + 1, names);
    }
    if (all)
        closedir(all);
}

static bool is_open(const struct open_files *files, unsigned long long inode)
{
    bool found = false;
    for (int i = 0; i < files->count; ++i)
        found = found || files->sockets[i] == inode;
    return found;
}

/* ---- connections ------------------------------------------------------------------------------------- */

/* Established ones between two different addresses: proc_net_tcp(5). */
static void connections_read(const char *root, const char *file, const struct open_files *files,
                             const struct port_address *addresses, int count, struct names *names)
{
    enum { ESTABLISHED = 1 };
    char path[PATH_BYTES], line[LINE_MOST];
    snprintf(path, sizeof path, "%s/proc/self/net/%s", root, file);
    FILE *from = fopen(path, "r");
    while (from && fgets(line, sizeof line, from)) {
        char mine[PORT_ADDRESS_MAX], theirs[PORT_ADDRESS_MAX];
        unsigned state = 0;
        unsigned long long inode = 0;
        if (sscanf(line, " %*d: %32[0-9A-F]:%*x %32[0-9A-F]:%*x %x %*s %*s %*s %*u %*d %llu", mine, theirs,
                   &state, &inode) != 4 ||
            state != ESTABLISHED || strcmp(mine, theirs) == 0 || !is_open(files, inode))
            continue;
        for (int i = 0; i < count; ++i)
            if (strcmp(addresses[i].address, mine) == 0)
                name_add(names, addresses[i].name);
    }
    if (from)
        fclose(from);
}

static int name_order(const void *a, const void *b)
{
    return strcmp(a, b);
}

void ports_read(const char *root, const struct port_address *addresses, int count, char text[PORTS_BYTES])
{
    struct open_files *files = calloc(1, sizeof *files);
    struct names names = {0};
    size_t at = 0;
    memset(text, 0, PORTS_BYTES); /* it is sent */
    if (!files)
        return;
    files_read(root, files, &names);
    connections_read(root, "tcp", files, addresses, count, &names);
    connections_read(root, "tcp6", files, addresses, count, &names);
    qsort(names.of, (size_t)names.count, sizeof names.of[0], name_order);
    for (int i = 0; i < names.count && at + strlen(names.of[i]) + 2 < PORTS_BYTES; ++i)
        at += (size_t)snprintf(text + at, PORTS_BYTES - at, "%s%s", i > 0 ? "," : "", names.of[i]);
    free(files);
}
