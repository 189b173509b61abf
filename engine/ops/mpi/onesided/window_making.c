/* mpi.win.make, mpi.win.free, mpi.win.attach, mpi.win.detach: making and freeing a window, attaching and
 * detaching memory. Only one half is timed. The other prepares it, so a sample is one repetition. */
#include "ops/families.h"

#include "base/err.h"
#include "base/num.h"
#include "ops/common/data.h"
#include "ops/mpi/onesided/window.h"
#include "team/team_mpi.h"

#include <stdlib.h>
#include <string.h>

/* Calls in a repetition, because one may take less than a clock can resolve. Open MPI 4.1 allows 32 regions
 * in a window. */
enum { REGIONS = 16 };

struct making;

struct making_row {
    const char *name, *summary, *calls, *sizes;
    int (*other)(struct making *m), (*half)(struct making *m); /* the half that prepares, the half that is
                                                                  timed */
    bool undoes;                                               /* the timed half is the second */
    bool attaches;                                             /* attaches memory to a window that stays */
};

struct making {
    const struct making_row *row;
    MPI_Comm comm;
    MPI_Info info;
    int rank, size, count;
    struct window window;
    size_t stride; /* regions begin on a page: a library may register pages */
    int regions, attached;
    char *source;
    bool planted;
};

/* ---- the halves ---- */

static int make_window(struct making *m)
{
    return m->window.win == MPI_WIN_NULL ? window_call(&m->window, m->info, m->comm) : MPI_SUCCESS;
}

static int free_window(struct making *m)
{
    return m->window.win != MPI_WIN_NULL ? MPI_Win_free(&m->window.win) : MPI_SUCCESS;
}

static char *region(const struct making *m, int i)
{
    return m->window.memory + (size_t)i * m->stride;
}

static int attach_all(struct making *m)
{
    int rc = MPI_SUCCESS;
    for (; m->attached < m->regions && rc == MPI_SUCCESS; m->attached += rc == MPI_SUCCESS)
        rc = MPI_Win_attach(m->window.win, region(m, m->attached), m->count);
    return rc;
}

static int detach_all(struct making *m)
{
    int rc = MPI_SUCCESS;
    for (; m->attached > 0 && rc == MPI_SUCCESS; m->attached -= rc == MPI_SUCCESS)
        rc = MPI_Win_detach(m->window.win, region(m, m->attached - 1));
    return rc;
}

