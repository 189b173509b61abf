#include "core/cold_cache.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 64 };

/* The largest cache that the system shows; or more than most caches have, if it shows none. */
static size_t largest_cache(void)
{
    static const size_t unknown = (size_t)64 << 20;
    static const int levels[] = {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE};
    size_t largest = 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; ++i) {
        long bytes = sysconf(levels[i]);
        largest = bytes > 0 && (size_t)bytes > largest ? (size_t)bytes : largest;
    }
    return largest > 0 ? largest : unknown;
}

int cold_cache_open(struct cold_cache *evict)
{
    *evict = (struct cold_cache){.bytes = 2 * largest_cache()};
    evict->data = malloc(evict->bytes);
    if (!evict->data)
        return err_say(ERR_NOMEM, "no memory to empty the caches with: %zu bytes; use cache=warm",
                       evict->bytes);
    memset(evict->data, 1, evict->bytes);
    return 0;
}

void cold_cache_empty(struct cold_cache *evict)
{
    volatile unsigned char *data = evict->data; /* never read, but it must be written */
    for (size_t i = 0; i < evict->bytes; i += LINE)
        ++data[i];
}

void cold_cache_close(struct cold_cache *evict)
{
    free(evict->data);
    *evict = (struct cold_cache){0};
}
