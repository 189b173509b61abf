/* Communication of kernels: groups of ranks, collectives, and plans. Kernels see no library: comm_mpi.c uses
 * MPI, comm_shmem.c OpenSHMEM, comm_solo.c does the same for a single rank.
 *
 * A plan is communication that is repeated with the same buffers: the halo of a stencil, a step of a
 * butterfly, a sum, a transposition. It is opened once, with the back end that the user has chosen, and run
 * many times. Sizes are bytes and may exceed 2 GiB. */
#ifndef COMM_COMM_H
#define COMM_COMM_H

#include "core/phase.h"
#include "team/team.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How messages go. comm_backs[] has the words for users. Those with a call of OpenSHMEM can have it. */
enum comm_back {
    COMM_NONBLOCKING, /* MPI_Irecv, MPI_Isend, MPI_Waitall; shmem_putmem_nbi to all, a fence and flags */
    COMM_BLOCKING,    /* MPI_Sendrecv, shmem_putmem, a fence and a flag: one after the other */
    COMM_PERSISTENT,  /* MPI_Startall, MPI_Waitall */
    COMM_SIGNAL,      /* shmem_putmem_signal_nbi, of OpenSHMEM 1.5 */
    COMM_NEIGHBOUR,   /* MPI_Neighbor_alltoallw; only for exchanges, as are those up to COMM_FLUSH */
    COMM_PARTITIONED, /* MPI_Psend_init, MPI_Precv_init, MPI_Startall, MPI_Pready_range, MPI_Waitall; of MPI 4
                       */
    COMM_FENCE,       /* MPI_Put between two MPI_Win_fence */
    COMM_PSCW,        /* MPI_Win_post, MPI_Win_start, MPI_Put, MPI_Win_complete, MPI_Win_wait */
    COMM_LOCK,        /* MPI_Win_lock, MPI_Put, MPI_Win_unlock, and empty messages as signals */
    COMM_FLUSH,       /* MPI_Put, MPI_Win_flush, and empty messages; MPI_Win_lock_all once */
    COMM_COLLECTIVE,  /* MPI_Allreduce, MPI_Alltoall, MPI_Alltoallv; only for sums and transpositions;
                       * shmem_double_sum_to_all, only for sums */
    COMM_ICOLLECTIVE, /* MPI_Iallreduce, ..., MPI_Wait */
    COMM_PCOLLECTIVE, /* MPI_Allreduce_init, ..., of MPI 4 */
    COMM_BACKS
};
extern const char *const comm_backs[COMM_BACKS + 1];

/* The back end of that name, which must be one. */
enum comm_back comm_back_of(const char *word);

/* Ranks 0 .. size - 1 that communicate; `rank` is mine. */
struct comm {
    int rank, size;
    struct phases *phases; /* counts messages and bytes; NULL: not counted */
    const struct team *team;
    const int *members; /* of each rank: its rank in the team */
    int movers;         /* of exchanges: threads that move, each its own neighbours; 0 is 1 */
    bool apart;         /* each of them by its own window or communicator */
    void *own;          /* of the implementation */
};

/* All ranks of the team. Collective over it; later functions are collective over their own ranks. Every
 * function that can fail returns 0 or an enum err, and leaves nothing behind on failure. */
int comm_open(const struct team *team, struct phases *phases, struct comm *comm);
void comm_close(struct comm *comm); /* one that is {0} is fine */

/* The ranks of `whole` with the same colour, in the order of their ranks in it. */
int comm_split(const struct comm *whole, int colour, struct comm *part);

/* ---- once in a while: collectives of the library, in place -------------------------------------------- */

int comm_sum(const struct comm *comm, double *values, size_t count);
int comm_sum_ints(const struct comm *comm, int64_t *values, size_t count);
int comm_max(const struct comm *comm, double *values, size_t count);

/* The sum over ranks below mine, 0 on rank 0: the beginning of my part. */
int comm_offset(const struct comm *comm, int64_t mine, int64_t *offset);

