#include "ops/mpi/onesided/window.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "team/hosts.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { BY_ALLOCATE, BY_CREATE, BY_SHARED = WINDOW_SHARED, BY_DYNAMIC = WINDOW_DYNAMIC };
enum { NOTHING, NO_LOCKS, UNORDERED, SAME_OP, SAME_SIZE, SAME_UNIT };

const char *const window_words[WINDOW_KINDS + 1] = {
    [BY_ALLOCATE] = "allocate", [BY_CREATE] = "create", [BY_SHARED] = "shared", [BY_DYNAMIC] = "dynamic"};
const char *const window_info_words[WINDOW_PROMISES + 1] = {
    [NOTHING] = "none",    [NO_LOCKS] = "no_locks",   [UNORDERED] = "unordered",
    [SAME_OP] = "same_op", [SAME_SIZE] = "same_size", [SAME_UNIT] = "same_disp_unit"};

/* MPI 4.0, section 12.2.1. */
static const struct hint promises[WINDOW_PROMISES] = {[NO_LOCKS] = {"no_locks", "true"},
                                                      [UNORDERED] = {"accumulate_ordering", "none"},
                                                      [SAME_OP] = {"accumulate_ops", "same_op"},
                                                      [SAME_SIZE] = {"same_size", "true"},
                                                      [SAME_UNIT] = {"same_disp_unit", "true"}};

static int allocate(struct window *w, MPI_Info info, MPI_Comm comm)
{
    return MPI_Win_allocate((MPI_Aint)w->bytes, 1, info, comm, &w->memory, &w->win);
}

static int create(struct window *w, MPI_Info info, MPI_Comm comm)
{
    return MPI_Win_create(w->memory, (MPI_Aint)w->bytes, 1, info, comm, &w->win);
}

static int allocate_shared(struct window *w, MPI_Info info, MPI_Comm comm)
{
    return MPI_Win_allocate_shared((MPI_Aint)w->bytes, 1, info, comm, &w->memory, &w->win);
}

static int create_dynamic(struct window *w, MPI_Info info, MPI_Comm comm)
{
    return MPI_Win_create_dynamic(info, comm, &w->win);
}

/* A rank that has attached nothing has no first byte, and no rank accesses it. */
static int attach(struct window *w, MPI_Comm comm)
{
    MPI_Aint first = 0;
    int rc = w->bytes > 0 ? MPI_Win_attach(w->win, w->memory, (MPI_Aint)w->bytes) : MPI_SUCCESS;
    if (rc == MPI_SUCCESS && w->bytes > 0)
        rc = MPI_Get_address(w->memory, &first);
    return rc == MPI_SUCCESS ? MPI_Allgather(&first, 1, MPI_AINT, w->first, 1, MPI_AINT, comm) : rc;
}

static const struct kind {
    int (*make)(struct window *w, MPI_Info info, MPI_Comm comm);
    const char *call;
    bool ours;                                     /* its memory is ours, not the library's */
    int (*reach)(struct window *w, MPI_Comm comm); /* collective: let others access it, or NULL */
} kinds[WINDOW_KINDS] = {
    [BY_ALLOCATE] = {allocate, "MPI_Win_allocate", false},
    [BY_CREATE] = {create, "MPI_Win_create", true},
    [BY_SHARED] = {allocate_shared, "MPI_Win_allocate_shared", false},
    [BY_DYNAMIC] = {create_dynamic, "MPI_Win_create_dynamic or MPI_Win_attach", true, attach}};

bool window_is_even(int info)
{
    return info == SAME_SIZE;
}

