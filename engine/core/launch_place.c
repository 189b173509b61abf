/* Where the ranks and threads of a launch are: bound to what was asked for, and seen as the kernel has it. */
#define _GNU_SOURCE
#include "core/launch.h"

#include "base/err.h"
#include "base/place.h"
#include "base/pool.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rank among those of this host, before MPI_Init, as the launcher tells it: Open MPI; MPICH and Intel
 * MPI; PMI and PMIx, of the whole launch; Slurm last, for a job's script has its variable too. -1: it does
 * not tell. */
static int local_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_RANK",
                                        "PMIX_RANK", "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        const char *text = getenv(names[i]);
        if (text && *text >= '0' && *text <= '9')
            return atoi(text);
    }
    return -1;
}

int launch_bind(const char *cpus, const struct team *team)
{
    if (place_is_set())
        return 0;
    bool is_told = strcmp(team_kind, "mpi") == 0; /* else the variables are of a launch that we are part of */
    return place_set(cpus, team ? team->rank : is_told ? local_rank() : -1);
}

enum { CPUS_MAX = 128 };

struct seen {
    char (*cpus)[CPUS_MAX]; /* of each lane */
};

static void lane_look(void *arg, int lane)
{
    place_allowed(((struct seen *)arg)->cpus[lane], CPUS_MAX);
}

int launch_lanes(int threads, char *text, size_t size)
{
    struct pool *pool = NULL;
    text[0] = '\0';
    if (threads < 2)
        return 0;
    struct seen seen = {.cpus = calloc((size_t)threads, sizeof *seen.cpus)};
    if (!seen.cpus)
        return err_say(ERR_NOMEM, "no memory for the places of %d threads", threads);
    int err = pool_open(threads, &pool);
    if (!err)
        pool_run(pool, lane_look, &seen);
    pool_close(pool);
    size_t at = 0;
    for (int i = 0; i < threads && !err && at + CPUS_MAX + 1 < size; ++i)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i > 0 ? "|" : "", seen.cpus[i]);
    free(seen.cpus);
    return err;
}
