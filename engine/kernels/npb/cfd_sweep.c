/* Systems along lines: all lines of an axis, CFD_LANES side by side as vectors. Where ranks divide the axis,
 * some lines at a time go from rank to rank, forward and then back. */
#include "kernels/npb/cfd.h"

#include "base/err.h"

#include <stdlib.h>
#include <string.h>

/* Messages of a pipeline, for each rank in it: more wait less at its ends, fewer cost less. */
enum { MESSAGES = 16, TAG_FORWARD = 16, TAG_BACK = 17 };

/* The plane across an axis: lanes are beside each other along `side`. */
struct across {
    int side, other;
};
static const struct across across[CFD_AXES] = {
    [CFD_X] = {CFD_Y, CFD_Z}, [CFD_Y] = {CFD_X, CFD_Z}, [CFD_Z] = {CFD_X, CFD_Y}};

static int64_t groups_along(const struct cfd *c, int axis)
{
    return cfd_round(c->count[across[axis].side]) / CFD_LANES;
}

static int64_t group_count(const struct cfd *c, int axis)
{
    return groups_along(c, axis) * c->count[across[axis].other];
}

static struct cfd_lines group(const struct cfd *c, int axis, int64_t i)
{
    int64_t along = groups_along(c, axis), side = i % along * CFD_LANES, other = i / along;
    int64_t left = c->count[across[axis].side] - side;
    return (struct cfd_lines){
        .axis = axis,
        .length = c->count[axis],
        .first = c->origin + side * c->step[across[axis].side] + other * c->step[across[axis].other],
        .step = c->step[axis],
        .side = c->step[across[axis].side],
        .unknown = c->unknown,
        .lanes = left < CFD_LANES ? (int)left : CFD_LANES,
    };
}

