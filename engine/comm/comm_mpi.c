/* Groups of ranks by MPI, and what they do at once. Plans: plan_mpi.c. */
#include "comm/comm_mpi.h"

#include "base/err.h"
#include "base/num.h"
#include "comm/comm_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct own {
    MPI_Comm comm;
    bool is_part; /* then it is ours to free */
};

MPI_Comm comm_mpi(const struct comm *comm)
{
    return ((const struct own *)comm->own)->comm;
}

/* Rank r of the comm is rank members[r] of the team. */
static int list_members(const struct comm *comm, int **members)
{
    *members = calloc((size_t)comm->size, sizeof **members);
    return !*members ? err_say(ERR_NOMEM, "no memory for a list of %d ranks", comm->size)
                     : team_mpi_err(
                           MPI_Allgather(&comm->team->rank, 1, MPI_INT, *members, 1, MPI_INT, comm_mpi(comm)),
                           "MPI_Allgather");
}

static int fill_comm(struct comm *comm, const struct team *team, struct phases *phases, struct own own)
{
    struct comm new = {.phases = phases, .team = team};
    int *members = NULL;
    struct own *mine = malloc(sizeof *mine);
    if (!mine)
        return err_say(ERR_NOMEM, "no memory for a group of ranks");
    *mine = own;
    new.own = mine;
    int err = team_mpi_err(MPI_Comm_rank(own.comm, &new.rank), "MPI_Comm_rank");
    if (!err)
        err = team_mpi_err(MPI_Comm_size(own.comm, &new.size), "MPI_Comm_size");
    if (!err)
        err = list_members(&new, &members);
    new.members = members;
    if (err)
        comm_close(&new);
    else
        *comm = new;
    return err;
}

int comm_open(const struct team *team, struct phases *phases, struct comm *comm)
{
    return fill_comm(comm, team, phases, (struct own){.comm = team_comm(team)});
}

void comm_close(struct comm *comm)
{
    struct own *own = comm->own;
    if (own && own->is_part)
        MPI_Comm_free(&own->comm);
    free(own);
    free((void *)(uintptr_t)comm->members);
    *comm = (struct comm){0};
}

int comm_split(const struct comm *whole, int colour, struct comm *part)
{
    MPI_Comm comm = MPI_COMM_NULL;
    int err = team_mpi_err(MPI_Comm_split(comm_mpi(whole), colour, whole->rank, &comm), "MPI_Comm_split");
    err = err ? err : fill_comm(part, whole->team, whole->phases, (struct own){comm, true});
    part->movers = err ? 0 : whole->movers;
    part->apart = !err && whole->apart;
    return err;
}

/* ---- once in a while ----------------------------------------------------------------------------------- */

static int reduce(const struct comm *comm, void *values, size_t count, MPI_Datatype type, MPI_Op op)
{
    int narrow = 0;
    int err = num_to_int(count, &narrow);
    comm_count(comm, count * sizeof(double));
    return err ? err
               : team_mpi_err(MPI_Allreduce(MPI_IN_PLACE, values, narrow, type, op, comm_mpi(comm)),
                              "MPI_Allreduce");
}

int comm_sum(const struct comm *comm, double *values, size_t count)
{
    return reduce(comm, values, count, MPI_DOUBLE, MPI_SUM);
}

int comm_sum_ints(const struct comm *comm, int64_t *values, size_t count)
{
    return reduce(comm, values, count, MPI_INT64_T, MPI_SUM);
}

int comm_max(const struct comm *comm, double *values, size_t count)
{
    return reduce(comm, values, count, MPI_DOUBLE, MPI_MAX);
}

int comm_offset(const struct comm *comm, int64_t mine, int64_t *offset)
{
    *offset = 0; /* rank 0 is told nothing */
    comm_count(comm, sizeof mine);
    int err = team_mpi_err(MPI_Exscan(&mine, offset, 1, MPI_INT64_T, MPI_SUM, comm_mpi(comm)), "MPI_Exscan");
    if (comm->rank == 0)
        *offset = 0;
    return err;
}

int comm_bcast(const struct comm *comm, int root, void *data, size_t bytes)
{
    int err = 0;
    comm_count(comm, comm->rank == root ? bytes : 0);
    for (size_t at = 0; at < bytes && !err; at += PIECE)
        err = team_mpi_err(MPI_Bcast((char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE),
                                     MPI_BYTE, root, comm_mpi(comm)),
                           "MPI_Bcast");
    return err;
}

int comm_allgather(const struct comm *comm, const void *mine, size_t bytes, void *all)
{
    int count = 0;
    int err = num_to_int(bytes, &count);
    comm_count(comm, bytes);
    return err ? err
               : team_mpi_err(MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, comm_mpi(comm)),
                              "MPI_Allgather");
}

