/* Every way to send a message and every way to receive one.
 *
 * MPI_Rsend is correct only if its receive has been posted. So each rank posts the receive of its next
 * message early: at setup, then as soon as a message has arrived, before it answers. The answer and the next
 * message therefore find their receives posted. Two buffers take turns, because one with a pending receive
 * must not be read. */
#include "ops/mpi/p2p/ways.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "team/team_mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { BY_SEND, BY_ISEND, BY_SSEND, BY_ISSEND, BY_BSEND, BY_RSEND, BY_SEND_START };
enum { BY_RECV, BY_IRECV, BY_PROBE, BY_IPROBE, BY_MPROBE, BY_RECV_START };

const char *const ways_send_words[] = {"send", "isend", "ssend", "issend", "bsend", "rsend", "start", NULL};
const char *const ways_recv_words[] = {"recv", "irecv", "probe", "iprobe", "mprobe", "start", NULL};

/* ---- the ways to send ---- */

static int send_send(struct ways *s)
{
    return MPI_Send(s->p.send, s->p.count, MPI_BYTE, s->p.peer, s->p.label, s->p.comm);
}

static int send_ssend(struct ways *s)
{
    return MPI_Ssend(s->p.send, s->p.count, MPI_BYTE, s->p.peer, s->p.label, s->p.comm);
}

static int send_bsend(struct ways *s)
{
    return MPI_Bsend(s->p.send, s->p.count, MPI_BYTE, s->p.peer, s->p.label, s->p.comm);
}

static int send_rsend(struct ways *s)
{
    return MPI_Rsend(s->p.send, s->p.count, MPI_BYTE, s->p.peer, s->p.label, s->p.comm);
}

