#define _GNU_SOURCE
#include "machine/interfaces.h"

#include "base/err.h"
#include "base/json.h"
#include "base/kernel_files.h"
#include "team/hosts.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 1024, LINE_MOST = 128 };
static const int64_t DATA_BYTES = 4; /* InfiniBand counts words of 32 bits */

/* Whether there is room for the whole path. */
static bool join(char *path, const char *folder, const char *name)
{
    return snprintf(path, PATH_BYTES, "%s/%s", folder, name) < PATH_BYTES;
}

static int64_t number(const char *folder, const char *name)
{
    char path[PATH_BYTES];
    return join(path, folder, name) ? kernel_file_number("", path, "") : -1;
}

/* The first line of a file, "" where there is none. */
static void line_read(const char *folder, const char *name, char line[LINE_MOST])
{
    char path[PATH_BYTES];
    FILE *file = join(path, folder, name) ? fopen(path, "r") : NULL;
    if (!file || !fgets(line, LINE_MOST, file))
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    if (file)
        fclose(file);
}

static void word_take(const char *from, char word[INTERFACE_WORD_MAX])
{
    snprintf(word, INTERFACE_WORD_MAX, "%.*s", INTERFACE_WORD_MAX - 1, from);
    for (char *at = word; *at; ++at)
        *at = (char)tolower((unsigned char)*at);
}

/* A list that does not fit would be a wrong one. */
static void cpus_read(const char *folder, char cpus[INTERFACE_CPUS_MAX])
{
    char line[LINE_MOST];
    line_read(folder, "device/local_cpulist", line);
    if (strlen(line) < INTERFACE_CPUS_MAX)
        memcpy(cpus, line, strlen(line) + 1);
}

/* What does not count is no interface, as the file bonding_masters. */
static void keep(struct interfaces *found, const struct interface *one)
{
    if (one->rx_bytes >= 0 && one->tx_bytes >= 0 && found->count < INTERFACES_MOST)
        found->of[found->count++] = *one;
}

static bool is_made_of_others(const char *folder)
{
    static const char lower[] = "lower_"; /* the links to what it is made of */
    DIR *all = opendir(folder);
    bool found = false;
    for (const struct dirent *entry; all && !found && (entry = readdir(all));)
        found = strncmp(entry->d_name, lower, sizeof lower - 1) == 0;
    if (all)
        closedir(all);
    return found;
}