int comm_alltoall(const struct comm *comm, const void *send, void *recv, size_t bytes)
{
    int count = 0;
    int err = num_to_int(bytes, &count);
    comm_count(comm, bytes * (size_t)comm->size);
    return err ? err
               : team_mpi_err(MPI_Alltoall(send, count, MPI_BYTE, recv, count, MPI_BYTE, comm_mpi(comm)),
                              "MPI_Alltoall");
}

int comm_barrier(const struct comm *comm)
{
    return team_mpi_err(MPI_Barrier(comm_mpi(comm)), "MPI_Barrier");
}

int comm_send(const struct comm *comm, int to, int tag, const void *data, size_t bytes)
{
    int err = 0;
    if (to < 0)
        return 0;
    comm_count_message(comm, bytes);
    for (size_t at = 0; at < bytes && !err; at += PIECE)
        err = team_mpi_err(MPI_Send((const char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE),
                                    MPI_BYTE, to, tag, comm_mpi(comm)),
                           "MPI_Send");
    return err;
}

int comm_recv(const struct comm *comm, int from, int tag, void *data, size_t bytes)
{
    int err = 0;
    for (size_t at = 0; from >= 0 && at < bytes && !err; at += PIECE)
        err = team_mpi_err(MPI_Recv((char *)data + at, (int)(bytes - at < PIECE ? bytes - at : PIECE),
                                    MPI_BYTE, from, tag, comm_mpi(comm), MPI_STATUS_IGNORE),
                           "MPI_Recv");
    return err;
}

/* ---- alltoallv with sizes above int ----------------------------------------------------------------------
 */

void comm_side_free(struct comm_side *s)
{
    free(s->counts);
    free(s->offsets);
    if (s->type != MPI_DATATYPE_NULL && s->type != MPI_BYTE)
        MPI_Type_free(&s->type);
    s->type = MPI_DATATYPE_NULL;
}

static size_t common_divisor(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

int comm_side_fill(struct comm_side *s, const struct comm_pieces *p, const struct comm *comm)
{
    const int ranks = comm->size;
    const size_t room = (size_t)(unsigned)ranks;
    size_t unit = 0, most = 0;
    *s = (struct comm_side){.data = p->data, .type = MPI_DATATYPE_NULL};
    for (int r = 0; r < ranks; ++r) {
        unit = common_divisor(common_divisor(unit, p->bytes[r]), p->at[r]);
        most = p->bytes[r] > most ? p->bytes[r] : most;
        most = p->at[r] > most ? p->at[r] : most;
    }
    unit = unit == 0 || most <= INT_MAX ? 1 : unit; /* bytes, as long as they are enough */
    if (unit > INT_MAX || most / unit > INT_MAX)
        return err_say(
            ERR_UNSUPPORTED,
            "pieces of up to %zu bytes are more than MPI_Alltoallv can take; choose backend=nonblocking",
            most);
    s->counts = calloc(room, sizeof *s->counts);
    s->offsets = calloc(room, sizeof *s->offsets);
    if (!s->counts || !s->offsets)
        return err_say(ERR_NOMEM, "no memory for the counts of %d ranks", ranks);
    for (int r = 0; r < ranks; ++r) {
        s->counts[r] = (int)(p->bytes[r] / unit);
        s->offsets[r] = (int)(p->at[r] / unit);
    }
    s->type = MPI_BYTE;
    if (unit == 1)
        return 0;
    int err = team_mpi_err(MPI_Type_contiguous((int)unit, MPI_BYTE, &s->type), "MPI_Type_contiguous");
    return err ? err : team_mpi_err(MPI_Type_commit(&s->type), "MPI_Type_commit");
}

int comm_alltoallv(const struct comm *comm, const struct comm_pieces *send, const struct comm_pieces *recv)
{
    struct comm_side out = {.type = MPI_DATATYPE_NULL}, in = {.type = MPI_DATATYPE_NULL};
    int err = comm_side_fill(&out, send, comm);
    if (!err)
        err = comm_side_fill(&in, recv, comm);
    size_t bytes = 0;
    for (int r = 0; r < comm->size; ++r)
        bytes += send->bytes[r];
    comm_count(comm, bytes);
    if (!err)
        err = team_mpi_err(MPI_Alltoallv(out.data, out.counts, out.offsets, out.type, in.data, in.counts,
                                         in.offsets, in.type, comm_mpi(comm)),
                           "MPI_Alltoallv");
    comm_side_free(&out);
    comm_side_free(&in);
    return err;
}
