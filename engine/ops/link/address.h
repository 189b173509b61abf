/* How one rank reaches another by IPv4: by the loopback interface, or at an address of the other. */
#ifndef OPS_LINK_ADDRESS_H
#define OPS_LINK_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

/* The interfaces that are up, except loopback, in the order of the system. */
enum { ADDRESSES_MOST = 16 };
struct addresses {
    int count;
    struct {
        uint32_t address, mask; /* as they go over the wire */
    } at[ADDRESSES_MOST];
};

void addresses_read(struct addresses *a);

/* Choose an address of theirs to connect to: loopback within one network; else the first on a network of
 * mine, or their first. ERR_UNSUPPORTED: they have none. */
int addresses_choose(const struct addresses *mine, const struct addresses *theirs, bool one_network,
                     struct in_addr *chosen);

#endif
