/* mpi.win.*: the cost of synchronisation itself. Epochs are opened and closed without a call in them, and
 * calls that complete others have nothing to complete. A row is a begin, what is repeated, and an end.
 *
 * The check has a put in each epoch. Active epochs are those of a ring: each rank puts to its right. Passive
 * ones are epochs of rank 0's window. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/mpi/onesided/sync.h"
#include "team/team_mpi.h"

#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

enum { ONE, ALL };
static const char *const who_words[] = {[ONE] = "one", [ALL] = "all", NULL};
enum { EXCLUSIVE, SHARED };
static const char *const lock_words[] = {[EXCLUSIVE] = "exclusive", [SHARED] = "shared", NULL};
enum { RING, EVERYBODY };
static const char *const group_words[] = {[RING] = "ring", [EVERYBODY] = "all", NULL};
enum { BY_WAIT, BY_TEST };
static const char *const end_words[] = {[BY_WAIT] = "wait", [BY_TEST] = "test", NULL};
static const char *const assertion_words[] = {"none", "all", NULL};

#define WHO PARAM_WORDS("who", "who synchronises with rank 0: rank 1 alone, or all ranks at once", who_words)
#define ASSERTION                                                                                            \
    PARAM_WORDS("assertion", "what is asserted: nothing, or all that is true of epochs without calls",       \
                assertion_words)

static const struct param
    fence_params[] = {WINDOW_PARAM, WINDOW_INFO_PARAM, ASSERTION, {0}},
    pscw_params[] = {WINDOW_PARAM,
                     WINDOW_INFO_PARAM,
                     PARAM_WORDS("group", "ranks in the groups: those beside it in a ring, or all others",
                                 group_words),
                     PARAM_WORDS("end",
                                 "how the end of an epoch is awaited: by MPI_Win_wait, "
                                 "or by MPI_Win_test until it says so",
                                 end_words),
                     {0}},
    lock_params[] = {WINDOW_PARAM,
                     WINDOW_INFO_PARAM,
                     PARAM_WORDS("lock", "type of the lock", lock_words),
                     WHO,
                     {0}},
    within_params[] = {WINDOW_PARAM, WINDOW_INFO_PARAM, WHO, {0}},
    test_params[] = {WINDOW_PARAM, WINDOW_INFO_PARAM, {0}};

static int value(const struct op_env *env, const char *name)
{
    return (int)param_value(env->op->params, env->params, name, 0);
}

/* ---- what is repeated ---- */

/* Do calls one after the other, the second only if the first succeeded. */
#define BOTH(first, second)                                                                                  \
    int rc = first;                                                                                          \
    return rc == MPI_SUCCESS ? second : rc

static int nothing(struct sync *s)
{
    (void)s;
    return MPI_SUCCESS;
}

static int fence_open(struct sync *s)
{
    return MPI_Win_fence(s->opening, s->win);
}

static int fence_close(struct sync *s)
{
    return MPI_Win_fence(s->closing, s->win);
}

static int post_start(struct sync *s)
{
    BOTH(MPI_Win_post(s->from, 0, s->win), MPI_Win_start(s->to, 0, s->win));
}

static int await_wait(struct sync *s)
{
    return MPI_Win_wait(s->win);
}

static int await_test(struct sync *s)
{
    int over = 0, rc = MPI_SUCCESS;
    while (!over && rc == MPI_SUCCESS)
        rc = MPI_Win_test(s->win, &over);
    return rc;
}

static int complete_await(struct sync *s)
{
    BOTH(MPI_Win_complete(s->win), s->await(s));
}

static int lock(struct sync *s)
{
    return MPI_Win_lock(s->lock, s->target, 0, s->win);
}

static int unlock(struct sync *s)
{
    return MPI_Win_unlock(s->target, s->win);
}

static int lock_all(struct sync *s)
{
    return MPI_Win_lock_all(0, s->win);
}

static int unlock_all(struct sync *s)
{
    return MPI_Win_unlock_all(s->win);
}

static int flush(struct sync *s)
{
    return MPI_Win_flush(s->target, s->win);
}

static int flush_all(struct sync *s)
{
    return MPI_Win_flush_all(s->win);
}

static int flush_local(struct sync *s)
{
    return MPI_Win_flush_local(s->target, s->win);
}

static int flush_local_all(struct sync *s)
{
    return MPI_Win_flush_local_all(s->win);
}

static int sync_memory(struct sync *s)
{
    return MPI_Win_sync(s->win);
}

/* Rank 1 completes after rank 0 has said that it is done. */
static int test_once(struct sync *s)
{
    int over = 0, rc = MPI_Win_test(s->win, &over);
    return rc == MPI_SUCCESS && over ? MPI_ERR_RMA_SYNC : rc;
}

/* ---- once in a sample ---- */

