/* mpi.pattern.victim: the ping-pong of ranks 0 and 1 while all other ranks load the network, as in GPCNeT
 * (Chunduri et al., SC 2019). The op's duration is that of rank 0, as in mpi.pingpong.
 *
 * The aggressors go on until they are told to stop, so that there is traffic from the first message to the
 * last. When the victims are done, rank 1 sends a message to the leader of the aggressors. After every few
 * rounds of traffic the leader says along a binomial tree whether it has arrived. The traffic after that is
 * in no duration that is reported. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/who.h"
#include "ops/common/data.h"
#include "ops/mpi/many/traffic.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { VICTIMS = 2, LEADER = VICTIMS };

/* Ping-pongs in a repetition: so many that the first ones, before the traffic has built up, have little
 * weight. */
enum { PINGPONGS = 100 };

/* Messages that are timed one by one, until rank 1 lets the aggressors go on to the next group. Odd messages
 * are those of rank 1: it does so after sending one, outside all measured intervals. */
enum { GROUP = 16 };

/* Rounds of traffic between two checks for the end. */
enum { ROUNDS = 8 };

/* The first tag is that of all point-to-point ops. Those of the traffic are between other ranks. */
enum { TAG = 1, TAG_STOP = 3, TAG_STOPS };

enum { LOAD, LOAD_BYTES, LOAD_WINDOW };

/* The aggressors' traffic. The first of them is rank 0 of their layout. */
enum { ALL_TO_ALL, BISECTION, FAN_IN, QUIET };
static const char *const words[] = {"all", "bisection", "fan_in", "none", NULL};
static const enum layout_kind layout_of[] = {
    [ALL_TO_ALL] = LAYOUT_ALL, [BISECTION] = LAYOUT_BISECTION, [FAN_IN] = LAYOUT_FAN_IN};
static const enum traffic_kind kind_of[] = {
    [ALL_TO_ALL] = TRAFFIC_WINDOW, [BISECTION] = TRAFFIC_BIWINDOW, [FAN_IN] = TRAFFIC_WINDOW};

static const struct param params[] = {
    [LOAD] = PARAM_WORDS("traffic",
                         "what ranks 2 to P - 1 send meanwhile. all: each to all of them; bisection: the "
                         "lower with the upper half, both ways; fan_in: all to rank 2; none: nothing",
                         words),
    [LOAD_BYTES] = {"traffic_bytes", "bytes", "size of the messages of traffic", 65536, 0, 1073741824},
    [LOAD_WINDOW] = {"traffic_window", "", "messages of traffic in flight between two ranks", 4, 1, 65536},
    BUFFERS_PARAMS,
    {0},
};

struct victim {
    MPI_Comm comm;
    int rank, size, count;
    size_t bytes;
    char *send, *recv;
    struct traffic *traffic; /* of an aggressor; NULL: none */
    int64_t stops;           /* of an aggressor: received but not yet used */
    bool planted;
    int (*run)(struct victim *v, int64_t pingpongs);
};

/* ---- the victims --------------------------------------------------------------------------------------- */

static int send(struct victim *v)
{
    return MPI_Send(v->send, v->count, MPI_BYTE, 1 - v->rank, TAG, v->comm);
}

static int receive(struct victim *v)
{
    return MPI_Recv(v->recv, v->count, MPI_BYTE, 1 - v->rank, TAG, v->comm, MPI_STATUS_IGNORE);
}

static int ping(struct victim *v, int64_t pingpongs)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < pingpongs && rc == MPI_SUCCESS; ++i) {
        rc = send(v);
        if (rc == MPI_SUCCESS)
            rc = receive(v);
    }
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

static int tell_stop(struct victim *v)
{
    return MPI_Send(NULL, 0, MPI_BYTE, LEADER, TAG_STOP, v->comm);
}

static int pong(struct victim *v, int64_t pingpongs)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < pingpongs && rc == MPI_SUCCESS; ++i) {
        rc = receive(v);
        if (rc == MPI_SUCCESS)
            rc = send(v);
    }
    if (rc == MPI_SUCCESS)
        rc = tell_stop(v);
    return team_mpi_err(rc, "MPI_Recv or MPI_Send");
}

/* ---- the aggressors ------------------------------------------------------------------------------------ */

/* The leader: receive what rank 1 has sent so far, and at least one message if `wait`. */
static int hear_stops(struct victim *v, bool wait)
{
    int there = 1, rc = MPI_SUCCESS;
    if (!wait)
        rc = MPI_Iprobe(1, TAG_STOP, v->comm, &there, MPI_STATUS_IGNORE);
    while (there && rc == MPI_SUCCESS) {
        rc = MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_STOP, v->comm, MPI_STATUS_IGNORE);
        ++v->stops;
        if (rc == MPI_SUCCESS)
            rc = MPI_Iprobe(1, TAG_STOP, v->comm, &there, MPI_STATUS_IGNORE);
    }
    return rc;
}

