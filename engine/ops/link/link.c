#define _GNU_SOURCE
#include "ops/link/link.h"

#include "base/err.h"
#include "ops/common/data.h"
#include "ops/link/compat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the loops --------------------------------------------------------------------------------------- */

static int ping(struct link *f, int64_t reps)
{
    int err = 0;
    for (int64_t i = 0; i < reps && !err; ++i) {
        err = f->put(f, f->send, f->bytes);
        if (!err)
            err = f->get(f, f->recv, f->bytes);
    }
    return err;
}

static int pong(struct link *f, int64_t reps)
{
    int err = 0;
    for (int64_t i = 0; i < reps && !err; ++i) {
        err = f->get(f, f->recv, f->bytes);
        if (!err)
            err = f->put(f, f->send, f->bytes);
    }
    return err;
}

static int put_each(struct link *f, int count)
{
    int err = 0;
    for (int i = 0; i < count && !err; ++i)
        err = f->put(f, f->send, f->bytes);
    return err;
}

static int get_each(struct link *f, int count)
{
    int err = 0;
    for (int i = 0; i < count && !err; ++i)
        err = f->get(f, f->recv, f->bytes);
    return err;
}

static int send_windows(struct link *f, int64_t reps)
{
    int err = 0;
    for (int64_t i = 0; i < reps && !err; ++i) {
        err = f->put_all(f, f->window);
        if (!err)
            err = f->get(f, f->recv, f->answer_bytes);
    }
    return err;
}

static int recv_windows(struct link *f, int64_t reps)
{
    int err = 0;
    for (int64_t i = 0; i < reps && !err; ++i) {
        err = f->get_all(f, f->window);
        if (!err)
            err = f->put(f, f->send, f->answer_bytes);
    }
    return err;
}

static int nothing(struct link *f, int64_t reps)
{
    (void)f, (void)reps;
    return 0;
}

static int settle(struct link *f, int err)
{
    return err || !f->settle || f->rank > 1 ? err : f->settle(f);
}

static int run(void *state, int64_t reps)
{
    struct link *f = state;
    return settle(f, f->half(f, reps));
}

static int turn(void *state, int64_t message)
{
    struct link *f = state;
    if (f->rank > 1)
        return 0;
    return message % 2 == f->rank ? settle(f, f->put(f, f->send, f->bytes)) : f->get(f, f->recv, f->bytes);
}

/* ---- buffers and their check ------------------------------------------------------------------------- */

/* 0 for a ping-pong. */
static int window_of(const struct op *op, const double *params)
{
    const int row = param_find(op->params, "window");
    return row < 0 ? 0 : (int)params[row];
}

static int link_open(struct link *f, const struct link_kind *kind, const struct op_env *env)
{
    static int (*const halves[2][2])(struct link *, int64_t) = {{ping, pong}, {send_windows, recv_windows}};
    const int rank = env->team->rank, window = window_of(env->op, env->params);
    *f = (struct link){.team = env->team,
                       .rank = rank,
                       .peer = 1 - rank,
                       .bytes = env->bytes,
                       .answer_bytes = kind->answer_bytes,
                       .window = window,
                       .planted = env->planted,
                       .put = kind->put,
                       .get = kind->get,
                       .put_all = kind->put_all ? kind->put_all : put_each,
                       .get_all = kind->get_all ? kind->get_all : get_each,
                       .settle = kind->settle,
                       .half = rank > 1 ? nothing : halves[window > 0][rank]};
    if (rank > 1)
        return 0;
    const size_t room = env->bytes > 0 ? env->bytes : 1; /* an answer may be longer than a message */
    int err = buffers_take(env->buffers, 1, room, (void **)&f->send);
    return err ? err : buffers_take(env->buffers, 1, room, (void **)&f->recv);
}

int link_setup(const struct link_kind *kind, const struct op_env *env, void **state)
{
    struct link *f = calloc(1, kind->state_bytes);
    if (!f)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    int err = link_open(f, kind, env);
    if (f->rank < 2)
        err = kind->connect(f, env, err);
    if (err)
        kind->teardown(f);
    else
        *state = f;
    return err;
}

static int check(const struct link *f)
{
    data_arrived(f->recv, f->bytes, f->planted);
    return data_check(f->recv, f->bytes, f->peer, f->generation, 0);
}

/* Each message of a window is checked when it arrives: the next one may use the same buffer. */
static int verify_window(struct link *f)
{
    int err = 0, wrong = 0;
    for (int w = 0; w < f->window && !err; ++w) {
        if (f->rank == 0) {
            err = f->put(f, f->send, f->bytes);
        } else {
            data_poison(f->recv, f->bytes);
            err = f->get(f, f->recv, f->bytes);
            wrong = wrong || err ? wrong : check(f);
        }
    }
    if (!err)
        err = f->rank == 0 ? f->get(f, f->recv, f->answer_bytes) : f->put(f, f->send, f->answer_bytes);
    err = settle(f, err);
    return err ? err : wrong;
}

static int verify(void *state)
{
    struct link *f = state;
    if (f->rank > 1)
        return 0;
    data_fill(f->send, f->bytes, f->rank, ++f->generation);
    if (f->window > 0)
        return verify_window(f);
    data_poison(f->recv, f->bytes);
    int err = settle(f, f->half(f, 1));
    return err ? err : check(f);
}

