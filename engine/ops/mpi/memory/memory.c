/* mpi.memory.*: what the library keeps in memory for each communicator, window, datatype, waiting receive or
 * message that nobody has received yet, on this rank, and what is left when they are freed.
 *
 * A sample makes `objects` of them. Before the next sample they are freed. The process' memory is read when
 * they are there (`counted`) and when they are gone (`prepare`), outside the timed region; the time is that
 * of making them. What a library keeps for all of a kind is made by `verify`, before the first sample. */
#include "ops/families.h"

#include "base/err.h"
#include "base/memory.h"
#include "base/num.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { TAG = 1 };

enum { OBJECTS };
#define OBJECTS_PARAM(usual)                                                                                 \
    {{.name = "objects",                                                                                     \
      .unit = "",                                                                                            \
      .summary = "how many are there at once",                                                               \
      .normal = usual,                                                                                       \
      .least = 1,                                                                                            \
      .most = 1e6},                                                                                          \
     {0}}
static const struct param many[] = OBJECTS_PARAM(500), few[] = OBJECTS_PARAM(20);

/* `freed`: objects that were freed since the last sample. */
static const char *const counters[] = {
    "objects", "heap_held_bytes", "resident_held_bytes", "locked_held_bytes", "freed", "heap_left_bytes",
    NULL};

struct kept;

struct kind {
    int (*make)(struct kept *k, int i);
    int (*unmake)(struct kept *k, int i);
    int (*settle)(struct kept *k);      /* what comes from others is there; may be missing */
    int (*look)(struct kept *k, int i); /* ERR_WRONG if it is not what it should be */
    size_t size;                        /* of an object */
};

struct kept {
    const struct kind *kind;
    MPI_Comm comm;
    int rank, to, from, objects, count; /* bytes as an int */
    size_t bytes;
    char *made; /* `objects` of them */
    int there;  /* how many are made */
    char *data; /* sent, received; of the test case's buffers */
    bool planted, has_base;
    struct footprint base; /* without objects, before this sample */
    int64_t freed, left;
};

/* ---- the kinds --------------------------------------------------------------------------------------- */

static int comm_make(struct kept *k, int i)
{
    return team_mpi_err(MPI_Comm_dup(k->comm, (MPI_Comm *)k->made + i), "MPI_Comm_dup");
}

static int comm_unmake(struct kept *k, int i)
{
    return team_mpi_err(MPI_Comm_free((MPI_Comm *)k->made + i), "MPI_Comm_free");
}

static int comm_look(struct kept *k, int i)
{
    int result = MPI_UNEQUAL;
    int err = team_mpi_err(MPI_Comm_compare(k->comm, ((MPI_Comm *)k->made)[i], &result), "MPI_Comm_compare");
    const int right = MPI_CONGRUENT;
    data_arrived(&result, 1, k->planted);
    return err || result == right ? err : err_say(ERR_WRONG, "communicator %d is none of the same ranks", i);
}

static int window_make(struct kept *k, int i)
{
    char *memory = NULL;
    return team_mpi_err(
        MPI_Win_allocate((MPI_Aint)k->bytes, 1, MPI_INFO_NULL, k->comm, &memory, (MPI_Win *)k->made + i),
        "MPI_Win_allocate");
}

static int window_unmake(struct kept *k, int i)
{
    return team_mpi_err(MPI_Win_free((MPI_Win *)k->made + i), "MPI_Win_free");
}

static int window_look(struct kept *k, int i)
{
    MPI_Aint *size = NULL;
    int found = 0;
    int err = team_mpi_err(MPI_Win_get_attr(((MPI_Win *)k->made)[i], MPI_WIN_SIZE, &size, &found),
                           "MPI_Win_get_attr");
    MPI_Aint bytes = !err && found ? *size : -1;
    data_arrived(&bytes, 1, k->planted);
    return err || bytes == (MPI_Aint)k->bytes
               ? err
               : err_say(ERR_WRONG, "window %d has %lld bytes, should have %zu", i, (long long)bytes,
                         k->bytes);
}

enum { BLOCKS = 16, STRIDE = 3 }; /* of a datatype: no library takes it for a contiguous one */

