/* What puts and gets between two lanes move: blocks, each at a place of its own, in the window and in a
 * buffer of the one that calls. Bytes or numbers with gaps between them; all of them are checked, and so are
 * the gaps. */
#ifndef OPS_COMMON_BLOCKS_H
#define OPS_COMMON_BLOCKS_H

#include "ops/common/lanes.h"

struct blocks {
    const struct lane *lane;
    bool gets;             /* from the window to the buffer */
    size_t bytes;          /* of a block's data */
    size_t stride;         /* from one place to the next, in the window and in the buffer */
    size_t step;           /* from one number of 8 bytes to the next, in numbers; 0: bytes without gaps */
    int count;             /* of places */
    char *local;           /* of a lane that acts: what is sent, or where what is fetched arrives */
    unsigned char *packed; /* room for a block's numbers without gaps */
};

/* Take the buffer, and what else it needs. All but `local` and `packed` are set. ERR_NOMEM. */
int blocks_open(struct blocks *blocks, const struct op_env *env);
void blocks_close(struct blocks *blocks);

/* For a duty: fresh data where it is sent from, poison where it arrives; the check of what has arrived. */
void blocks_fresh(const struct blocks *blocks);
int blocks_check(const struct blocks *blocks);

#endif
