/* mpi.comm_*, mpi.session: a communicator is made and freed. The time includes the free, because without it a
 * library runs out of communicators after some thousands. The two halves are not timed apart. */
#include "ops/families.h"

#include "base/err.h"
#include "base/json.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { TAG = 1, TAG_CREATE = 3 };

enum { ORDER_SAME, ORDER_REVERSED };
static const char *const orders[] = {[ORDER_SAME] = "same", [ORDER_REVERSED] = "reversed", NULL};

enum { MEMBERS_ALL, MEMBERS_HALF };
static const char *const members_words[] = {[MEMBERS_ALL] = "all", [MEMBERS_HALF] = "half", NULL};

enum { GROUPS, ORDER };
static const struct param split_params[] = {
    [GROUPS] = {"groups", "", "number of communicators; rank r goes to number r modulo groups", 2, 1, 1e6},
    [ORDER] = PARAM_WORDS("order", "order of the ranks in the new communicators", orders),
    {0},
};

enum { MEMBERS };
static const struct param create_params[] = {
    [MEMBERS] = PARAM_WORDS("members", "members of the new communicator: all ranks, or the lower half",
                            members_words),
    {0},
};

enum { REORDER };
enum { REORDER_NO, REORDER_YES };
static const char *const no_yes[] = {[REORDER_NO] = "no", [REORDER_YES] = "yes", NULL};
static const struct param cart_params[] = {
    [REORDER] = PARAM_WORDS("reorder", "whether the library may choose the ranks", no_yes),
    {0},
};

struct maker;

struct comm_row {
    int (*make)(struct maker *m, MPI_Comm *comm);
    int (*unmake)(struct maker *m, MPI_Comm *comm);
    bool anybody; /* only the library knows the members and their order */
    bool alone;   /* makes no communicator: each rank for itself */
};

struct maker {
    const struct comm_row *row;
    MPI_Comm comm;
    MPI_Group group; /* of the members, if they are given */
    MPI_Session session;
    int rank, size, color, key, groups;
    bool reversed, reorder, member;
    int *who, members; /* those of the communicator that was checked last: their ranks in `comm` */
    int count;         /* members of this rank's new communicator */
    int *of_member;    /* their ranks in `comm`, in the order of the new communicator */
    bool planted;
};

/* Make and free a communicator: a pair of functions for each way. */

static int dup_all(struct maker *m, MPI_Comm *comm)
{
    return MPI_Comm_dup(m->comm, comm);
}

static int idup_all(struct maker *m, MPI_Comm *comm)
{
    MPI_Request request;
    int rc = MPI_Comm_idup(m->comm, comm, &request);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

static int split(struct maker *m, MPI_Comm *comm)
{
    return MPI_Comm_split(m->comm, m->color, m->key, comm);
}

static int split_type(struct maker *m, MPI_Comm *comm)
{
    return MPI_Comm_split_type(m->comm, MPI_COMM_TYPE_SHARED, m->key, MPI_INFO_NULL, comm);
}

static int create(struct maker *m, MPI_Comm *comm)
{
    return MPI_Comm_create(m->comm, m->group, comm);
}

static int create_group(struct maker *m, MPI_Comm *comm)
{
    *comm = MPI_COMM_NULL; /* ranks outside the group do not call at all */
    return m->member ? MPI_Comm_create_group(m->comm, m->group, TAG_CREATE, comm) : MPI_SUCCESS;
}

/* A ring, whose ranks the library may choose. */
static int cart(struct maker *m, MPI_Comm *comm)
{
    return MPI_Cart_create(m->comm, 1, (const int[]){m->size}, (const int[]){1}, m->reorder, comm);
}

/* The same ring, as a graph of each rank's neighbours. */
static int graph(struct maker *m, MPI_Comm *comm)
{
    const int two[] = {(m->rank + m->size - 1) % m->size, (m->rank + 1) % m->size};
    const int count = m->size > 2 ? 2 : m->size - 1; /* two ranks have one neighbour each, one has none */
    return MPI_Dist_graph_create_adjacent(m->comm, count, two, unweighted(), count, two, unweighted(),
                                          MPI_INFO_NULL, m->reorder, comm);
}

static int unmake(struct maker *m, MPI_Comm *comm)
{
    (void)m;
    return *comm != MPI_COMM_NULL ? MPI_Comm_free(comm) : MPI_SUCCESS;
}

static int session_make(struct maker *m, MPI_Comm *comm)
{
    (void)m, (void)comm; /* where there are no sessions */
    MPI_Group world = MPI_GROUP_NULL;
    int rc = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &m->session);
    if (rc == MPI_SUCCESS)
        rc = MPI_Group_from_session_pset(m->session, "mpi://WORLD", &world);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_create_from_group(world, "steelyard", MPI_INFO_NULL, MPI_ERRORS_RETURN, comm);
    if (rc == MPI_SUCCESS)
        rc = MPI_Group_free(&world);
    return rc;
}