/* A rank stays in MPI while others need its help. */
static int meet(struct sync *s)
{
    return MPI_Barrier(s->comm);
}

static int leave_all(struct sync *s)
{
    BOTH(unlock_all(s), meet(s));
}

static int expose(struct sync *s)
{
    return s->rank == 0   ? MPI_Win_post(s->from, 0, s->win)
           : s->rank == 1 ? MPI_Win_start(s->to, 0, s->win)
                          : MPI_SUCCESS;
}

static int end_exposure(struct sync *s)
{
    if (s->rank == 0) {
        BOTH(MPI_Send(NULL, 0, MPI_BYTE, 1, 0, s->comm), MPI_Win_wait(s->win));
    }
    if (s->rank == 1) {
        BOTH(MPI_Recv(NULL, 0, MPI_BYTE, 0, 0, s->comm, MPI_STATUS_IGNORE), MPI_Win_complete(s->win));
    }
    return MPI_SUCCESS;
}

/* ---- rows ---- */

/* The loop has the calls inlined, because some take ten ns. */
#define LOOP(opens, closes)                                                                                  \
    static int opens##_##closes##_loop(struct sync *s, int64_t reps)                                         \
    {                                                                                                        \
        int rc = MPI_SUCCESS;                                                                                \
        for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {                                            \
            rc = opens(s);                                                                                   \
            if (rc == MPI_SUCCESS)                                                                           \
                rc = closes(s);                                                                              \
        }                                                                                                    \
        return rc;                                                                                           \
    }
#define REPEATED(opens, closes) .open = (opens), .close = (closes), .loop = opens##_##closes##_loop

LOOP(fence_open, fence_close)
LOOP(post_start, complete_await)
LOOP(lock, unlock)
LOOP(lock_all, unlock_all)
LOOP(nothing, flush)
LOOP(nothing, flush_all)
LOOP(nothing, flush_local)
LOOP(nothing, flush_local_all)
LOOP(nothing, sync_memory)
LOOP(nothing, test_once)

#define LOCKED .class = OP_P2P, .locks = true, .end = meet
#define WITHIN .class = OP_P2P, .locks = true, .begin = lock_all, .end = leave_all, .params = within_params

