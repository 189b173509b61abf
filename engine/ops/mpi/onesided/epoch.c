/* The epochs of MPI 4.0, section 12.5: with fences; with post, start, complete and wait; with locks. */
#include "ops/mpi/onesided/rma.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

enum { BY_LOCK_ALL, BY_LOCK_SHARED, BY_LOCK, BY_FENCE, BY_PSCW };
enum { FLUSH, FLUSH_LOCAL, FLUSH_ALL, FLUSH_LOCAL_ALL, CLOSE, REQUEST };
_Static_assert(FLUSH == (int)RMA_BY_FLUSH && REQUEST == (int)RMA_BY_REQUEST, "defaults are in rma.h");

const char *const rma_sync_words[RMA_SYNCS + 1] = {[BY_LOCK_ALL] = "lock_all",
                                                   [BY_LOCK_SHARED] = "lock_shared",
                                                   [BY_LOCK] = "lock",
                                                   [BY_FENCE] = "fence",
                                                   [BY_PSCW] = "pscw"};
const char *const rma_complete_words[RMA_COMPLETIONS + 1] = {
    [FLUSH] = "flush",         [FLUSH_LOCAL] = "flush_local",
    [FLUSH_ALL] = "flush_all", [FLUSH_LOCAL_ALL] = "flush_local_all",
    [CLOSE] = "close",         [REQUEST] = "request"};

/* ---- opening and closing ---- */

static int nothing(struct rma *s)
{
    (void)s;
    return MPI_SUCCESS;
}

static int fence(struct rma *s)
{
    return MPI_Win_fence(0, s->win);
}

static int start(struct rma *s)
{
    return MPI_Win_start(s->group, 0, s->win);
}

static int complete(struct rma *s)
{
    return MPI_Win_complete(s->win);
}

static int post(struct rma *s)
{
    return MPI_Win_post(s->callers, 0, s->win);
}

static int wait(struct rma *s)
{
    return MPI_Win_wait(s->win);
}

static int post_start(struct rma *s)
{
    int rc = post(s);
    return rc == MPI_SUCCESS ? start(s) : rc;
}

static int complete_wait(struct rma *s)
{
    int rc = complete(s);
    return rc == MPI_SUCCESS ? wait(s) : rc;
}

static int lock(struct rma *s)
{
    return MPI_Win_lock(MPI_LOCK_EXCLUSIVE, s->peer, 0, s->win);
}

static int lock_shared(struct rma *s)
{
    return MPI_Win_lock(MPI_LOCK_SHARED, s->peer, 0, s->win);
}

static int unlock(struct rma *s)
{
    return MPI_Win_unlock(s->peer, s->win);
}

static int lock_all(struct rma *s)
{
    return MPI_Win_lock_all(0, s->win);
}

static int unlock_all(struct rma *s)
{
    return MPI_Win_unlock_all(s->win);
}

static const struct sync {
    struct side {
        rma_side *open, *close;
    } sides[RMA_ROLES];
    bool locks;
} syncs[RMA_SYNCS] = {
    [BY_FENCE] = {{[RMA_ORIGIN] = {fence, fence},
                   [RMA_TARGET] = {fence, fence},
                   [RMA_BOTH] = {fence, fence},
                   [RMA_IDLE] = {fence, fence}},
                  false},
    [BY_PSCW] = {{[RMA_ORIGIN] = {start, complete},
                  [RMA_TARGET] = {post, wait},
                  [RMA_BOTH] = {post_start, complete_wait},
                  [RMA_IDLE] = {nothing, nothing}},
                 false},
    [BY_LOCK] = {{[RMA_ORIGIN] = {lock, unlock},
                  [RMA_TARGET] = {nothing, nothing},
                  [RMA_BOTH] = {lock, unlock},
                  [RMA_IDLE] = {nothing, nothing}},
                 true},
    [BY_LOCK_SHARED] = {{[RMA_ORIGIN] = {lock_shared, unlock},
                         [RMA_TARGET] = {nothing, nothing},
                         [RMA_BOTH] = {lock_shared, unlock},
                         [RMA_IDLE] = {nothing, nothing}},
                        true},
    [BY_LOCK_ALL] = {{[RMA_ORIGIN] = {lock_all, unlock_all},
                      [RMA_TARGET] = {nothing, nothing},
                      [RMA_BOTH] = {lock_all, unlock_all},
                      [RMA_IDLE] = {nothing, nothing}},
                     true},
};

