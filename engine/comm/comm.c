/* Plans over what comm_mpi.c, comm_shmem.c and comm_solo.c supply: what a rank says to itself is copied, a
 * sum by messages is made of exchanges, a transposition by messages is one exchange. */
#include "comm/comm.h"

#include "base/err.h"
#include "comm/comm_internal.h"

#include <stdlib.h>
#include <string.h>

void comm_count(const struct comm *comm, size_t bytes)
{
    if (!comm->phases)
        return;
    ++comm->phases->collectives;
    comm->phases->collective_bytes += (int64_t)bytes;
}

void comm_count_message(const struct comm *comm, size_t bytes)
{
    if (!comm->phases)
        return;
    ++comm->phases->messages;
    comm->phases->bytes += (int64_t)bytes;
}

/* What is copied, not sent. */
struct copy {
    const void *from;
    void *to;
    size_t bytes;
};

/* A step of a sum by messages: what comes in `in` is then added, or taken, or there is none. */
enum after { NOTHING, ADD, TAKE };
struct step {
    struct comm_own_plan *exchange;
    enum after after;
};

struct comm_plan {
    struct phases *phases;
    int64_t messages, bytes, collectives, collective_bytes; /* of each run, by this rank */
    struct copy *copies;
    size_t copy_count;
    const struct comm_pieces *varying; /* what is sent, to be counted anew at each run; NULL: it stays */
    struct comm_pieces varying_send;
    int rank, size;
    struct comm_own_plan *own; /* what is not a sum by messages; NULL: nothing */
    struct step *steps;
    int step_count;
    double *values, *in;
    size_t value_count;
};

static bool is_collective(enum comm_back back)
{
    return back >= COMM_COLLECTIVE;
}

void comm_plan_close(struct comm_plan *p)
{
    if (!p)
        return;
    for (int i = 0; p->steps && i < p->step_count; ++i)
        comm_own_close(p->steps[i].exchange);
    comm_own_close(p->own);
    free(p->copies);
    free(p->steps);
    free(p->in);
    free(p);
}

/* What all plans end with: it is there on this rank if it is on all, which the implementation has agreed on.
 */
static int finish_open(struct comm_plan *p, int err, bool opened, struct comm_plan **plan)
{
    *plan = NULL;
    if (err || !opened)
        comm_plan_close(p);
    else
        *plan = p;
    return err;
}

static struct comm_plan *plan_new(const struct comm *comm)
{
    struct comm_plan *p = calloc(1, sizeof *p);
    if (p)
        p->phases = comm->phases;
    return p;
}

static int no_memory(const struct comm *comm)
{
    return err_say(ERR_NOMEM, "no memory for the messages of %d ranks", comm->size);
}

/* ---- exchanges ----------------------------------------------------------------------------------------- */

/* The links of others, and the copies for those of this rank with itself. */
static int part_links(struct comm_plan *p, int me, const struct comm_link *links, size_t count,
                      struct comm_link *others, size_t *other_count)
{
    for (size_t i = 0; i < count; ++i) {
        const struct comm_link *l = &links[i];
        if (l->to == me && l->from == me && l->send_bytes == l->recv_bytes) {
            p->copies[p->copy_count++] = (struct copy){l->send, l->recv, l->send_bytes};
            continue;
        }
        if (l->to == me || l->from == me)
            return err_say(ERR_SYSTEM, "rank %d receives from itself what it does not send itself", me);
        p->messages += l->to >= 0 && l->send_bytes > 0;
        p->bytes += l->to >= 0 ? (int64_t)l->send_bytes : 0;
        others[(*other_count)++] = *l;
    }
    return 0;
}

int comm_plan_exchange(const struct comm *comm, enum comm_back back, const struct comm_link *links,
                       size_t count, int failed, struct comm_plan **plan)
{
    struct comm_plan *p = plan_new(comm);
    struct comm_link *others = calloc(count + 1, sizeof *others);
    size_t other_count = 0;
    int err = failed;
    if (p)
        p->copies = calloc(count + 1, sizeof *p->copies);
    if (!err && (!p || !others || !p->copies))
        err = no_memory(comm);
    if (!err && is_collective(back))
        err = err_say(ERR_UNSUPPORTED, "messages between neighbours cannot use %s; choose another backend",
                      comm_backs[back]);
    if (!err)
        err = part_links(p, comm->rank, links, count, others, &other_count);
    struct comm_own_plan *own = NULL;
    err = comm_own_exchange(comm, back, others, other_count, err, &own);
    if (p)
        p->own = own;
    free(others);
    return finish_open(p, err, own != NULL, plan);
}

/* ---- transpositions ------------------------------------------------------------------------------------ */

