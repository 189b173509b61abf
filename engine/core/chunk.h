/* Room for a chunk of samples: this rank's timestamps, and on rank 0 everybody's. */
#ifndef CORE_CHUNK_H
#define CORE_CHUNK_H

#include "team/team.h"

#include <stdbool.h>
#include <stdint.h>

struct chunk;
struct spun;
struct sync_point;

/* A chunk is flushed as a whole and lost as a whole: not more than fits in a cache. */
enum { CHUNK_MOST = 1024 };

/* Mine or everybody's: of rank r, sample k stands at [r * count + k]. */
struct stamps {
    int64_t *start_ns, *stop_ns, *yields, *late;
    int64_t *counts;   /* of an op that counts; NULL elsewhere */
    struct spun *spun; /* of each rank */
};

struct room {
    struct stamps mine, all;   /* `all` on rank 0 alone */
    size_t counters;           /* that the op counts in each sample */
    int64_t *target_ns, *low;  /* of each sample, the same on all ranks */
    struct sync_point *before; /* on rank 0, of every rank: the synchronisation before the chunk */
    int64_t *last_ns;          /* on rank 0, of each rank: its latest stamp */
    int64_t back_ns;           /* on rank 0: by how much a clock jumped back; 0: none has */
    int back_rank;             /* whose */
};

/* For an op that counts so many things in each sample. On failure, close it nevertheless. ERR_NOMEM. */
int room_open(const struct team *team, int counters, struct room *room);
void room_close(struct room *room);

/* Everybody's timestamps of `count` samples to rank 0; where there are windows, `late` and `spun` too. */
int room_gather(const struct room *room, const struct team *team, int64_t count, bool windows);

/* Rank 0: does a rank's clock show an earlier time than it has shown before? Then no duration of it is worth
 * anything, and the point ends. */
void room_find_jump(struct room *room, const struct chunk *chunk);

#endif
