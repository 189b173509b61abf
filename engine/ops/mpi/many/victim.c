/* mpi.pattern.victim*: a ping-pong, a reduction or a halo of the first ranks while all others load the
 * network, as in GPCNeT (Chunduri et al., SC 2019). The op's duration is that of rank 0, as in mpi.pingpong.
 *
 * The aggressors go on until they are told to stop, so that there is traffic from the first message to the
 * last. When the victims are done, rank 1 sends a message to the leader of the aggressors. After every few
 * rounds of traffic the leader says along a binomial tree whether it has arrived. The traffic after that is
 * in no duration that is reported. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/many/congestor.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>

/* Victims of a ping-pong; of other rows they are half of all ranks. Rank 1 tells when they are done. */
enum { PAIR = 2, TELLER = 1 };

/* Ping-pongs in a repetition: so many that the first ones, before the traffic has built up, have little
 * weight. */
enum { PINGPONGS = 100 };

/* Untimed calls before each sample of the other victims, whose samples may be single calls: the traffic has
 * built up by then. */
enum { LEAD_IN = 20 };

/* Messages that are timed one by one, until rank 1 lets the aggressors go on to the next group. Odd messages
 * are those of rank 1: it does so after sending one, outside all measured intervals. */
enum { GROUP = 16 };

/* Rounds of traffic between two checks for the end. */
enum { ROUNDS = 8 };

/* The first tag is that of all point-to-point ops. Those of the traffic are on a communicator of its own. */
enum { TAG = 1, TAG_UP = TAG, TAG_DOWN, TAG_STOP, TAG_STOPS };

enum { LOAD, LOAD_BYTES, LOAD_WINDOW };

static const struct param params[] = {
    [LOAD] = PARAM_WORDS(
        "traffic",
        "what the other ranks send meanwhile. all: each to all of them; bisection: the lower with "
        "the upper half, both ways; fan_in: all to the first of them; bcast: the first to all, by "
        "MPI_Bcast; put: each to the next, by MPI_Put; none: nothing",
        congestor_words),
    [LOAD_BYTES] = {"traffic_bytes", "bytes", "size of the messages of traffic", 65536, 0, 1073741824},
    [LOAD_WINDOW] = {"traffic_window", "", "messages of traffic in flight between two ranks", 4, 1, 65536},
    BUFFERS_PARAMS,
    {0},
};

enum { BLOCKS = 2 }; /* messages that a victim sends at once, and receives */

struct victim {
    MPI_Comm comm, own; /* of all; of the victims, or of the aggressors */
    int rank, size, victims, count;
    size_t bytes;
    char *send[BLOCKS], *recv[BLOCKS];
    struct congestor *load; /* of an aggressor; NULL: none */
    int64_t stops;          /* of an aggressor: received but not yet used */
    bool planted;
    const struct row *row;
};

/* ---- the victims --------------------------------------------------------------------------------------- */

static int send(struct victim *v)
{
    return MPI_Send(v->send[0], v->count, MPI_BYTE, 1 - v->rank, TAG, v->comm);
}

static int receive(struct victim *v)
{
    return MPI_Recv(v->recv[0], v->count, MPI_BYTE, 1 - v->rank, TAG, v->comm, MPI_STATUS_IGNORE);
}

static int run_pingpong(struct victim *v, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps * PINGPONGS && rc == MPI_SUCCESS; ++i) {
        rc = v->rank == 0 ? send(v) : receive(v);
        if (rc == MPI_SUCCESS)
            rc = v->rank == 0 ? receive(v) : send(v);
    }
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

/* Bits, so that any size is one of the sum. */
static int run_allreduce(struct victim *v, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = MPI_Allreduce(v->send[0], v->recv[0], v->count, MPI_BYTE, MPI_BXOR, v->own);
    return team_mpi_err(rc, "MPI_Allreduce");
}

static int below(const struct victim *v)
{
    return (v->rank + v->victims - 1) % v->victims;
}

static int above(const struct victim *v)
{
    return (v->rank + 1) % v->victims;
}

