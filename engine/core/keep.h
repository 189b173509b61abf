/* What of the ranks' timestamps is kept. What rank 0 holds and writes is to grow with the ranks only where
 * somebody asks for it, or where they are few. */
#ifndef CORE_KEEP_H
#define CORE_KEEP_H

#include <stdint.h>

enum keep {
    KEEP_BY_RANKS, /* nobody has said: all of few ranks, else samples */
    KEEP_RANKS,    /* every rank's timestamps of every sample */
    KEEP_SAMPLED,  /* of every sample what is reduced over ranks; of chosen ones chosen ranks' timestamps */
    KEEP_SLOWEST,  /* of every sample what is reduced over ranks */
    KEEP_BOTH,     /* for tests: as KEEP_RANKS and as KEEP_SAMPLED, to be held against each other */
    KEEPS
};

extern const char *const keep_words[KEEPS]; /* [KEEP_BY_RANKS] is NULL */

enum { KEEP_RANKS_MOST = 64 }; /* so many ranks are few: as many as a node has, and are looked at */

/* What is kept with so many ranks, where `asked` may be KEEP_BY_RANKS. */
enum keep keep_of(enum keep asked, int ranks);

/* Which sample of a chunk of `count` is chosen, the same on all ranks; chunks in turn choose others. */
int64_t kept_sample(int64_t chunk, int64_t count);

#endif
