/* The ranks that measure together. Chosen at link time: team_mpi.c, or team_solo.c, whose ranks are processes
 * of this host that it forks itself.
 *
 * All of it runs over point-to-point messages of its own, on a communicator of its own where there is MPI, so
 * that neither the tuning nor the bugs of the library's collectives touch what lines the measurement up. */
#ifndef TEAM_TEAM_H
#define TEAM_TEAM_H

#include <stddef.h>
#include <stdint.h>

struct hosts;
struct json;

struct team {
    int rank, size;
    struct hosts *hosts; /* which ranks share one (team/hosts.h) */
    void *own;           /* of the implementation */

    /* On CLOCK_MONOTONIC, in ns: when main began, as main says, 0 where the rank is a fork; around
     * MPI_Init_thread, 0: there is no MPI. */
    int64_t began_ns, init_begin_ns, init_end_ns;

    int64_t finalize_ns; /* that MPI_Finalize took; known when the team is closed */
};

/* `thread_level`: single, funneled, serialized or multiple. `ranks`: how many there are to be, where the team
 * starts them itself; with MPI its launcher has. Without MPI each rank is a fork of the caller, which does
 * not return where there are several: it ends when they do. ERR_INPUT, ERR_UNSUPPORTED, ERR_MPI, ERR_NOMEM,
 * ERR_SYSTEM. */
int team_open(struct team *team, const char *thread_level, int ranks);
int team_close(struct team *team);

/* End the whole launch; never returns. */
_Noreturn void team_abort(const struct team *team, int code);

/* No rank leaves before all have come. A dissemination barrier (Hensgen, Finkel, Manber 1988): ceil(log2 P)
 * rounds. */
int team_barrier(const struct team *team);

/* The library's own barrier: the subject of a method that shows what it does to others. Does nothing where
 * there is no library. */
int team_library_barrier(const struct team *team);

/* Rank 0's bytes to all, by a binomial tree. */
int team_bcast(const struct team *team, void *data, size_t bytes);

/* A message between two ranks of the team; both sides name the same number of bytes. */
int team_send(const struct team *team, int to, const void *data, size_t bytes);
int team_recv(const struct team *team, int from, void *data, size_t bytes);

/* Everybody's `bytes` to rank 0, up a binomial tree; `all` has room for size * bytes there, in the order of
 * ranks, and is NULL elsewhere. ERR_NOMEM. */
int team_gather(const struct team *team, const void *mine, size_t bytes, void *all);

/* Everybody's `bytes` merged up the same tree: on rank 0 `mine` is then of all, on another rank of its
 * branch. `merge` takes what higher ranks say into what lower ones say. ERR_NOMEM. */
typedef void team_merge(void *into, const void *from, size_t bytes);
int team_reduce(const struct team *team, void *mine, size_t bytes, team_merge *merge);

/* Chosen ranks, evenly spread, rank 0 first: where rank 0 is not to hold more the more ranks there are, they
 * speak for themselves. All of few. How many of `ranks` they are, and the i-th of them. */
enum { TEAM_CHOSEN_MOST = 64 };
int team_chosen_count(int ranks);
int team_chosen(int ranks, int i);

/* Their `bytes` to rank 0, in their order; `all` has room for them there, and is NULL elsewhere. */
int team_gather_chosen(const struct team *team, const void *mine, size_t bytes, void *all);

/* The largest value of all, on all. */
int team_max(const struct team *team, int64_t *value);

/* Its own clock, in seconds; NULL where it has none. Needs an open team. */
extern double (*const team_wtime)(void);

/* Which library: "mpi": {...} or null. Needs no open team. */
void team_describe(struct json *j);

/* The same with the thread level that was provided, the clock of the library, and what it says of itself
 * through MPI's tools interface: control variables of protocols, names of queues that it counts. */
void team_record(const struct team *team, struct json *j);

/* The values of what it counts of queues: "pvars": {...}; before the team is closed. */
void team_queues(const struct team *team, struct json *j);

/* The kind of engine this is: "mpi" or "solo". */
extern const char team_kind[];

#endif
