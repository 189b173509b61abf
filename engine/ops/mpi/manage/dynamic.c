/* mpi.spawn, mpi.connect: processes that are joined while they run (MPI 4.1, chapter 11). All ranks start
 * others and disconnect from them; or one half of the ranks opens a port for the other half, and both
 * disconnect again.
 *
 * The spawned program is this engine, which only begins and ends (mpi_spawned). */
#define _GNU_SOURCE
#include "ops/mpi/manage/dynamic.h"

#include "base/binding.h"
#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/families.h"
#include "team/team_mpi.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TAG = 1, BYTES = 64, GREETING = 7 };

enum { CHILDREN };
static const struct param spawn_params[] = {
    [CHILDREN] = {"children", "", "number of processes that the ranks start together", 1, 1, 1e6},
    {0},
};

struct dynamic;

struct dynamic_row {
    int (*meet)(struct dynamic *d, MPI_Comm *others); /* an inter-communicator */
    int (*open)(struct dynamic *d);
    const char *call;
};

struct dynamic {
    const struct dynamic_row *row;
    MPI_Comm comm, half; /* of all; of the ranks on this side */
    MPI_Info info;
    int rank, size;
    int there, first; /* number of ranks on the other side; number of the first of them in the data */
    bool greets;      /* messages are sent to check who is connected */
    char port[MPI_MAX_PORT_NAME], path[PATH_MAX];
    bool opened, planted;
};

static int start(struct dynamic *d, MPI_Comm *others)
{
    char *argv[] = {"spawned", d->greets ? "greet" : "leave", NULL};
    return MPI_Comm_spawn(d->path, argv, d->there, d->info, 0, d->comm, others, MPI_ERRCODES_IGNORE);
}

/* The lower half opened the port. */
static int shake_hands(struct dynamic *d, MPI_Comm *others)
{
    return d->rank < d->size / 2 ? MPI_Comm_accept(d->port, MPI_INFO_NULL, 0, d->half, others)
                                 : MPI_Comm_connect(d->port, MPI_INFO_NULL, 0, d->half, others);
}

/* Whether this is MPICH, bound to fewer CPUs than its launcher. Hydra of MPICH 4.0 and 5.0 ends in an
 * assertion when ranks that it has bound, or was asked not to bind, spawn others. */
static bool is_bound_by_hydra(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    cpu_set_t mine, parents;
    MPI_Get_library_version(library, &length);
    return strncmp(library, "MPICH", strlen("MPICH")) == 0 && !binding_is_set() &&
           sched_getaffinity(0, sizeof mine, &mine) == 0 &&
           sched_getaffinity(getppid(), sizeof parents, &parents) == 0 && !CPU_EQUAL(&mine, &parents);
}

/* Children share the ranks' cores. These keys say so to Open MPI; other libraries ignore them. */
static int find_engine(struct dynamic *d)
{
    if (is_bound_by_hydra())
        return err_say(ERR_UNSUPPORTED, "MPICH's launcher aborts when ranks that it has bound spawn others; "
                                        "give --placement unbound");
    const ssize_t length = readlink("/proc/self/exe", d->path, sizeof d->path - 1);
    if (length <= 0)
        return err_say(ERR_SYSTEM, "/proc/self/exe does not say which program this is");
    int rc = MPI_Info_create(&d->info);
    if (rc == MPI_SUCCESS)
        rc = MPI_Info_set(d->info, "map_by", "slot:OVERSUBSCRIBE");
    if (rc == MPI_SUCCESS)
        rc = MPI_Info_set(d->info, "bind_to", "none");
    return team_mpi_err(rc, "MPI_Info_set");
}

static int open_port(struct dynamic *d)
{
    const bool lower = d->rank < d->size / 2;
    d->there = lower ? d->size - d->size / 2 : d->size / 2;
    d->first = lower ? d->size / 2 : 0;
    int rc = MPI_Comm_split(d->comm, !lower, d->rank, &d->half);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_set_errhandler(d->half, MPI_ERRORS_RETURN);
    int opened = MPI_SUCCESS;
    if (d->rank == 0) {
        opened = MPI_Open_port(MPI_INFO_NULL, d->port);
        d->opened = opened == MPI_SUCCESS;
    }
    if (rc == MPI_SUCCESS) /* even without a port, because the others wait for it; they get an empty name */
        rc = MPI_Bcast(d->port, sizeof d->port, MPI_CHAR, 0, d->comm);
    if (opened != MPI_SUCCESS)
        return team_mpi_err(opened, "MPI_Open_port");
    if (rc == MPI_SUCCESS && d->port[0] == 0)
        return err_say(ERR_MPI, "rank 0 opened no port");
    return team_mpi_err(rc, "MPI_Comm_split or MPI_Bcast");
}

/* Nothing has to be renewed, but this takes as long as ops that do renew something. A launch should have tens
 * of it and not hundreds. */
static int prepare(void *state)
{
    (void)state;
    return 0;
}

static int run(void *state, int64_t reps)
{
    struct dynamic *d = state;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Comm others = MPI_COMM_NULL;
        rc = d->row->meet(d, &others);
        if (rc == MPI_SUCCESS)
            rc = MPI_Comm_disconnect(&others);
    }
    return team_mpi_err(rc, d->row->call);
}