/* The links of a transposition: first to oneself, then to those above and from those below at each distance.
 */
static int pieces_exchange(const struct comm *comm, enum comm_back back, const struct comm_pieces *send,
                           const struct comm_pieces *recv, int failed, struct comm_plan **plan)
{
    size_t count = (size_t)comm->size;
    struct comm_link *links = calloc(count, sizeof *links);
    int err = failed ? failed : !links ? no_memory(comm) : 0;
    for (int distance = 0; !err && distance < comm->size; ++distance) {
        int to = (comm->rank + distance) % comm->size;
        int from = (comm->rank - distance + comm->size) % comm->size;
        links[distance] = (struct comm_link){
            .to = to,
            .from = from,
            .send = (const char *)send->data + send->at[to],
            .recv = (char *)recv->data + recv->at[from],
            .send_bytes = send->bytes[to],
            .recv_bytes = recv->bytes[from],
        };
    }
    err = comm_plan_exchange(comm, back, links, err ? 0 : count, err, plan);
    free(links);
    return err;
}

int comm_plan_alltoallv(const struct comm *comm, enum comm_back back, const struct comm_pieces *send,
                        const struct comm_pieces *recv, int failed, struct comm_plan **plan)
{
    if (!is_collective(back))
        return pieces_exchange(comm, back, send, recv, failed, plan);
    struct comm_plan *p = plan_new(comm);
    struct comm_own_plan *own = NULL;
    int err = failed ? failed : !p ? no_memory(comm) : 0;
    for (int r = 0; !err && r < comm->size; ++r)
        p->collective_bytes += (int64_t)send->bytes[r];
    err = comm_own_alltoallv(comm, back, send, recv, err, &own);
    if (p) {
        p->own = own;
        p->collectives = 1;
    }
    return finish_open(p, err, own != NULL, plan);
}

int comm_plan_alltoall(const struct comm *comm, enum comm_back back, const void *send, void *recv,
                       size_t bytes, int failed, struct comm_plan **plan)
{
    size_t count = (size_t)comm->size;
    size_t *sizes = calloc(2 * count, sizeof *sizes);
    int err = failed ? failed : !sizes ? no_memory(comm) : 0;
    for (size_t r = 0; !err && r < count; ++r) {
        sizes[r] = bytes;
        sizes[count + r] = r * bytes;
    }
    struct comm_pieces out = {(void *)(uintptr_t)send, sizes, sizes + count};
    struct comm_pieces in = {recv, sizes, sizes + count};
    err = comm_plan_alltoallv(comm, back, &out, &in, err, plan);
    free(sizes);
    return err;
}