static const struct making_row rows[] = {
    {"mpi.win.make", "the call that makes a window, without the one that frees it",
     "making or freeing a window", "0,8,4Ki,1Mi", free_window, make_window, .undoes = false},
    {"mpi.win.free", "MPI_Win_free, without the call that makes the window", "making or freeing a window",
     "0,8,4Ki,1Mi", make_window, free_window, .undoes = true},
    {"mpi.win.attach", "MPI_Win_attach of memory to a dynamic window", "MPI_Win_attach or MPI_Win_detach",
     "8,4Ki,1Mi", detach_all, attach_all, .undoes = false, .attaches = true},
    {"mpi.win.detach", "MPI_Win_detach of memory from a dynamic window", "MPI_Win_attach or MPI_Win_detach",
     "8,4Ki,1Mi", attach_all, detach_all, .undoes = true, .attaches = true},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const struct param make_params[] = {WINDOW_PARAM, WINDOW_INFO_PARAM, {0}},
                          attach_params[] = {WINDOW_INFO_PARAM, {0}};

/* ---- an op's life ---- */

static int prepare(void *state)
{
    struct making *m = state;
    return team_mpi_err(m->row->other(m), m->row->calls);
}

static int run(void *state, int64_t reps)
{
    struct making *m = state;
    int rc = m->row->half(m);
    for (int64_t i = 1; i < reps && rc == MPI_SUCCESS; ++i) {
        rc = m->row->other(m);
        if (rc == MPI_SUCCESS)
            rc = m->row->half(m);
    }
    return team_mpi_err(rc, m->row->calls);
}

static void teardown(void *state)
{
    struct making *m = state;
    detach_all(m);
    free_window(m);
    if (m->info != MPI_INFO_NULL)
        MPI_Info_free(&m->info);
    free(m);
}

static int plan_memory(struct making *m, const struct op_env *env)
{
    size_t bytes = 0;
    m->stride = (env->bytes + BUFFERS_PAGE - 1) / BUFFERS_PAGE * BUFFERS_PAGE;
    m->regions = m->row->attaches ? REGIONS : 1;
    int err = num_to_int(env->bytes, &m->count);
    err = err ? err : num_multiply((size_t)m->regions, m->stride, &bytes);
    if (!err && m->row->attaches && env->bytes == 0)
        err = err_say(ERR_INPUT, "0 bytes cannot be attached to a window; give a larger size");
    const int kind = m->row->attaches ? WINDOW_DYNAMIC : (int)env->params[0];
    const int info = (int)env->params[m->row->attaches ? 0 : 1];
    err = err ? err
              : window_plan(&m->window, env,
                            &(struct window_ask){.kind = kind,
                                                 .info = info,
                                                 .ranks = m->size,
                                                 .bytes = m->row->attaches ? bytes : env->bytes});
    err = err ? err : buffers_take(env->buffers, 1, env->bytes, (void **)&m->source);
    return err ? err : team_mpi_err(window_promise(info, &m->info), "MPI_Info_set");
}

static int setup(const struct op_env *env, void **state)
{
    struct making *m = calloc(1, sizeof *m);
    if (!m)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *m = (struct making){.row = env->op->row,
                         .comm = team_comm(env->team),
                         .info = MPI_INFO_NULL,
                         .rank = env->team->rank,
                         .size = env->team->size,
                         .window.win = MPI_WIN_NULL,
                         .planted = env->planted};
    int err = plan_memory(m, env);
    if (err)
        teardown(m);
    else
        *state = m;
    return err;
}

/* ---- the check: every rank puts data that fill the memory of the rank to its right ---- */

/* The target address of the memory to the right: for attached memory, its address there. */
static int find_right(const struct making *m, MPI_Aint *there)
{
    MPI_Aint mine = 0;
    int rc = m->window.kind == WINDOW_DYNAMIC ? MPI_Get_address(m->window.memory, &mine) : MPI_SUCCESS;
    const int right = (m->rank + 1) % m->size, left = (m->rank + m->size - 1) % m->size;
    return rc != MPI_SUCCESS ? rc
                             : MPI_Sendrecv(&mine, 1, MPI_AINT, left, 1, there, 1, MPI_AINT, right, 1,
                                            m->comm, MPI_STATUS_IGNORE);
}

static int put_right(const struct making *m)
{
    const MPI_Win win = m->window.win;
    MPI_Aint there = 0;
    int rc = MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (rc == MPI_SUCCESS)
        rc = find_right(m, &there);
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_fence(0, win);
    for (int i = 0; i < m->regions && rc == MPI_SUCCESS; ++i)
        rc = MPI_Put(m->source, m->count, MPI_BYTE, (m->rank + 1) % m->size,
                     there + (MPI_Aint)((size_t)i * m->stride), m->count, MPI_BYTE, win);
    return rc == MPI_SUCCESS ? MPI_Win_fence(0, win) : rc;
}

static int check_memory(struct making *m)
{
    const size_t bytes = (size_t)m->count;
    const int left = (m->rank + m->size - 1) % m->size;
    data_fill(m->source, bytes, m->rank, (m->rank + 1) % m->size);
    for (int i = 0; i < m->regions; ++i)
        data_poison(region(m, i), bytes);
    int err = team_mpi_err(put_right(m), "a put into the window");
    if (!err)
        data_arrived(region(m, m->regions - 1), bytes, m->planted);
    for (int i = 0; i < m->regions && !err; ++i)
        err = data_check(region(m, i), bytes, left, m->rank, i);
    return err;
}

/* For the check alone, memory is attached to a dynamic window that has just been made. */
static int check_window(struct making *m)
{
    const bool lends = !m->row->attaches && m->window.kind == WINDOW_DYNAMIC && m->count > 0;
    int err = lends ? team_mpi_err(attach_all(m), "MPI_Win_attach") : 0;
    err = err ? err : check_memory(m);
    int left = lends ? team_mpi_err(detach_all(m), "MPI_Win_detach") : 0;
    return err ? err : left;
}

static int verify(void *state)
{
    struct making *m = state;
    int err = team_mpi_err(make_window(m), m->row->calls);
    err = err ? err : prepare(m);
    if (err)
        return err;
    int wrong = m->row->undoes ? check_window(m) : 0;
    err = run(m, 1);
    if (!err && !m->row->undoes)
        wrong = check_window(m);
    return err ? err : wrong;
}

static void op_at(size_t i, struct op *op)
{
    const struct making_row *row = &rows[i];
    *op = (struct op){
        .family = "windows",
        .summary = row->summary,
        .class = OP_COLLECTIVE,
        .role = ROLE_CALL,
        .report = OP_SLOWEST,
        .parts = row->attaches ? REGIONS : 1,
        .default_bytes = row->sizes,
        .params = row->attaches ? attach_params : make_params,
        .row = row,
        .setup = setup,
        .prepare = prepare,
        .run = run,
        .verify = verify,
        .teardown = teardown,
    };
    memcpy(op->name, row->name, strlen(row->name) + 1);
}

const struct op_family mpi_win_make_ops = {.count = ROWS, .op_at = op_at};
