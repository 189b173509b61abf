/* The input of a collective and the answer that it must give. */
#include "ops/mpi/coll/coll.h"

#include "base/err.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <time.h>

/* The number of a rank of the group among all ranks, so that data of two groups differ. */
static int among_all(const struct coll *c, int rank)
{
    return c->first + rank * c->stride;
}

static int peer_of(const struct coll *c, const struct side *s, int b)
{
    return among_all(c, s->peer ? s->peer[b] : b);
}

/* Where block b of my input stands. In place it stands where the answer will: the sum over the first block,
 * my own block among those of all. */
static char *input_block(const struct coll *c, const struct turn *t, int b)
{
    if (!coll_sends_in_place(c, t->root))
        return t->out + c->send.at[b];
    if (c->row->answer == FROM_BLOCK)
        return t->in + c->recv.at[c->rank];
    return t->in + c->send.at[b];
}

static void fill(const struct coll *c, const struct turn *t)
{
    const enum blocks blocks = coll_sends(c, t->root);
    data_poison(t->in, c->recv_bytes);
    for (int b = 0; blocks != NONE && b < c->send.count; ++b) {
        const size_t bytes = c->send.at[b + 1] - c->send.at[b];
        if (bytes == 0)
            continue;
        if (coll_reduces(c->row))
            reduction_fill(&c->sum, input_block(c, t, b), bytes / c->element, c->rank, b);
        else
            data_fill(input_block(c, t, b), bytes, among_all(c, c->rank),
                      blocks == ALL ? peer_of(c, &c->send, b) : 0);
    }
}

static int check_sums(const struct coll *c, const struct turn *t)
{
    const int last = c->row->answer == OVER_ALL   ? c->size - 1
                     : c->row->answer == UP_TO_ME ? c->rank
                                                  : c->rank - 1;
    if (last < 0) /* of an exclusive scan, rank 0 has no answer */
        return 0;
    const size_t bytes = c->recv.at[c->recv.count];
    data_arrived(t->in, bytes, c->planted);
    return reduction_check(&c->sum, t->in, bytes / c->element, last, c->send.blocks == ALL ? c->rank : 0);
}

static int check_blocks(const struct coll *c, const struct turn *t)
{
    const enum answer answer = c->row->answer;
    const bool from_root = answer == FROM_ROOT || answer == MY_FROM_ROOT;
    const bool mine = answer == MY_FROM_ROOT || answer == MY_FROM_BLOCK;
    const int to = mine ? among_all(c, c->rank) : 0;
    if (coll_recvs_in_place(c, t->root)) { /* it stays in the root's send buffer */
        char *block = t->out + c->send.at[c->rank];
        const size_t bytes = c->send.at[c->rank + 1] - c->send.at[c->rank];
        data_arrived(block, bytes, c->planted);
        return data_check(block, bytes, among_all(c, t->root), to, c->rank);
    }
    data_arrived(t->in, c->recv.at[c->recv.count], c->planted);
    int err = 0;
    for (int b = 0; b < c->recv.count && !err; ++b)
        err = data_check(t->in + c->recv.at[b], c->recv.at[b + 1] - c->recv.at[b],
                         from_root ? among_all(c, t->root) : peer_of(c, &c->recv, b), to, b);
    return err;
}

/* A repetition with its work, if it has any. A rank that did less work than it should reports it and goes on
 * with the others. */
static int run_once(struct coll *c, int *wrong)
{
    overlap_mark(&c->work);
    int err = c->run(c, 1);
    if (!err && !*wrong)
        *wrong = overlap_check(&c->work);
    return err;
}

/* A barrier has no data. So each rank that leaves it sends a message to one rank that comes late. That rank
 * listens for a while before it enters: a message then shows that the barrier let somebody pass too early.
 * This can miss a bad barrier, but never blames a good one. */
static int verify_barrier(struct coll *c)
{
    enum { TAG = 2, ROUNDS = 3, LOOKS = 20, LOOK_NS = 50000 };
    int wrong = 0, err = 0;
    for (int round = 0; round < ROUNDS && !err; ++round) {
        int late = (c->size - 1 + round) % c->size, early = 0, rc = MPI_SUCCESS;
        for (int look = 0; c->rank == late && look < LOOKS && !early && rc == MPI_SUCCESS; ++look) {
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
            rc = MPI_Iprobe(MPI_ANY_SOURCE, TAG, c->comm, &early, MPI_STATUS_IGNORE);
        }
        err = team_mpi_err(rc, "MPI_Iprobe");
        if (!err)
            err = run_once(c, &wrong);
        if (!err && c->rank != late)
            rc = MPI_Send(NULL, 0, MPI_BYTE, late, TAG, c->comm);
        for (int r = 0; !err && c->rank == late && r < c->size && rc == MPI_SUCCESS; ++r)
            if (r != late)
                rc = MPI_Recv(NULL, 0, MPI_BYTE, r, TAG, c->comm, MPI_STATUS_IGNORE);
        err = err ? err : team_mpi_err(rc, "a message after the barrier");
        if (!err && early) /* go on, because the others will */
            wrong =
                err_say(ERR_WRONG, "a rank left the barrier before rank %d had entered", among_all(c, late));
    }
    return err ? err : wrong;
}

/* With each root and each set of buffers. A wrong answer does not end the loop, because the other ranks go on
 * and would wait. */
int coll_verify(void *state)
{
    struct coll *c = state;
    if (c->row->aside)
        c->row->aside->clear(c);
    if (!coll_sized(c->row))
        return verify_barrier(c);
    int wrong = 0;
    for (int k = 0; k < c->turn_count; ++k) {
        const struct turn *t = &c->turns[c->turn_at];
        fill(c, t);
        int err = run_once(c, &wrong);
        if (err)
            return err;
        if (!wrong && coll_recvs(c, t->root) != NONE)
            wrong = coll_reduces(c->row) ? check_sums(c, t) : check_blocks(c, t);
    }
    for (int k = 0; coll_reduces(c->row) && c->in_place && c->recv_bytes > 0 && k < c->turn_count; ++k)
        reduction_settle(&c->sum, c->turns[k].in, c->recv_bytes / c->element);
    return wrong;
}
