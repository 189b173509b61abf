/* mpi.request, mpi.group, mpi.wtime: calls that each rank makes for itself. mpi.wtime reads a
 * clock because that is what it measures. */
#include "ops/families.h"

#include "base/err.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { TAG = 1, BYTES = 64 };

enum { SEND, RECV };
static const char *const sides[] = {[SEND] = "send", [RECV] = "recv", NULL};

enum { SIDE };
static const struct param request_params[] = {
    [SIDE] = PARAM_WORDS("side", "MPI_Send_init or MPI_Recv_init", sides),
    {0},
};

struct local {
    MPI_Comm comm;
    MPI_Group all;
    int rank, size, count; /* of a group's members */
    int *members;
    int (*init)(struct local *l, MPI_Request *request);
    double last; /* reading */
    char send[BYTES], recv[BYTES];
    bool planted;
};

static int send_init(struct local *l, MPI_Request *request)
{
    return MPI_Send_init(l->send, BYTES, MPI_BYTE, l->rank, TAG, l->comm, request);
}

static int recv_init(struct local *l, MPI_Request *request)
{
    return MPI_Recv_init(l->recv, BYTES, MPI_BYTE, l->rank, TAG, l->comm, request);
}

static void teardown(void *state)
{
    struct local *l = state;
    if (l->all != MPI_GROUP_NULL)
        MPI_Group_free(&l->all);
    free(l->members);
    free(l);
}

static int setup(const struct op_env *env, void **state)
{
    struct local *l = calloc(1, sizeof *l);
    if (!l)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *l = (struct local){.comm = team_comm(env->team),
                        .all = MPI_GROUP_NULL,
                        .rank = env->team->rank,
                        .size = env->team->size,
                        .planted = env->planted};
    if (env->op->params == request_params)
        l->init = (int)env->params[SIDE] == SEND ? send_init : recv_init;
    *state = l;
    return 0;
}

/* request: make and free a persistent request to the rank itself. */

static int request_run(void *state, int64_t reps)
{
    struct local *l = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Request request;
        rc = l->init(l, &request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Request_free(&request);
    }
    return team_mpi_err(rc, "MPI_Send_init, MPI_Recv_init or MPI_Request_free");
}

/* Check that the request carries a message. */
static int request_verify(void *state)
{
    struct local *l = state;
    MPI_Request made = MPI_REQUEST_NULL, other = MPI_REQUEST_NULL;
    data_fill(l->send, BYTES, l->rank, l->rank);
    data_poison(l->recv, BYTES);
    int rc = l->init(l, &made);
    if (rc == MPI_SUCCESS)
        rc = MPI_Start(&made);
    if (rc == MPI_SUCCESS)
        rc = l->init == send_init ? MPI_Irecv(l->recv, BYTES, MPI_BYTE, l->rank, TAG, l->comm, &other)
                                  : MPI_Isend(l->send, BYTES, MPI_BYTE, l->rank, TAG, l->comm, &other);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&other, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&made, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        rc = MPI_Request_free(&made);
    data_arrived(l->recv, BYTES, l->planted);
    int err = team_mpi_err(rc, "a message with a persistent request");
    return err ? err : data_check(l->recv, BYTES, l->rank, l->rank, 0);
}

/* group: every second rank, in descending order. */

static int group_setup(const struct op_env *env, void **state)
{
    int err = setup(env, state);
    if (err)
        return err;
    struct local *l = *state;
    l->members = calloc((size_t)l->size, sizeof *l->members);
    for (int r = l->size - 1; l->members && r >= 0; r -= 2)
        l->members[l->count++] = r;
    err = l->members ? team_mpi_err(MPI_Comm_group(l->comm, &l->all), "MPI_Comm_group")
                     : err_say(ERR_NOMEM, "no memory for the ranks of a group");
    if (err)
        teardown(l);
    return err;
}

static int group_run(void *state, int64_t reps)
{
    const struct local *l = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Group group;
        rc = MPI_Group_incl(l->all, l->count, l->members, &group);
        if (rc == MPI_SUCCESS)
            rc = MPI_Group_free(&group);
    }
    return team_mpi_err(rc, "MPI_Group_incl or MPI_Group_free");
}

static int group_verify(void *state)
{
    const struct local *l = state;
    MPI_Group group = MPI_GROUP_NULL;
    int size = 0;
    int rc = MPI_Group_incl(l->all, l->count, l->members, &group);
    if (rc == MPI_SUCCESS)
        rc = MPI_Group_size(group, &size);
    int err = team_mpi_err(rc, "MPI_Group_incl");
    if (!err && size != l->count)
        err = err_say(ERR_WRONG, "the group has %d members, should have %d", size, l->count);
    for (int i = 0; i < l->count && !err; ++i) {
        int rank = MPI_UNDEFINED;
        err =
            team_mpi_err(MPI_Group_translate_ranks(group, 1, &i, l->all, &rank), "MPI_Group_translate_ranks");
        data_arrived(&rank, 1, l->planted); /* the lowest byte: a neighbouring value */
        if (!err && rank != l->members[i])
            err =
                err_say(ERR_WRONG, "member %d of the group is rank %d, should be %d", i, rank, l->members[i]);
    }
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
    return err;
}

/* wtime: one reading. */

static int wtime_run(void *state, int64_t reps)
{
    struct local *l = state;
    for (int64_t i = 0; i < reps; ++i)
        l->last = MPI_Wtime();
    return 0;
}

/* The clock never goes back, not even by less than its tick. */
static int wtime_verify(void *state)
{
    enum { READINGS = 10000 };
    struct local *l = state;
    for (int i = 0; i < READINGS; ++i) {
        double before = l->last;
        wtime_run(l, 1);
        if (l->last < before)
            return err_say(ERR_WRONG, "MPI_Wtime went back by %g s", before - l->last);
    }
    return MPI_Wtick() > 0 ? 0 : err_say(ERR_WRONG, "MPI_Wtick says %g s", MPI_Wtick());
}

static const struct op rows[] = {
    {.name = "mpi.request",
     .summary = "MPI_Send_init or MPI_Recv_init, and MPI_Request_free",
     .params = request_params,
     .setup = setup,
     .run = request_run,
     .verify = request_verify},
    {.name = "mpi.group",
     .summary = "MPI_Group_incl of every second rank and MPI_Group_free",
     .setup = group_setup,
     .run = group_run,
     .verify = group_verify},
    {.name = "mpi.wtime",
     .summary = "one reading of MPI_Wtime",
     .setup = setup,
     .run = wtime_run,
     .verify = wtime_verify},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "management";
    op->class = OP_LOCAL;
    op->report = OP_SLOWEST;
    op->parts = 1;
    op->teardown = teardown;
}

const struct op_family mpi_local_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
