/* Where the places of a thread's calls are in a window, and the memory that they take. */
#include "base/err.h"
#include "base/num.h"
#include "ops/mpi/onesided/rma.h"

#include <stdlib.h>

/* Messages of neighbours in a line are adjacent, so that they meet within a cache line: they start one
 * number's size after the start of a line. */
enum { LINE = 64, INTO_LINE = 8 };

size_t rma_stride(const struct rma *s)
{
    return s->bytes > 0 ? (s->bytes + LINE - 1) / LINE * LINE : LINE;
}

/* This thread's places in the window, and the bytes of the window for all `sharing` threads. */
static int lay_out(struct rma *s, int sharing, size_t *bytes)
{
    const size_t places = (size_t)s->places;
    const size_t lane = sharing > 1 && s->layout != RMA_WORD ? (size_t)s->thread : 0;
    s->stride = rma_stride(s);
    s->apart = s->layout == RMA_LINE ? (size_t)sharing * s->bytes : s->stride;
    const size_t sets = s->same ? 2 : 1;
    s->first = s->layout == RMA_LINE ? INTO_LINE + lane * s->bytes : lane * sets * places * s->stride;
    s->other = s->first + places * s->stride;
    int err = num_multiply((size_t)sharing * sets * places, s->stride, bytes);
    if (s->layout == RMA_LINE)
        *bytes += LINE;
    return err;
}

static int plan_window(struct rma *s, const struct op_env *env, size_t bytes)
{
    const int info = (int)env->params[RMA_INFO];
    const bool has = s->role != RMA_ORIGIN || window_is_even(info);
    return window_plan(s->window, env,
                       &(struct window_ask){.kind = (int)env->params[RMA_WINDOW],
                                            .info = info,
                                            .locks = s->locks,
                                            .ranks = 2,
                                            .bytes = has ? bytes : 0});
}

int rma_take_requests(struct rma *s)
{
    const size_t places = (size_t)s->places;
    if (!s->row->requests)
        return 0;
    s->requests = malloc(places * sizeof(MPI_Request));
    if (!s->requests)
        return err_say(ERR_NOMEM, "no memory for %zu requests", places);
    for (size_t i = 0; i < places; ++i)
        s->requests[i] = MPI_REQUEST_NULL;
    return 0;
}

int rma_take_memory(struct rma *s, const struct op_env *env, int sharing)
{
    size_t bytes = 0;
    int err = lay_out(s, sharing, &bytes);
    if (!err && s->window == &s->own)
        err = plan_window(s, env, bytes);
    err = err ? err : rma_take_buffers(s, env);
    return err ? err : rma_take_requests(s);
}