static int session_unmake(struct maker *m, MPI_Comm *comm)
{
    (void)m, (void)comm; /* where there are no sessions */
    int rc = MPI_Comm_free(comm);
    return rc == MPI_SUCCESS ? MPI_Session_finalize(&m->session) : rc;
}

static int session_alone_make(struct maker *m, MPI_Comm *comm)
{
    (void)m, (void)comm; /* where there are no sessions */
    *comm = MPI_COMM_NULL;
    return MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &m->session);
}

static int session_alone_unmake(struct maker *m, MPI_Comm *comm)
{
    (void)m, (void)comm; /* where there are no sessions */
    return MPI_Session_finalize(&m->session);
}

static void teardown(void *state)
{
    struct maker *m = state;
    if (m->group != MPI_GROUP_NULL)
        MPI_Group_free(&m->group);
    free(m->of_member);
    free(m->who);
    free(m);
}

/* The members of this rank's new communicator, and their order. */
static void name_members(struct maker *m, bool half)
{
    int last = half ? (m->size + 1) / 2 : m->size;
    for (int r = m->color; r < last; r += m->groups)
        m->of_member[m->count++] = r;
    m->member = m->rank < last;
    for (int i = 0; m->reversed && i < m->count / 2; ++i) {
        int other = m->of_member[m->count - 1 - i];
        m->of_member[m->count - 1 - i] = m->of_member[i];
        m->of_member[i] = other;
    }
}

static int make_group(struct maker *m)
{
    MPI_Group all = MPI_GROUP_NULL;
    int rc = MPI_Comm_group(m->comm, &all);
    if (rc == MPI_SUCCESS)
        rc = MPI_Group_incl(all, m->count, m->of_member, &m->group);
    if (all != MPI_GROUP_NULL)
        MPI_Group_free(&all);
    return team_mpi_err(rc, "MPI_Group_incl");
}

static int setup(const struct op_env *env, void **state)
{
    const bool splits = env->op->params == split_params, creates = env->op->params == create_params;
    struct maker *m = calloc(1, sizeof *m);
    if (!m)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *m = (struct maker){.row = env->op->row,
                        .comm = team_comm(env->team),
                        .group = MPI_GROUP_NULL,
                        .rank = env->team->rank,
                        .size = env->team->size,
                        .groups = splits ? (int)env->params[GROUPS] : 1,
                        .reversed = splits && (int)env->params[ORDER] == ORDER_REVERSED,
                        .reorder = env->op->params == cart_params && (int)env->params[REORDER] == REORDER_YES,
                        .planted = env->planted};
    m->color = m->rank % m->groups;
    m->key = m->reversed ? -m->rank : m->rank;
    m->of_member = calloc((size_t)m->size, sizeof *m->of_member);
    m->who = calloc((size_t)m->size, sizeof *m->who);
    int err = m->of_member && m->who ? 0 : err_say(ERR_NOMEM, "no memory for the ranks of a group");
    if (!err) {
        name_members(m, creates && (int)env->params[MEMBERS] == MEMBERS_HALF);
        err = creates ? make_group(m) : 0;
    }
    if (err)
        teardown(m);
    else
        *state = m;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct maker *m = state;
    int (*const make)(struct maker *, MPI_Comm *) = m->row->make;
    int (*const free_again)(struct maker *, MPI_Comm *) = m->row->unmake;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Comm comm;
        rc = make(m, &comm);
        if (rc == MPI_SUCCESS)
            rc = free_again(m, &comm);
    }
    return team_mpi_err(rc, "making or freeing a communicator");
}

