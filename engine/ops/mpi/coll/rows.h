/* The collectives of ranks that are all alike, a row each: the call, its arguments, the number of blocks of
 * each rank, and their right contents (struct coll_row). rows.c reads this twice: for the calls, and for the
 * rows. */

COLLECTIVE(barrier, Barrier, (c->comm), .summary = "a barrier: no rank leaves before all have entered",
           .flow = FLOW_ALL, .params = barrier_params)
COLLECTIVE(bcast, Bcast, (c->turn.recv, c->count, c->type, c->turn.root, c->comm),
           .summary = "a block from the root to all ranks", .answer = FROM_ROOT, .flow = FLOW_OUT,
           .params = bcast_params, .send_root = ONE, .recv_other = ONE)
COLLECTIVE(reduce, Reduce, (c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, c->turn.root, c->comm),
           .summary = "the sum over all ranks at the root", .answer = OVER_ALL, .flow = FLOW_IN,
           .place = PLACE_ROOT_SEND, .params = reduce_params, ALL_SEND(ONE), .recv_root = ONE)
COLLECTIVE(allreduce, Allreduce, (c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, c->comm),
           .summary = "the sum over all ranks at every rank", .answer = OVER_ALL, .flow = FLOW_ALL,
           .place = PLACE_SEND, .params = allreduce_params, ALL_SEND(ONE), ALL_RECV(ONE))
COLLECTIVE(gather, Gather,
           (c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->turn.root, c->comm),
           .summary = "a block from each rank to the root", .answer = FROM_BLOCK, .flow = FLOW_IN,
           .place = PLACE_ROOT_SEND, .params = gather_params, ALL_SEND(ONE), .recv_root = ALL)
COLLECTIVE(gatherv, Gatherv,
           (c->turn.send, c->send.one, c->type, c->turn.recv, c->recv.counts, c->recv.displs, c->type,
            c->turn.root, c->comm),
           .summary = "a block from each rank to the root, of any size", .answer = FROM_BLOCK,
           .shape = BY_RANK, .flow = FLOW_IN, .place = PLACE_ROOT_SEND, .params = gatherv_params,
           ALL_SEND(ONE), .recv_root = ALL)
COLLECTIVE(scatter, Scatter,
           (c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->turn.root, c->comm),
           .summary = "a block of its own from the root to each rank", .answer = MY_FROM_ROOT,
           .flow = FLOW_OUT, .place = PLACE_ROOT_RECV, .params = gather_params, .send_root = ALL,
           ALL_RECV(ONE))
COLLECTIVE(scatterv, Scatterv,
           (c->turn.send, c->send.counts, c->send.displs, c->type, c->turn.recv, c->recv.one, c->type,
            c->turn.root, c->comm),
           .summary = "a block of its own from the root to each rank, of any size", .answer = MY_FROM_ROOT,
           .shape = BY_RANK, .flow = FLOW_OUT, .place = PLACE_ROOT_RECV, .params = gatherv_params,
           .send_root = ALL, ALL_RECV(ONE))
COLLECTIVE(allgather, Allgather, (c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->comm),
           .summary = "a block from each rank to every rank", .answer = FROM_BLOCK, .flow = FLOW_ALL,
           .place = PLACE_SEND, .params = allgather_params, ALL_SEND(ONE), ALL_RECV(ALL))
COLLECTIVE(allgatherv, Allgatherv,
           (c->turn.send, c->send.one, c->type, c->turn.recv, c->recv.counts, c->recv.displs, c->type,
            c->comm),
           .summary = "a block from each rank to every rank, of any size", .answer = FROM_BLOCK,
           .shape = BY_RANK, .flow = FLOW_ALL, .place = PLACE_SEND, .params = allgatherv_params,
           ALL_SEND(ONE), ALL_RECV(ALL))
COLLECTIVE(alltoall, Alltoall, (c->turn.send, c->count, c->type, c->turn.recv, c->count, c->type, c->comm),
           .summary = "a block of its own from each rank to every rank", .answer = MY_FROM_BLOCK,
           .flow = FLOW_ALL, .place = PLACE_SEND, .params = allgather_params, ALL_SEND(ALL), ALL_RECV(ALL))
COLLECTIVE(alltoallv, Alltoallv,
           (c->turn.send, c->send.counts, c->send.displs, c->type, c->turn.recv, c->recv.counts,
            c->recv.displs, c->type, c->comm),
           .summary = "a block of its own from each rank to every rank, of any size", .answer = MY_FROM_BLOCK,
           .shape = BY_PAIR, .flow = FLOW_ALL, .place = PLACE_SEND, .params = allgatherv_params,
           ALL_SEND(ALL), ALL_RECV(ALL))
COLLECTIVE(alltoallw, Alltoallw,
           (c->turn.send, c->send.counts, c->send.displs, c->send.types, c->turn.recv, c->recv.counts,
            c->recv.displs, c->recv.types, c->comm),
           .summary = "alltoallv with a type for each block and displacements in bytes",
           .answer = MY_FROM_BLOCK, .shape = BY_PAIR, .flow = FLOW_ALL, .place = PLACE_SEND, .in_bytes = true,
           .params = allgatherv_params, ALL_SEND(ALL), ALL_RECV(ALL))
COLLECTIVE(reduce_scatter, Reduce_scatter,
           (c->turn.send, c->turn.recv, c->send.counts, c->type, c->sum.op, c->comm),
           .summary = "the sums over all ranks, a block of them at each", .answer = OVER_ALL,
           .shape = BY_RANK, .flow = FLOW_ALL, .place = PLACE_SEND, .params = reduce_scatter_params,
           ALL_SEND(ALL), ALL_RECV(ONE))
COLLECTIVE(reduce_scatter_block, Reduce_scatter_block,
           (c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, c->comm),
           .summary = "the sums over all ranks, a block of one size at each", .answer = OVER_ALL,
           .flow = FLOW_ALL, .place = PLACE_SEND, .params = allreduce_params, ALL_SEND(ALL), ALL_RECV(ONE))
COLLECTIVE(scan, Scan, (c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, c->comm),
           .summary = "the sum over ranks 0 to r at each rank r", .answer = UP_TO_ME, .flow = FLOW_UP,
           .place = PLACE_SEND, .params = allreduce_params, ALL_SEND(ONE), ALL_RECV(ONE))
COLLECTIVE(exscan, Exscan, (c->turn.send, c->turn.recv, c->count, c->type, c->sum.op, c->comm),
           .summary = "the sum over ranks 0 to r - 1 at each rank r", .answer = BELOW_ME, .flow = FLOW_UP,
           .place = PLACE_SEND, .params = allreduce_params, ALL_SEND(ONE), ALL_RECV(ONE))
