/* mpi.error: calls that a library must refuse, each with one wrong argument, and the class of error that says
 * why. Each rank makes them for itself, on a communicator of its own or to its own part of a window, so that
 * a call that is taken waits for nobody. Buffers are larger than what the calls may touch: one that is taken
 * spoils nothing. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { TAG = 1, NO_TAG = -77, BYTES = 64, BEYOND = 1 };

struct refused {
    const struct bad *bad;
    MPI_Comm all, self;
    MPI_Win win; /* of the first BYTES of `window` */
    int rank, size;
    bool planted;
    char send[BYTES], recv[BYTES], window[2 * BYTES];
};

struct bad {
    const char *what; /* a call and its argument, for sentences */
    int class;
    const char *name;
    int (*call)(struct refused *r);
    bool in_window;
};

static int send_to_nobody(struct refused *r)
{
    return MPI_Send(r->send, BYTES, MPI_BYTE, r->size, TAG, r->all);
}

static int send_no_tag(struct refused *r)
{
    return MPI_Send(r->send, BYTES, MPI_BYTE, r->rank, NO_TAG, r->all);
}

static int send_no_count(struct refused *r)
{
    return MPI_Send(r->send, -1, MPI_BYTE, r->rank, TAG, r->all);
}

static int send_no_type(struct refused *r)
{
    return MPI_Send(r->send, BYTES, MPI_DATATYPE_NULL, r->rank, TAG, r->all);
}

static int send_nowhere(struct refused *r)
{
    return MPI_Send(r->send, BYTES, MPI_BYTE, r->rank, TAG, MPI_COMM_NULL);
}

static int recv_too_long(struct refused *r)
{
    MPI_Request request = MPI_REQUEST_NULL;
    const int posted = MPI_Irecv(r->recv, BYTES / 2, MPI_BYTE, 0, TAG, r->self, &request);
    const int sent = MPI_Send(r->send, BYTES, MPI_BYTE, 0, TAG, r->self);
    const int received = MPI_Wait(&request, MPI_STATUS_IGNORE);
    return posted != MPI_SUCCESS ? posted : received != MPI_SUCCESS ? received : sent;
}

static int bcast_of_nobody(struct refused *r)
{
    return MPI_Bcast(r->recv, BYTES, MPI_BYTE, BEYOND, r->self);
}

static int reduce_by_nothing(struct refused *r)
{
    return MPI_Allreduce(r->send, r->recv, BYTES, MPI_BYTE, MPI_OP_NULL, r->self);
}

static int group_of_nobody(struct refused *r)
{
    MPI_Group group = MPI_GROUP_NULL, made = MPI_GROUP_NULL;
    const int member = BEYOND;
    int rc = MPI_Comm_group(r->self, &group);
    rc = rc == MPI_SUCCESS ? MPI_Group_incl(group, 1, &member, &made) : rc;
    if (made != MPI_GROUP_NULL && rc == MPI_SUCCESS)
        MPI_Group_free(&made);
    if (group != MPI_GROUP_NULL)
        MPI_Group_free(&group);
    return rc;
}

/* Put one byte at a place of a rank's window. */
static int put_at(struct refused *r, int rank, MPI_Aint at)
{
    int rc = MPI_Win_lock_all(0, r->win);
    const int put =
        rc == MPI_SUCCESS ? MPI_Put(r->send, 1, MPI_BYTE, rank, at, 1, MPI_BYTE, r->win) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_unlock_all(r->win);
    return put != MPI_SUCCESS ? put : rc;
}

static int put_to_nobody(struct refused *r)
{
    return put_at(r, r->size, 0);
}

static int put_beyond(struct refused *r)
{
    return put_at(r, r->rank, BYTES);
}

static int put_before_epoch(struct refused *r)
{
    return MPI_Put(r->send, 1, MPI_BYTE, r->rank, 0, 1, MPI_BYTE, r->win);
}

enum {
    BAD_RANK,
    BAD_TAG,
    BAD_COUNT,
    BAD_TYPE,
    BAD_COMM,
    BAD_LENGTH,
    BAD_ROOT,
    BAD_OP,
    BAD_MEMBER,
    BAD_TARGET,
    BAD_RANGE,
    BAD_EPOCH,
    BADS
};
static const char *const words[] = {[BAD_RANK] = "rank",
                                    [BAD_TAG] = "tag",
                                    [BAD_COUNT] = "count",
                                    [BAD_TYPE] = "type",
                                    [BAD_COMM] = "comm",
                                    [BAD_LENGTH] = "length",
                                    [BAD_ROOT] = "root",
                                    [BAD_OP] = "op",
                                    [BAD_MEMBER] = "member",
                                    [BAD_TARGET] = "target",
                                    [BAD_RANGE] = "range",
                                    [BAD_EPOCH] = "epoch",
                                    [BADS] = NULL};

