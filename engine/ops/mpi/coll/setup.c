/* What the parameters ask for: first what needs no communication, which is the group, the elements, the
 * blocks (blocks.c), the roots and the delays of a collective. Then the memory. Last, if all ranks have it,
 * what needs messages: communicators and persistent requests. */
#include "ops/mpi/coll/coll.h"

#include "base/delay_until.h"
#include "base/delays.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/num.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { SPLIT_BLOCK, SPLIT_CYCLIC };
enum { TOGETHER, LATE, RAMP, RAMP_DOWN, RANDOM, REPLAYED };
enum { RANDOM_DELAYS = 64 }; /* after these they repeat */

const char *const coll_no_yes[3] = {"no", "yes", NULL};
const char *const coll_roots[3] = {"fixed", "rotate", NULL};
const char *const coll_splits[3] = {"block", "cyclic", NULL};
const char *const coll_arrivals[7] = {"together", "late", "ramp", "ramp_down", "random", "file", NULL};

double coll_param(const struct op_env *env, const char *name, double absent)
{
    return param_value(env->op->params, env->params, name, absent);
}

static const char *param_word(const struct op_env *env, const char *name, const char *absent)
{
    const int row = param_find(env->op->params, name);
    return row < 0 ? absent : env->op->params[row].words[(int)env->params[row]];
}

void *coll_array(size_t count, size_t size, int *err)
{
    void *data = calloc(count ? count : 1, size);
    if (!data && !*err)
        *err = err_say(ERR_NOMEM, "no memory for the blocks of %zu ranks", count);
    return data;
}

/* ---- who takes part ---------------------------------------------------------------------------------- */

/* Groups differ by one rank at most; the larger ones come first. */
static int plan_group(const struct op_env *env, struct coll *c)
{
    const int ranks = env->team->size, me = env->team->rank;
    const int groups = (int)coll_param(env, "groups", 1);
    if (groups > ranks)
        return err_say(ERR_INPUT, "groups=%d need as many ranks, there %s %d; ask for fewer groups", groups,
                       ranks == 1 ? "is" : "are", ranks);
    if ((int)coll_param(env, "split", SPLIT_BLOCK) == SPLIT_CYCLIC) {
        c->first = me % groups;
        c->stride = groups;
        c->rank = me / groups;
        c->size = (ranks - c->first + groups - 1) / groups;
    } else {
        const int small = ranks / groups, larger = ranks % groups, in_larger = larger * (small + 1);
        c->size = me < in_larger ? small + 1 : small;
        c->rank = me < in_larger ? me % c->size : (me - in_larger) % c->size;
        c->first = me - c->rank;
        c->stride = 1;
    }
    return 0;
}

static int check_rank(const struct op_env *env, const char *name, int rank)
{
    const int smallest = env->team->size / (int)coll_param(env, "groups", 1);
    return rank < smallest ? 0
                           : err_say(ERR_INPUT, "%s=%d is no rank among %d; choose one from 0 to %d", name,
                                     rank, smallest, smallest - 1);
}

static int plan_elements(const struct op_env *env, struct coll *c)
{
    int err = 0;
    if (coll_reduces(c->row)) {
        err = reduction_open(&c->sum, (int)coll_param(env, "operator", 0), (int)coll_param(env, "type", 0));
        c->sum.ranks = c->size;
        c->sum.first = c->first;
        c->sum.stride = c->stride;
        c->type = c->sum.type;
        c->element = c->sum.size;
    } else
        c->type = reduction_type(param_word(env, "type", data_type_words[0]), &c->element);
    if (!err && env->bytes % c->element != 0)
        err = err_say(ERR_INPUT, "%s takes type=%s: %zu bytes are no multiple of %zu; choose another size",
                      env->op->name, param_word(env, "type", ""), env->bytes, c->element);
    err = err ? err : data_align(env, c->element);
    return err ? err : num_to_int(env->bytes / c->element, &c->count);
}

/* Dimensions as even as those of MPI_Dims_create, which does not communicate. */
static int graph_open(const struct op_env *env, int ranks, struct graph *g)
{
    *g = (struct graph){.topology = (enum topology)(int)coll_param(env, "topology", 0),
                        .ranks = ranks,
                        .axes = (int)coll_param(env, "dims", 1),
                        .radius = (int)coll_param(env, "radius", 1),
                        .wraps = coll_param(env, "periodic", 0) == 0,
                        .degree = (int)coll_param(env, "degree", 1),
                        .seed = (uint64_t)coll_param(env, "seed", 1)};
    return team_mpi_err(MPI_Dims_create(ranks, g->axes, g->dims), "MPI_Dims_create");
}

