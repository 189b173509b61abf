/* Which timestamps of ranks are kept. Rank 0's memory and records grow with the ranks only if the user asks
 * for it, or ranks are few. */
#ifndef CORE_RETENTION_H
#define CORE_RETENTION_H

#include <stdint.h>

enum keep {
    KEEP_BY_RANKS, /* not set: all of few ranks, else samples */
    KEEP_RANKS,    /* every rank's timestamps of every sample */
    KEEP_SAMPLED,  /* of every sample values reduced over ranks; of chosen samples timestamps of chosen
                      ranks */
    KEEP_SLOWEST,  /* of every sample values reduced over ranks */
    KEEP_BOTH,     /* for tests: as KEEP_RANKS and as KEEP_SAMPLED, to be compared */
    KEEPS
};

extern const char *const keep_words[KEEPS]; /* [KEEP_BY_RANKS] is NULL */

enum { KEEP_RANKS_MOST = 64 }; /* so many ranks are few: as many as a node has */

/* The choice for so many ranks, if `asked` is KEEP_BY_RANKS. */
enum keep keep_of(enum keep asked, int ranks);

/* Which sample of a chunk of `count` is chosen, the same on all ranks; chunks in turn choose others. */
int64_t kept_sample(int64_t chunk, int64_t count);

#endif