#define CLASS(name) name, #name
static const struct bad bads[BADS] = {
    [BAD_RANK] = {"MPI_Send to a rank that is not there", CLASS(MPI_ERR_RANK), send_to_nobody},
    [BAD_TAG] = {"MPI_Send with a tag below 0", CLASS(MPI_ERR_TAG), send_no_tag},
    [BAD_COUNT] = {"MPI_Send of -1 elements", CLASS(MPI_ERR_COUNT), send_no_count},
    [BAD_TYPE] = {"MPI_Send of MPI_DATATYPE_NULL", CLASS(MPI_ERR_TYPE), send_no_type},
    [BAD_COMM] = {"MPI_Send on MPI_COMM_NULL", CLASS(MPI_ERR_COMM), send_nowhere},
    [BAD_LENGTH] = {"MPI_Wait for a message from itself that is longer than its buffer",
                    CLASS(MPI_ERR_TRUNCATE), recv_too_long},
    [BAD_ROOT] = {"MPI_Bcast of a root that is not there", CLASS(MPI_ERR_ROOT), bcast_of_nobody},
    [BAD_OP] = {"MPI_Allreduce by MPI_OP_NULL", CLASS(MPI_ERR_OP), reduce_by_nothing},
    [BAD_MEMBER] = {"MPI_Group_incl of a rank that is not there", CLASS(MPI_ERR_RANK), group_of_nobody},
    [BAD_TARGET] = {"MPI_Put to a rank that is not there", CLASS(MPI_ERR_RANK), put_to_nobody, true},
    [BAD_RANGE] = {"MPI_Put beyond a window", CLASS(MPI_ERR_RMA_RANGE), put_beyond, true},
    [BAD_EPOCH] = {"MPI_Put outside an epoch", CLASS(MPI_ERR_RMA_SYNC), put_before_epoch, true},
};

enum { BAD };
static const struct param params[] = {
    [BAD] = PARAM_WORDS("bad", "what is wrong with the call", words),
    {0},
};

static void teardown(void *state)
{
    struct refused *r = state;
    if (r->win != MPI_WIN_NULL)
        MPI_Win_free(&r->win);
    if (r->self != MPI_COMM_NULL)
        MPI_Comm_free(&r->self);
    free(r);
}

/* A call without a communicator raises its error on MPI_COMM_SELF (MPI 4) or MPI_COMM_WORLD. */
static int open_own(struct refused *r)
{
    int rc = MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    rc = rc == MPI_SUCCESS ? MPI_Comm_dup(MPI_COMM_SELF, &r->self) : rc;
    rc = rc == MPI_SUCCESS ? MPI_Comm_set_errhandler(r->self, MPI_ERRORS_RETURN) : rc;
    if (rc == MPI_SUCCESS && r->bad->in_window) {
        rc = MPI_Win_create(r->window, BYTES, 1, MPI_INFO_NULL, r->all, &r->win);
        rc = rc == MPI_SUCCESS ? MPI_Win_set_errhandler(r->win, MPI_ERRORS_RETURN) : rc;
    }
    return team_mpi_err(rc, "a communicator of one rank, or a window");
}

static int setup(const struct op_env *env, void **state)
{
    struct refused *r = calloc(1, sizeof *r);
    if (!r)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *r = (struct refused){.bad = &bads[(int)env->params[BAD]],
                          .all = team_comm(env->team),
                          .self = MPI_COMM_NULL,
                          .win = MPI_WIN_NULL,
                          .rank = env->team->rank,
                          .size = env->team->size,
                          .planted = env->planted};
    const int err = open_own(r);
    if (err)
        teardown(r);
    else
        *state = r;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct refused *r = state;
    int rc = MPI_ERR_OTHER;
    for (int64_t i = 0; i < reps && rc != MPI_SUCCESS; ++i)
        rc = r->bad->call(r);
    return rc != MPI_SUCCESS ? 0 : err_say(ERR_WRONG, "%s returns MPI_SUCCESS", r->bad->what);
}

static int verify(void *state)
{
    struct refused *r = state;
    const struct bad *bad = r->bad;
    int class = MPI_SUCCESS;
    int err = team_mpi_err(MPI_Error_class(bad->call(r), &class), "MPI_Error_class");
    if (!err && class == MPI_SUCCESS)
        return err_say(ERR_WRONG, "%s returns MPI_SUCCESS, should return %s", bad->what, bad->name);
    data_arrived(&class, 1, r->planted); /* the lowest byte: a neighbouring class */
    if (!err && class != bad->class)
        err = err_say(ERR_WRONG, "%s returns the class %d, should return %d, %s", bad->what, class,
                      bad->class, bad->name);
    return err;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = (struct op){.name = "mpi.error",
                      .summary = "a call that must be refused, with the class of error that says why",
                      .params = params,
                      .missing = ERRORS_MISSING,
                      .family = "management",
                      .class = OP_LOCAL,
                      .report = OP_SLOWEST,
                      .parts = 1,
                      .setup = setup,
                      .run = run,
                      .verify = verify,
                      .teardown = teardown};
}

const struct op_family mpi_refused_ops = {.count = 1, .op_at = op_at};
