/* Room for a chunk of samples: this rank's timestamps, values reduced over ranks, and on rank 0 all ranks' if
 * they are kept. */
#ifndef CORE_CHUNK_H
#define CORE_CHUNK_H

#include "machine/resource_use.h"
#include "team/team.h"

#include <stdbool.h>
#include <stdint.h>

struct reduced;
struct spun;
struct sync_point;

/* A chunk is flushed as a whole and lost as a whole; it fits into a cache. */
enum { CHUNK_MOST = 1024 };

/* Mine or all ranks': sample k of rank r is at [r * count + k]. */
struct stamps {
    int64_t *start_ns, *stop_ns, *yields;
    int64_t *late;     /* only mine; of any rank after the reduction of a chunk */
    int64_t *counts;   /* if the op counts; else NULL */
    struct spun *spun; /* of each rank */
    struct used *used; /* of each rank, while its samples were taken */
};

struct room {
    struct used_meter meter;
    struct stamps mine, all;   /* `all` only on rank 0, and if every rank's are kept */
    struct reduced *reduced;   /* of all ranks on rank 0 */
    double *placed;            /* this rank's start of sample k at [2 * k], its stop behind it */
    double *kept;              /* on rank 0: the same for chosen ranks, of one sample */
    size_t counters;           /* counts of the op in each sample */
    int64_t *target_ns, *low;  /* of each sample, the same on all ranks */
    struct sync_point *before; /* on rank 0, of every rank if kept: the synchronisation before the chunk */
    int64_t last_ns;           /* this rank's latest timestamp */
    bool has_last;
    int64_t back_ns; /* on rank 0: by how much a clock jumped back; 0: none did */
    int back_rank;   /* whose */
};

/* For an op that counts so many things in each sample; `whole`: every rank's timestamps are kept. Close it
 * after a failure, too. ERR_NOMEM. */
int room_open(const struct team *team, int counters, bool whole, struct room *room);
void room_close(struct room *room);

/* Gather the timestamps of `count` samples on rank 0; with windows, `spun` too. */
int room_gather(const struct room *room, const struct team *team, int64_t count, bool windows);

/* The largest step back of this rank's clock in these samples; 0 for none. After a step back its durations
 * are worthless, and the point ends. */
int64_t room_jumped(struct room *room, int64_t count);

#endif
