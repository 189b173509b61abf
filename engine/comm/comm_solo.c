/* One rank alone: what it says, it says to itself. */
#include "comm/comm.h"

#include "comm/comm_internal.h"

#include <stdlib.h>
#include <string.h>

static const int only[] = {0};

int comm_open(const struct team *team, struct phases *phases, struct comm *comm)
{
    *comm = (struct comm){.size = 1, .phases = phases, .team = team, .members = only};
    return 0;
}

void comm_close(struct comm *comm)
{
    *comm = (struct comm){0};
}

int comm_split(const struct comm *whole, int colour, struct comm *part)
{
    (void)colour;
    *part = *whole;
    return 0;
}

int comm_sum(const struct comm *comm, double *values, size_t count)
{
    (void)comm, (void)values, (void)count;
    return 0;
}

int comm_sum_ints(const struct comm *comm, int64_t *values, size_t count)
{
    (void)comm, (void)values, (void)count;
    return 0;
}

int comm_max(const struct comm *comm, double *values, size_t count)
{
    (void)comm, (void)values, (void)count;
    return 0;
}

int comm_offset(const struct comm *comm, int64_t mine, int64_t *offset)
{
    (void)comm, (void)mine;
    *offset = 0;
    return 0;
}

int comm_bcast(const struct comm *comm, int root, void *data, size_t bytes)
{
    (void)comm, (void)root, (void)data, (void)bytes;
    return 0;
}

int comm_allgather(const struct comm *comm, const void *mine, size_t bytes, void *all)
{
    (void)comm;
    memcpy(all, mine, bytes);
    return 0;
}

int comm_alltoall(const struct comm *comm, const void *send, void *recv, size_t bytes)
{
    (void)comm;
    memcpy(recv, send, bytes);
    return 0;
}

int comm_alltoallv(const struct comm *comm, const struct comm_pieces *send, const struct comm_pieces *recv)
{
    (void)comm;
    memcpy((char *)recv->data + recv->at[0], (const char *)send->data + send->at[0], send->bytes[0]);
    return 0;
}

int comm_barrier(const struct comm *comm)
{
    (void)comm;
    return 0;
}

/* A pipeline of one rank has nobody before it and nobody after it. */
int comm_send(const struct comm *comm, int to, int tag, const void *data, size_t bytes)
{
    (void)comm, (void)to, (void)tag, (void)data, (void)bytes;
    return 0;
}

int comm_recv(const struct comm *comm, int from, int tag, void *data, size_t bytes)
{
    (void)comm, (void)from, (void)tag, (void)data, (void)bytes;
    return 0;
}

/* comm.c has made copies of all that a plan has; what is left is its own alltoallv. */
struct comm_own_plan {
    const char *from;
    char *to;
    size_t bytes;
};

static int plan_open(struct comm_own_plan plan, int failed, struct comm_own_plan **out)
{
    *out = failed ? NULL : calloc(1, sizeof plan);
    if (*out)
        **out = plan;
    return failed;
}

int comm_own_exchange(const struct comm *comm, enum comm_back back, const struct comm_link *links,
                      size_t count, int failed, struct comm_own_plan **plan)
{
    (void)comm, (void)back, (void)links, (void)count;
    return plan_open((struct comm_own_plan){0}, failed, plan);
}

int comm_own_sum(const struct comm *comm, enum comm_back back, double *values, size_t count, int failed,
                 struct comm_own_plan **plan)
{
    (void)comm, (void)back, (void)values, (void)count;
    return plan_open((struct comm_own_plan){0}, failed, plan);
}

int comm_own_alltoallv(const struct comm *comm, enum comm_back back, const struct comm_pieces *send,
                       const struct comm_pieces *recv, int failed, struct comm_own_plan **plan)
{
    (void)comm, (void)back;
    struct comm_own_plan copy = {0};
    if (!failed)
        copy = (struct comm_own_plan){(const char *)send->data + send->at[0],
                                      (char *)recv->data + recv->at[0], send->bytes[0]};
    return plan_open(copy, failed, plan);
}

/* What a rank keeps to itself has no size here: it is where it is. */
int comm_own_varying(const struct comm *comm, enum comm_back back, size_t unit,
                     const struct comm_pieces *send, const struct comm_pieces *recv, int failed,
                     struct comm_own_plan **plan)
{
    (void)comm, (void)back, (void)unit, (void)send, (void)recv;
    return plan_open((struct comm_own_plan){0}, failed, plan);
}

void comm_own_close(struct comm_own_plan *plan)
{
    free(plan);
}

int comm_own_run(struct comm_own_plan *plan)
{
    if (plan->bytes > 0)
        memcpy(plan->to, plan->from, plan->bytes);
    return 0;
}

int comm_own_start(struct comm_own_plan *plan)
{
    return comm_own_run(plan);
}

int comm_own_finish(struct comm_own_plan *plan)
{
    (void)plan;
    return 0;
}
