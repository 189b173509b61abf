/* The forms of mpi.message_rate, and the parts of their repetitions. */
#include "ops/mpi/p2p/rate.h"

#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/p2p/pair.h"
#include "team/team_mpi.h"

enum { ANSWER_TAG = 2 };

/* ---- parts of a repetition ---- */

static int post_recvs(struct rate *s, int set, int peer)
{
    int rc = MPI_SUCCESS;
    for (int m = peer * s->messages; m < (peer + 1) * s->messages && rc == MPI_SUCCESS; ++m)
        rc = MPI_Irecv(s->recv[set] + (size_t)m * s->stride, s->count, MPI_BYTE, s->from[peer], P2P_TAG,
                       s->comm, &s->recv_requests[set][m]);
    return rc;
}

static inline __attribute__((always_inline)) int post_each(struct rate *s, int peer, bool writes)
{
    int rc = MPI_SUCCESS;
    for (int m = peer * s->messages; m < (peer + 1) * s->messages && rc == MPI_SUCCESS; ++m) {
        char *data = s->send[s->set] + (size_t)m * s->stride;
        if (writes)
            data_write_again(data, s->bytes);
        rc = MPI_Isend(data, s->count, MPI_BYTE, s->to[peer], P2P_TAG, s->comm, &s->send_requests[m]);
    }
    return rc;
}

int rate_send(struct rate *s, int peer)
{
    return post_each(s, peer, false);
}

int rate_write_and_send(struct rate *s, int peer)
{
    return post_each(s, peer, true);
}

int rate_post_recvs(struct rate *s, int set)
{
    int rc = MPI_SUCCESS;
    for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k)
        rc = post_recvs(s, set, k);
    return rc;
}

static int post_all_sends(struct rate *s)
{
    int rc = MPI_SUCCESS;
    for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k)
        rc = s->post_sends(s, k);
    return rc;
}

static int wait_both(struct rate *s, int set)
{
    int rc = MPI_Waitall(s->recvs, s->recv_requests[set], statuses_ignored());
    return rc == MPI_SUCCESS ? MPI_Waitall(s->sends, s->send_requests, statuses_ignored()) : rc;
}

/* ---- the forms ---- */

int rate_single_send(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = post_all_sends(s);
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(s->sends, s->send_requests, statuses_ignored());
        for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k)
            rc = MPI_Recv(NULL, 0, MPI_BYTE, s->to[k], ANSWER_TAG, s->comm, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, "MPI_Isend, MPI_Waitall or MPI_Recv");
}

int rate_single_recv(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = rate_post_recvs(s, 0);
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(s->recvs, s->recv_requests[0], statuses_ignored());
        for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k)
            rc = MPI_Send(NULL, 0, MPI_BYTE, s->from[k], ANSWER_TAG, s->comm);
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Waitall or MPI_Send");
}

/* The rank that is left over if their number is odd. */
int rate_idle(struct rate *s, int64_t reps)
{
    (void)s, (void)reps;
    return 0;
}

static int pair_after_pair(struct rate *s)
{
    int rc = MPI_SUCCESS;
    for (int k = 0; k < s->peers && rc == MPI_SUCCESS; ++k) {
        const int first = k * s->messages;
        rc = post_recvs(s, s->set, k);
        if (rc == MPI_SUCCESS)
            rc = s->post_sends(s, k);
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(s->messages, s->recv_requests[s->set] + first, statuses_ignored());
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(s->messages, s->send_requests + first, statuses_ignored());
    }
    return rc;
}

int rate_pairs(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = pair_after_pair(s);
        s->set = s->next[s->set];
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}

int rate_preposted(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = post_all_sends(s);
        if (rc == MPI_SUCCESS)
            rc = wait_both(s, s->set);
        s->set = s->next[s->set];
        if (rc == MPI_SUCCESS)
            rc = rate_post_recvs(s, s->set);
    }
    return team_mpi_err(rc, "MPI_Isend, MPI_Waitall or MPI_Irecv");
}

int rate_allstart(struct rate *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = rate_post_recvs(s, s->set);
        if (rc == MPI_SUCCESS)
            rc = post_all_sends(s);
        if (rc == MPI_SUCCESS)
            rc = wait_both(s, s->set);
        s->set = s->next[s->set];
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}
