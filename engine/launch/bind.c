/* Where the ranks and threads of a launch are: bound to what was asked for, and seen as the kernel has it. */
#include "launch/launch.h"

#include "base/binding.h"
#include "base/pool.h"
#include "base/thread_places.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The rank among those of this host, before MPI_Init, as the launcher tells it: Open MPI; MPICH and Intel
 * MPI; PMI and PMIx, of the whole launch; Slurm last, for a job's script has its variable too. -1: it does
 * not tell. */
static const char *const local_names[] = {
    "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_RANK", "PMIX_RANK", "SLURM_LOCALID", NULL};
static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", NULL};

static int told(const char *const variables[])
{
    for (size_t i = 0; variables[i]; ++i) {
        const char *text = getenv(variables[i]);
        if (text && *text >= '0' && *text <= '9')
            return atoi(text);
    }
    return -1;
}

static bool is_launched(void)
{
    return strcmp(team_kind, "solo") != 0; /* else the variables are of a launch that we are part of */
}

int launch_rank(void)
{
    const int rank = is_launched() ? told(names) : 0;
    return rank < 0 ? 0 : rank;
}

int launch_bind(const char *cpus, const struct team *team)
{
    if (binding_is_set())
        return 0;
    return binding_set(cpus, team ? team->rank : is_launched() ? told(local_names) : -1);
}

int launch_lanes(int threads)
{
    struct pool *pool = NULL;
    thread_places_forget();
    int err = threads > 1 ? pool_open(threads, &pool) : 0;
    pool_close(pool);
    return err;
}
