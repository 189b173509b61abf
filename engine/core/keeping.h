/* What a point keeps of its ranks, chunk by chunk, and writes when it ends. */
#ifndef CORE_KEEPING_H
#define CORE_KEEPING_H

#include "core/chunk.h"
#include "core/keep.h"
#include "core/reduce.h"
#include "core/sink.h"

struct keeping {
    bool whole;   /* every rank's timestamps */
    bool reduces; /* values reduced over ranks */
    bool chooses; /* timestamps of chosen ranks, too */
    struct series own;
    struct spun spun; /* of all chunks, on this rank */
    int64_t chunks;
    struct clock_map before;                  /* this rank's: the synchronisation before the chunk */
    int64_t before_index;                     /* -1: it is not synchronised */
    struct own_words words[TEAM_CHOSEN_MOST]; /* on rank 0: of chosen ranks */
};

/* All ranks are kept, whatever was asked for, for a method that times single messages, which has as many
 * samples as messages, and for noise, which is that of a single core. */
void keeping_open(struct keeping *keeping, const struct point *point, int ranks);
void keeping_close(struct keeping *keeping);

/* Around the samples of a block, which begins with the latest synchronisation, if there is one. */
void keeping_open_block(struct keeping *keeping, struct room *room, const struct bench *bench);
void keeping_close_block(struct room *room, const struct bench *bench);

/* Handle a chunk in `room`, which has all that rank 0 needs. *kept is then the sample whose chosen timestamps
 * are in room->kept, -1 for none. ERR_NOMEM, ERR_MPI. */
int keeping_take(struct keeping *keeping, struct room *room, const struct team *team,
                 const struct bench *bench, bool windows, int64_t *kept);

/* At the end of a point with samples, write summaries of ranks into the records. */
int keeping_tell(struct keeping *keeping, const struct team *team, const struct point *point,
                 struct sink *sink);

#endif
