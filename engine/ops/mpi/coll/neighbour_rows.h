/* The collectives over the neighbours of a graph, a row each, as in rows.h. */

COLLECTIVE(neighbor_allgather, Neighbor_allgather,
           (c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->comm),
           .summary = "a block to all neighbours, and one from each", .answer = FROM_BLOCK, SENDS(ONE),
           EQUAL_BLOCKS)
COLLECTIVE(neighbor_allgatherv, Neighbor_allgatherv,
           (c->turn.send, c->send.one, c->type, c->turn.recv, c->recv.counts, c->recv.displs, c->type,
            c->comm),
           .summary = "a block to all neighbours, and one from each, of any size", .answer = FROM_BLOCK,
           SENDS(ONE), ANY_BLOCKS(BY_RANK))
COLLECTIVE(neighbor_alltoall, Neighbor_alltoall,
           (c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->comm),
           .summary = "a block of its own to each neighbour, and one from each", .answer = MY_FROM_BLOCK,
           SENDS(ALL), EQUAL_BLOCKS)
COLLECTIVE(neighbor_alltoallv, Neighbor_alltoallv,
           (c->turn.send, c->send.counts, c->send.displs, c->type, c->turn.recv, c->recv.counts,
            c->recv.displs, c->type, c->comm),
           .summary = "a block of its own to each neighbour, and one from each, of any size",
           .answer = MY_FROM_BLOCK, SENDS(ALL), ANY_BLOCKS(BY_PAIR))
COLLECTIVE(neighbor_alltoallw, Neighbor_alltoallw,
           (c->turn.send, c->send.counts, c->send.aints, c->send.types, c->turn.recv, c->recv.counts,
            c->recv.aints, c->recv.types, c->comm),
           .summary = "neighbor_alltoallv with a type for each block and displacements in bytes",
           .answer = MY_FROM_BLOCK, .in_bytes = true, SENDS(ALL), ANY_BLOCKS(BY_PAIR))