static int type_make(struct kept *k, int i)
{
    MPI_Datatype *type = (MPI_Datatype *)k->made + i;
    int err = team_mpi_err(MPI_Type_vector(BLOCKS, 1, STRIDE, MPI_INT, type), "MPI_Type_vector");
    return err ? err : team_mpi_err(MPI_Type_commit(type), "MPI_Type_commit");
}

static int type_unmake(struct kept *k, int i)
{
    return team_mpi_err(MPI_Type_free((MPI_Datatype *)k->made + i), "MPI_Type_free");
}

static int type_look(struct kept *k, int i)
{
    int size = 0;
    int err = team_mpi_err(MPI_Type_size(((MPI_Datatype *)k->made)[i], &size), "MPI_Type_size");
    data_arrived(&size, 1, k->planted);
    const int right = BLOCKS * (int)sizeof(int);
    return err || size == right
               ? err
               : err_say(ERR_WRONG, "datatype %d has %d bytes, should have %d", i, size, right);
}

/* request: a receive that nothing comes to, until it is cancelled. */

enum { NEVER_SENT = 7 }; /* a tag */

static int request_make(struct kept *k, int i)
{
    return team_mpi_err(MPI_Irecv(k->data + k->bytes, k->count, MPI_BYTE, k->from, NEVER_SENT, k->comm,
                                  (MPI_Request *)k->made + i),
                        "MPI_Irecv");
}

static int request_unmake(struct kept *k, int i)
{
    MPI_Request *request = (MPI_Request *)k->made + i;
    int err = team_mpi_err(MPI_Cancel(request), "MPI_Cancel");
    return err ? err : team_mpi_err(MPI_Wait(request, MPI_STATUS_IGNORE), "MPI_Wait");
}

static int request_look(struct kept *k, int i)
{
    int is_done = 0;
    int err = team_mpi_err(MPI_Request_get_status(((MPI_Request *)k->made)[i], &is_done, MPI_STATUS_IGNORE),
                           "MPI_Request_get_status");
    data_arrived(&is_done, 1, k->planted);
    return err || !is_done ? err : err_say(ERR_WRONG, "receive %d is done, and nothing was sent", i);
}

/* unexpected: each rank sends to the next, which receives when they are freed. */

static int message_make(struct kept *k, int i)
{
    return team_mpi_err(MPI_Isend(k->data, k->count, MPI_BYTE, k->to, TAG + (i + 1 == k->objects), k->comm,
                                  (MPI_Request *)k->made + i),
                        "MPI_Isend");
}

