/* A communicator of MPICH whose ranks are threads: those of all processes, each with a rank of its own. */
#include "base/err.h"
#include "ops/mpi/threads/threads.h"
#include "team/team_mpi.h"

#include <string.h>

/* What MPICH 5.0.2 does between processes there; whatever else is called dies of signal 11 or of an
 * assertion, or, with wildcards, gets another thread's message. */
static const struct {
    const char *param, *words[2];
} done[] = {{"send", {"send", "isend"}}, {"recv", {"recv", "irecv"}}, {"match", {"exact", "exact"}}};

int mt_threadcomm_refuse(const struct op_env *env)
{
    bool is_done = strcmp(env->op->name, "mpi.mt.sendrecv") != 0;
    for (size_t i = 0; i < sizeof done / sizeof done[0] && is_done; ++i) {
        const char *word = mt_word(env, done[i].param);
        is_done = !word[0] || strcmp(word, done[i].words[0]) == 0 || strcmp(word, done[i].words[1]) == 0;
    }
    return is_done ? 0
                   : err_say(ERR_UNSUPPORTED,
                             "thread communicators of MPICH have MPI_Send, MPI_Isend, MPI_Recv and MPI_Irecv "
                             "without wildcards (MPICH 5.0.2 dies in other calls); give channel=comms");
}

int mt_threadcomm_open(const struct op_env *env, MPI_Comm *comm)
{
    static const char *const missing = THREADCOMM_MISSING;
    *comm = MPI_COMM_NULL;
    (void)env; /* where macros stand for the calls */
    if (missing)
        return err_say(ERR_UNSUPPORTED, "%s", missing);
    return team_mpi_err(MPIX_Threadcomm_init(team_comm(env->team), env->threads, comm),
                        "MPIX_Threadcomm_init");
}

int mt_threadcomm_enter(MPI_Comm comm, const struct op_env *env, int *lane)
{
    int rank = -1;
    int err = team_mpi_err(MPIX_Threadcomm_start(comm), "MPIX_Threadcomm_start");
    err =
        err ? err : team_mpi_err(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    err = err ? err : team_mpi_err(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    *lane = rank - env->team->rank * env->threads;
    if (!err && (*lane < 0 || *lane >= env->threads))
        err = err_say(ERR_WRONG,
                      "MPICH gave a thread of rank %d the rank %d in a thread communicator of %d each",
                      env->team->rank, rank, env->threads);
    return err;
}

void mt_threadcomm_leave(MPI_Comm comm)
{
    (void)comm;
    (void)MPIX_Threadcomm_finish(comm);
}

void mt_threadcomm_close(MPI_Comm *comm)
{
    if (*comm != MPI_COMM_NULL)
        (void)MPIX_Threadcomm_free(comm);
}