/* ---- how the two ranks meet -------------------------------------------------------------------------- */

static int swap(const struct link *f, const void *mine, void *theirs, size_t bytes)
{
    int err =
        f->rank == 0 ? team_send(f->team, f->peer, mine, bytes) : team_recv(f->team, f->peer, theirs, bytes);
    if (err)
        return err;
    return f->rank == 0 ? team_recv(f->team, f->peer, theirs, bytes)
                        : team_send(f->team, f->peer, mine, bytes);
}

int link_meet(const struct link *f, int err, const void *mine, void *theirs, size_t bytes)
{
    int32_t my_err = err, their_err = 0;
    if (f->rank > 1)
        return err;
    int failed = swap(f, &my_err, &their_err, sizeof my_err);
    if (!failed && !my_err && !their_err && bytes > 0)
        failed = swap(f, mine, theirs, bytes);
    if (failed || my_err)
        return my_err ? my_err : failed;
    return their_err ? err_say((enum err)their_err, "%s", "") : 0;
}

static ino_t space(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 ? found.st_ino : 0;
}

void seat_read(const struct team *team, struct link_seat *seat)
{
    memset(seat, 0, sizeof *seat); /* padding too: it is sent */
    seat->host = *host_mine(team);
    seat->net = space("/proc/self/ns/net");
    seat->processes = space("/proc/self/ns/pid");
    seat->pid = getpid();
}

bool seat_same_network(const struct link_seat *a, const struct link_seat *b)
{
    return a->host.kernel == b->host.kernel && a->net == b->net;
}

bool seat_same_host(const struct link_seat *a, const struct link_seat *b)
{
    return a->host.first == b->host.first && a->processes == b->processes;
}

int seat_refuse(const struct op_env *env)
{
    return err_say(ERR_UNSUPPORTED,
                   "%s is for two ranks of one host, and ranks 0 and 1 are on two or in two containers; use "
                   "sock.tcp or sock.udp",
                   env->op->name);
}

int seat_open_file(const struct link_seat *seat, int number, int flags, int *file)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)seat->pid, number);
    int opened = open(path, flags | O_CLOEXEC);
    if (opened < 0)
        return err_say(ERR_UNSUPPORTED, "a file of the other rank cannot be opened as %s: %s", path,
                       strerror(errno));
    *file = opened;
    return 0;
}

/* Rank 0 describes the memory. The other rank does so only if it is on the same host. */
struct offer {
    struct link_seat seat;
    int file;
};

int link_share(const struct link *f, const struct op_env *env, int err, size_t bytes, void **memory)
{
    struct offer mine, theirs;
    void *mapped = MAP_FAILED;
    memset(&mine, 0, sizeof mine); /* padding too: it is sent */
    seat_read(env->team, &mine.seat);
    mine.file = -1;
    if (!err && f->rank == 0) {
        mine.file = memfd_create("steelyard", MFD_CLOEXEC);
        if (mine.file < 0 || ftruncate(mine.file, (off_t)bytes) != 0)
            err = err_say(ERR_NOMEM, "no shared memory of %zu bytes: %s", bytes, strerror(errno));
    }
    err = link_meet(f, err, &mine, &theirs, sizeof mine);
    if (!err && !seat_same_host(&mine.seat, &theirs.seat))
        err = seat_refuse(env);
    if (!err && f->rank == 1)
        err = seat_open_file(&theirs.seat, theirs.file, O_RDWR, &mine.file);
    if (!err) {
        mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, mine.file, 0);
        if (mapped == MAP_FAILED)
            err =
                err_say(ERR_NOMEM, "%zu bytes of shared memory cannot be mapped: %s", bytes, strerror(errno));
    }
    err = link_meet(f, err, NULL, NULL, 0); /* the other rank has opened the file */
    if (mine.file >= 0)
        close(mine.file);
    if (err && mapped != MAP_FAILED)
        munmap(mapped, bytes);
    *memory = err ? NULL : mapped;
    return err;
}

/* ---- rows -------------------------------------------------------------------------------------------- */

static double moved_both_ways(const struct op_env *env)
{
    return 2 * (double)env->bytes;
}

static double moved_one_way(const struct op_env *env)
{
    return (double)window_of(env->op, env->params) * (double)env->bytes;
}

void link_op(struct op *op, enum op_layer layer, int (*setup)(const struct op_env *env, void **state),
             void (*teardown)(void *state))
{
    const bool stream = param_find(op->params, "window") >= 0;
    op->family = "floor";
    op->class = OP_P2P;
    op->role = stream ? ROLE_BANDWIDTH : ROLE_LATENCY;
    op->report = OP_ROOT;
    op->least_ranks = 2;
    op->missing = op->missing ? op->missing : LINK_MISSING;
    op->parts = stream ? 1 : 2;
    op->default_bytes = op->default_bytes ? op->default_bytes : "1..4Mi";
    op->layer = layer;
    op->setup = setup;
    op->teardown = teardown;
    op->run = run;
    op->turn = stream ? NULL : turn;
    op->verify = verify;
    op->moved = stream ? moved_one_way : moved_both_ways;
}
