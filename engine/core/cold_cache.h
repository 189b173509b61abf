/* Evict everything from the caches, so that a sample starts cold. */
#ifndef CORE_COLD_CACHE_H
#define CORE_COLD_CACHE_H

#include <stddef.h>

struct cold_cache {
    unsigned char *data;
    size_t bytes;
};

/* A buffer of twice the largest cache. ERR_NOMEM. */
int cold_cache_open(struct cold_cache *evict);

/* Write to every line of it, which evicts this core's caches, and those that it shares. */
void cold_cache_empty(struct cold_cache *evict);

void cold_cache_close(struct cold_cache *evict);

#endif
