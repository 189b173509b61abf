#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/mpi/many/traffic_state.h"
#include "team/team_mpi.h"

static int run_nothing(struct traffic *t, int64_t reps)
{
    (void)t, (void)reps;
    return 0;
}

static int run_caller(struct traffic *t, int64_t reps)
{
    const struct message there = t->single[0], back = t->single[1];
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Send(there.data, there.count, MPI_BYTE, there.peer, there.tag, t->comm);
        if (rc == MPI_SUCCESS)
            rc = MPI_Recv(back.data, back.count, MPI_BYTE, back.peer, back.tag, t->comm, MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, "MPI_Send or MPI_Recv");
}

static int run_callee(struct traffic *t, int64_t reps)
{
    const struct message there = t->single[0], back = t->single[1];
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = MPI_Recv(there.data, there.count, MPI_BYTE, there.peer, there.tag, t->comm, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Send(back.data, back.count, MPI_BYTE, back.peer, back.tag, t->comm);
    }
    return team_mpi_err(rc, "MPI_Recv or MPI_Send");
}

static int run_phase(const struct traffic *t, const struct traffic_phase *p)
{
    MPI_Request *request = t->requests;
    int rc = MPI_SUCCESS;
    for (const struct message *m = p->recv; m < p->recv + p->recvs && rc == MPI_SUCCESS; ++m)
        rc = MPI_Irecv(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    for (const struct message *m = p->send; m < p->send + p->sends && rc == MPI_SUCCESS; ++m)
        rc = MPI_Isend(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    return rc != MPI_SUCCESS ? rc
                             : MPI_Waitall((int)(request - t->requests), t->requests, statuses_ignored());
}

static int run_at_once(struct traffic *t, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = run_phase(t, &t->phases[0]);
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}

/* The last that calls this rank is received first: in a ring, the one from before, which was sent first. */
static int run_isend(struct traffic *t, int64_t reps)
{
    const struct traffic_phase *p = &t->phases[0];
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Request *request = t->requests;
        for (const struct message *m = p->send; m < p->send + p->sends && rc == MPI_SUCCESS; ++m)
            rc = MPI_Isend(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
        for (const struct message *m = p->recv + p->recvs; m-- > p->recv && rc == MPI_SUCCESS;)
            rc = MPI_Recv(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, MPI_STATUS_IGNORE);
        if (rc == MPI_SUCCESS)
            rc = MPI_Waitall(p->sends, t->requests, statuses_ignored());
    }
    return team_mpi_err(rc, "MPI_Isend, MPI_Recv or MPI_Waitall");
}

/* One MPI_Sendrecv after the other; the i-th call of this rank with the i-th that calls it. */
static int run_sendrecv(struct traffic *t, int64_t reps)
{
    const struct traffic_phase *p = &t->phases[0];
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        for (int m = 0; m < p->sends && rc == MPI_SUCCESS; ++m) {
            const struct message *to = &p->send[m], *from = &p->recv[m];
            rc = MPI_Sendrecv(to->data, to->count, MPI_BYTE, to->peer, to->tag, from->data, from->count,
                              MPI_BYTE, from->peer, from->tag, t->comm, MPI_STATUS_IGNORE);
        }
    return team_mpi_err(rc, "MPI_Sendrecv");
}

static int run_in_turns(struct traffic *t, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = run_phase(t, &t->phases[0]);
        if (rc == MPI_SUCCESS)
            rc = run_phase(t, &t->phases[1]);
    }
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend or MPI_Waitall");
}

/* Receives stand first, those of a caller together; answers of others and sends after them. */
static int serve(struct traffic *t)
{
    const struct traffic_phase *there = &t->phases[0], *back = &t->phases[1];
    MPI_Request *request = t->requests, *const sent = request + there->recvs;
    int rc = MPI_SUCCESS, count = 0;
    for (const struct message *m = there->recv; m < there->recv + there->recvs && rc == MPI_SUCCESS; ++m)
        rc = MPI_Irecv(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    for (const struct message *m = back->recv; m < back->recv + back->recvs && rc == MPI_SUCCESS; ++m)
        rc = MPI_Irecv(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    for (const struct message *m = there->send; m < there->send + there->sends && rc == MPI_SUCCESS; ++m)
        rc = MPI_Isend(m->data, m->count, MPI_BYTE, m->peer, m->tag, t->comm, request++);
    for (int k = 0; k < back->sends; ++k)
        t->left[k] = t->window;
    for (int all = 0; all < there->recvs && rc == MPI_SUCCESS; all += count) {
        rc = MPI_Waitsome(there->recvs, t->requests, &count, t->ended, statuses_ignored());
        for (int i = 0; i < count && rc == MPI_SUCCESS; ++i) {
            const struct message *answer = &back->send[t->ended[i] / t->window];
            if (--t->left[t->ended[i] / t->window] == 0)
                rc = MPI_Isend(answer->data, 0, MPI_BYTE, answer->peer, answer->tag, t->comm, request++);
        }
    }
    return rc != MPI_SUCCESS ? rc : MPI_Waitall((int)(request - sent), sent, statuses_ignored());
}

static int run_served(struct traffic *t, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        rc = serve(t);
    return team_mpi_err(rc, "MPI_Irecv, MPI_Isend, MPI_Waitsome or MPI_Waitall");
}

int traffic_run(struct traffic *t, int64_t reps)
{
    t->came = true;
    return t->run(t, reps);
}

bool traffic_by_turns(const struct traffic *t)
{
    const bool single = t->run == run_caller || t->run == run_callee;
    return t->run == run_nothing || (single && t->single[0].count == t->single[1].count);
}

int traffic_partner(const struct traffic *t)
{
    return t->run == run_nothing ? -1 : t->single[0].peer;
}

int traffic_turn(struct traffic *t, int64_t message)
{
    if (t->run == run_nothing)
        return 0;
    const bool sends = (message % 2 == 0) == (t->rank < t->single[0].peer);
    const struct message m = t->single[sends == (t->run == run_caller) ? 0 : 1];
    t->came = t->came || !sends;
    return sends
               ? team_mpi_err(MPI_Send(m.data, m.count, MPI_BYTE, m.peer, m.tag, t->comm), "MPI_Send")
               : team_mpi_err(MPI_Recv(m.data, m.count, MPI_BYTE, m.peer, m.tag, t->comm, MPI_STATUS_IGNORE),
                              "MPI_Recv");
}

void traffic_choose(struct traffic *t, const struct layout_peers *peers, enum traffic_kind kind)
{
    const struct traffic_phase *p = t->phases;
    t->run = traffic_rows[kind].at_once ? run_at_once : run_in_turns;
    if (peers->to_count + peers->from_count == 0)
        t->run = run_nothing;
    else if (traffic_rows[kind].one_way)
        t->run = run_sendrecv;
    else if (traffic_rows[kind].served && peers->from_count > 0)
        t->run = run_served;
    else if (traffic_rows[kind].waits)
        t->run = run_isend;
    else if (!traffic_rows[kind].at_once && p[0].sends == 1 && p[0].recvs == 0) {
        t->run = run_caller;
        t->single[0] = p[0].send[0];
        t->single[1] = p[1].recv[0];
    } else if (!traffic_rows[kind].at_once && p[0].sends == 0 && p[0].recvs == 1) {
        t->run = run_callee;
        t->single[0] = p[0].recv[0];
        t->single[1] = p[1].send[0];
    }
}