/* Groups in a message. */
static int64_t batch_size(const struct cfd *c, int axis)
{
    int64_t batch = group_count(c, axis) / (MESSAGES * c->grid.ranks[axis]), threads = c->env->threads;
    return (batch + threads) / threads * threads;
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static size_t slot_size(const struct cfd *c, const struct cfd_sweep *s)
{
    int64_t longest = 0;
    for (int d = 0; d < CFD_AXES; ++d)
        longest = c->count[d] > longest ? c->count[d] : longest;
    return (size_t)longest * s->kept_each * CFD_LANES;
}

static size_t carry_size(const struct cfd_sweep *s)
{
    return CFD_LANES * (s->carry_forward > s->carry_back ? s->carry_forward : s->carry_back);
}

/* Slots of `kept` and of messages: what is solved at once on this rank is soon forgotten. */
static void count_slots(const struct cfd *c, size_t *kept, size_t *messages)
{
    *kept = *messages = (size_t)c->env->threads;
    for (int d = 0; d < CFD_AXES; ++d) {
        size_t groups = (size_t)group_count(c, d), batch = (size_t)batch_size(c, d);
        if (c->grid.ranks[d] == 1)
            continue;
        *kept = groups > *kept ? groups : *kept;
        *messages = batch > *messages ? batch : *messages;
    }
}

double cfd_pipe_memory(const struct cfd *c, const struct cfd_sweep *sweep)
{
    size_t kept, messages;
    count_slots(c, &kept, &messages);
    return ((double)kept * (double)slot_size(c, sweep) + (double)messages * (double)carry_size(sweep)) *
           sizeof(double);
}

int cfd_pipe_open(const struct cfd *c, const struct cfd_sweep *sweep, struct cfd_pipe *pipe)
{
    size_t kept, messages;
    count_slots(c, &kept, &messages);
    *pipe = (struct cfd_pipe){.kept_slot = slot_size(c, sweep)};
    int err = kernel_alloc(c->env, kept, pipe->kept_slot * sizeof(double), &pipe->kept);
    if (!err)
        err = kernel_alloc(c->env, messages, carry_size(sweep) * sizeof(double), &pipe->message);
    if (err)
        cfd_pipe_close(pipe);
    return err;
}

void cfd_pipe_close(struct cfd_pipe *pipe)
{
    free(pipe->kept);
    free(pipe->message);
    *pipe = (struct cfd_pipe){0};
}

/* ---- sweeps -------------------------------------------------------------------------------------------- */

/* The share of one thread, where lines are this rank's alone. */
static void solve_alone(const struct cfd *c, const struct cfd_sweep *s, const struct cfd_pipe *pipe, int axis,
                        int thread)
{
    struct share mine = share_of(group_count(c, axis), c->env->threads, thread);
    double *kept = pipe->kept + (size_t)thread * pipe->kept_slot;
    double *carry = pipe->message + (size_t)thread * carry_size(s);
    for (int64_t i = mine.first; i < mine.first + mine.count; ++i) {
        struct cfd_lines lines = group(c, axis, i);
        memset(carry, 0, carry_size(s) * sizeof *carry);
        s->forward(c, &lines, kept, carry);
        memset(carry, 0, carry_size(s) * sizeof *carry);
        s->back(c, &lines, kept, carry);
    }
}

/* One way of a pipeline. */
struct way {
    int from, to, tag;
    size_t carry; /* numbers for CFD_LANES lines */
    void (*pass)(const struct cfd *c, const struct cfd_lines *lines, double *kept, double *carry);
};

static int pass_batch(const struct cfd *c, const struct way *way, const struct cfd_pipe *pipe, int axis,
                      struct share groups)
{
    int threads = c->env->threads;
    size_t bytes = (size_t)groups.count * way->carry * sizeof(double);
    struct phases *phases = c->env->phases;
    phase_end(phases, CFD_PHASE_X + axis);
    if (way->from < 0)
        memset(pipe->message, 0, bytes);
    int err = comm_recv(&c->env->comm, way->from, way->tag, pipe->message, bytes);
    phase_end(phases, CFD_PHASE_PIPELINE);
    if (err)
        return err;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t i = 0; i < groups.count; ++i) {
        struct cfd_lines lines = group(c, axis, groups.first + i);
        way->pass(c, &lines, pipe->kept + (size_t)(groups.first + i) * pipe->kept_slot,
                  pipe->message + (size_t)i * way->carry);
    }
    phase_end(phases, CFD_PHASE_X + axis);
    err = comm_send(&c->env->comm, way->to, way->tag, pipe->message, bytes);
    phase_end(phases, CFD_PHASE_PIPELINE);
    return err;
}

/* Back from the last lines to the first: they are still in the cache. */
static int solve_together(const struct cfd *c, const struct cfd_sweep *s, const struct cfd_pipe *pipe,
                          int axis)
{
    const struct way forward = {c->before[axis], c->after[axis], TAG_FORWARD, CFD_LANES * s->carry_forward,
                                s->forward};
    const struct way back = {c->after[axis], c->before[axis], TAG_BACK, CFD_LANES * s->carry_back, s->back};
    int64_t groups = group_count(c, axis), each = batch_size(c, axis), batches = (groups + each - 1) / each;
    int err = 0;
    for (int64_t i = 0; i < 2 * batches && !err; ++i) {
        bool returns = i >= batches;
        int64_t first = (returns ? 2 * batches - 1 - i : i) * each, left = groups - first;
        struct share batch = {first, left < each ? left : each};
        err = pass_batch(c, returns ? &back : &forward, pipe, axis, batch);
    }
    return err;
}

int cfd_sweep(const struct cfd *c, const struct cfd_sweep *sweep, const struct cfd_pipe *pipe, int axis)
{
    int err = 0, threads = c->env->threads;
    if (c->grid.ranks[axis] > 1)
        err = solve_together(c, sweep, pipe, axis);
    else {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (int t = 0; t < threads; ++t)
            solve_alone(c, sweep, pipe, axis, t);
    }
    phase_end(c->env->phases, CFD_PHASE_X + axis);
    return err;
}
