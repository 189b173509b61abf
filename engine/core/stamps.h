/* Room for a chunk of observations: this rank's stamps, and on rank 0 everybody's. */
#ifndef CORE_STAMPS_H
#define CORE_STAMPS_H

#include "team/team.h"

#include <stdbool.h>
#include <stdint.h>

struct chunk;
struct spun;
struct sync_point;

/* A chunk is flushed as a whole and lost as a whole: not more than fits in a cache. */
enum { CHUNK_MOST = 1024 };

/* Mine or everybody's: of rank r, observation k stands at [r * count + k]. */
struct stamps {
    int64_t *start_ns, *stop_ns, *yields, *late;
    int64_t *counts;   /* of an op that counts; NULL elsewhere */
    struct spun *spun; /* of each rank */
};

struct room {
    struct stamps mine, all;   /* `all` on rank 0 alone */
    size_t counters;           /* that the op counts in each observation */
    int64_t *target_ns, *low;  /* of each observation, the same on all ranks */
    int64_t *stamps_ns;        /* of messages timed one by one, on this rank */
    struct sync_point *before; /* on rank 0, of every rank: the synchronisation before the chunk */
    int64_t
        *partners; /* on rank 0, of each rank: whom it exchanges messages with, of methods that time them */
    int64_t *last_ns; /* on rank 0, of each rank: its latest stamp */
    int64_t back_ns;  /* on rank 0: by how much a clock jumped back; 0: none has */
    int back_rank;    /* whose */
};

/* For an op that counts so many things in each observation. On failure, close it nevertheless. ERR_NOMEM. */
int room_open(const struct team *team, int counters, struct room *room);
void room_close(struct room *room);

/* Everybody's stamps of `count` observations to rank 0; where there are windows, `late` and `spun` too. */
int room_gather(const struct room *room, const struct team *team, int64_t count, bool windows);

/* Everybody's partner to rank 0. */
int room_partners(const struct room *room, const struct team *team, int mine);

/* Rank 0: does a rank's clock show an earlier time than it has shown before? Then no duration of it is worth
 * anything, and the point ends. */
void room_find_jump(struct room *room, const struct chunk *chunk);

#endif
