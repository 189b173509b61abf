/* A launch: one start of the engine. What it is, and where its ranks and threads really are. */
#ifndef LAUNCH_LAUNCH_H
#define LAUNCH_LAUNCH_H

#include "team/team.h"
#include "time/clock.h"

#include <stdbool.h>
#include <stddef.h>

struct json;
struct op;
struct options;

struct launch {
    const struct options *options;
    int words; /* of a point on the command line */
    char **word;
    const struct op *ops;
    size_t op_count;
    int64_t began_ns; /* when main did */

    /* Say what err_say() was told, on standard error; the code to end with. */
    int (*complain)(const struct team *team, int err);
};

/* All of it; the code to end with. */
int launch_run(const struct launch *launch);

/* Version, compiler, flags: "build". */
void launch_build(struct json *j);

/* Put the threads of this process where --cpus says (base/binding.h): before the team is open, with `team`
 * NULL, by the rank that the launcher says this is; what it does not say waits for the open team. ERR_INPUT.
 */
int launch_bind(const char *cpus, const struct team *team);

/* The rank before MPI_Init, as the launcher tells it; 0 where it does not. */
int launch_rank(void);

/* Open the clock of that name; NULL: the best that all ranks find sound. Those of one host then read the
 * same. Collective. ERR_INPUT, ERR_SYSTEM, ERR_NOMEM, ERR_MPI. */
int launch_clock(const struct team *team, const char *name, struct clock *clock);

/* Open a pool of so many threads and close it, which keeps where they may run (base/thread_places.h): nothing
 * for one thread. ERR_NOMEM, ERR_SYSTEM. */
int launch_lanes(int threads);

/* The launch record, on rank 0; collective. `j` is a document that is empty. The lanes of a pool of `threads`
 * are asked where they may run. `of_all`: every rank's place, else those of chosen ones, and the first of
 * which something is wrong. ERR_NOMEM, ERR_SYSTEM, ERR_MPI. */
int launch_record(const struct team *team, const struct clock *clock, int64_t seed, int threads, bool of_all,
                  struct json *j);

/* Close the team, and append a record of how it ended to `out` (NULL: standard output): of each rank on rank
 * 0's host, for there is no MPI any more to bring others' to rank 0. Collective. ERR_MPI, ERR_SYSTEM. */
int launch_close(struct team *team, const char *out);

#endif