int comm_plan_varying(const struct comm *comm, enum comm_back back, size_t unit,
                      const struct comm_pieces *send, const struct comm_pieces *recv, int failed,
                      struct comm_plan **plan)
{
    struct comm_plan *p = plan_new(comm);
    struct comm_own_plan *own = NULL;
    int err = failed ? failed : !p ? no_memory(comm) : 0;
    if (!err) {
        p->varying_send = *send;
        p->varying = &p->varying_send;
        p->rank = comm->rank;
        p->size = comm->size;
        p->collectives = is_collective(back);
    }
    err = comm_own_varying(comm, back, unit, send, recv, err, &own);
    if (p)
        p->own = own;
    return finish_open(p, err, own != NULL, plan);
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

/* Recursive doubling on the greatest power of two of ranks; each of those above folds into one of them first,
 * and is told at the end (Rabenseifner 2004, section 4.1). Steps are numbered: 0 the fold, then the
 * distances, the last one the telling. */
static struct comm_link doubling_link(const struct comm_plan *p, const struct comm *comm, int step, int low,
                                      enum after *after)
{
    int rank = comm->rank, pairs = comm->size - low, to = -1, from = -1;
    bool first = step == 0, last = step == p->step_count - 1;
    if (first || last) {
        bool upper = rank >= low, sends = upper == first;
        int peer = upper ? rank - low : rank < pairs ? rank + low : -1;
        to = sends ? peer : -1;
        from = sends ? -1 : peer;
        *after = from < 0 ? NOTHING : first ? ADD : TAKE;
    } else if (rank < low && (1 << (step - 1)) < low) {
        to = from = rank ^ (1 << (step - 1));
        *after = ADD;
    }
    size_t bytes = p->value_count * sizeof *p->values;
    return (struct comm_link){.to = to,
                              .from = from,
                              .send = p->values,
                              .recv = p->in,
                              .send_bytes = to < 0 ? 0 : bytes,
                              .recv_bytes = from < 0 ? 0 : bytes};
}

static int open_steps(struct comm_plan *p, const struct comm *comm, enum comm_back back, int failed,
                      int64_t doublings)
{
    int low = 1, err = failed, broken = 0;
    struct comm plain = *comm;
    plain.movers = 1; /* a number is not for several threads */
    while (2 * low <= comm->size)
        low *= 2;
    for (int i = 0; i < (int)doublings + 2 && !broken; ++i) {
        struct comm_link link = {.to = -1, .from = -1};
        enum after after = NOTHING;
        if (!err)
            link = doubling_link(p, comm, i, low, &after);
        struct comm_own_plan *exchange = NULL;
        err = comm_own_exchange(&plain, back, &link, 1, err, &exchange);
        broken = !exchange; /* on all ranks: nobody opens the next one */
        if (!broken) {
            p->steps[i] = (struct step){exchange, after};
            p->messages += link.to >= 0 && link.send_bytes > 0;
            p->bytes += (int64_t)link.send_bytes;
        }
    }
    return err;
}

/* Every rank opens as many steps as the largest group needs. */
static int sum_by_messages(const struct comm *comm, enum comm_back back, double *values, size_t count,
                           int failed, struct comm_plan **plan)
{
    struct comm_plan *p = plan_new(comm);
    int64_t doublings = 0;
    while (2 << doublings <= comm->size)
        ++doublings;
    int err = failed, broken = team_max(comm->team, &doublings);
    size_t steps = (size_t)doublings + 2;
    if (p) {
        p->values = values;
        p->value_count = count;
        p->in = calloc(count + 1, sizeof *p->in);
        p->steps = calloc(steps, sizeof *p->steps);
        p->step_count = (int)steps;
    }
    if (!err && (!p || !p->in || !p->steps))
        err = no_memory(comm);
    err = broken ? broken : open_steps(p, comm, back, err, doublings);
    return finish_open(p, err, p && p->steps && p->steps[steps - 1].exchange, plan);
}

int comm_plan_sum(const struct comm *comm, enum comm_back back, double *values, size_t count, int failed,
                  struct comm_plan **plan)
{
    if (!is_collective(back))
        return sum_by_messages(comm, back >= COMM_NEIGHBOUR ? COMM_NONBLOCKING : back, values, count, failed,
                               plan);
    struct comm_plan *p = plan_new(comm);
    struct comm_own_plan *own = NULL;
    int err = failed ? failed : !p ? no_memory(comm) : 0;
    err = comm_own_sum(comm, back, values, count, err, &own);
    if (p) {
        p->own = own;
        p->collectives = 1;
        p->collective_bytes = (int64_t)(count * sizeof *values);
    }
    return finish_open(p, err, own != NULL, plan);
}

/* ---- running ------------------------------------------------------------------------------------------- */

static void count_varying(struct comm_plan *p)
{
    int64_t messages = 0, bytes = 0;
    for (int r = 0; r < p->size; ++r)
        if (r != p->rank) {
            messages += p->varying->bytes[r] > 0;
            bytes += (int64_t)p->varying->bytes[r];
        }
    p->messages = p->collectives ? 0 : messages;
    p->bytes = p->collectives ? 0 : bytes;
    p->collective_bytes = p->collectives ? bytes : 0;
}

static void count_run(struct comm_plan *p)
{
    if (!p->phases)
        return;
    if (p->varying)
        count_varying(p);
    p->phases->messages += p->messages;
    p->phases->bytes += p->bytes;
    p->phases->collectives += p->collectives;
    p->phases->collective_bytes += p->collective_bytes;
}

static void copy_own(const struct comm_plan *p)
{
    for (size_t i = 0; i < p->copy_count; ++i)
        memcpy(p->copies[i].to, p->copies[i].from, p->copies[i].bytes);
}

static int run_steps(const struct comm_plan *p)
{
    int err = 0;
    for (int i = 0; i < p->step_count && !err; ++i) {
        err = comm_own_run(p->steps[i].exchange);
        if (p->steps[i].after == TAKE)
            memcpy(p->values, p->in, p->value_count * sizeof *p->values);
        else if (p->steps[i].after == ADD)
            for (size_t k = 0; k < p->value_count; ++k)
                p->values[k] += p->in[k];
    }
    return err;
}

int comm_run(struct comm_plan *p)
{
    if (!p)
        return 0;
    count_run(p);
    copy_own(p);
    return p->steps ? run_steps(p) : comm_own_run(p->own);
}

int comm_start(struct comm_plan *p)
{
    if (!p)
        return 0;
    count_run(p);
    copy_own(p);
    return p->steps ? run_steps(p) : comm_own_start(p->own);
}

int comm_finish(struct comm_plan *p)
{
    return !p || p->steps ? 0 : comm_own_finish(p->own);
}