/* Pass the leader's number of stops to all aggressors, by a binomial tree. */
static int tell_stops(struct victim *v)
{
    int me = v->rank - LEADER, size = v->size - VICTIMS, lowest = 1, rc = MPI_SUCCESS;
    while (lowest < size && !(me & lowest))
        lowest *= 2;
    if (me != 0)
        rc = MPI_Recv(&v->stops, sizeof v->stops, MPI_BYTE, v->rank - lowest, TAG_STOPS, v->comm,
                      MPI_STATUS_IGNORE);
    for (int bit = lowest / 2; bit >= 1 && rc == MPI_SUCCESS; bit /= 2)
        if (me + bit < size)
            rc = MPI_Send(&v->stops, sizeof v->stops, MPI_BYTE, v->rank + bit, TAG_STOPS, v->comm);
    return rc;
}

/* Send traffic until there is a stop. Several stops may have come at once, if the victims were faster. Then
 * the next calls find one at once, on all aggressors alike. */
static int aggress(struct victim *v, int64_t pingpongs)
{
    (void)pingpongs;
    int rc = MPI_SUCCESS, err = 0;
    while (v->stops == 0 && rc == MPI_SUCCESS && !err) {
        if (v->traffic)
            err = traffic_run(v->traffic, ROUNDS);
        if (!err && v->rank == LEADER)
            rc = hear_stops(v, !v->traffic);
        if (!err && rc == MPI_SUCCESS)
            rc = tell_stops(v);
    }
    --v->stops;
    return err ? err : team_mpi_err(rc, "MPI_Iprobe, MPI_Recv or MPI_Send");
}

/* ---- the op -------------------------------------------------------------------------------------------- */

static int run(void *state, int64_t reps)
{
    struct victim *v = state;
    return v->run(v, reps * PINGPONGS);
}

static int turn(void *state, int64_t message)
{
    struct victim *v = state;
    const bool last = message % GROUP == GROUP - 1; /* of its group, from rank 1 to rank 0 */
    if (v->rank >= VICTIMS)
        return last ? aggress(v, 0) : 0;
    int rc = message % 2 == v->rank ? send(v) : receive(v);
    if (rc == MPI_SUCCESS && last && v->rank == 1)
        rc = tell_stop(v);
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

static void teardown(void *state)
{
    struct victim *v = state;
    traffic_close(v->traffic);
    free(v);
}

static int open_traffic(const struct op_env *env, struct victim *v)
{
    const int traffic = (int)env->params[LOAD];
    struct layout_peers peers = {0};
    struct layout_ask ask = {.rank = v->rank - VICTIMS, .size = v->size - VICTIMS};
    int err = layout_alloc(ask.size, &peers);
    if (err)
        return err;
    layouts[layout_of[traffic]].peers(&ask, &peers);
    err = traffic_open(&(struct traffic_ask){.comm = v->comm,
                                             .rank = v->rank,
                                             .first = VICTIMS,
                                             .bytes = (size_t)env->params[LOAD_BYTES],
                                             .kind = kind_of[traffic],
                                             .window = (int)env->params[LOAD_WINDOW],
                                             .buffers = 1,
                                             .store = env->buffers,
                                             .op = env->op->name},
                       &peers, &v->traffic);
    layout_free(&peers);
    return err;
}

static int setup(const struct op_env *env, void **state)
{
    struct victim *v = calloc(1, sizeof *v);
    if (!v)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *v = (struct victim){.comm = team_comm(env->team),
                         .rank = env->team->rank,
                         .size = env->team->size,
                         .bytes = env->bytes,
                         .planted = env->planted};
    v->run = v->rank == 0 ? ping : v->rank == 1 ? pong : aggress;
    int err = num_to_int(env->bytes, &v->count);
    if (!err && v->rank < VICTIMS)
        err = buffers_take(env->buffers, 1, v->bytes, (void **)&v->send);
    if (!err && v->rank < VICTIMS)
        err = buffers_take(env->buffers, 1, v->bytes, (void **)&v->recv);
    if (!err && v->rank >= VICTIMS && env->params[LOAD] != QUIET)
        err = open_traffic(env, v);
    if (err)
        teardown(v);
    else
        *state = v;
    return err;
}

/* Check the victims' last messages and the aggressors' last round. */
static int verify(void *state)
{
    struct victim *v = state;
    if (v->traffic)
        traffic_fill(v->traffic);
    if (v->rank < VICTIMS) {
        data_fill(v->send, v->bytes, v->rank, 1 - v->rank);
        data_poison(v->recv, v->bytes);
    }
    int err = run(v, 1);
    if (err || v->rank >= VICTIMS)
        return err || !v->traffic ? err : traffic_check(v->traffic, v->planted);
    data_arrived(v->recv, v->bytes, v->planted);
    return data_check(v->recv, v->bytes, 1 - v->rank, v->rank, 0);
}

/* The bytes that the victims send. */
static double moved(const struct op_env *env)
{
    return 2.0 * PINGPONGS * (double)env->bytes;
}

static const struct op rows[] = {
    {.name = "mpi.pattern.victim",
     .family = "pattern",
     .summary =
         "a ping-pong of ranks 0 and 1 while all others load the network; one way, half the round trip",
     .class = OP_P2P,
     .role = ROLE_PATTERN,
     .report = OP_ROOT,
     .parts = 2 * PINGPONGS,
     .least_ranks = 4,
     .default_bytes = "8,1Ki,64Ki,1Mi",
     .params = params,
     .setup = setup,
     .run = run,
     .turn = turn,
     .verify = verify,
     .teardown = teardown,
     .moved = moved},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
}

const struct op_family mpi_victim_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
