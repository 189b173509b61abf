/* Check that synchronisation works: with an epoch that has a put in it, and with updates that exclude each
 * other. */
#include "ops/mpi/onesided/sync.h"

#include "base/err.h"
#include "ops/common/data.h"
#include "team/team_mpi.h"

#include <string.h>

static MPI_Aint place(const struct sync *s, int rank)
{
    return s->window.first[s->target] + (MPI_Aint)rank * SYNC_LINE;
}

static int put(struct sync *s)
{
    return MPI_Put(s->send, SYNC_LINE, MPI_BYTE, s->target, place(s, s->rank), SYNC_LINE, MPI_BYTE, s->win);
}

/* The place behind those of the ranks counts the updates. */
static int prepare(struct sync *s)
{
    ++s->generation;
    data_fill(s->send, SYNC_LINE, s->rank, s->generation);
    int err = window_enter(&s->window, s->row->locks);
    if (err)
        return err;
    data_poison(s->window.memory, (size_t)s->size * SYNC_LINE);
    memset(s->window.memory + (size_t)s->size * SYNC_LINE, 0, SYNC_LINE);
    err = window_leave(&s->window, s->row->locks);
    return err ? err : team_mpi_err(MPI_Barrier(s->comm), "MPI_Barrier");
}

static int look(const struct sync *s)
{
    int err = 0;
    char *const at = s->window.memory + (size_t)s->first * SYNC_LINE;
    data_arrived(at, (size_t)s->count * SYNC_LINE, s->planted);
    for (int i = 0; i < s->count && !err; ++i)
        err = data_check(at + (size_t)i * SYNC_LINE, SYNC_LINE, s->first + i, s->generation, s->first + i);
    return err;
}

static int look_inside(struct sync *s, int *wrong)
{
    int rc = MPI_Barrier(s->comm);
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_sync(s->win);
    *wrong = rc == MPI_SUCCESS ? look(s) : 0;
    return rc;
}

static int look_after(struct sync *s, int *wrong)
{
    int err = team_mpi_err(MPI_Barrier(s->comm), "MPI_Barrier");
    err = err ? err : window_enter(&s->window, s->row->locks);
    if (err)
        return err;
    *wrong = look(s);
    return window_leave(&s->window, s->row->locks);
}

/* An epoch with a put. Ranks with an error go on, because others wait for them. */
static int put_once(struct sync *s, int *wrong)
{
    int rc = sync_begin(s);
    if (rc == MPI_SUCCESS && s->acts)
        rc = s->row->open(s);
    if (rc == MPI_SUCCESS && s->puts)
        rc = put(s);
    if (rc == MPI_SUCCESS && s->acts)
        rc = s->row->close(s);
    if (s->row->localises && s->acts)
        data_poison(s->send, SYNC_LINE);
    if (s->row->delivers) {
        int seen = look_inside(s, wrong);
        rc = rc == MPI_SUCCESS ? seen : rc;
    }
    int ended = sync_end(s);
    return rc == MPI_SUCCESS ? ended : rc;
}

enum { UPDATES = 8 };

/* Under an exclusive lock, read a number and write it back increased by one. */
static int update(struct sync *s)
{
    int64_t number = 0;
    int rc = s->row->open(s);
    if (rc == MPI_SUCCESS)
        rc = MPI_Get(&number, 1, MPI_INT64_T, s->target, place(s, s->size), 1, MPI_INT64_T, s->win);
    if (rc == MPI_SUCCESS)
        rc = MPI_Win_flush(s->target, s->win);
    ++number;
    if (rc == MPI_SUCCESS)
        rc = MPI_Put(&number, 1, MPI_INT64_T, s->target, place(s, s->size), 1, MPI_INT64_T, s->win);
    return rc == MPI_SUCCESS ? s->row->close(s) : rc;
}

static int check_updates(struct sync *s)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < UPDATES && s->acts && rc == MPI_SUCCESS; ++i)
        rc = update(s);
    int met = MPI_Barrier(s->comm);
    int err = team_mpi_err(rc == MPI_SUCCESS ? met : rc, "MPI_Win_lock, MPI_Get or MPI_Put");
    err = err ? err : window_enter(&s->window, true);
    if (err)
        return err;
    int64_t number = 0;
    memcpy(&number, s->window.memory + (size_t)s->size * SYNC_LINE, sizeof number);
    const int wanted = s->rank > 0 ? 0 : UPDATES * s->actors;
    const int left = window_leave(&s->window, true);
    return number == wanted ? left
                            : err_say(ERR_WRONG, "%lld of %d updates under an exclusive lock were kept",
                                      (long long)number, wanted);
}

int sync_verify(void *state)
{
    struct sync *s = state;
    int wrong = 0, err = window_make(&s->window, s->comm);
    if (err)
        return err;
    s->win = s->window.win;
    const int opening = s->opening, closing = s->closing;
    s->opening = s->closing = 0; /* the epochs of the check are not empty */
    err = prepare(s);
    err = err ? err : team_mpi_err(put_once(s, &wrong), s->row->summary);
    if (!err && !s->row->delivers)
        err = look_after(s, &wrong);
    s->opening = opening;
    s->closing = closing;
    if (!err && s->row->updates && s->lock == MPI_LOCK_EXCLUSIVE) {
        int lost = check_updates(s);
        wrong = wrong ? wrong : lost;
    }
    return err ? err : wrong;
}
