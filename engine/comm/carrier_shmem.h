/* Messages of OpenSHMEM between ranks of a team. A message is put where its receiver has room for it, and a
 * flag behind it; the receiver copies it to where it belongs, and a flag goes back: the room is empty. */
#ifndef COMM_CARRIER_SHMEM_H
#define COMM_CARRIER_SHMEM_H

#include "comm/comm.h"
#include "team/team_shmem.h"

/* What two ranks tell each other of a way, at the same place in the memory of both. */
struct mark {
    uint64_t full;    /* at the receiver: messages that have come */
    uint64_t emptied; /* at the sender: messages that the receiver has taken */
    uint64_t at;      /* at the sender: where the receiver has room, in bytes behind the marks */
    int64_t tag;      /* at the sender: of the way */
};

/* One direction of a link. */
struct way {
    int peer;     /* rank of the team; -1: none */
    size_t place; /* of its mark, among those of the two ranks */
    char *room;   /* symmetric: at the receiver */
    uint64_t messages;
};

struct carrier {
    int rank;           /* mine, in the team */
    struct mark *marks; /* symmetric: [rank of the team][place] */
    size_t places;
    struct way *outs, *ins; /* [link] */
    size_t count;
};

/* Room for the messages of links between ranks of `comm`. Collective over the team; `failed` and what is
 * returned are those of comm_plan_exchange(); *ready: it is open on all ranks, and to be closed. */
int carrier_open(const struct comm *comm, const struct comm_link *links, size_t count, int failed,
                 struct carrier *carrier, bool *ready);
void carrier_close(struct carrier *carrier);

/* The room is empty: the next message may be put. */
void carrier_await_room(const struct carrier *carrier, const struct way *out);

/* Say that it has been put, behind a fence. */
void carrier_tell(const struct carrier *carrier, struct way *out);

/* Put it with the flag as its signal, in one call that returns at once. */
void carrier_signal(const struct carrier *carrier, struct way *out, const void *data, size_t bytes);

/* All of it at once: put, fence and flag. */
void carrier_send(const struct carrier *carrier, struct way *out, const void *data, size_t bytes);

/* Wait for the next message, and copy it. */
void carrier_take(const struct carrier *carrier, struct way *in, void *data, size_t bytes);

#endif
