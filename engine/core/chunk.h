/* Room for a chunk of samples: this rank's timestamps, what is reduced over ranks, and on rank 0 everybody's
 * where they are kept. */
#ifndef CORE_CHUNK_H
#define CORE_CHUNK_H

#include "team/team.h"

#include <stdbool.h>
#include <stdint.h>

struct reduced;
struct spun;
struct sync_point;

/* A chunk is flushed as a whole and lost as a whole: not more than fits in a cache. */
enum { CHUNK_MOST = 1024 };

/* Mine or everybody's: of rank r, sample k stands at [r * count + k]. */
struct stamps {
    int64_t *start_ns, *stop_ns, *yields;
    int64_t *late;     /* mine alone; of any rank when a chunk has been reduced */
    int64_t *counts;   /* of an op that counts; NULL elsewhere */
    struct spun *spun; /* of each rank */
};

struct room {
    struct stamps mine, all;   /* `all` on rank 0 alone, and where every rank's are kept */
    struct reduced *reduced;   /* of all ranks on rank 0 */
    double *placed;            /* of sample k, what stands for this rank's start at [2 * k], stop behind it */
    double *kept;              /* on rank 0: the same of chosen ranks, of one sample */
    size_t counters;           /* that the op counts in each sample */
    int64_t *target_ns, *low;  /* of each sample, the same on all ranks */
    struct sync_point *before; /* on rank 0, of every rank where kept: the synchronisation before the chunk */
    int64_t last_ns;           /* this rank's latest timestamp */
    bool has_last;
    int64_t back_ns; /* on rank 0: by how much a clock jumped back; 0: none has */
    int back_rank;   /* whose */
};

/* For an op that counts so many things in each sample; `whole`: every rank's timestamps are kept. On failure,
 * close it nevertheless. ERR_NOMEM. */
int room_open(const struct team *team, int counters, bool whole, struct room *room);
void room_close(struct room *room);

/* Everybody's timestamps of `count` samples to rank 0; where there are windows, `spun` too. */
int room_gather(const struct room *room, const struct team *team, int64_t count, bool windows);

/* By how much this rank's clock shows an earlier time than it has shown before, at the most in these samples;
 * 0: it does not. Then no duration of it is worth anything, and the point ends. */
int64_t room_jumped(struct room *room, int64_t count);

#endif
