/* What a point keeps of its ranks, chunk by chunk, and writes when it ends. */
#ifndef CORE_RANKS_KEPT_H
#define CORE_RANKS_KEPT_H

#include "core/chunk.h"
#include "core/reduce.h"
#include "core/retention.h"
#include "core/sink.h"

struct ranks_kept {
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
void ranks_kept_open(struct ranks_kept *k, const struct point *point, int ranks);
void ranks_kept_close(struct ranks_kept *k);

/* Around the samples of a block, which begins with the latest synchronisation, if there is one. */
void ranks_kept_open_block(struct ranks_kept *k, struct room *room, const struct bench *bench);
void ranks_kept_close_block(struct room *room, const struct bench *bench);

/* Handle a chunk in `room`, which has all that rank 0 needs. *kept is then the sample whose chosen timestamps
 * are in room->kept, -1 for none. ERR_NOMEM, ERR_MPI. */
int ranks_kept_take(struct ranks_kept *k, struct room *room, const struct team *team,
                    const struct bench *bench, bool windows, int64_t *kept);

/* At the end of a point with samples, write summaries of ranks into the records. */
int ranks_kept_tell(struct ranks_kept *k, const struct team *team, const struct point *point,
                    struct sink *sink);

#endif