static int send_isend(struct ways *s)
{
    MPI_Request request;
    int rc = MPI_Isend(s->p.send, s->p.count, MPI_BYTE, s->p.peer, s->p.label, s->p.comm, &request);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

static int send_issend(struct ways *s)
{
    MPI_Request request;
    int rc = MPI_Issend(s->p.send, s->p.count, MPI_BYTE, s->p.peer, s->p.label, s->p.comm, &request);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

static int send_start(struct ways *s)
{
    int rc = MPI_Start(&s->send_request);
    return rc == MPI_SUCCESS ? MPI_Wait(&s->send_request, MPI_STATUS_IGNORE) : rc;
}

/* ---- the ways to receive ---- */

static int recv_recv(struct ways *s)
{
    return MPI_Recv(s->p.recv, s->p.count, MPI_BYTE, s->p.from, s->p.tag, s->p.comm, MPI_STATUS_IGNORE);
}

static int recv_irecv(struct ways *s)
{
    MPI_Request request;
    int rc = MPI_Irecv(s->p.recv, s->p.count, MPI_BYTE, s->p.from, s->p.tag, s->p.comm, &request);
    return rc == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : rc;
}

/* Receive the message that a probe has found. */
static int recv_found(struct ways *s, const MPI_Status *found)
{
    return MPI_Recv(s->p.recv, s->p.count, MPI_BYTE, found->MPI_SOURCE, found->MPI_TAG, s->p.comm,
                    MPI_STATUS_IGNORE);
}

static int recv_probe(struct ways *s)
{
    MPI_Status found;
    int rc = MPI_Probe(s->p.from, s->p.tag, s->p.comm, &found);
    return rc == MPI_SUCCESS ? recv_found(s, &found) : rc;
}

static int recv_iprobe(struct ways *s)
{
    MPI_Status found;
    int there = 0, rc = MPI_SUCCESS;
    while (!there && rc == MPI_SUCCESS)
        rc = MPI_Iprobe(s->p.from, s->p.tag, s->p.comm, &there, &found);
    return rc == MPI_SUCCESS ? recv_found(s, &found) : rc;
}

static int recv_mprobe(struct ways *s)
{
    MPI_Message message;
    int rc = MPI_Mprobe(s->p.from, s->p.tag, s->p.comm, &message, MPI_STATUS_IGNORE);
    return rc == MPI_SUCCESS ? MPI_Mrecv(s->p.recv, s->p.count, MPI_BYTE, &message, MPI_STATUS_IGNORE) : rc;
}

static int recv_start(struct ways *s)
{
    int rc = MPI_Start(&s->recv_request[0]);
    return rc == MPI_SUCCESS ? MPI_Wait(&s->recv_request[0], MPI_STATUS_IGNORE) : rc;
}

static int post_irecv(struct ways *s)
{
    return MPI_Irecv(s->p.recv + (size_t)s->next * s->p.stride, s->p.count, MPI_BYTE, s->p.from, s->p.tag,
                     s->p.comm, &s->recv_request[s->next]);
}

static int post_start(struct ways *s)
{
    return MPI_Start(&s->recv_request[s->next]);
}

/* Complete the pending receive, then post that of the next message. */
static int recv_irecv_ahead(struct ways *s)
{
    int rc = MPI_Wait(&s->recv_request[s->next], MPI_STATUS_IGNORE);
    s->next = 1 - s->next;
    return rc == MPI_SUCCESS ? post_irecv(s) : rc;
}

static int recv_start_ahead(struct ways *s)
{
    int rc = MPI_Wait(&s->recv_request[s->next], MPI_STATUS_IGNORE);
    s->next = 1 - s->next;
    return rc == MPI_SUCCESS ? post_start(s) : rc;
}

int ways_send_written(struct ways *s)
{
    data_write_again(s->p.send, s->p.bytes);
    return s->send(s);
}

/* In the order of the words. */
static const struct way {
    int (*message)(struct ways *s);
    const char *calls;
} sends[] = {{send_send, "MPI_Send"},
             {send_isend, "MPI_Isend, MPI_Wait"},
             {send_ssend, "MPI_Ssend"},
             {send_issend, "MPI_Issend, MPI_Wait"},
             {send_bsend, "MPI_Bsend"},
             {send_rsend, "MPI_Rsend"},
             {send_start, "MPI_Start, MPI_Wait"}},
  recvs[] = {{recv_recv, "MPI_Recv"},
             {recv_irecv, "MPI_Irecv, MPI_Wait"},
             {recv_probe, "MPI_Probe, MPI_Recv"},
             {recv_iprobe, "MPI_Iprobe, MPI_Recv"},
             {recv_mprobe, "MPI_Mprobe, MPI_Mrecv"},
             {recv_start, "MPI_Start, MPI_Wait"}};

/* Room for MPI_Bsend. The answer shows that a message has arrived, but not that this rank's library has
 * noticed it. So there is room for more than one. */
enum { BSEND_MESSAGES = 4 };

static size_t bsend_room(size_t packed)
{
    return BSEND_MESSAGES * (packed + MPI_BSEND_OVERHEAD);
}

static int attach(struct ways *s)
{
    int packed = 0;
    int err = team_mpi_err(MPI_Pack_size(s->p.count, MPI_BYTE, s->p.comm, &packed), "MPI_Pack_size");
    if (err)
        return err;
    const size_t size = bsend_room((size_t)packed);
    void *buffer = malloc(size);
    if (!buffer)
        return err_say(ERR_NOMEM, "no memory for the %zu bytes that send=bsend needs; use smaller messages",
                       size);
    err = team_mpi_err(MPI_Buffer_attach(buffer, (int)size), "MPI_Buffer_attach");
    if (err)
        free(buffer);
    else
        s->attached = buffer;
    return err;
}

static int init_recvs(struct ways *s)
{
    int rc = MPI_SUCCESS;
    for (int b = 0; b < s->p.recvs && rc == MPI_SUCCESS; ++b)
        rc = MPI_Recv_init(s->p.recv + (size_t)b * s->p.stride, s->p.count, MPI_BYTE, s->p.from, s->p.tag,
                           s->p.comm, &s->recv_request[b]);
    return team_mpi_err(rc, "MPI_Recv_init");
}

/* What the calls need besides buffers. */
static int prepare(struct ways *s, int send, int recv)
{
    int err = 0;
    if (send == BY_BSEND)
        err = attach(s);
    if (!err && send == BY_SEND_START)
        err = team_mpi_err(MPI_Send_init(s->p.send, s->p.count, MPI_BYTE, s->p.peer, s->p.label, s->p.comm,
                                         &s->send_request),
                           "MPI_Send_init");
    if (!err && recv == BY_RECV_START)
        err = init_recvs(s);
    if (!err && send == BY_RSEND) {
        s->recv = recv == BY_IRECV ? recv_irecv_ahead : recv_start_ahead;
        err = team_mpi_err(recv == BY_IRECV ? post_irecv(s) : post_start(s), "posting a receive");
        s->ahead = !err;
    }
    return err;
}

int ways_check_answers(const struct op_env *env, bool ahead)
{
    const bool is_same = data_state_of(env) == DATA_SAME;
    return env->one_way && (ahead || is_same)
               ? err_say(ERR_INPUT, "%s needs answers to messages; use %s, or another method",
                         ahead ? "send=rsend" : "buffer=same", ahead ? "another send" : "buffer=apart")
               : 0;
}

/* Refuse what is impossible before any memory is allocated. */
int ways_open(struct ways *s, const struct op_env *env, int send, int recv, int match)
{
    const bool ahead = send == BY_RSEND;
    const char *missing = recv == BY_MPROBE ? MPROBE_MISSING : NULL;
    *s = (struct ways){.send = sends[send].message, .recv = recvs[recv].message};
    s->send_request = s->recv_request[0] = s->recv_request[1] = MPI_REQUEST_NULL;
    snprintf(s->calls, sizeof s->calls, "%s or %s", sends[send].calls, recvs[recv].calls);
    if (ahead && recv != BY_IRECV && recv != BY_RECV_START)
        return err_say(ERR_INPUT,
                       "send=rsend is right only if the receive is posted before, which recv=%s cannot be; "
                       "use recv=irecv or recv=start",
                       ways_recv_words[recv]);
    if (ahead && data_state_of(env) == DATA_SAME)
        return err_say(
            ERR_INPUT,
            "send=rsend posts the next receive before it sends, and MPI forbids that in the buffer "
            "that is sent; use buffer=apart or buffer=written");
    if (missing)
        return err_say(ERR_UNSUPPORTED, "%s", missing);
    if (send == BY_BSEND && bsend_room(env->bytes) > INT_MAX)
        return err_say(ERR_UNSUPPORTED,
                       "send=bsend needs a buffer of %zu bytes for messages of %zu, and MPI_Buffer_attach "
                       "takes 2147483647; use smaller messages",
                       bsend_room(env->bytes), env->bytes);
    int err = ways_check_answers(env, ahead);
    err = err ? err : p2p_open(&s->p, env, 1, ahead ? 2 : 1);
    p2p_match(&s->p, match);
    return err || s->p.rank > 1 ? err : prepare(s, send, recv);
}

void ways_close(struct ways *s)
{
    int size = 0;
    if (s->ahead) {
        MPI_Cancel(&s->recv_request[s->next]);
        MPI_Wait(&s->recv_request[s->next], MPI_STATUS_IGNORE);
    }
    for (int b = 0; b < 2; ++b)
        if (s->recv_request[b] != MPI_REQUEST_NULL)
            MPI_Request_free(&s->recv_request[b]);
    if (s->send_request != MPI_REQUEST_NULL)
        MPI_Request_free(&s->send_request);
    if (s->attached)
        MPI_Buffer_detach(&(void *){NULL}, &size); /* waits until all of it is sent */
    free(s->attached);
}

/* The buffer that the last message arrived in. If two take turns, it is the one without a pending receive. */
static int last(const struct ways *s)
{
    return s->ahead ? 1 - s->next : s->next;
}

/* With one buffer for both directions, only the higher rank has nothing to send. A buffer with a pending
 * receive was poisoned before that was posted, or holds data of another generation. */
void ways_fill(void *state)
{
    struct ways *s = state;
    p2p_fill(&s->p);
    if (s->p.state != DATA_SAME || s->p.rank > s->p.other)
        p2p_poison(&s->p, last(s));
}

int ways_look(void *state)
{
    struct ways *s = state;
    return s->p.moved > 0 ? p2p_check_one(&s->p, last(s), 0) : 0;
}

void ways_poison(void *state)
{
    struct ways *s = state;
    if (s->p.state == DATA_SAME)
        return;
    p2p_poison(&s->p, last(s));
    s->p.moved = 0;
}

/* A repetition message by message. The lower rank poisons the data that it has sent before the answer comes.
 * The answer is the same data in the same buffer, so a missing answer would not be noticed otherwise. */
static int run_poisoned(void *state, int64_t reps)
{
    struct ways *s = state;
    const bool first = s->p.rank < s->p.other;
    int rc = first ? s->send(s) : s->recv(s);
    if (first && rc == MPI_SUCCESS)
        p2p_poison(&s->p, 0);
    if (rc == MPI_SUCCESS)
        rc = first ? s->recv(s) : s->send(s);
    s->p.moved += reps;
    return team_mpi_err(rc, s->calls);
}

/* Check with the timed loop, once for each receive buffer. Then, if one buffer serves both directions, check
 * so that a missing message is noticed. Do so in any case, because the peer does. */
int ways_verify(struct ways *s, const struct data_round *round)
{
    if (s->p.rank > 1)
        return 0;
    const int wrong = data_verify(round, s, s->p.recvs);
    if (s->p.state != DATA_SAME)
        return wrong;
    const int missed =
        data_verify(&(struct data_round){ways_fill, run_poisoned, ways_look, ways_poison}, s, 1);
    return wrong ? wrong : missed;
}