static int plan_graph(const struct op_env *env, struct coll *c)
{
    const int smallest = env->team->size / (int)coll_param(env, "groups", 1);
    if (smallest < 2)
        return err_say(ERR_INPUT, "a group of one rank has no neighbours; ask for fewer groups");
    int err = graph_open(env, c->size, &c->graph);
    if (!err && c->graph.topology == GRAPH_RANDOM && c->graph.degree >= smallest)
        err = err_say(ERR_INPUT, "degree=%d needs more ranks than %d; ask for fewer neighbours",
                      c->graph.degree, smallest);
    c->sources = coll_array((size_t)c->size, sizeof *c->sources, &err);
    c->targets = coll_array((size_t)c->size, sizeof *c->targets, &err);
    if (err)
        return err;
    c->recv.count = graph_in(&c->graph, c->rank, c->sources);
    c->send.count = graph_out(&c->graph, c->rank, c->targets);
    c->recv.peer = c->sources;
    c->send.peer = c->targets;
    return 0;
}

/* ---- repetitions ------------------------------------------------------------------------------------- */

static char *buffer_of(const struct side *s, int set)
{
    return s->data ? s->data + (size_t)set * s->stride : NULL;
}

static struct turn turn_of(const struct coll *c, int root, int set)
{
    struct turn t = {.root = root, .out = buffer_of(&c->send, set), .in = buffer_of(&c->recv, set)};
    if (coll_sends(c, root) != NONE)
        t.send = coll_sends_in_place(c, root) ? MPI_IN_PLACE : t.out;
    if (coll_recvs(c, root) != NONE)
        t.recv = coll_recvs_in_place(c, root) ? MPI_IN_PLACE : t.in;
    if (c->row->answer == FROM_ROOT && c->rank == root) /* a broadcast has one buffer */
        t.recv = t.out;
    return t;
}

static int plan_turns(const struct op_env *env, struct coll *c)
{
    const int root = (int)coll_param(env, "root", 0);
    int err = 0;
    const bool rotates = coll_param(env, "roots", 0) != 0;
    c->turn_count = (rotates ? c->size : 1) * c->sets;
    c->turns = coll_array((size_t)c->turn_count, sizeof *c->turns, &err);
    c->requests = coll_array((size_t)c->turn_count, sizeof *c->requests, &err);
    for (int k = 0; k < c->turn_count && !err; ++k) {
        c->turns[k] = turn_of(c, rotates ? (root + k) % c->size : root, k % c->sets);
        c->requests[k] = MPI_REQUEST_NULL;
    }
    if (err)
        return err;
    c->turn = c->turns[0];
    c->request = &c->requests[0];
    return 0;
}

static void take_turn(struct coll *c)
{
    c->turn = c->turns[c->turn_at];
    c->request = &c->requests[c->turn_at];
    c->turn_at = c->turn_at + 1 == c->turn_count ? 0 : c->turn_at + 1;
}

static void arrive(struct coll *c)
{
    delay_for(c->delays_ns[c->delay_at]);
    c->delay_at = c->delay_at + 1 == c->delay_count ? 0 : c->delay_at + 1;
}

static void take_turn_and_arrive(struct coll *c)
{
    take_turn(c);
    arrive(c);
}

/* When this rank arrives at repetition k: at a random time, but one rank of each group after the whole
 * delay. */
static double random_arrival(const struct coll *c, uint64_t seed, int k)
{
    const uint64_t draw = hash_mix(hash_mix(seed ^ hash_mix((uint64_t)c->first)) + (uint64_t)k);
    if ((uint64_t)c->rank == draw % (uint64_t)c->size)
        return 1;
    return (double)(hash_mix(draw ^ hash_mix((uint64_t)c->rank)) >> 11) / (double)(UINT64_C(1) << 53);
}

static int plan_replay(const struct op_env *env, struct coll *c)
{
    const struct delays *d = env->delays;
    int err = 0;
    if (!d)
        return err_say(ERR_INPUT, "arrival=file replays delays from a file; give --arrivals FILE");
    if (d->ranks != env->team->size)
        return err_say(ERR_INPUT,
                       "the file of arrivals has delays for %d ranks, there %s %d; record or give another",
                       d->ranks, env->team->size == 1 ? "is" : "are", env->team->size);
    c->delay_count = d->count;
    c->delays_ns = coll_array((size_t)d->count, sizeof *c->delays_ns, &err);
    for (int k = 0; k < d->count && !err; ++k)
        c->delays_ns[k] = d->ns[(size_t)k * (size_t)d->ranks + (size_t)env->team->rank];
    return err;
}

static int plan_arrival(const struct op_env *env, struct coll *c)
{
    const double delay_ns = coll_param(env, "delay_us", 0) * 1e3;
    const int arrival = (int)coll_param(env, "arrival", TOGETHER);
    int late = (int)coll_param(env, "late_rank", -1), err = check_rank(env, "late_rank", late);
    if (err || arrival == TOGETHER)
        return err;
    if (arrival == REPLAYED)
        return plan_replay(env, c);
    late = late < 0 ? c->size - 1 : late;
    c->delay_count = arrival == RANDOM ? RANDOM_DELAYS : 1;
    c->delays_ns = coll_array((size_t)c->delay_count, sizeof *c->delays_ns, &err);
    for (int k = 0; k < c->delay_count && !err; ++k) {
        const double up = c->size > 1 ? (double)c->rank / (c->size - 1) : 1;
        const double share = arrival == LATE   ? c->rank == late
                             : arrival == RAMP ? up
                             : arrival == RAMP_DOWN
                                 ? 1 - up
                                 : random_arrival(c, (uint64_t)coll_param(env, "seed", 1), k);
        c->delays_ns[k] = (int64_t)(share * delay_ns);
    }
    return err;
}