/* Check the members of the new communicator by a collective in it. On success who[i] is the rank of its i-th
 * member, and `mine` this rank's. */
static int check_members(const struct maker *m, MPI_Comm comm, int *who, int *mine, int *count)
{
    int rc = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_size(comm, count);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_rank(comm, mine);
    if (rc == MPI_SUCCESS && (m->row->anybody ? *count > m->size : *count != m->count))
        return err_say(ERR_WRONG, "the new communicator has %d ranks, should have %d", *count, m->count);
    if (rc == MPI_SUCCESS)
        rc = MPI_Allgather(&m->rank, 1, MPI_INT, who, 1, MPI_INT, comm);
    for (int i = 0; i < *count && rc == MPI_SUCCESS; ++i)
        if (!m->row->anybody && who[i] != m->of_member[i])
            return err_say(ERR_WRONG, "rank %d of the new communicator was rank %d, should have been %d", i,
                           who[i], m->of_member[i]);
    return team_mpi_err(rc, "a call on the new communicator");
}

/* Send a message to the right in the old communicator and one in the new; receive them in the other order. A
 * library that confuses the two delivers the wrong one first. */
static int check_context(const struct maker *m, MPI_Comm comm, const int *who, int mine, int count)
{
    enum { BYTES = 64, OLD, NEW };
    char old[BYTES], out[BYTES], in[BYTES];
    const int right = (mine + 1) % count, left = (mine + count - 1) % count;
    MPI_Request request = MPI_REQUEST_NULL;
    data_fill(old, BYTES, m->rank, OLD);
    data_fill(out, BYTES, m->rank, NEW);
    data_poison(in, BYTES);
    int rc = MPI_Isend(old, BYTES, MPI_BYTE, who[right], TAG, m->comm, &request);
    if (rc == MPI_SUCCESS)
        rc = MPI_Sendrecv(out, BYTES, MPI_BYTE, right, TAG, in, BYTES, MPI_BYTE, left, TAG, comm,
                          MPI_STATUS_IGNORE);
    data_arrived(in, BYTES, m->planted);
    int err = team_mpi_err(rc, "MPI_Sendrecv on the new communicator");
    if (!err)
        err = data_check(in, BYTES, who[left], NEW, 0);
    data_poison(in, BYTES);
    rc = MPI_Recv(in, BYTES, MPI_BYTE, who[left], TAG, m->comm, MPI_STATUS_IGNORE);
    if (rc == MPI_SUCCESS)
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!err)
        err = team_mpi_err(rc, "MPI_Recv on the old communicator");
    return err ? err : data_check(in, BYTES, who[left], OLD, 1);
}

static int verify(void *state)
{
    struct maker *m = state;
    MPI_Comm comm = MPI_COMM_NULL;
    int mine = 0, count = 0;
    int err = team_mpi_err(m->row->make(m, &comm), "making a communicator");
    if (!err && !m->row->alone && (comm != MPI_COMM_NULL) != m->member)
        err = err_say(ERR_WRONG, "this rank %s the new communicator",
                      m->member ? "should be in" : "should not be in");
    if (!err && comm != MPI_COMM_NULL)
        err = check_members(m, comm, m->who, &mine, &count);
    m->members = count;
    if (!err && comm != MPI_COMM_NULL)
        err = check_context(m, comm, m->who, mine, count);
    int freed = team_mpi_err(m->row->unmake(m, &comm), "freeing a communicator");
    return err ? err : freed;
}

