/* What the target of locks does while the origin is busy. If the origin's calls are complete before the
 * target is in MPI again, the library does not need the target's help. */
#include "ops/mpi/onesided/rma.h"

#include "base/delay_until.h"
#include "base/err.h"

#include <math.h>
#include <time.h>

enum { WAITS, POLLS, COMPUTES, SLEEPS };
const char *const rma_stay_words[RMA_STAYS + 1] = {
    [WAITS] = "waits", [POLLS] = "polls", [COMPUTES] = "computes", [SLEEPS] = "sleeps"};

bool rma_stays_away(int word)
{
    return word == COMPUTES || word == SLEEPS;
}

/* Count the calls that began before the target was back, and those that were also complete by then. The
 * target left after this clock was read and stays away for a given time, so the offset of its clock does not
 * matter. */
static void count(struct rma *s)
{
    const int64_t now = phase_now(s->clock);
    if (s->last_ns < s->back_ns)
        s->begun += s->batch;
    if (now < s->back_ns)
        s->early += s->batch;
    s->last_ns = now;
}

static int counted_finish(struct rma *s, int first)
{
    const int rc = s->plain_finish(s, first);
    count(s);
    return rc;
}

static int counted_close(struct rma *s)
{
    const int rc = s->plain_close(s);
    count(s);
    return rc;
}

int rma_choose_stay(struct rma *s, const struct op_env *env, int word, double away_us)
{
    const bool closes = s->loop == s->loops->epochs;
    s->stay = word;
    s->away_ns = llround(away_us * 1e3);
    s->clock = env->phases;
    if (word != WAITS && !s->locks)
        return err_say(ERR_INPUT,
                       "target_does=%s is for locks, where the target has no part in the epochs; give "
                       "sync=lock, lock_shared or lock_all",
                       rma_stay_words[word]);
    if (!rma_stays_away(word) || s->role == RMA_TARGET || (closes && s->gate && s->thread > 0))
        return 0;
    s->plain_close = s->close;
    s->plain_finish = s->finish;
    if (closes)
        s->close = counted_close;
    else
        s->finish = counted_finish;
    return 0;
}

int rma_leave(struct rma *s)
{
    if (!rma_stays_away(s->stay))
        return MPI_SUCCESS;
    if (s->role == RMA_TARGET)
        return MPI_Recv(NULL, 0, MPI_BYTE, s->peer, rma_tag(s, RMA_TAG_LEAVE), s->comm, MPI_STATUS_IGNORE);
    s->begun = s->early = 0;
    s->last_ns = phase_now(s->clock);
    s->back_ns = s->last_ns + s->away_ns;
    return MPI_Send(NULL, 0, MPI_BYTE, s->peer, rma_tag(s, RMA_TAG_LEAVE), s->comm);
}

static void be_away(const struct rma *s)
{
    enum { NS = 1000000000 };
    const struct timespec away = {s->away_ns / NS, s->away_ns % NS};
    if (s->stay == COMPUTES)
        delay_for(s->away_ns);
    if (s->stay == SLEEPS)
        nanosleep(&away, NULL);
}

int rma_stay(struct rma *s)
{
    MPI_Request done;
    int is_done = 0;
    if (s->stay == WAITS)
        return MPI_Recv(NULL, 0, MPI_BYTE, s->peer, rma_tag(s, RMA_TAG_DONE), s->comm, MPI_STATUS_IGNORE);
    int rc = MPI_Irecv(NULL, 0, MPI_BYTE, s->peer, rma_tag(s, RMA_TAG_DONE), s->comm, &done);
    while (rc == MPI_SUCCESS && !is_done) {
        be_away(s);
        rc = MPI_Test(&done, &is_done, MPI_STATUS_IGNORE);
    }
    return rc;
}