/* ---- all of it --------------------------------------------------------------------------------------- */

/* All steps that can fail on one rank alone. */
static int plan(const struct op_env *env, struct coll *c)
{
    int err = plan_group(env, c);
    err = err ? err : check_rank(env, "root", (int)coll_param(env, "root", 0));
    err = err ? err : plan_elements(env, c);
    err = err || !c->row->neighbours ? err : plan_graph(env, c);
    err = err ? err : coll_plan_blocks(env, c);
    err = err || !c->row->aside ? err : c->row->aside->open(env, c);
    err = err ? err : plan_turns(env, c);
    err = err ? err : plan_arrival(env, c);
    c->before = c->turn_count > 1 ? (c->delays_ns ? take_turn_and_arrive : take_turn)
                                  : (c->delays_ns ? arrive : NULL);
    return err;
}

/* Replace c->comm by a communicator made from it, or from ours. */
static void replace_comm(struct coll *c, MPI_Comm comm)
{
    if (c->own_comm)
        MPI_Comm_free(&c->comm);
    c->comm = comm;
    c->own_comm = true;
}

/* All steps that need messages. */
static int connect(const struct op_env *env, bool persistent, struct coll *c)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int err = 0;
    if (coll_param(env, "groups", 1) > 1) {
        err = team_mpi_err(MPI_Comm_split(c->comm, c->first, c->rank, &comm), "MPI_Comm_split");
        if (!err)
            replace_comm(c, comm);
    }
    if (!err && c->row->neighbours) {
        const int in = graph_in(&c->graph, c->rank, NULL), out = graph_out(&c->graph, c->rank, NULL);
        err = team_mpi_err(MPI_Dist_graph_create_adjacent(c->comm, in, c->sources, unweighted(), out,
                                                          c->targets, unweighted(), MPI_INFO_NULL, 0, &comm),
                           "MPI_Dist_graph_create_adjacent");
        if (!err)
            replace_comm(c, comm);
    }
    for (int k = 0; persistent && k < c->turn_count && !err; ++k) {
        c->turn = c->turns[k];
        err = team_mpi_err(c->row->init(c, &c->requests[k]), env->op->name);
    }
    if (!err)
        c->turn = c->turns[0];
    return err;
}

int coll_setup(const struct op_env *env, bool persistent, bool works, struct coll **out)
{
    const struct coll_row *row = env->op->row;
    struct coll *c = calloc(1, sizeof *c);
    int err = c ? 0 : err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    if (c) {
        *c = (struct coll){.row = row,
                           .planted = env->planted,
                           .sets = (int)coll_param(env, "buffers", 1),
                           .in_place = coll_param(env, "inplace", 0) != 0,
                           .comm = team_comm(env->team)};
        err = plan(env, c);
    }
    if (!err && works)
        err = overlap_open(env, 1, c->request, &c->work);
    if (persistent || row->neighbours || coll_param(env, "groups", 1) > 1) {
        int64_t worst = err; /* the others must not wait for a rank that has failed */
        int failed = team_max(env->team, &worst);
        err = failed ? failed : err || worst ? err : connect(env, persistent, c);
    }
    if (err)
        coll_teardown(c);
    else
        *out = c;
    return err;
}

static void side_free(struct side *s)
{
    free(s->at);
    free(s->counts);
    free(s->displs);
    free(s->aints);
    free(s->types);
}

void coll_teardown(void *state)
{
    struct coll *c = state;
    if (!c)
        return;
    for (int k = 0; c->requests && k < c->turn_count; ++k)
        if (c->requests[k] != MPI_REQUEST_NULL)
            MPI_Request_free(&c->requests[k]);
    if (c->own_comm)
        MPI_Comm_free(&c->comm);
    overlap_close(&c->work);
    if (c->row->aside)
        c->row->aside->close(c);
    reduction_close(&c->sum);
    side_free(&c->send);
    side_free(&c->recv);
    free(c->sources);
    free(c->targets);
    free(c->turns);
    free(c->requests);
    free(c->delays_ns);
    free(c);
}

/* The larger of the root's two buffers, in the largest group, as NCCL's tests define the size of a
 * collective. For neighbours: those of rank 0. */
double coll_moved(const struct op_env *env)
{
    const struct coll_row *row = env->op->row;
    const int groups = (int)coll_param(env, "groups", 1), ranks = (env->team->size + groups - 1) / groups;
    if ((int)coll_param(env, "counts", COUNTS_EVEN) == COUNTS_WHOLE)
        return (double)env->bytes;
    int out = ranks, in = ranks;
    struct graph g;
    if (row->neighbours && graph_open(env, ranks, &g) == 0) {
        out = graph_out(&g, 0, NULL);
        in = graph_in(&g, 0, NULL);
    }
    const int sent = row->send_root == ALL ? out : row->send_root == ONE;
    const int received = row->recv_root == ALL ? in : row->recv_root == ONE;
    return (double)(sent > received ? sent : received) * (double)env->bytes;
}
