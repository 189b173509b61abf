#include "ops/mpi/onesided/two_ranks.h"

#include "base/err.h"
#include "team/team_mpi.h"

#include <stdlib.h>

/* Both ranks have the error of either. */
static int both(MPI_Comm comm, int err)
{
    int failed = err;
    const int rc = MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    if (err || rc != MPI_SUCCESS)
        return err ? err : team_mpi_err(rc, "MPI_Allreduce");
    return failed ? err_say((enum err)failed, "%s", "") : 0; /* the other rank says why */
}

int two_ranks_window(struct lanes *lanes, const struct op_env *env, int err, int kind, size_t bytes,
                     char **memory)
{
    const int rank = env->team->rank;
    const struct window_ask ask = {.kind = kind, .locks = true, .ranks = 2, .bytes = bytes};
    struct two_ranks *two = calloc(1, sizeof *two);
    MPI_Comm comm = MPI_COMM_NULL;
    lanes->shared = two;
    if (two)
        *two = (struct two_ranks){.comm = MPI_COMM_NULL, .window.win = MPI_WIN_NULL};
    else if (!err)
        err = err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    int rc = MPI_Comm_split(team_comm(env->team), rank > 1 ? MPI_UNDEFINED : 0, rank, &comm);
    if (rc != MPI_SUCCESS || rank > 1)
        return err ? err : team_mpi_err(rc, "MPI_Comm_split");
    err = both(comm, err ? err : window_plan(&two->window, env, &ask));
    if (err) {
        MPI_Comm_free(&comm);
        return err;
    }
    two->comm = comm;
    err = window_make(&two->window, comm);
    rc = err ? MPI_SUCCESS : MPI_Win_lock_all(0, two->window.win);
    two->locked = !err && rc == MPI_SUCCESS;
    *memory = two->window.memory;
    return err ? err : team_mpi_err(rc, "MPI_Win_lock_all");
}

/* two_ranks_leave() needs both ranks: both have lanes, or none has. */
int two_ranks_join(const struct lanes *lanes, int err)
{
    const struct two_ranks *two = lanes->shared;
    return two && two->comm != MPI_COMM_NULL ? both(two->comm, err) : err;
}

void two_ranks_leave(struct lanes *lanes)
{
    struct two_ranks *two = lanes->shared;
    if (!two)
        return;
    if (two->locked)
        MPI_Win_unlock_all(two->window.win);
    window_free(&two->window);
    if (two->comm != MPI_COMM_NULL)
        MPI_Comm_free(&two->comm);
    free(two);
}
