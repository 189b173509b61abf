#include "ops/mpi/many/congestor.h"

#include "base/buffers.h"
#include "base/err.h"
#include "base/num.h"
#include "comm/traffic_patterns.h"
#include "ops/common/data.h"
#include "ops/mpi/many/traffic.h"
#include "team/team_mpi.h"

#include <stdlib.h>

enum { ALL_TO_ALL, BISECTION, FAN_IN, NONE, BCAST, PUT, KINDS };
const char *const congestor_words[KINDS + 1] = {"all", "bisection", "fan_in", "none", "bcast", "put", NULL};

static const struct {
    enum layout_kind layout;
    enum traffic_kind traffic;
} layouts_of[] = {[ALL_TO_ALL] = {LAYOUT_ALL, TRAFFIC_WINDOW},
                  [BISECTION] = {LAYOUT_BISECTION, TRAFFIC_BIWINDOW},
                  [FAN_IN] = {LAYOUT_FAN_IN, TRAFFIC_WINDOW}};

struct congestor {
    struct congestor_ask ask;
    struct traffic *traffic; /* of the layouts; NULL: of other kinds */
    char *out, *in;          /* of the others: the message, and where it comes; one buffer of a broadcast */
    int blocks;              /* where it comes: each put of a round has bytes of its own, as MPI demands */
    int count;               /* bytes of a message, as MPI counts them */
    MPI_Win window;          /* of PUT */
};

static int run_bcast(struct congestor *c)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < c->ask.window && rc == MPI_SUCCESS; ++i)
        rc = MPI_Bcast(c->in, c->count, MPI_BYTE, 0, c->ask.comm);
    return team_mpi_err(rc, "MPI_Bcast");
}

static int next_of(const struct congestor *c)
{
    return (c->ask.rank + 1) % c->ask.size;
}

static int run_put(struct congestor *c)
{
    const int to = next_of(c);
    int rc = MPI_SUCCESS;
    for (int i = 0; i < c->blocks && rc == MPI_SUCCESS; ++i)
        rc = MPI_Put(c->out, c->count, MPI_BYTE, to, (MPI_Aint)i * c->count, c->count, MPI_BYTE, c->window);
    rc = rc == MPI_SUCCESS ? MPI_Win_flush(to, c->window) : rc;
    return team_mpi_err(rc, "MPI_Put or MPI_Win_flush");
}

int congestor_run(struct congestor *c, int64_t rounds)
{
    int err = 0;
    if (c->traffic)
        return traffic_run(c->traffic, rounds);
    for (int64_t i = 0; i < rounds && !err; ++i)
        err = c->ask.kind == PUT ? run_put(c) : run_bcast(c);
    return err;
}

static int open_layout(struct congestor *c)
{
    const struct congestor_ask *ask = &c->ask;
    struct layout_peers peers = {0};
    struct layout_ask layout = {.rank = ask->rank, .size = ask->size};
    int err = layout_alloc(ask->size, &peers);
    if (err)
        return err;
    layouts[layouts_of[ask->kind].layout].peers(&layout, &peers);
    err = traffic_open(&(struct traffic_ask){.comm = ask->comm,
                                             .rank = ask->rank,
                                             .bytes = ask->bytes,
                                             .kind = layouts_of[ask->kind].traffic,
                                             .window = ask->window,
                                             .buffers = 1,
                                             .store = ask->store,
                                             .op = ask->op},
                       &peers, &c->traffic);
    layout_free(&peers);
    return err;
}

static int open_buffers(struct congestor *c)
{
    int err = num_to_int(c->ask.bytes, &c->count);
    c->blocks = c->ask.kind == PUT ? c->ask.window : 1;
    err = err ? err : buffers_take(c->ask.store, (size_t)c->blocks, c->ask.bytes, (void **)&c->in);
    return err || c->ask.kind != PUT ? err : buffers_take(c->ask.store, 1, c->ask.bytes, (void **)&c->out);
}

static int open_window(struct congestor *c)
{
    int rc = MPI_Win_create(c->in, (MPI_Aint)c->blocks * c->count, 1, MPI_INFO_NULL, c->ask.comm, &c->window);
    rc = rc == MPI_SUCCESS ? MPI_Win_lock_all(MPI_MODE_NOCHECK, c->window) : rc;
    return team_mpi_err(rc, "MPI_Win_create or MPI_Win_lock_all");
}

int congestor_open(const struct congestor_ask *ask, struct congestor **congestor)
{
    struct congestor *c = calloc(1, sizeof *c);
    int err = c ? 0 : err_say(ERR_NOMEM, "no memory for the traffic of %s", ask->op), worst = 0;
    if (c) {
        *c = (struct congestor){.ask = *ask, .window = MPI_WIN_NULL};
        err = ask->kind == BCAST || ask->kind == PUT ? open_buffers(c) : open_layout(c);
    }
    const int rc = MPI_Allreduce(&err, &worst, 1, MPI_INT, MPI_MAX, ask->comm);
    err = err ? err : team_mpi_err(rc, "MPI_Allreduce");
    if (!err && !worst && ask->kind == PUT)
        err = open_window(c);
    if (err || worst) {
        congestor_close(c);
        return err ? err : err_say((enum err)worst, "another rank has no room for its traffic");
    }
    *congestor = c;
    return 0;
}

void congestor_close(struct congestor *c)
{
    if (!c)
        return;
    traffic_close(c->traffic);
    if (c->window != MPI_WIN_NULL) {
        MPI_Win_unlock_all(c->window);
        MPI_Win_free(&c->window);
    }
    free(c);
}

/* All have come, and see in their windows what was put there. */
static int meet(const struct congestor *c)
{
    int rc = MPI_Win_sync(c->window);
    rc = rc == MPI_SUCCESS ? MPI_Barrier(c->ask.comm) : rc;
    rc = rc == MPI_SUCCESS ? MPI_Win_sync(c->window) : rc;
    return team_mpi_err(rc, "MPI_Win_sync or MPI_Barrier");
}

int congestor_fill(struct congestor *c)
{
    if (c->traffic) {
        traffic_fill(c->traffic);
        return 0;
    }
    data_poison(c->in, (size_t)c->blocks * c->ask.bytes);
    if (c->ask.kind == PUT)
        data_fill(c->out, c->ask.bytes, c->ask.rank, next_of(c));
    else if (c->ask.rank == 0)
        data_fill(c->in, c->ask.bytes, 0, 0);
    return c->ask.kind == PUT ? meet(c) : 0;
}

int congestor_check(struct congestor *c, bool planted)
{
    if (c->traffic)
        return traffic_check(c->traffic, planted);
    const bool is_put = c->ask.kind == PUT;
    const int before = (c->ask.rank + c->ask.size - 1) % c->ask.size;
    int err = is_put ? meet(c) : 0;
    data_arrived(c->in, (size_t)c->blocks * c->ask.bytes, planted);
    for (int i = 0; i < c->blocks && !err; ++i)
        err = data_check(c->in + (size_t)i * c->ask.bytes, c->ask.bytes, is_put ? before : 0,
                         is_put ? c->ask.rank : 0, i);
    return err;
}