static int run_halo(struct victim *v, int64_t reps)
{
    const int down = below(v), up = above(v), n = v->count;
    MPI_Request all[2 * BLOCKS];
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Irecv(v->recv[0], n, MPI_BYTE, down, TAG_UP, v->own, &all[0]);
        rc = rc ? rc : MPI_Irecv(v->recv[1], n, MPI_BYTE, up, TAG_DOWN, v->own, &all[1]);
        rc = rc ? rc : MPI_Isend(v->send[0], n, MPI_BYTE, up, TAG_UP, v->own, &all[2]);
        rc = rc ? rc : MPI_Isend(v->send[1], n, MPI_BYTE, down, TAG_DOWN, v->own, &all[3]);
        rc = rc ? rc : MPI_Waitall(2 * BLOCKS, all, statuses_ignored());
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}

static void fill_pair(struct victim *v)
{
    data_fill(v->send[0], v->bytes, v->rank, 1 - v->rank);
}

static int check_pair(struct victim *v)
{
    return data_check(v->recv[0], v->bytes, 1 - v->rank, v->rank, 0);
}

static void fill_bits(struct victim *v)
{
    data_fill(v->send[0], v->bytes, v->rank, 0);
}

static int check_bits(struct victim *v)
{
    return data_check_bits(v->recv[0], v->send[0], v->bytes, 0, v->victims);
}

static void fill_edges(struct victim *v)
{
    data_fill(v->send[0], v->bytes, v->rank, above(v));
    data_fill(v->send[1], v->bytes, v->rank, below(v));
}

static int check_edges(struct victim *v)
{
    const int err = data_check(v->recv[0], v->bytes, below(v), v->rank, 0);
    return err ? err : data_check(v->recv[1], v->bytes, above(v), v->rank, 0);
}

static const struct row {
    const char *name, *summary;
    int (*run)(struct victim *v, int64_t reps); /* of a victim */
    void (*fill)(struct victim *v);
    int (*check)(struct victim *v);
    int parts, victims, blocks; /* victims: 0: half of all ranks; blocks: sent and received at once */
    int lead_in;
    bool by_turns;
} victims[] = {
    {"mpi.pattern.victim",
     "a ping-pong of ranks 0 and 1 while all others load the network; one way, half the round trip",
     run_pingpong, fill_pair, check_pair, 2 * PINGPONGS, PAIR, 1, 0, true},
    {"mpi.pattern.victim_allreduce",
     "MPI_Allreduce of the lower half of the ranks while all others load the network; at rank 0",
     run_allreduce, fill_bits, check_bits, 1, 0, 1, LEAD_IN, false},
    {"mpi.pattern.victim_halo",
     "a ring of the lower half of the ranks, each with both neighbours, while all others load the network; "
     "at rank 0",
     run_halo, fill_edges, check_edges, 1, 0, BLOCKS, LEAD_IN, false},
};

static int tell_stop(struct victim *v)
{
    return MPI_Send(NULL, 0, MPI_BYTE, v->victims, TAG_STOP, v->comm);
}

static int suffer(struct victim *v, int64_t reps)
{
    const int err = v->row->run(v, reps);
    return err || v->rank != TELLER ? err : team_mpi_err(tell_stop(v), "MPI_Send");
}

/* ---- the aggressors ------------------------------------------------------------------------------------ */

/* The leader: receive what rank 1 has sent so far, and at least one message if `wait`. */
static int hear_stops(struct victim *v, bool wait)
{
    int there = 1, rc = MPI_SUCCESS;
    if (!wait)
        rc = MPI_Iprobe(TELLER, TAG_STOP, v->comm, &there, MPI_STATUS_IGNORE);
    while (there && rc == MPI_SUCCESS) {
        rc = MPI_Recv(NULL, 0, MPI_BYTE, TELLER, TAG_STOP, v->comm, MPI_STATUS_IGNORE);
        ++v->stops;
        if (rc == MPI_SUCCESS)
            rc = MPI_Iprobe(TELLER, TAG_STOP, v->comm, &there, MPI_STATUS_IGNORE);
    }
    return rc;
}

