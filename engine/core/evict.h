/* Everything out of the caches, so that an observation starts cold. */
#ifndef CORE_EVICT_H
#define CORE_EVICT_H

#include <stddef.h>

struct evict {
    unsigned char *data;
    size_t bytes;
};

/* A buffer of twice the largest cache. ERR_NOMEM. */
int evict_open(struct evict *evict);

/* Write to every line of it: what was in this core's caches, and in those that it shares, is not any more. */
void evict_caches(struct evict *evict);

void evict_close(struct evict *evict);

#endif
