/* Shared by the ops that move pieces of files without MPI: their rows, their state, and what some ways to
 * move data need: a map of the file, or a queue. */
#ifndef OPS_FILE_TRANSFER_H
#define OPS_FILE_TRANSFER_H

#include "base/pool.h"
#include "ops/common/pieces.h"
#include "ops/file/uring.h"

struct transfer;

/* A way to move data. `piece` moves one, `after` ends a repetition of a lane; -1 and errno. */
struct transfer_row {
    const char *name, *summary, *call;
    bool reads;
    int flags; /* of open */
    bool maps, cold, queues;
    int (*piece)(const struct transfer *t, struct piece_lane *lane, int64_t i);
    int (*after)(const struct transfer *t, struct piece_lane *lane);
    bool only_after; /* the pieces are written before the timed part */
    bool empties;    /* the file is emptied before each repetition */
};

struct transfer {
    struct pieces p;
    const struct transfer_row *row;
    struct pool *pool;
    struct uring **rings; /* of each lane, where pieces are queued */
    int64_t reps;
    int64_t read_before, from_storage; /* cold: of this process, in bytes; -1: not known */
};

/* Map the file of each lane, or make its queue, if the way of the op needs it. As setup of ops; closing is
 * due also after a failure. */
int transfer_ways_open(struct transfer *t);
void transfer_ways_close(struct transfer *t);

#endif