static const struct sync_row rows[] = {
    {"mpi.win.fence", "MPI_Win_fence twice, which opens an epoch and closes it", fence_params,
     REPEATED(fence_open, fence_close), .class = OP_COLLECTIVE},
    {"mpi.win.pscw", "MPI_Win_post, MPI_Win_start, MPI_Win_complete, MPI_Win_wait", pscw_params,
     REPEATED(post_start, complete_await), .class = OP_COLLECTIVE},
    {"mpi.win.lock", "MPI_Win_lock of rank 0's window, MPI_Win_unlock", lock_params, REPEATED(lock, unlock),
     LOCKED, .updates = true},
    {"mpi.win.lock_all", "MPI_Win_lock_all, MPI_Win_unlock_all", within_params,
     REPEATED(lock_all, unlock_all), LOCKED},
    {"mpi.win.flush", "MPI_Win_flush of rank 0's window, with nothing to complete", REPEATED(nothing, flush),
     WITHIN, .delivers = true},
    {"mpi.win.flush_all", "MPI_Win_flush_all, with nothing to complete", REPEATED(nothing, flush_all), WITHIN,
     .delivers = true},
    {"mpi.win.flush_local", "MPI_Win_flush_local of rank 0's window, with nothing to complete",
     REPEATED(nothing, flush_local), WITHIN, .localises = true},
    {"mpi.win.flush_local_all", "MPI_Win_flush_local_all, with nothing to complete",
     REPEATED(nothing, flush_local_all), WITHIN, .localises = true},
    {"mpi.win.sync", "MPI_Win_sync, with nothing to do", REPEATED(nothing, sync_memory), WITHIN},
    {"mpi.win.test", "MPI_Win_test by rank 0 of an epoch that rank 1 has not completed", test_params,
     REPEATED(nothing, test_once), .class = OP_P2P, .begin = expose, .end = end_exposure, .exposes = true,
     .missing = WIN_TEST_MISSING},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- an op's life ---- */

int sync_begin(struct sync *s)
{
    return s->row->begin ? s->row->begin(s) : MPI_SUCCESS;
}

int sync_end(struct sync *s)
{
    return s->row->end ? s->row->end(s) : MPI_SUCCESS;
}

static int run(void *state, int64_t reps)
{
    struct sync *s = state;
    int rc = sync_begin(s);
    if (rc == MPI_SUCCESS && s->acts)
        rc = s->row->loop(s, reps);
    int ended = sync_end(s);
    return team_mpi_err(rc == MPI_SUCCESS ? ended : rc, s->row->summary);
}

static void describe_end(const void *state, struct json *j)
{
    const struct sync *s = state;
    window_describe(&s->window, j);
}

static void teardown(void *state)
{
    struct sync *s = state;
    window_free(&s->window);
    if (s->from != MPI_GROUP_NULL)
        MPI_Group_free(&s->from);
    if (s->to != MPI_GROUP_NULL)
        MPI_Group_free(&s->to);
    free(s);
}

/* The links: in a ring; all with rank 0's window; rank 1 with rank 0's. */
static void cast_roles(struct sync *s, const struct op_env *env)
{
    const bool all = value(env, "who") == ALL;
    const int other = s->size > 1; /* rank 1, or the only one */
    if (s->row->locks || s->row->exposes) {
        s->puts = all || s->rank == other;
        s->acts = s->row->exposes ? s->rank == 0 : s->puts;
        s->first = all ? 0 : other;
        s->count = s->rank > 0 ? 0 : all ? s->size : 1;
        s->actors = all ? s->size : 1;
        return;
    }
    s->acts = s->puts = true;
    s->target = (s->rank + 1) % s->size;
    s->first = (s->rank + s->size - 1) % s->size;
    s->count = 1;
}

static int choose_groups(struct sync *s, const struct op_env *env)
{
    MPI_Group everybody = MPI_GROUP_NULL;
    const bool others = value(env, "group") == EVERYBODY && s->size > 1;
    const int in = s->row->exposes ? 1 : s->first, out = s->target;
    int rc = MPI_Comm_group(s->comm, &everybody);
    if (rc == MPI_SUCCESS)
        rc = others ? MPI_Group_excl(everybody, 1, &s->rank, &s->from)
                    : MPI_Group_incl(everybody, 1, &in, &s->from);
    if (rc == MPI_SUCCESS)
        rc = others ? MPI_Group_excl(everybody, 1, &s->rank, &s->to)
                    : MPI_Group_incl(everybody, 1, &out, &s->to);
    if (everybody != MPI_GROUP_NULL)
        MPI_Group_free(&everybody);
    return team_mpi_err(rc, "MPI_Group_incl or MPI_Group_excl");
}

/* Turn the parameters' words into constants of MPI. */
static int choose_words(struct sync *s, const struct op_env *env)
{
    const char *const no_test = WIN_TEST_MISSING;
    const bool asserts = value(env, "assertion") != 0, tests = value(env, "end") == BY_TEST;
    s->lock = value(env, "lock") == SHARED ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE;
    s->await = tests ? await_test : await_wait;
    if (tests && no_test)
        return err_say(ERR_UNSUPPORTED, "end=test: %s", no_test);
    if (asserts) {
        s->opening = MPI_MODE_NOPRECEDE | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
        s->closing = MPI_MODE_NOSUCCEED | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
    }
    return 0;
}

static int setup(const struct op_env *env, void **state)
{
    struct sync *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    *s = (struct sync){.row = env->op->row,
                       .comm = team_comm(env->team),
                       .rank = env->team->rank,
                       .size = env->team->size,
                       .from = MPI_GROUP_NULL,
                       .to = MPI_GROUP_NULL,
                       .window.win = MPI_WIN_NULL,
                       .planted = env->planted};
    cast_roles(s, env);
    int err = choose_words(s, env);
    err = err ? err
              : window_plan(&s->window, env,
                            &(struct window_ask){.kind = value(env, "window"),
                                                 .info = value(env, "info"),
                                                 .locks = s->row->locks,
                                                 .ranks = s->size,
                                                 .bytes = ((size_t)s->size + 1) * SYNC_LINE});
    err = err ? err : buffers_take(env->buffers, 1, SYNC_LINE, (void **)&s->send);
    err = err || s->row->locks ? err : choose_groups(s, env);
    if (err)
        teardown(s);
    else
        *state = s;
    return err;
}

/* ---- how many calls a repetition has ---- */

static double epochs_of(const struct op_env *env)
{
    return value(env, "who") == ALL ? env->team->size : 1;
}

/* What is done once in a sample takes some us: one percent of it. */
static const double ONCE_MATTERS_NS = 200e3;

static void op_at(size_t i, struct op *op)
{
    const struct sync_row *row = &rows[i];
    *op = (struct op){
        .family = "windows",
        .summary = row->summary,
        .class = row->class,
        .role = ROLE_CALL,
        .report = OP_SLOWEST,
        .parts = 1,
        .least_ranks = row->exposes ? 2 : 1,
        .least_ns = row->class == OP_P2P ? ONCE_MATTERS_NS : 0,
        .params = row->params,
        .missing = row->missing,
        .row = row,
        .setup = setup,
        .run = run,
        .verify = sync_verify,
        .describe_end = describe_end,
        .teardown = teardown,
        .work = row->locks ? epochs_of : NULL,
    };
    memcpy(op->name, row->name, strlen(row->name) + 1);
}

const struct op_family mpi_win_sync_ops = {.count = ROWS, .op_at = op_at};
