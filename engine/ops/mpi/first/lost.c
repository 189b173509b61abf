/* mpi.ft.*: the death of a rank, and how the others go on. A launch has a rank more than the team: it kills
 * itself at the instant at which all begin, once a launch, so launches are the samples. When the use is over,
 * the team is what is left (team_open). */
#include "ops/mpi/first/first.h"

#include "base/err.h"
#include "ops/common/data.h"
#include "team/team_mpi_ft.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { TAG = 1, WORD_BITS = 30 };

struct lost {
    MPI_Comm all, left; /* with the dead rank, and without */
    int noticed;        /* class of the error of the receive from the dead rank */
    int class;          /* of the error that a rank met then */
    int size;           /* of what was made of the communicator */
    int flag;           /* that ranks agreed on */
};

static int ready(struct first *f)
{
    struct lost *l = calloc(1, sizeof *l);
    if (!l)
        return err_say(ERR_NOMEM, "no memory for the state of %s", f->op->name);
    *l = (struct lost){.all = MPI_COMM_NULL, .left = MPI_COMM_NULL};
    f->own = l;
    return team_mpi_err(MPI_Comm_dup(MPI_COMM_WORLD, &l->all), "MPI_Comm_dup");
}

/* The communicator with the dead rank is left to the library: its end would be a matter of all its ranks. */
static void done(struct first *f)
{
    struct lost *l = f->own;
    if (l->left != MPI_COMM_NULL)
        MPI_Comm_free(&l->left);
    free(l);
    f->own = NULL;
}

static int class_of(int rc)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(rc, &class);
    return class;
}

/* notice: a receive from the dead rank ends. */
static int notice_use(struct first *f)
{
    struct lost *l = f->own;
    char in = 0;
    if (f->dies)
        kill(getpid(), SIGKILL);
    l->noticed = class_of(MPI_Recv(&in, 1, MPI_BYTE, f->size, TAG, l->all, MPI_STATUS_IGNORE));
    return 0;
}

/* That the error is what it should be. */
static int check_class(const char *call, int class, int right, const char *name)
{
    return class == right ? 0
                          : err_say(ERR_WRONG, "%s returns the class %d, should return %d, %s", call, class,
                                    right, name);
}

static int check_noticed(const struct lost *l)
{
    return check_class("MPI_Recv from a dead rank", l->noticed, MPIX_ERR_PROC_FAILED, "MPIX_ERR_PROC_FAILED");
}

static int notice_after(struct first *f)
{
    struct lost *l = f->own;
    data_arrived(&l->noticed, 1, f->planted);
    return check_noticed(l);
}

/* All who live have noticed the death, and begin the next thing together: also one that met a wrong error,
 * which is told afterwards, for the others wait for it. */
static int line_up(struct first *f)
{
    struct lost *l = f->own;
    notice_use(f);
    int err = team_mpi_err(MPIX_Comm_shrink(l->all, &l->left), "MPIX_Comm_shrink");
    return err ? err : team_mpi_err(MPI_Barrier(l->left), "MPI_Barrier of the ranks that are left");
}

/* revoke: rank 0 revokes, and the receives of the others, which nothing comes to, end. */

static int revoke_use(struct first *f)
{
    struct lost *l = f->own;
    MPI_Request request = MPI_REQUEST_NULL;
    char in = 0;
    int rc = MPI_SUCCESS;
    int err = line_up(f);
    if (!err && f->rank != 0)
        rc = MPI_Irecv(&in, 1, MPI_BYTE, 0, TAG, l->all, &request);
    err = err ? err : team_mpi_err(MPI_Barrier(l->left), "MPI_Barrier of the ranks that are left");
    if (err)
        return err;
    first_begin(f);
    if (f->rank == 0)
        return team_mpi_err(MPIX_Comm_revoke(l->all), "MPIX_Comm_revoke");
    l->class = class_of(rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc);
    return 0;
}

static int revoke_after(struct first *f)
{
    struct lost *l = f->own;
    if (f->rank == 0)
        l->class = MPIX_ERR_REVOKED; /* it knows by itself */
    data_arrived(&l->class, 1, f->planted);
    const int err = check_noticed(l);
    return err ? err
               : check_class("a receive on a revoked communicator", l->class, MPIX_ERR_REVOKED,
                             "MPIX_ERR_REVOKED");
}

/* shrink: a communicator of those that are left. */

static int shrink_use(struct first *f)
{
    struct lost *l = f->own;
    MPI_Comm made = MPI_COMM_NULL;
    int err = line_up(f);
    if (err)
        return err;
    first_begin(f);
    err = team_mpi_err(MPIX_Comm_shrink(l->all, &made), "MPIX_Comm_shrink");
    first_end(f);
    err = err ? err : team_mpi_err(MPI_Comm_size(made, &l->size), "MPI_Comm_size");
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
    return err;
}

static int shrink_after(struct first *f)
{
    struct lost *l = f->own;
    data_arrived(&l->size, 1, f->planted);
    const int err = check_noticed(l);
    return err || l->size == f->size
               ? err
               : err_say(ERR_WRONG, "MPIX_Comm_shrink leaves %d ranks, should leave %d", l->size, f->size);
}

/* agree: the bits that all have set, each rank without one. */

static int agree_use(struct first *f)
{
    struct lost *l = f->own;
    int err = line_up(f);
    err = err ? err : team_mpi_err(MPIX_Comm_failure_ack(l->all), "MPIX_Comm_failure_ack");
    if (err)
        return err;
    l->flag = ~(1 << f->rank % WORD_BITS);
    first_begin(f);
    return team_mpi_err(MPIX_Comm_agree(l->all, &l->flag), "MPIX_Comm_agree");
}

static int agree_after(struct first *f)
{
    struct lost *l = f->own;
    int right = ~0;
    for (int r = 0; r < f->size; ++r)
        right &= ~(1 << r % WORD_BITS);
    data_arrived(&l->flag, 1, f->planted);
    const int err = check_noticed(l);
    return err || l->flag == right ? err
                                   : err_say(ERR_WRONG, "MPIX_Comm_agree gives %#x, should give %#x",
                                             (unsigned)l->flag, (unsigned)right);
}

const struct op_first first_notice = {
    .loses = 1, .ready = ready, .use = notice_use, .after = notice_after, .done = done};
const struct op_first first_revoke = {
    .loses = 1, .ready = ready, .use = revoke_use, .after = revoke_after, .done = done};
const struct op_first first_shrink = {
    .loses = 1, .ready = ready, .use = shrink_use, .after = shrink_after, .done = done};
const struct op_first first_agree = {
    .loses = 1, .ready = ready, .use = agree_use, .after = agree_after, .done = done};
