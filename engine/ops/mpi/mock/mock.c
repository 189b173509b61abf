/* mpi.mock.*: scratch buffers of compositions, and their ops. To add one: a row in rows.h, and its call. */
#include "ops/mpi/mock/mock.h"

#include "base/buffers.h"
#include "base/err.h"
#include "base/num.h"
#include "ops/families.h"

#include <stdlib.h>

/* ---- scratch buffers --------------------------------------------------------------------------------- */

static int take_room(const struct op_env *env, const struct coll *c, enum coll_room room, char **data,
                     size_t *bytes)
{
    const size_t ranks = (size_t)c->size, part = (size_t)mock_of(c)->part * c->element;
    *bytes = room == ROOM_BLOCK   ? mock_block(c)
             : room == ROOM_ALL   ? mock_block(c) * ranks
             : room == ROOM_PART  ? part
             : room == ROOM_PARTS ? part * ranks
                                  : 0;
    return buffers_take(env->buffers, 1, *bytes, (void **)data);
}

static void cut(const struct coll *c, struct mock *m)
{
    const int each = c->count / c->size, more = c->count % c->size;
    m->part = each + (more > 0);
    for (int r = 0; r < c->size; ++r) {
        m->counts[r] = each + (r < more);
        m->displs[r] = r * each + (r < more ? r : more);
    }
}

static int open_aside(const struct op_env *env, struct coll *c)
{
    const size_t ranks = (size_t)c->size;
    int err = 0;
    struct mock *m = c->own = coll_array(1, sizeof *m, &err);
    if (err)
        return err;
    m->counts = coll_array(ranks, sizeof *m->counts, &err);
    m->displs = coll_array(ranks, sizeof *m->displs, &err);
    m->only = coll_array(ranks, sizeof *m->only, &err);
    m->none = coll_array(ranks, sizeof *m->none, &err);
    m->messages = coll_array(2 * ranks, sizeof(MPI_Request), &err);
    if (err)
        return err;
    cut(c, m);
    err = num_to_int(ranks * mock_block(c), &m->all_bytes);
    err = err ? err : num_to_int(ranks * (size_t)c->count, &m->all);
    err = err ? err : take_room(env, c, c->row->room[0], &m->a, &m->a_bytes);
    return err ? err : take_room(env, c, c->row->room[1], &m->b, &m->b_bytes);
}

static void clear_aside(struct coll *c)
{
    const struct mock *m = mock_of(c);
    if (m->a)
        memset(m->a, 0, m->a_bytes);
    if (m->b)
        memset(m->b, 0, m->b_bytes);
}

static void close_aside(struct coll *c)
{
    struct mock *m = c->own;
    if (!m)
        return;
    free(m->counts);
    free(m->displs);
    free(m->only);
    free(m->none);
    free(m->messages);
    free(m);
}

static const struct coll_aside aside = {open_aside, clear_aside, close_aside};

/* ---- ops --------------------------------------------------------------------------------------------- */

COLL_PARAMS(barrier_params, COLL_SEED);
COLL_PARAMS(move_params, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(irregular_params, COLL_TYPE, COLL_COUNTS, COLL_BUFFERS);
COLL_PARAMS(rooted_params, COLL_ROOTED, COLL_TYPE, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(rooted_irregular_params, COLL_ROOTED, COLL_TYPE, COLL_COUNTS, COLL_BUFFERS);
COLL_PARAMS(sum_params, COLL_REDUCED, COLL_SEED, COLL_BUFFERS);
COLL_PARAMS(irregular_sum_params, COLL_REDUCED, COLL_COUNTS, COLL_BUFFERS);
COLL_PARAMS(rooted_sum_params, COLL_ROOTED, COLL_REDUCED, COLL_SEED, COLL_BUFFERS);

/* Each takes the blocks from the collective that it replaces, and with them the check of the answer. */
#define AS_BARRIER .flow = FLOW_ALL, .params = barrier_params
#define AS_BCAST                                                                                             \
    .answer = FROM_ROOT, .flow = FLOW_OUT, .params = rooted_params, .send_root = ONE, .recv_other = ONE
#define AS_GATHER                                                                                            \
    .answer = FROM_BLOCK, .flow = FLOW_IN, .params = rooted_params, ALL_SEND(ONE), .recv_root = ALL
#define AS_GATHERV                                                                                           \
    .answer = FROM_BLOCK, .shape = BY_RANK, .flow = FLOW_IN, .params = rooted_irregular_params,              \
    ALL_SEND(ONE), .recv_root = ALL
#define AS_SCATTER                                                                                           \
    .answer = MY_FROM_ROOT, .flow = FLOW_OUT, .params = rooted_params, .send_root = ALL, ALL_RECV(ONE)
#define AS_ALLGATHER                                                                                         \
    .answer = FROM_BLOCK, .flow = FLOW_ALL, .params = move_params, ALL_SEND(ONE), ALL_RECV(ALL)
#define AS_ALLGATHERV                                                                                        \
    .answer = FROM_BLOCK, .shape = BY_RANK, .flow = FLOW_ALL, .params = irregular_params, ALL_SEND(ONE),     \
    ALL_RECV(ALL)
#define AS_ALLTOALL                                                                                          \
    .answer = MY_FROM_BLOCK, .flow = FLOW_ALL, .params = move_params, ALL_SEND(ALL), ALL_RECV(ALL)
#define AS_ALLTOALLV                                                                                         \
    .answer = MY_FROM_BLOCK, .shape = BY_PAIR, .flow = FLOW_ALL, .params = irregular_params, ALL_SEND(ALL),  \
    ALL_RECV(ALL)
#define AS_REDUCE                                                                                            \
    .answer = OVER_ALL, .flow = FLOW_IN, .params = rooted_sum_params, ALL_SEND(ONE), .recv_root = ONE
#define AS_ALLREDUCE .answer = OVER_ALL, .flow = FLOW_ALL, .params = sum_params, ALL_SEND(ONE), ALL_RECV(ONE)
#define AS_REDUCE_SCATTER_BLOCK                                                                              \
    .answer = OVER_ALL, .flow = FLOW_ALL, .params = sum_params, ALL_SEND(ALL), ALL_RECV(ONE)
#define AS_REDUCE_SCATTER                                                                                    \
    .answer = OVER_ALL, .shape = BY_RANK, .flow = FLOW_ALL, .params = irregular_sum_params, ALL_SEND(ALL),   \
    ALL_RECV(ONE)
#define AS_SCAN .answer = UP_TO_ME, .flow = FLOW_UP, .params = sum_params, ALL_SEND(ONE), ALL_RECV(ONE)
#define AS_EXSCAN .answer = BELOW_ME, .flow = FLOW_UP, .params = sum_params, ALL_SEND(ONE), ALL_RECV(ONE)

#define MOCK(of, by, ...)                                                                                    \
    {.name = "mock." #of "_by_" #by, .call = mock_##of##_by_##by, .aside = &aside, __VA_ARGS__},
static const struct coll_row rows[] = {
#include "ops/mpi/mock/rows.h"
};

static void op_at(size_t i, struct op *op)
{
    coll_op_at(rows, i * COLL_FORMS, op); /* blocking */
    op->family = "mock";
}

const struct op_family mpi_mock_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
