#define _GNU_SOURCE
#include "ops/link/address.h"

#include "base/err.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <stddef.h>

void addresses_read(struct addresses *a)
{
    struct ifaddrs *list = NULL;
    a->count = 0;
    if (getifaddrs(&list) != 0)
        return;
    for (const struct ifaddrs *i = list; i && a->count < ADDRESSES_MOST; i = i->ifa_next) {
        if (!i->ifa_addr || !i->ifa_netmask || i->ifa_addr->sa_family != AF_INET ||
            !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK))
            continue;
        const struct sockaddr_in *address = (const struct sockaddr_in *)(const void *)i->ifa_addr;
        const struct sockaddr_in *mask = (const struct sockaddr_in *)(const void *)i->ifa_netmask;
        a->at[a->count].address = address->sin_addr.s_addr;
        a->at[a->count++].mask = mask->sin_addr.s_addr;
    }
    freeifaddrs(list);
}

int addresses_choose(const struct addresses *mine, const struct addresses *theirs, bool one_network,
                     struct in_addr *chosen)
{
    if (one_network) {
        chosen->s_addr = htonl(INADDR_LOOPBACK);
        return 0;
    }
    if (theirs->count == 0)
        return err_say(ERR_UNSUPPORTED, "the other rank's host has no IPv4 address but loopback");
    chosen->s_addr = theirs->at[0].address;
    for (int t = theirs->count - 1; t >= 0; --t) /* the first one last, so that it stays */
        for (int m = 0; m < mine->count; ++m) {
            const uint32_t mask = mine->at[m].mask & theirs->at[t].mask;
            if ((mine->at[m].address & mask) == (theirs->at[t].address & mask))
                chosen->s_addr = theirs->at[t].address;
        }
    return 0;
}