/* The epochs of one window at one process must not overlap (MPI 4.0, section 12.5). If threads share one, the
 * first thread opens and closes it while the others wait. */
static int open_together(struct rma *s)
{
    if (s->thread == 0) {
        const int rc = s->first_opens(s);
        if (rc != MPI_SUCCESS)
            gate_break(s->gate, rc);
    }
    return gate_wait(s->gate);
}

/* The others need not wait for the close: the next opening comes after it, and so does the end. */
static int close_together(struct rma *s)
{
    if (s->phases)
        s->time.stop_ns = phase_now(s->phases);
    const int rc = gate_wait(s->gate);
    return rc == MPI_SUCCESS && s->thread == 0 ? s->first_closes(s) : rc;
}

bool rma_sync_locks(int sync)
{
    return syncs[sync].locks;
}

bool rma_sync_is_of_one(int sync)
{
    return sync == BY_LOCK || sync == BY_LOCK_SHARED;
}

int rma_complete_one(int complete)
{
    return complete == FLUSH_ALL || complete == FLUSH_LOCAL_ALL ? CLOSE : complete;
}

/* ---- completing ---- */

static int no_finish(struct rma *s, int first)
{
    (void)s, (void)first;
    return MPI_SUCCESS;
}

static int flush(struct rma *s, int first)
{
    (void)first;
    return MPI_Win_flush(s->peer, s->win);
}

static int flush_local(struct rma *s, int first)
{
    (void)first;
    return MPI_Win_flush_local(s->peer, s->win);
}

static int flush_all(struct rma *s, int first)
{
    (void)first;
    return MPI_Win_flush_all(s->win);
}

static int flush_local_all(struct rma *s, int first)
{
    (void)first;
    return MPI_Win_flush_local_all(s->win);
}

static int wait_all(struct rma *s, int first)
{
    return s->batch == 1 ? MPI_Wait(&s->requests[first], MPI_STATUS_IGNORE)
                         : MPI_Waitall(s->batch, &s->requests[first], statuses_ignored());
}

/* A request is complete at the origin first. Its epoch or a flush then completes the call at the target. */
#define AFTER_WAIT(flush)                                                                                    \
    static int wait_##flush(struct rma *s, int first)                                                        \
    {                                                                                                        \
        int rc = wait_all(s, first);                                                                         \
        return rc == MPI_SUCCESS ? flush(s, first) : rc;                                                     \
    }
AFTER_WAIT(flush)
AFTER_WAIT(flush_local)
AFTER_WAIT(flush_all)
AFTER_WAIT(flush_local_all)

static const struct completion {
    rma_finish *plain, *of_request;
} completions[RMA_COMPLETIONS] = {[FLUSH] = {flush, wait_flush},
                                  [FLUSH_LOCAL] = {flush_local, wait_flush_local},
                                  [FLUSH_ALL] = {flush_all, wait_flush_all},
                                  [FLUSH_LOCAL_ALL] = {flush_local_all, wait_flush_local_all},
                                  [CLOSE] = {no_finish, wait_all},
                                  [REQUEST] = {NULL, wait_all}};

/* ---- which combinations exist ---- */

static int refuse(const struct rma *s, const struct op_env *env, int sync, int complete)
{
    if (complete == REQUEST && !s->row->requests)
        return err_say(ERR_INPUT,
                       "%s gives no request to wait for; give complete=flush, or a call that gives one, as "
                       "mpi.rput does",
                       s->row->call);
    if (!syncs[sync].locks && s->row->requests)
        return err_say(ERR_INPUT,
                       "MPI defines %s for epochs of locks alone, not for sync=%s; give sync=lock, "
                       "lock_shared or lock_all",
                       s->row->call, rma_sync_words[sync]);
    if (!syncs[sync].locks && complete != CLOSE)
        return err_say(ERR_INPUT,
                       "MPI defines MPI_Win_%s for epochs of locks alone, and sync=%s completes %s by "
                       "closing the epoch; give complete=close",
                       rma_complete_words[complete], rma_sync_words[sync], env->op->name);
    return 0;
}