int window_plan(struct window *w, const struct op_env *env, const struct window_ask *ask)
{
    *w = (struct window){.win = MPI_WIN_NULL, .bytes = ask->bytes, .kind = ask->kind, .info = ask->info};
    if (ask->info == NO_LOCKS && ask->locks)
        return err_say(ERR_INPUT, "info=no_locks promises the library that nobody locks the window; give "
                                  "sync=fence or sync=pscw, with complete=close");
    for (int r = 0; r < ask->ranks && ask->kind == BY_SHARED; ++r)
        if (!host_is_same(env->team, 0, r))
            return err_say(ERR_UNSUPPORTED,
                           "window=shared needs ranks on one host, and rank %d is not on "
                           "that of rank 0; give another kind",
                           r);
    if (kinds[ask->kind].ours)
        return buffers_take(env->buffers, 1, ask->bytes, (void **)&w->memory);
    buffers_count(env->buffers, ask->bytes);
    return 0;
}

int window_promise(int info, MPI_Info *made)
{
    return hint_make(&promises[info], made);
}

int window_call(struct window *w, MPI_Info info, MPI_Comm comm)
{
    return kinds[w->kind].make(w, info, comm);
}

static int make_reachable(struct window *w, MPI_Info info, MPI_Comm comm)
{
    const struct kind *kind = &kinds[w->kind];
    int rc = window_call(w, info, comm);
    return rc == MPI_SUCCESS && kind->reach ? kind->reach(w, comm) : rc;
}

/* What the library says of the window: its memory model (MPI 4.0, section 12.4), and its value of the info
 * key. */
static int look(struct window *w)
{
    MPI_Info has = MPI_INFO_NULL;
    int *model = NULL, told = 0;
    int rc = compat_win_model(w->win, &model, &told);
    if (rc == MPI_SUCCESS && told)
        w->model = *model == MPI_WIN_UNIFIED ? "unified" : "separate";
    if (rc != MPI_SUCCESS || w->info == NOTHING)
        return team_mpi_err(rc, "MPI_Win_get_attr");
    rc = MPI_Win_get_info(w->win, &has);
    rc = rc == MPI_SUCCESS ? hint_look(&promises[w->info], has, &w->hint) : rc;
    return team_mpi_err(rc, "MPI_Win_get_info");
}

void window_describe(const struct window *w, struct json *j)
{
    if (w->model)
        json_string(j, "window_model", w->model);
    hint_describe(&w->hint, j);
}

int window_make(struct window *w, MPI_Comm comm)
{
    MPI_Info info = MPI_INFO_NULL;
    int size = 0, failed = 0;
    if (w->win != MPI_WIN_NULL)
        return 0;
    int rc = MPI_Comm_size(comm, &size);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_rank(comm, &w->rank);
    if (rc == MPI_SUCCESS)
        rc = window_promise(w->info, &info);
    w->first = calloc((size_t)(size > 0 ? size : 1), sizeof *w->first);
    int err = w->first ? team_mpi_err(rc, "MPI_Info_set")
                       : err_say(ERR_NOMEM, "no memory for the window's displacements of %d ranks", size);
    if (!err)
        err = team_mpi_err(make_reachable(w, info, comm), kinds[w->kind].call);
    if (!err)
        err = team_mpi_err(MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    err = err ? err : look(w);
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    failed = err;
    rc = MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
    if (!err && failed)
        err = err_say(ERR_MPI, "%s failed on another rank", kinds[w->kind].call);
    return err ? err : team_mpi_err(rc, "MPI_Allreduce");
}

void window_free(struct window *w)
{
    if (w->win != MPI_WIN_NULL && w->kind == BY_DYNAMIC && w->bytes > 0)
        MPI_Win_detach(w->win, w->memory);
    if (w->win != MPI_WIN_NULL)
        MPI_Win_free(&w->win);
    free(w->first);
    w->first = NULL;
}

int window_enter(const struct window *w, bool locks)
{
    return locks ? team_mpi_err(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, w->rank, 0, w->win), "MPI_Win_lock") : 0;
}

int window_leave(const struct window *w, bool locks)
{
    return locks ? team_mpi_err(MPI_Win_unlock(w->rank, w->win), "MPI_Win_unlock") : 0;
}
