/* An exchange that several threads of each rank move: one exchange for each of them, of its own neighbours.
 *
 * Both ends of a message must name the same thread where threads have windows or communicators of their own.
 * The receiver chooses, and tells the sender once: its messages in the order of their places, so many
 * neighbours for each thread. So what a thread receives is in one piece of memory, and the windows of threads
 * do not overlap, for MPI does not define what concurrent calls in windows that do would give. A rank with
 * fewer neighbours than threads has its messages cut. */
#include "comm/exchange_internal_mpi.h"

#include "base/err.h"
#include "team/team_mpi.h"

#include <stdbool.h>
#include <stdlib.h>

/* Cuts are where cache lines of a message end. */
enum { LINE = 64 };
enum { LEAST_TAG_MAX = 32767 }; /* that every MPI has: MPI 4.0, section 9.1.2 */

static struct part mover_part(int total, int parts, int part)
{
    const int each = total / parts, more = total % parts;
    return (struct part){part * each + (part < more ? part : more), each + (part < more)};
}

struct part movers_of(int movers, int messages, int message, size_t bytes)
{
    if (messages > movers)
        return (struct part){(int)((int64_t)message * movers / messages), 1};
    struct part part = mover_part(movers, messages, message);
    const size_t lines = (bytes + LINE - 1) / LINE;
    if ((size_t)part.count > lines)
        part.count = lines > 0 ? (int)lines : 1;
    return part;
}

size_t mover_cut(size_t bytes, int pieces, int piece)
{
    const size_t lines = (bytes + LINE - 1) / LINE, at = lines * (size_t)piece / (size_t)pieces * LINE;
    return at < bytes ? at : bytes;
}

/* ---- who moves what ------------------------------------------------------------------------------------ */

struct in {
    const struct exchange_link *link;
    struct part part;
};

static int compare_places(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const struct in *)a)->link->recv,
                    y = (uintptr_t)((const struct in *)b)->link->recv;
    return (x > y) - (x < y);
}

static int compare_links(const void *a, const void *b)
{
    const struct exchange_link *x = ((const struct in *)a)->link, *y = ((const struct in *)b)->link;
    return (x > y) - (x < y);
}

/* Parts of what comes in, as this rank chooses, in the order of links: in which a neighbourhood collective
 * matches those of two ranks. */
static int choose_ins(int movers, const struct exchange_link *links, size_t count, struct in *ins)
{
    int messages = 0;
    for (size_t i = 0; i < count; ++i)
        if (links[i].from != MPI_PROC_NULL)
            ins[messages++].link = &links[i];
    qsort(ins, (size_t)messages, sizeof *ins, compare_places);
    for (int k = 0; k < messages; ++k)
        ins[k].part = movers_of(movers, messages, k, ins[k].link->recv_bytes);
    qsort(ins, (size_t)messages, sizeof *ins, compare_links);
    return messages;
}

/* outs[i] becomes the part of what link i sends. */
static int tell_parts(MPI_Comm comm, const struct exchange_link *links, size_t count, const struct in *ins,
                      int messages, struct part *outs)
{
    MPI_Request *requests = calloc(count + (size_t)messages + 1, sizeof *requests), *request = requests;
    int rc = requests ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    for (size_t i = 0; i < count && rc == MPI_SUCCESS; ++i)
        if (links[i].to != MPI_PROC_NULL)
            rc = MPI_Irecv(&outs[i], 2, MPI_INT, links[i].to, links[i].tag, comm, request++);
    for (int k = 0; k < messages && rc == MPI_SUCCESS; ++k)
        rc = MPI_Isend(&ins[k].part, 2, MPI_INT, ins[k].link->from, ins[k].link->tag, comm, request++);
    if (rc == MPI_SUCCESS)
        rc = MPI_Waitall((int)(request - requests), requests, MPI_STATUSES_IGNORE);
    free(requests);
    return rc;
}

/* The links of each mover, one after the other in `links`. */
struct shares {
    struct exchange_link *links;
    int *mover; /* of each */
    size_t count;
};

static void add_piece(struct shares *s, int movers, const struct exchange_link *l, struct part part, int k,
                      bool out)
{
    const size_t bytes = out ? l->send_bytes : l->recv_bytes, at = mover_cut(bytes, part.count, k);
    const size_t size = mover_cut(bytes, part.count, k + 1) - at;
    s->mover[s->count] = part.first + k;
    s->links[s->count++] = (struct exchange_link){
        .to = out ? l->to : MPI_PROC_NULL,
        .from = out ? MPI_PROC_NULL : l->from,
        .tag = l->tag * movers + k,
        .send = out ? (char *)l->send + at : NULL,
        .recv = out ? NULL : (char *)l->recv + at,
        .send_bytes = out ? size : 0,
        .recv_bytes = out ? 0 : size,
    };
}

/* Shifts stay whole, for a rank would wait for another in a circle else: both ends know their tags. */
static void share_shifts(struct shares *s, int movers, const struct exchange_link *links, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        s->mover[s->count] = links[i].tag % movers;
        s->links[s->count++] = links[i];
    }
}