/* What the library made of its right to choose the ranks. */
static void describe_end(const void *state, struct json *j)
{
    const struct maker *m = state;
    int moved = 0;
    if (!m->reorder)
        return;
    for (int i = 0; i < m->members; ++i)
        moved += m->who[i] != i;
    json_int(j, "reordered", moved);
    if (m->members > TEAM_CHOSEN_MOST)
        return;
    json_open(j, "mapping", '[');
    for (int i = 0; i < m->members; ++i)
        json_int(j, NULL, m->who[i]);
    json_close(j, ']');
}

#define ROW(...) &(const struct comm_row){__VA_ARGS__}

static const struct op rows[] = {
    {.name = "mpi.comm_dup",
     .summary = "MPI_Comm_dup and MPI_Comm_free",
     .row = ROW(.make = dup_all, .unmake = unmake)},
    {.name = "mpi.comm_idup",
     .base = "mpi.comm_dup",
     .form = FORM_NONBLOCKING,
     .summary = "MPI_Comm_idup, MPI_Wait and MPI_Comm_free",
     .missing = COMM_IDUP_MISSING,
     .row = ROW(.make = idup_all, .unmake = unmake)},
    {.name = "mpi.comm_split",
     .summary = "MPI_Comm_split and MPI_Comm_free",
     .params = split_params,
     .row = ROW(.make = split, .unmake = unmake)},
    {.name = "mpi.comm_split_type",
     .summary = "MPI_Comm_split_type by shared memory and MPI_Comm_free",
     .row = ROW(.make = split_type, .unmake = unmake, .anybody = true)},
    {.name = "mpi.comm_create",
     .summary = "MPI_Comm_create from a group and MPI_Comm_free",
     .params = create_params,
     .row = ROW(.make = create, .unmake = unmake)},
    {.name = "mpi.comm_create_group",
     .summary = "MPI_Comm_create_group by the members only, and MPI_Comm_free",
     .params = create_params,
     .row = ROW(.make = create_group, .unmake = unmake)},
    {.name = "mpi.cart_create",
     .summary = "MPI_Cart_create of a ring of all ranks and MPI_Comm_free",
     .params = cart_params,
     .row = ROW(.make = cart, .unmake = unmake, .anybody = true)},
    {.name = "mpi.dist_graph_create",
     .summary = "MPI_Dist_graph_create_adjacent of a ring of all ranks and MPI_Comm_free",
     .params = cart_params,
     .missing = NEIGHBOURS_MISSING,
     .row = ROW(.make = graph, .unmake = unmake, .anybody = true)},
    {.name = "mpi.session",
     .summary = "MPI_Session_init, a communicator of all ranks from it, both freed, MPI_Session_finalize",
     .missing = MPI4_CALLS_MISSING,
     .row = ROW(.make = session_make, .unmake = session_unmake, .anybody = true)},
    {.name = "mpi.session_empty",
     .summary = "MPI_Session_init and MPI_Session_finalize, by each rank for itself",
     .missing = MPI4_CALLS_MISSING,
     .row = ROW(.make = session_alone_make, .unmake = session_alone_unmake, .alone = true)},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "management";
    op->class = ((const struct comm_row *)op->row)->alone ? OP_LOCAL : OP_COLLECTIVE;
    op->flow = op->class == OP_COLLECTIVE ? FLOW_ALL : FLOW_NONE;
    op->report = OP_SLOWEST;
    op->parts = 1;
    op->setup = setup;
    op->run = run;
    op->verify = verify;
    op->describe_end = describe_end;
    op->teardown = teardown;
}

const struct op_family mpi_comm_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
