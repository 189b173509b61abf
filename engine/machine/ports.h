/* The network interfaces by which this process is connected to others. */
#ifndef MACHINE_PORTS_H
#define MACHINE_PORTS_H

#include <stddef.h>

enum { PORT_NAME_MAX = 40, PORT_ADDRESS_MAX = 33, PORT_ADDRESSES_MOST = 128, PORTS_BYTES = 160 };

/* An address of an interface, as the kernel writes it in /proc/net/tcp: 8 hexadecimal digits, or 32. */
struct port_address {
    char name[PORT_NAME_MAX], address[PORT_ADDRESS_MAX];
};

/* List the addresses of this host's interfaces that are up, without the loopback's; returns how many. */
int port_addresses(struct port_address addresses[PORT_ADDRESSES_MOST]);

/* Write their names in order, with commas between: the interfaces whose addresses its TCP connections to
 * other addresses have, and the RDMA devices that it has open. "" if there are none. `root` is put before the
 * paths of the kernel's files: "" except in tests. */
void ports_read(const char *root, const struct port_address *addresses, int count, char names[PORTS_BYTES]);

#endif