/* `bytes` of rank `root` to all; of all ranks to all, in the order of ranks; to each rank its own. */
int comm_bcast(const struct comm *comm, int root, void *data, size_t bytes);
int comm_allgather(const struct comm *comm, const void *mine, size_t bytes, void *all);
int comm_alltoall(const struct comm *comm, const void *send, void *recv, size_t bytes);

/* Pieces of several sizes: to or from rank r, bytes[r] at at[r]. */
struct comm_pieces {
    void *data;
    const size_t *bytes, *at;
};
int comm_alltoallv(const struct comm *comm, const struct comm_pieces *send, const struct comm_pieces *recv);

int comm_barrier(const struct comm *comm);

/* ---- one message: pipelines and wavefronts ------------------------------------------------------------- */

/* To or from a rank of `comm` that has posted the other side; -1: none, returns at once. Tags from 0 to
 * COMM_TAG_MAX. */
enum { COMM_TAG_MAX = 255 };
int comm_send(const struct comm *comm, int to, int tag, const void *data, size_t bytes);
int comm_recv(const struct comm *comm, int from, int tag, void *data, size_t bytes);

/* ---- plans --------------------------------------------------------------------------------------------- */

/* What goes to one rank and what comes from one, often another: a shift. Between two ranks each tag is used
 * once each way, and links are in the same order on both. Received data may stand beside own data, which stay
 * intact. Between runs, received data may be read, and data to send written. For COMM_BLOCKING link i of all
 * ranks belongs together, as the shifts of a grid do. Both sides of a link pass the same number of bytes. */
struct comm_link {
    int to, from; /* ranks of the comm; -1: none */
    int tag;
    const void *send;
    void *recv;
    size_t send_bytes, recv_bytes;
};

struct comm_plan;

/* All ranks of the team run a plan equally often: a fence is a matter of all of them. */

/* Each of these is collective over the TEAM, though it may communicate in a part of it: every rank opens its
 * plan of the same kind with the same back end, without links if it has nothing to send. A rank that failed
 * before says so in `failed` (else 0), and none is left waiting: this rank's own error is returned, or 0 and
 * *plan NULL if only others failed; then leave setup with 0: all ranks agree on the error afterwards. */
int comm_plan_exchange(const struct comm *comm, enum comm_back back, const struct comm_link *links,
                       size_t count, int failed, struct comm_plan **plan);

/* values[0 .. count) becomes the sum over all ranks of `comm`, in place. COLLECTIVE, ICOLLECTIVE and
 * PCOLLECTIVE are the library's; the others use recursive doubling by messages, on any number of ranks, and
 * NONBLOCKING ones if a back end is only for exchanges. */
int comm_plan_sum(const struct comm *comm, enum comm_back back, double *values, size_t count, int failed,
                  struct comm_plan **plan);

/* `bytes` to each rank of `comm`, in the order of ranks. */
int comm_plan_alltoall(const struct comm *comm, enum comm_back back, const void *send, void *recv,
                       size_t bytes, int failed, struct comm_plan **plan);

/* For several sizes, fixed for the plan. The arrays are copied. */
int comm_plan_alltoallv(const struct comm *comm, enum comm_back back, const struct comm_pieces *send,
                        const struct comm_pieces *recv, int failed, struct comm_plan **plan);

/* For sizes that change from run to run, in units of `unit` bytes: the arrays are the caller's and are read
 * at each run, in which both sides pass the same bytes; none for the rank itself, which keeps its own. For
 * NONBLOCKING, BLOCKING, COLLECTIVE and ICOLLECTIVE. */
int comm_plan_varying(const struct comm *comm, enum comm_back back, size_t unit,
                      const struct comm_pieces *send, const struct comm_pieces *recv, int failed,
                      struct comm_plan **plan);

void comm_plan_close(struct comm_plan *plan); /* NULL is fine */

/* All of it, or its halves with work in between: buffers are the plan's between them. A back end without
 * halves does all of it in the first. NULL does nothing. */
int comm_run(struct comm_plan *plan);
int comm_start(struct comm_plan *plan);
int comm_finish(struct comm_plan *plan);

#endif