/* Send a message to each rank of the other side and receive one from each. The first of them is rank `from`
 * in the data. */
static int greet(struct dynamic *d, MPI_Comm others, int from)
{
    char out[BYTES], in[BYTES];
    data_fill(out, BYTES, d->rank, GREETING);
    int err = 0;
    for (int i = 0; i < d->there && !err; ++i) {
        MPI_Request request;
        data_poison(in, BYTES);
        int rc = MPI_Isend(out, BYTES, MPI_BYTE, i, TAG, others, &request);
        if (rc == MPI_SUCCESS)
            rc = MPI_Recv(in, BYTES, MPI_BYTE, i, TAG, others, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
        err = team_mpi_err(rc, "a message over the new communicator");
        data_arrived(in, BYTES, d->planted);
        if (!err)
            err = data_check(in, BYTES, from + i, GREETING, i);
    }
    return err;
}

/* The child's side of the check. A child that received something wrong sends wrong data back. */
static void answer(MPI_Comm parents, int rank, int there)
{
    char out[BYTES], in[BYTES];
    int rc = MPI_SUCCESS;
    for (int i = 0; i < there && rc == MPI_SUCCESS; ++i) {
        data_poison(in, BYTES);
        rc = MPI_Recv(in, BYTES, MPI_BYTE, i, TAG, parents, MPI_STATUS_IGNORE);
        if (data_check(in, BYTES, i, GREETING, 0) == 0)
            data_fill(out, BYTES, rank, GREETING);
        else
            data_poison(out, BYTES);
        if (rc == MPI_SUCCESS)
            rc = MPI_Send(out, BYTES, MPI_BYTE, i, TAG, parents);
    }
}

static int verify(void *state)
{
    struct dynamic *d = state;
    MPI_Comm others = MPI_COMM_NULL;
    int size = 0;
    d->greets = true;
    int err = team_mpi_err(d->row->meet(d, &others), d->row->call);
    d->greets = false;
    if (!err)
        err = team_mpi_err(MPI_Comm_set_errhandler(others, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    if (!err)
        err = team_mpi_err(MPI_Comm_remote_size(others, &size), "MPI_Comm_remote_size");
    if (!err && size != d->there)
        err = err_say(ERR_WRONG, "the others are %d processes, should be %d", size, d->there);
    if (!err)
        err = greet(d, others, d->first);
    if (others != MPI_COMM_NULL)
        MPI_Comm_disconnect(&others);
    return err;
}

int mpi_spawned(bool greets)
{
    MPI_Comm parents = MPI_COMM_NULL;
    int rank = 0, there = 0;
    int rc = MPI_Init(NULL, NULL);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_get_parent(&parents);
    if (rc != MPI_SUCCESS || parents == MPI_COMM_NULL)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_remote_size(parents, &there);
    if (greets)
        answer(parents, rank, there);
    MPI_Comm_disconnect(&parents);
    MPI_Finalize();
    return 0;
}

static void teardown(void *state)
{
    struct dynamic *d = state;
    if (d->opened)
        MPI_Close_port(d->port);
    if (d->half != MPI_COMM_NULL)
        MPI_Comm_free(&d->half);
    if (d->info != MPI_INFO_NULL)
        MPI_Info_free(&d->info);
    free(d);
}

static int setup(const struct op_env *env, void **state)
{
    struct dynamic *d = calloc(1, sizeof *d);
    if (!d)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *d = (struct dynamic){.row = env->op->row,
                          .comm = team_comm(env->team),
                          .half = MPI_COMM_NULL,
                          .info = MPI_INFO_NULL,
                          .rank = env->team->rank,
                          .size = env->team->size,
                          .planted = env->planted};
    d->there = env->op->params == spawn_params ? (int)env->params[CHILDREN] : 0;
    int err = d->row->open(d);
    if (err)
        teardown(d);
    else
        *state = d;
    return err;
}

#define ROW(...) &(const struct dynamic_row){__VA_ARGS__}

static const struct op rows[] = {
    {.name = "mpi.spawn",
     .summary = "MPI_Comm_spawn of a program that starts and ends, and MPI_Comm_disconnect",
     .params = spawn_params,
     .prepare = prepare,
     .row = ROW(.meet = start, .open = find_engine, .call = "MPI_Comm_spawn")},
    {.name = "mpi.connect",
     .summary = "MPI_Comm_accept by the lower half, MPI_Comm_connect by the upper, MPI_Comm_disconnect",
     .least_ranks = 2,
     .row = ROW(.meet = shake_hands, .open = open_port, .call = "MPI_Comm_accept or MPI_Comm_connect")},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "management";
    op->missing = DYNAMIC_MISSING;
    op->class = OP_COLLECTIVE;
    op->flow = FLOW_ALL;
    op->report = OP_SLOWEST;
    op->parts = 1;
    op->setup = setup;
    op->run = run;
    op->verify = verify;
    op->teardown = teardown;
}

const struct op_family mpi_dynamic_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