/* Pass the leader's number of stops to all aggressors, by a binomial tree. */
static int tell_stops(struct victim *v)
{
    int me = v->rank - v->victims, size = v->size - v->victims, lowest = 1, rc = MPI_SUCCESS;
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
static int aggress(struct victim *v)
{
    int rc = MPI_SUCCESS, err = 0;
    while (v->stops == 0 && rc == MPI_SUCCESS && !err) {
        if (v->load)
            err = congestor_run(v->load, ROUNDS);
        if (!err && v->rank == v->victims)
            rc = hear_stops(v, !v->load);
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
    return v->rank < v->victims ? suffer(v, reps) : aggress(v);
}

static int turn(void *state, int64_t message)
{
    struct victim *v = state;
    const bool last = message % GROUP == GROUP - 1; /* of its group, from rank 1 to rank 0 */
    if (v->rank >= v->victims)
        return last ? aggress(v) : 0;
    int rc = message % 2 == v->rank ? send(v) : receive(v);
    if (rc == MPI_SUCCESS && last && v->rank == TELLER)
        rc = tell_stop(v);
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

static void teardown(void *state)
{
    struct victim *v = state;
    congestor_close(v->load);
    if (v->own != MPI_COMM_NULL)
        MPI_Comm_free(&v->own);
    free(v);
}

/* For an aggressor; collective over them. */
static int open_load(const struct op_env *env, struct victim *v)
{
    return congestor_open(&(struct congestor_ask){.comm = v->own,
                                                  .rank = v->rank - v->victims,
                                                  .size = v->size - v->victims,
                                                  .kind = (int)env->params[LOAD],
                                                  .bytes = (size_t)env->params[LOAD_BYTES],
                                                  .window = (int)env->params[LOAD_WINDOW],
                                                  .store = env->buffers,
                                                  .op = env->op->name},
                          &v->load);
}

static int setup(const struct op_env *env, void **state)
{
    const struct row *row = env->op->row;
    struct victim *v = calloc(1, sizeof *v);
    if (!v)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *v = (struct victim){.comm = team_comm(env->team),
                         .own = MPI_COMM_NULL,
                         .rank = env->team->rank,
                         .size = env->team->size,
                         .victims = row->victims ? row->victims : env->team->size / 2,
                         .bytes = env->bytes,
                         .planted = env->planted,
                         .row = row};
    const bool suffers = v->rank < v->victims;
    int err = team_mpi_err(MPI_Comm_split(v->comm, suffers, v->rank, &v->own), "MPI_Comm_split");
    if (!err && !suffers && env->params[LOAD] != CONGESTOR_NONE)
        err = open_load(env, v);
    err = err ? err : num_to_int(env->bytes, &v->count);
    for (int i = 0; i < row->blocks && suffers && !err; ++i) {
        err = buffers_take(env->buffers, 1, v->bytes, (void **)&v->send[i]);
        err = err ? err : buffers_take(env->buffers, 1, v->bytes, (void **)&v->recv[i]);
    }
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
    const bool suffers = v->rank < v->victims;
    int err = v->load ? congestor_fill(v->load) : 0;
    if (suffers) {
        v->row->fill(v);
        for (int i = 0; i < v->row->blocks; ++i)
            data_poison(v->recv[i], v->bytes);
    }
    err = err ? err : run(v, 1);
    if (err || !suffers)
        return err || !v->load ? err : congestor_check(v->load, v->planted);
    data_arrived(v->recv[0], v->bytes, v->planted);
    return v->row->check(v);
}

/* The bytes that a victim sends. */
static double moved(const struct op_env *env)
{
    const struct row *row = env->op->row;
    return (double)row->parts * row->blocks * (double)env->bytes;
}

static void op_at(size_t i, struct op *op)
{
    const struct row *row = &victims[i];
    *op = (struct op){.family = "pattern",
                      .summary = row->summary,
                      .class = OP_P2P,
                      .role = ROLE_PATTERN,
                      .report = OP_ROOT,
                      .parts = row->parts,
                      .least_ranks = 4,
                      .default_bytes = "8,1Ki,64Ki,1Mi",
                      .params = params,
                      .row = row,
                      .lead_in = row->lead_in,
                      .setup = setup,
                      .run = run,
                      .turn = row->by_turns ? turn : NULL,
                      .verify = verify,
                      .teardown = teardown,
                      .moved = moved};
    snprintf(op->name, sizeof op->name, "%s", row->name);
}

const struct op_family mpi_victim_ops = {.count = sizeof victims / sizeof victims[0], .op_at = op_at};