/* Messages of a sender do not overtake each other: when the last is there, all are. */
static int message_settle(struct kept *k)
{
    int err = 0, there = 0;
    while (!err && !there)
        err = team_mpi_err(MPI_Iprobe(k->from, TAG + 1, k->comm, &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
    return err;
}

static int message_unmake(struct kept *k, int i)
{
    char *in = k->data + k->bytes;
    data_poison(in, k->bytes);
    int err = team_mpi_err(
        MPI_Recv(in, k->count, MPI_BYTE, k->from, TAG + (i + 1 == k->objects), k->comm, MPI_STATUS_IGNORE),
        "MPI_Recv");
    return err ? err : team_mpi_err(MPI_Wait((MPI_Request *)k->made + i, MPI_STATUS_IGNORE), "MPI_Wait");
}

/* The last that was received. */
static int message_look(struct kept *k, int i)
{
    (void)i;
    char *in = k->data + k->bytes;
    data_arrived(in, k->bytes, k->planted);
    return data_check(in, k->bytes, k->from, k->rank, 0);
}

/* ---- a sample ---------------------------------------------------------------------------------------- */

static int memory_run(void *state, int64_t reps)
{
    struct kept *k = state;
    int err = 0;
    (void)reps; /* 1: there is a `prepare` */
    for (; k->there < k->objects && !err; ++k->there)
        err = k->kind->make(k, k->there);
    return !err && k->kind->settle ? k->kind->settle(k) : err;
}

static int free_all(struct kept *k)
{
    int err = 0;
    for (int i = 0; i < k->there && !err; ++i)
        err = k->kind->unmake(k, i);
    k->there = 0;
    return err;
}

static int memory_prepare(void *state)
{
    struct kept *k = state;
    const int64_t freed = k->there;
    int err = free_all(k);
    const struct footprint now = memory_footprint();
    k->freed = k->has_base ? freed : 0;
    k->left = k->has_base ? now.heap - k->base.heap : 0;
    k->base = now;
    k->has_base = true;
    return err;
}

static void memory_counted(void *state, int64_t *values)
{
    const struct kept *k = state;
    const struct footprint now = memory_footprint();
    values[0] = k->there;
    values[1] = now.heap - k->base.heap;
    values[2] = now.resident - k->base.resident;
    values[3] = now.locked - k->base.locked;
    values[4] = k->freed;
    values[5] = k->left;
}

/* All objects, also after a wrong one, because others wait for them. */
static int memory_verify(void *state)
{
    struct kept *k = state;
    data_fill(k->data, k->bytes, k->rank, k->to);
    int err = free_all(k);
    err = err ? err : memory_run(k, 1);
    int wrong = 0;
    for (int i = 0; i < k->objects && !err && !k->kind->settle; ++i) {
        const int of_this = k->kind->look(k, i);
        wrong = wrong ? wrong : of_this;
    }
    err = err ? err : free_all(k);
    if (!err && k->kind->settle)
        wrong = k->kind->look(k, 0);
    k->has_base = false;
    return err ? err : wrong;
}

static void memory_teardown(void *state)
{
    struct kept *k = state;
    free_all(k);
    free(k->made);
    free(k);
}

static int memory_setup(const struct op_env *env, void **state)
{
    const struct kind *kind = env->op->row;
    struct kept *k = calloc(1, sizeof *k);
    if (!k)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *k = (struct kept){.kind = kind,
                       .comm = team_comm(env->team),
                       .rank = env->team->rank,
                       .to = (env->team->rank + 1) % env->team->size,
                       .from = (env->team->rank + env->team->size - 1) % env->team->size,
                       .objects = (int)env->params[OBJECTS],
                       .bytes = env->bytes,
                       .planted = env->planted};
    k->made = calloc((size_t)k->objects, kind->size);
    int err = num_to_int(env->bytes, &k->count);
    if (!err && !k->made)
        err = err_say(ERR_NOMEM, "no memory for %d objects", k->objects);
    err = err ? err : buffers_take(env->buffers, 1, 2 * env->bytes + 1, (void **)&k->data);
    if (err) {
        memory_teardown(k);
        return err;
    }
    buffers_count(env->buffers, (size_t)k->objects * env->bytes); /* what the library may keep */
    *state = k;
    return 0;
}

/* ---- the rows ---------------------------------------------------------------------------------------- */

static const struct kind comms = {comm_make, comm_unmake, NULL, comm_look, sizeof(MPI_Comm)},
                         windows = {window_make, window_unmake, NULL, window_look, sizeof(MPI_Win)},
                         types = {type_make, type_unmake, NULL, type_look, sizeof(MPI_Datatype)},
                         requests = {request_make, request_unmake, NULL, request_look, sizeof(MPI_Request)},
                         messages = {message_make, message_unmake, message_settle, message_look,
                                     sizeof(MPI_Request)};

static const struct op rows[] = {
    {.name = "mpi.memory.comm_dup",
     .summary = "communicators by MPI_Comm_dup: time to make them, and bytes of each",
     .params = many,
     .row = &comms},
    {.name = "mpi.memory.win_allocate",
     .summary = "windows by MPI_Win_allocate: time to make them, and bytes of each",
     .default_bytes = "0",
     .params = few,
     .row = &windows},
    {.name = "mpi.memory.type",
     .summary = "strided datatypes: time to make and commit them, and bytes of each",
     .params = many,
     .row = &types},
    {.name = "mpi.memory.request",
     .summary = "receives that wait for a message: time to post them by MPI_Irecv, and bytes of each",
     .default_bytes = "8",
     .params = many,
     .row = &requests},
    {.name = "mpi.memory.unexpected",
     .summary =
         "messages that came and that nobody has received: time until they are there, and bytes of each",
     .default_bytes = "8,1Ki",
     .params = many,
     .row = &messages},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "management";
    op->class = OP_COLLECTIVE;
    op->role = ROLE_CALL;
    op->report = OP_SLOWEST;
    op->parts = 1;
    op->counters = counters;
    op->setup = memory_setup;
    op->prepare = memory_prepare;
    op->run = memory_run;
    op->counted = memory_counted;
    op->verify = memory_verify;
    op->teardown = memory_teardown;
}

const struct op_family mpi_memory_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
