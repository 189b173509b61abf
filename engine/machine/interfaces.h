/* The network interfaces of a host, and how many bytes each has moved since it was made. */
#ifndef MACHINE_INTERFACES_H
#define MACHINE_INTERFACES_H

#include "team/team.h"

#include <stdbool.h>
#include <stdint.h>

struct json;

enum { INTERFACES_MOST = 32, INTERFACE_NAME_MAX = 40, INTERFACE_WORD_MAX = 16, INTERFACE_CPUS_MAX = 96 };

struct interface {
    char name[INTERFACE_NAME_MAX];  /* "eth0"; of InfiniBand a device and its port, "mlx5_0/1" */
    char kind[INTERFACE_WORD_MAX];  /* the folder of /sys/class that it is in: net, infiniband */
    char state[INTERFACE_WORD_MAX]; /* in the kernel's words: up, down, active; "": not told */
    int64_t mbits;                  /* of a second on the line; -1: the system states none */
    int64_t rx_bytes, tx_bytes;     /* received and sent */
    char cpus[INTERFACE_CPUS_MAX];  /* those near its device, "0-15"; "": not told, or made by software */
};

struct interfaces {
    int64_t count;
    struct interface of[INTERFACES_MOST];
    int64_t tcp_sent, tcp_resent; /* segments of TCP by this host, and those of them that it sent again; -1:
                                     the system does not tell */
};

/* Find all that count bytes, by name, at most INTERFACES_MOST. The loopback is left out, and so are those
 * that are made of others (bonds, bridges, VLANs), whose bytes are counted there. `root` is put before the
 * path: "" except in tests. */
void interfaces_read(const char *root, struct interfaces *found);

/* Write those of each host that ranks are on as "interfaces", on rank 0; collective. `of_all`: all ranks tell
 * of their hosts, else chosen ones. ERR_NOMEM, ERR_MPI. */
int interfaces_write(const struct team *team, bool of_all, struct json *j);

#endif