static void net_read(const char *folder, const char *name, struct interfaces *found)
{
    struct interface one = {.kind = "net"};
    char line[LINE_MOST];
    if (strcmp(name, "lo") == 0 || is_made_of_others(folder))
        return;
    snprintf(one.name, sizeof one.name, "%.*s", INTERFACE_NAME_MAX - 1, name);
    line_read(folder, "operstate", line);
    word_take(line, one.state);
    one.mbits = number(folder, "speed");
    one.mbits = one.mbits > 0 ? one.mbits : -1;
    one.rx_bytes = number(folder, "statistics/rx_bytes");
    one.tx_bytes = number(folder, "statistics/tx_bytes");
    cpus_read(folder, one.cpus);
    keep(found, &one);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

typedef void visit(const char *folder, const char *name, struct interfaces *found);

/* Each entry of a folder, by name. */
static void each_below(const char *folder, visit *read, struct interfaces *found)
{
    struct dirent **names = NULL;
    const int count = scandir(folder, &names, is_shown, alphasort);
    for (int i = 0; i < count; ++i) {
        char path[PATH_BYTES];
        if (join(path, folder, names[i]->d_name))
            read(path, names[i]->d_name, found);
        free(names[i]);
    }
    free(names);
}

/* `folder` ends with DEVICE/ports/PORT. "4: ACTIVE", "200 Gb/sec (4X HDR)". */
static void port_read(const char *folder, const char *port, struct interfaces *found)
{
    struct interface one = {.kind = "infiniband", .mbits = -1};
    char line[LINE_MOST], device[PATH_BYTES];
    snprintf(device, sizeof device, "%s", folder);
    for (int up = 0; up < 2; ++up)
        *strrchr(device, '/') = '\0';
    const int most = INTERFACE_NAME_MAX / 2 - 1;
    snprintf(one.name, sizeof one.name, "%.*s/%.*s", most, strrchr(device, '/') + 1, most, port);
    line_read(folder, "state", line);
    const char *word = strchr(line, ':');
    word_take(word ? word + 1 + strspn(word + 1, " ") : line, one.state);
    line_read(folder, "rate", line);
    const double gbits = strtod(line, NULL);
    if (gbits > 0)
        one.mbits = (int64_t)(1000 * gbits);
    const int64_t received = number(folder, "counters/port_rcv_data");
    const int64_t sent = number(folder, "counters/port_xmit_data");
    one.rx_bytes = received < 0 ? -1 : received * DATA_BYTES;
    one.tx_bytes = sent < 0 ? -1 : sent * DATA_BYTES;
    cpus_read(device, one.cpus);
    keep(found, &one);
}

static void device_read(const char *folder, const char *name, struct interfaces *found)
{
    char ports[PATH_BYTES];
    (void)name;
    if (join(ports, folder, "ports"))
        each_below(ports, port_read, found);
}

/* The value of a name on the second of two lines "Tcp: ...", of which the first has the names. */
static int64_t tcp_number(const char *names, const char *values, const char *name)
{
    const size_t length = strlen(name);
    while (*names && *values) {
        const size_t word = strcspn(names, " \n");
        if (word == length && strncmp(names, name, length) == 0)
            return strtoll(values, NULL, 10);
        names += word, names += strspn(names, " \n");
        values += strcspn(values, " \n"), values += strspn(values, " \n");
    }
    return -1;
}

static void tcp_read(const char *root, struct interfaces *found)
{
    enum { SNMP_LINE_MOST = 1024 };
    static const char tcp[] = "Tcp:";
    char path[PATH_BYTES], names[SNMP_LINE_MOST] = "", values[SNMP_LINE_MOST] = "";
    found->tcp_sent = found->tcp_resent = -1;
    FILE *file = join(path, root, "proc/self/net/snmp") ? fopen(path, "r") : NULL;
    while (file && fgets(names, sizeof names, file) && strncmp(names, tcp, sizeof tcp - 1) != 0)
        continue;
    if (file && fgets(values, sizeof values, file) && strncmp(values, tcp, sizeof tcp - 1) == 0) {
        found->tcp_sent = tcp_number(names, values, "OutSegs");
        found->tcp_resent = tcp_number(names, values, "RetransSegs");
    }
    if (file)
        fclose(file);
}

void interfaces_read(const char *root, struct interfaces *found)
{
    char folder[PATH_BYTES];
    memset(found, 0, sizeof *found); /* padding too: it is sent */
    tcp_read(root, found);
    if (join(folder, root, "sys/class/infiniband"))
        each_below(folder, device_read, found);
    if (join(folder, root, "sys/class/net"))
        each_below(folder, net_read, found);
}

/* What a rank tells of its host. */
struct told {
    char host[sizeof((struct host *)0)->name];
    struct interfaces all;
};

static void told_write(const struct told *told, int rank, struct json *j)
{
    json_open(j, NULL, '{');
    json_int(j, "rank", rank);
    json_string(j, "host", told->host);
    json_open(j, "interfaces", '[');
    for (int64_t i = 0; i < told->all.count; ++i) {
        const struct interface *one = &told->all.of[i];
        json_open(j, NULL, '{');
        json_string(j, "name", one->name);
        json_string(j, "kind", one->kind);
        json_string(j, "state", one->state[0] ? one->state : NULL);
        if (one->mbits > 0)
            json_int(j, "mbits", one->mbits);
        json_int(j, "rx_bytes", one->rx_bytes);
        json_int(j, "tx_bytes", one->tx_bytes);
        if (one->cpus[0])
            json_string(j, "cpus", one->cpus);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (told->all.tcp_sent >= 0 && told->all.tcp_resent >= 0) {
        json_int(j, "tcp_sent", told->all.tcp_sent);
        json_int(j, "tcp_resent", told->all.tcp_resent);
    }
    json_close(j, '}');
}

/* Whether the i-th that tells is the first of its host to do so. */
static bool is_first(const struct team *team, bool of_all, int i)
{
    if (of_all)
        return host_first(team, i) == i;
    bool found = false;
    for (int k = 0; k < i; ++k)
        found = found || host_is_same(team, team_chosen(team->size, k), team_chosen(team->size, i));
    return !found;
}

int interfaces_write(const struct team *team, bool of_all, struct json *j)
{
    const int count = of_all ? team->size : team_chosen_count(team->size);
    struct told *mine = calloc(1, sizeof *mine), *all = NULL;
    if (team->rank == 0)
        all = malloc((size_t)count * sizeof *all);
    int err = !mine || (team->rank == 0 && !all)
                  ? err_say(ERR_NOMEM, "no memory for the network interfaces of %d ranks", count)
                  : 0;
    if (!err) {
        snprintf(mine->host, sizeof mine->host, "%s", host_mine(team)->name);
        interfaces_read("", &mine->all);
        err = of_all ? team_gather(team, mine, sizeof *mine, all)
                     : team_gather_chosen(team, mine, sizeof *mine, all);
    }
    if (!err && team->rank == 0) {
        json_open(j, "interfaces", '[');
        for (int i = 0; i < count; ++i)
            if (is_first(team, of_all, i))
                told_write(&all[i], of_all ? i : team_chosen(team->size, i), j);
        json_close(j, ']');
    }
    free(mine);
    free(all);
    return err;
}
