/* mpi.win_*: make and free a window of memory. The time includes the free. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <stdlib.h>

struct made_window;

struct win_row {
    int (*make)(struct made_window *w, MPI_Win *win);
    bool own_memory; /* the caller's memory, not the library's */
};

struct made_window {
    const struct win_row *row;
    MPI_Comm comm;
    int rank, size, count;
    MPI_Aint bytes;
    char *memory; /* the memory of the latest window */
    char *mine, *source;
    bool planted;
};

static int create(struct made_window *w, MPI_Win *win)
{
    w->memory = w->mine;
    return MPI_Win_create(w->mine, w->bytes, 1, MPI_INFO_NULL, w->comm, win);
}

static int allocate(struct made_window *w, MPI_Win *win)
{
    return MPI_Win_allocate(w->bytes, 1, MPI_INFO_NULL, w->comm, &w->memory, win);
}

static void teardown(void *state)
{
    struct made_window *w = state;
    free(w);
}

static int setup(const struct op_env *env, void **state)
{
    struct made_window *w = calloc(1, sizeof *w);
    if (!w)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *w = (struct made_window){.row = env->op->row,
                              .comm = team_comm(env->team),
                              .rank = env->team->rank,
                              .size = env->team->size,
                              .planted = env->planted};
    int err = num_to_int(env->bytes, &w->count);
    w->bytes = w->count;
    if (!w->row->own_memory)
        buffers_count(env->buffers, env->bytes);
    if (!err && w->row->own_memory)
        err = buffers_take(env->buffers, 1, env->bytes, (void **)&w->mine);
    if (!err)
        err = buffers_take(env->buffers, 1, env->bytes, (void **)&w->source);
    if (err)
        teardown(w);
    else
        *state = w;
    return err;
}

static int run(void *state, int64_t reps)
{
    struct made_window *w = state;
    int (*const make)(struct made_window *, MPI_Win *) = w->row->make;
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        MPI_Win win;
        rc = make(w, &win);
        if (rc == MPI_SUCCESS)
            rc = MPI_Win_free(&win);
    }
    return team_mpi_err(rc, "making or freeing a window");
}

/* Every rank puts data that fill the window of the rank to its right. */
static int put_right(const struct made_window *w, MPI_Win win)
{
    int rc = MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_fence(0, win);
    if (rc == MPI_SUCCESS)
        rc = MPI_Put(w->source, w->count, MPI_BYTE, (w->rank + 1) % w->size, 0, w->count, MPI_BYTE, win);
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_fence(0, win);
    return rc;
}

static int verify(void *state)
{
    struct made_window *w = state;
    const size_t bytes = (size_t)w->bytes;
    const int left = (w->rank + w->size - 1) % w->size;
    MPI_Win win;
    int rc = w->row->make(w, &win);
    if (rc != MPI_SUCCESS)
        return team_mpi_err(rc, "making a window");
    data_fill(w->source, bytes, w->rank, (w->rank + 1) % w->size);
    data_poison(w->memory, bytes);
    int err = team_mpi_err(put_right(w, win), "a put into the new window");
    if (!err)
        data_arrived(w->memory, bytes, w->planted);
    if (!err)
        err = data_check(w->memory, bytes, left, w->rank, 0);
    int freed = team_mpi_err(MPI_Win_free(&win), "MPI_Win_free");
    return err ? err : freed;
}

static const struct op rows[] = {
    {.name = "mpi.win_create",
     .summary = "MPI_Win_create over existing memory, and MPI_Win_free",
     .row = &(const struct win_row){create, .own_memory = true}},
    {.name = "mpi.win_allocate",
     .summary = "MPI_Win_allocate with its memory, and MPI_Win_free",
     .row = &(const struct win_row){allocate, .own_memory = false}},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    op->family = "management";
    op->class = OP_COLLECTIVE;
    op->flow = FLOW_ALL;
    op->report = OP_SLOWEST;
    op->parts = 1;
    op->default_bytes = "0,8,4Ki,1Mi";
    op->setup = setup;
    op->run = run;
    op->verify = verify;
    op->teardown = teardown;
}

const struct op_family mpi_win_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
