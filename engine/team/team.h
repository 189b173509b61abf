/* The ranks that measure together. Chosen at link time: team_mpi.c, team_shmem.c, or team_solo.c, which forks
 * its ranks as processes of this host.
 *
 * All communication of a team uses its own point-to-point messages, on its own communicator if there is MPI.
 * So neither the tuning nor the bugs of the library's collectives affect how ranks line up. */
#ifndef TEAM_TEAM_H
#define TEAM_TEAM_H

#include "base/memory.h"

#include <stddef.h>
#include <stdint.h>

struct hosts;
struct json;

struct team {
    int rank, size;
    int loses; /* ranks of the launch that are none of the team, the last ones, and dead when it begins */
    struct hosts *hosts; /* the ranks that share a host (team/hosts.h) */
    void *own;           /* of the implementation */

    /* On CLOCK_MONOTONIC, in ns: the begin of main, 0 if the rank is a fork; begin and end of
     * MPI_Init_thread or shmem_init_thread, 0 without a library. */
    int64_t began_ns, init_begin_ns, init_end_ns;

    int64_t launch_ns; /* from the start of the launcher to main, by the clocks of day; 0: not known */

    /* What this process had in memory before and after that call, and how long it took to look, in ns; 0
     * without a library. */
    struct footprint before_init, after_init;
    int64_t before_init_ns, after_init_ns;

    int64_t finalize_ns; /* duration of MPI_Finalize, shmem_finalize; known when the team is closed */
};

/* What is done between the start of a library and the first message of the team; NULL: nothing. The team
 * knows its rank and size then, and cannot be used for messages. Without a library it is not called. */
typedef int team_early(struct team *team, void *data);

/* `thread_level`: single, funneled, serialized or multiple. `ranks`: their number, if the team starts them
 * itself; with MPI the launcher does. Without MPI each rank is a fork of the caller; with several ranks the
 * caller does not return, but ends when they do. ERR_INPUT, ERR_UNSUPPORTED, ERR_MPI, ERR_NOMEM,
 * ERR_SYSTEM, and the errors of `early`, which gets `data`. */
int team_open(struct team *team, const char *thread_level, int ranks, team_early *early, void *data);
int team_close(struct team *team);

/* End the whole launch; never returns. */
_Noreturn void team_abort(const struct team *team, int code);

/* No rank leaves before all have come. A dissemination barrier (Hensgen, Finkel, Manber 1988): ceil(log2 P)
 * rounds. */
int team_barrier(const struct team *team);

/* The library's own barrier, for a method that shows its effect. Does nothing without a library. */
int team_library_barrier(const struct team *team);

/* Send rank 0's bytes to all, by a binomial tree. */
int team_bcast(const struct team *team, void *data, size_t bytes);

/* A message between two ranks of the team; both sides pass the same number of bytes. */
int team_send(const struct team *team, int to, const void *data, size_t bytes);
int team_recv(const struct team *team, int from, void *data, size_t bytes);

/* Gather all ranks' `bytes` on rank 0, up a binomial tree; `all` has room for size * bytes there, in the
 * order of ranks, and is NULL elsewhere. ERR_NOMEM. */
int team_gather(const struct team *team, const void *mine, size_t bytes, void *all);

/* Merge all ranks' `bytes` up the same tree: then `mine` holds the result of all on rank 0, and that of its
 * branch on another rank. `merge` merges data of higher ranks into those of lower ones. ERR_NOMEM. */
typedef void team_merge(void *into, const void *from, size_t bytes);
int team_reduce(const struct team *team, void *mine, size_t bytes, team_merge *merge);

/* Chosen ranks, evenly spread, rank 0 first; all ranks if they are few. They limit rank 0's data on many
 * ranks. How many of `ranks` they are, and the i-th of them. */
enum { TEAM_CHOSEN_MOST = 64 };
int team_chosen_count(int ranks);
int team_chosen(int ranks, int i);

/* Gather their `bytes` on rank 0, in their order; `all` has room for them there, and is NULL elsewhere. */
int team_gather_chosen(const struct team *team, const void *mine, size_t bytes, void *all);

/* Find the largest value of all ranks, on all. */
int team_max(const struct team *team, int64_t *value);

/* The library's clock, in seconds; NULL if it has none. Needs an open team. */
extern double (*const team_wtime)(void);

/* The library: "mpi": {...} or null, and "shmem": {...} with OpenSHMEM. Needs no open team. */
void team_describe(struct json *j);

/* The same with the provided thread level, the library's clock, and its data from MPI's tools interface:
 * control variables of protocols, names of counted queues. */
void team_record(const struct team *team, struct json *j);

/* The library's counts of queues: "pvars": {...}; before the team is closed. */
void team_queues(const struct team *team, struct json *j);

/* The kind of engine this is: "mpi", "shmem" or "solo". */
extern const char team_kind[];

#endif