static int share_messages(struct shares *s, const struct exchange_ask *ask, const struct exchange_link *links,
                          size_t count)
{
    struct in *ins = calloc(count + 1, sizeof *ins);
    struct part *outs = calloc(count + 1, sizeof *outs);
    int rc = ins && outs ? MPI_SUCCESS : MPI_ERR_NO_MEM;
    const int messages = rc == MPI_SUCCESS ? choose_ins(ask->movers, links, count, ins) : 0;
    if (rc == MPI_SUCCESS)
        rc = tell_parts(team_comm(ask->team), links, count, ins, messages, outs);
    for (size_t i = 0; i < count && rc == MPI_SUCCESS; ++i)
        for (int k = 0; links[i].to != MPI_PROC_NULL && k < outs[i].count; ++k)
            add_piece(s, ask->movers, &links[i], outs[i], k, true);
    for (int m = 0; m < messages && rc == MPI_SUCCESS; ++m)
        for (int k = 0; k < ins[m].part.count; ++k)
            add_piece(s, ask->movers, ins[m].link, ins[m].part, k, false);
    free(ins);
    free(outs);
    return team_mpi_err(rc, "telling who moves a message");
}

/* ---- opening and running ------------------------------------------------------------------------------- */

static int check_ask(const struct exchange_ask *ask, const struct exchange_link *links, size_t count)
{
    int err = team_threads_allowed(ask->op, ask->movers);
    for (size_t i = 0; i < count && !err; ++i)
        if ((int64_t)links[i].tag * ask->movers + ask->movers > LEAST_TAG_MAX)
            err = err_say(ERR_UNSUPPORTED,
                          "%d movers of a message of %zu bytes need more tags than every MPI has; "
                          "choose fewer movers",
                          ask->movers, links[i].send_bytes);
    if (!err && !ask->apart && (ask->back == EXCHANGE_NEIGHBOR || ask->back == EXCHANGE_NEIGHBORW))
        err = err_say(ERR_UNSUPPORTED,
                      "%s=%s: several threads cannot call a collective of one communicator at once; choose "
                      "comms=thread",
                      ask->param, ask->word);
    return err;
}

/* Those of a mover, at the beginning of `own`. */
static size_t pick(const struct shares *s, int mover, struct exchange_link *own)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; ++i)
        if (s->mover[i] == mover)
            own[count++] = s->links[i];
    return count;
}

static int open_lanes(struct exchange *x, const struct exchange_ask *ask, const struct shares *s, int failed)
{
    struct exchange_ask each = *ask;
    struct exchange_link *own = calloc(s->count + 1, sizeof *own);
    int err = failed ? failed
              : own  ? 0
                     : err_say(ERR_NOMEM, "no memory for the messages of %d threads", ask->movers);
    bool whole = true;
    each.movers = 1;
    for (int m = 0; m < ask->movers && whole; ++m) {
        const size_t count = err ? 0 : pick(s, m, own);
        err = exchange_open(&each, own, count, err, &x->lanes[m]);
        whole = x->lanes[m] != NULL; /* or on no rank */
        x->lane_count += whole;
    }
    free(own);
    return err;
}

int movers_open(struct exchange *x, const struct exchange_ask *ask, const struct exchange_link *links,
                size_t count, int failed)
{
    const size_t room = 2 * count * (size_t)ask->movers + 1;
    struct shares s = {.links = calloc(room, sizeof *s.links), .mover = calloc(room, sizeof *s.mover)};
    if (x)
        x->lanes = calloc((size_t)ask->movers, sizeof(struct exchange *));
    int err = failed ? failed : check_ask(ask, links, count);
    if (!err && (!s.links || !s.mover || !x || !x->lanes))
        err = err_say(ERR_NOMEM, "no memory for the messages of %d threads", ask->movers);
    int64_t worst = err;
    int broken = team_max(ask->team, &worst);
    err = err ? err : broken;
    if (!err && worst == 0) {
        if (ask->back == EXCHANGE_SENDRECV)
            share_shifts(&s, ask->movers, links, count);
        else
            err = share_messages(&s, ask, links, count);
        err = open_lanes(x, ask, &s, err);
    }
    free(s.links);
    free(s.mover);
    return err;
}

void movers_close(struct exchange *x)
{
    for (int m = 0; m < x->lane_count; ++m)
        exchange_close(x->lanes[m]);
    free(x->lanes);
}

int movers_run(int movers, int (*const part)(const void *of, int mover), const void *of)
{
    int rc = MPI_SUCCESS;
#pragma omp parallel for num_threads(movers) schedule(static, 1)
    for (int m = 0; m < movers; ++m) {
        const int own = part(of, m);
        if (own != MPI_SUCCESS) {
#pragma omp atomic write
            rc = own;
        }
    }
    return rc;
}

#define LANES(half)                                                                                          \
    static int lane_##half(const void *of, int mover)                                                        \
    {                                                                                                        \
        const struct exchange *lane = ((const struct exchange *)of)->lanes[mover];                           \
        return lane->back->half(lane);                                                                       \
    }                                                                                                        \
    int movers_##half(const struct exchange *x)                                                              \
    {                                                                                                        \
        return movers_run(x->lane_count, lane_##half, x);                                                    \
    }

LANES(start)
LANES(finish)
LANES(whole)
