/* What a point keeps of its ranks, chunk by chunk, and tells of them when it ends. */
#ifndef CORE_KEEPING_H
#define CORE_KEEPING_H

#include "core/chunk.h"
#include "core/keep.h"
#include "core/reduce.h"
#include "core/sink.h"

struct keeping {
    bool whole;   /* every rank's timestamps */
    bool reduces; /* what is reduced over ranks */
    bool chooses; /* chosen ranks' too */
    struct series own;
    struct spun spun; /* of all chunks, on this rank */
    int64_t chunks;
    struct clock_map before;                  /* this rank's: the synchronisation before the chunk */
    int64_t before_index;                     /* -1: it is not synchronised */
    struct own_words words[TEAM_CHOSEN_MOST]; /* on rank 0: of chosen ranks */
};

/* A method that times messages one by one has as many samples as messages, and the noise of a core is that
 * core's alone: there every rank is kept, whatever was asked for. */
void keeping_open(struct keeping *keeping, const struct point *point, int ranks);
void keeping_close(struct keeping *keeping);

/* Before a block: what it starts from is the latest synchronisation; NULL: there are none. */
void keeping_open_block(struct keeping *keeping, struct room *room, const struct sync *sync);

/* After a chunk, which stands in `room`: all that rank 0 is to know of it. *kept is then the sample whose
 * chosen timestamps stand in room->kept, -1: none do. ERR_NOMEM, ERR_MPI. */
int keeping_take(struct keeping *keeping, struct room *room, const struct team *team,
                 const struct bench *bench, bool windows, int64_t *kept);

/* The end of a point that has samples: what ranks say of themselves, into the records. */
int keeping_tell(struct keeping *keeping, const struct team *team, const struct point *point,
                 struct sink *sink);

#endif