/* Data that arrived are sent on only if both ranks know at the end of an epoch that they have arrived. */
static int refuse_same(const struct rma *s, const struct op_env *env)
{
    const int sync = (int)env->params[RMA_SYNC];
    if (s->row->effect == RMA_FETCH || s->row->effect == RMA_SWAP)
        return err_say(
            ERR_INPUT,
            "buffer=same would have %s fetch to what it sends, which MPI forbids (MPI 4.0, section 12.3); "
            "give buffer=apart or written",
            s->row->call);
    if (s->role != RMA_BOTH || s->row->effect != RMA_PUT)
        return err_say(
            ERR_INPUT,
            "buffer=same sends what came, and nothing that %s could send comes in %s; give buffer=apart "
            "or written, or mpi.put.bibandwidth",
            s->row->call, env->op->name);
    if (syncs[sync].locks)
        return err_say(
            ERR_INPUT,
            "buffer=same sends what came, and with sync=%s no rank knows when that has; give sync=fence "
            "or pscw, with complete=close",
            rma_sync_words[sync]);
    if (s->layout == RMA_LINE)
        return err_say(ERR_INPUT,
                       "buffer=same has two sets of places, in lines of their own; give target=disjoint");
    return 0;
}

void rma_take_turns(struct rma *s)
{
    const size_t last = s->first;
    s->send = s->window->memory + last;
    s->first = s->other;
    s->other = last;
    s->there = s->window->first[s->peer] + (MPI_Aint)s->first;
}

static int in_turns(struct rma *s, int64_t reps)
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
        rma_take_turns(s);
        rc = s->turn(s, 1);
    }
    return rc;
}

int rma_choose_state(struct rma *s, const struct op_env *env)
{
    const enum data_state state = data_state_of(env);
    s->loops = state == DATA_WRITTEN ? &s->row->written : &s->row->plain;
    s->same = state == DATA_SAME;
    if (s->same)
        return refuse_same(s, env);
    if (state == DATA_WRITTEN && s->row->effect == RMA_GET)
        return err_say(ERR_INPUT,
                       "buffer=written needs a sender that writes before each call, and %s fetches from a "
                       "target that has no part in it; give buffer=apart",
                       s->row->call);
    return 0;
}

int rma_choose_epochs(struct rma *s, const struct op_env *env, int sync, int complete)
{
    const struct completion *by = &completions[complete];
    int err = refuse(s, env, sync, complete);
    if (err)
        return err;
    const struct side *side = &syncs[sync].sides[s->role];
    s->first_opens = side->open;
    s->first_closes = side->close;
    s->open = s->gate ? open_together : side->open;
    s->close = s->gate ? close_together : side->close;
    s->locks = syncs[sync].locks;
    s->finish = s->role == RMA_TARGET ? no_finish : s->row->requests ? by->of_request : by->plain;
    s->loop = complete == CLOSE ? s->loops->epochs : s->loops->within;
    s->turn = s->loop;
    s->loop = s->same ? in_turns : s->loop;
    return 0;
}

static int tell(struct rma *s)
{
    return MPI_Send(NULL, 0, MPI_BYTE, s->peer, rma_tag(s, RMA_TAG_DONE), s->comm);
}

static int tell_and_hear(struct rma *s)
{
    const int tag = rma_tag(s, RMA_TAG_DONE);
    return MPI_Sendrecv(NULL, 0, MPI_BYTE, s->peer, tag, NULL, 0, MPI_BYTE, s->peer, tag, s->comm,
                        MPI_STATUS_IGNORE);
}

int rma_meet(struct rma *s)
{
    static int (*const meet[RMA_ROLES])(struct rma *) = {
        [RMA_ORIGIN] = tell, [RMA_TARGET] = rma_stay, [RMA_BOTH] = tell_and_hear};
    return s->locks ? meet[s->role](s) : MPI_SUCCESS;
}
