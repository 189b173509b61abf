/* The mock-ups, a row each: the collective whose answer it gives, what it is composed of, and the room aside
 * that it needs (enum coll_room). mock.h and mock.c read this. */

MOCK(barrier, allreduce, AS_BARRIER, .summary = "a barrier by MPI_Allreduce of a byte")
MOCK(barrier, reduce_bcast, AS_BARRIER, .summary = "a barrier by MPI_Reduce and MPI_Bcast of a byte")
MOCK(barrier, messages, AS_BARRIER, .summary = "a barrier by empty messages, in rounds of doubled distance")

MOCK(bcast, scatter_allgather, AS_BCAST, .room = {ROOM_PARTS, ROOM_PART},
     .summary = "MPI_Bcast composed of MPI_Scatter and MPI_Allgather")
MOCK(bcast, scatterv_allgatherv, AS_BCAST,
     .summary = "MPI_Bcast composed of MPI_Scatterv and MPI_Allgatherv, in its own buffer")
MOCK(bcast, allgatherv, AS_BCAST, .room = {ROOM_BLOCK},
     .summary = "MPI_Bcast by MPI_Allgatherv, to which only the root gives something")
MOCK(bcast, halves, AS_BCAST, .summary = "MPI_Bcast as two of half the size")

MOCK(gather, allgather, AS_GATHER, .room = {ROOM_ALL}, .summary = "MPI_Gather by MPI_Allgather")
MOCK(gather, reduce, AS_GATHER, .room = {ROOM_ALL},
     .summary = "MPI_Gather by MPI_Reduce of bits, each rank's among zeros")
MOCK(gather, messages, AS_GATHER, .summary = "MPI_Gather by MPI_Isend and MPI_Irecv")
MOCK(gatherv, messages, AS_GATHERV, .summary = "MPI_Gatherv by MPI_Isend and MPI_Irecv")

MOCK(scatter, bcast, AS_SCATTER, .room = {ROOM_ALL}, .summary = "MPI_Scatter by MPI_Bcast of all blocks")
MOCK(scatter, messages, AS_SCATTER, .summary = "MPI_Scatter by MPI_Isend and MPI_Irecv")

MOCK(allgather, gather_bcast, AS_ALLGATHER, .summary = "MPI_Allgather composed of MPI_Gather and MPI_Bcast")
MOCK(allgather, alltoall, AS_ALLGATHER, .room = {ROOM_ALL},
     .summary = "MPI_Allgather by MPI_Alltoall of copies")
MOCK(allgather, allreduce, AS_ALLGATHER, .room = {ROOM_ALL},
     .summary = "MPI_Allgather by MPI_Allreduce of bits, each rank's among zeros")
MOCK(allgather, bcasts, AS_ALLGATHER, .summary = "MPI_Allgather by an MPI_Bcast from each rank")
MOCK(allgatherv, gatherv_bcast, AS_ALLGATHERV,
     .summary = "MPI_Allgatherv composed of MPI_Gatherv and MPI_Bcast")

MOCK(alltoall, messages, AS_ALLTOALL, .summary = "MPI_Alltoall by MPI_Isend and MPI_Irecv")
MOCK(alltoallv, messages, AS_ALLTOALLV, .summary = "MPI_Alltoallv by MPI_Isend and MPI_Irecv")

MOCK(reduce, allreduce, AS_REDUCE, .room = {ROOM_BLOCK}, .summary = "MPI_Reduce by MPI_Allreduce")
MOCK(reduce, reduce_scatter_block_gather, AS_REDUCE, .room = {ROOM_PARTS, ROOM_PART},
     .summary = "MPI_Reduce composed of MPI_Reduce_scatter_block and MPI_Gather")
MOCK(reduce, reduce_scatter_gatherv, AS_REDUCE, .room = {ROOM_NONE, ROOM_PART},
     .summary = "MPI_Reduce composed of MPI_Reduce_scatter and MPI_Gatherv")
MOCK(reduce, gather_reduce_local, AS_REDUCE, .room = {ROOM_ALL},
     .summary = "MPI_Reduce composed of MPI_Gather and the root's MPI_Reduce_local")
MOCK(reduce, halves, AS_REDUCE, .summary = "MPI_Reduce as two of half the size")

MOCK(allreduce, reduce_bcast, AS_ALLREDUCE, .summary = "MPI_Allreduce composed of MPI_Reduce and MPI_Bcast")
MOCK(allreduce, reduce_scatter_block_allgather, AS_ALLREDUCE, .room = {ROOM_PARTS, ROOM_PART},
     .summary = "MPI_Allreduce composed of MPI_Reduce_scatter_block and MPI_Allgather")
MOCK(allreduce, reduce_scatter_allgatherv, AS_ALLREDUCE,
     .summary = "MPI_Allreduce composed of MPI_Reduce_scatter and MPI_Allgatherv, in its own buffer")
MOCK(allreduce, allgather_reduce_local, AS_ALLREDUCE, .room = {ROOM_ALL},
     .summary = "MPI_Allreduce composed of MPI_Allgather and MPI_Reduce_local on each rank")
MOCK(allreduce, halves, AS_ALLREDUCE, .summary = "MPI_Allreduce as two of half the size")

MOCK(reduce_scatter_block, reduce_scatter, AS_REDUCE_SCATTER_BLOCK, .room = {ROOM_ALL},
     .summary = "MPI_Reduce_scatter_block composed of MPI_Reduce and MPI_Scatter")
MOCK(reduce_scatter_block, allreduce, AS_REDUCE_SCATTER_BLOCK, .room = {ROOM_ALL},
     .summary = "MPI_Reduce_scatter_block by MPI_Allreduce of all blocks")
MOCK(reduce_scatter_block, alltoall_reduce_local, AS_REDUCE_SCATTER_BLOCK, .room = {ROOM_ALL},
     .summary = "MPI_Reduce_scatter_block composed of MPI_Alltoall and MPI_Reduce_local")
MOCK(reduce_scatter, reduce_scatterv, AS_REDUCE_SCATTER, .room = {ROOM_ALL},
     .summary = "MPI_Reduce_scatter composed of MPI_Reduce and MPI_Scatterv")
MOCK(reduce_scatter, allreduce, AS_REDUCE_SCATTER, .room = {ROOM_ALL},
     .summary = "MPI_Reduce_scatter by MPI_Allreduce of all blocks")

MOCK(scan, exscan_reduce_local, AS_SCAN, .room = {ROOM_BLOCK},
     .summary = "MPI_Scan composed of MPI_Exscan and MPI_Reduce_local")
MOCK(exscan, scan_sendrecv, AS_EXSCAN, .room = {ROOM_BLOCK},
     .summary = "MPI_Exscan composed of MPI_Scan and a message to the next rank")
