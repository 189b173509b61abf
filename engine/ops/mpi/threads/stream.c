/* A communicator on a stream of MPICH for a thread: calls of one stream come from one thread at a time, as
 * the program promises, so the library takes no lock for them and may give them an endpoint of their own. */
#include "base/err.h"
#include "ops/mpi/threads/threads.h"
#include "team/team_mpi.h"

int mt_stream_open(const struct op_env *env, struct team *lane, MPIX_Stream *stream)
{
    static const char *const missing = STREAMS_MISSING;
    MPI_Comm comm = MPI_COMM_NULL;
    *stream = MPIX_STREAM_NULL;
    if (missing)
        return err_say(ERR_UNSUPPORTED, "%s", missing);
    if (MPIX_Stream_create(MPI_INFO_NULL, stream) != MPI_SUCCESS)
        return err_say(ERR_UNSUPPORTED,
                       "MPICH has no endpoint left for a stream of each of %d threads; give --env "
                       "MPIR_CVAR_CH4_RESERVE_VCIS=%d",
                       env->threads, env->threads);
    int err =
        team_mpi_err(MPIX_Stream_comm_create(team_comm(lane), *stream, &comm), "MPIX_Stream_comm_create");
    err =
        err ? err : team_mpi_err(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return err ? err : team_lane_use(lane, comm, true);
}

void mt_stream_close(MPIX_Stream *stream)
{
    if (*stream != MPIX_STREAM_NULL)
        (void)MPIX_Stream_free(stream);
}
