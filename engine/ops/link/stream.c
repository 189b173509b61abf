/* sock.tcp, sock.unix, sock.pipe: bytes through a connection of the kernel, there and back or as a stream.
 *
 * As in NetPIPE over TCP (Snell, Mikler, Gustafson 1996), a message is written and read until it is complete.
 * It has no header, because both ends know its size. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "base/wait.h"
#include "ops/link/address.h"
#include "ops/link/link.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAIT, BUFSIZE, NODELAY };
enum { BLOCK, SPIN };
enum {
    SECRET_BYTES = 16, /* nobody guesses as many */
    BACKLOG = 16,      /* others may connect, too */
    SECRET_AFTER_S = 5 /* much longer than a network takes */
};

static const char *const waits[] = {"block", "spin", NULL};
static const char *const switches[] = {"on", "off", NULL};

#define LINK_PARAMS                                                                                          \
    [WAIT] = PARAM_WORDS("wait", "block: the kernel wakes the waiting process; spin: it polls", waits),      \
    [BUFSIZE] = {"bufsize", "bytes", "size of the kernel's buffers; 0: the kernel's choice", 0, 0, 1 << 30}
#define TCP_PARAMS                                                                                           \
    LINK_PARAMS, [NODELAY] = PARAM_WORDS("nodelay", "TCP_NODELAY; off: the default of sockets", switches)

static const struct param tcp_params[] = {TCP_PARAMS, BUFFERS_PARAMS, {0}};
static const struct param tcp_stream_params[] = {TCP_PARAMS, LINK_WINDOW_PARAM, BUFFERS_PARAMS, {0}};
static const struct param link_params[] = {LINK_PARAMS, BUFFERS_PARAMS, {0}};
static const struct param link_stream_params[] = {LINK_PARAMS, LINK_WINDOW_PARAM, BUFFERS_PARAMS, {0}};

struct file_link {
    struct link f; /* first */
    int in, out;   /* the same for a socket */
    int spare[2];  /* the listening socket, or the other rank's ends of pipes; -1: none */
};

/* What one rank sends to the other at setup. */
struct file_hello {
    struct link_seat seat;
    struct addresses addresses;
    int port;                  /* of TCP */
    int files[2];              /* pipes: the files that rank 1 reads from and writes to */
    char secret[SECRET_BYTES]; /* of sockets: by what rank 1 knows rank 0 */
};

/* The three steps of a connection: rank 1 of sockets or rank 0 of pipes offers; the other rank joins; the one
 * that offered completes. Both ranks call each step. */
struct kind {
    int (*offer)(struct file_link *s, const struct op_env *env, struct file_hello *mine);
    int (*join)(struct file_link *s, const struct op_env *env, const struct file_hello *mine,
                const struct file_hello *theirs);
    int (*complete)(struct file_link *s, const struct op_env *env, const struct file_hello *mine);
};

/* ---- messages ---------------------------------------------------------------------------------------- */

/* On a socket that does not block, calls that find nothing are repeated. Where it blocks, there are none. */
static int put(struct link *f, const void *data, size_t bytes)
{
    const struct file_link *s = (const struct file_link *)f;
    const char *at = data;
    for (int looks = 0; bytes > 0;) {
        ssize_t n = write(s->out, at, bytes);
        if (n > 0) {
            at += n;
            bytes -= (size_t)n;
        } else if (n < 0 && errno != EAGAIN && errno != EINTR)
            return err_say(ERR_SYSTEM, "write to rank %d failed: %s", f->peer, strerror(errno));
        else
            wait_a_little(&looks);
    }
    return 0;
}

static int get(struct link *f, void *data, size_t bytes)
{
    const struct file_link *s = (const struct file_link *)f;
    char *at = data;
    for (int looks = 0; bytes > 0;) {
        ssize_t n = read(s->in, at, bytes);
        if (n > 0) {
            at += n;
            bytes -= (size_t)n;
        } else if (n == 0)
            return err_say(ERR_SYSTEM, "rank %d has closed its end", f->peer);
        else if (errno != EAGAIN && errno != EINTR)
            return err_say(ERR_SYSTEM, "read from rank %d failed: %s", f->peer, strerror(errno));
        else
            wait_a_little(&looks);
    }
    return 0;
}

/* ---- sockets ----------------------------------------------------------------------------------------- */

static int refuse(const char *call)
{
    return err_say(ERR_UNSUPPORTED, "%s failed: %s", call, strerror(errno));
}

/* Sizes of buffers must be set before the connection is made. An accepted socket inherits them. */
static int socket_open(int domain, const struct op_env *env, int *out)
{
    const int size = (int)env->params[BUFSIZE];
    int made = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0)
        return refuse("socket");
    if (size > 0 && (setsockopt(made, SOL_SOCKET, SO_SNDBUF, &size, sizeof size) != 0 ||
                     setsockopt(made, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) != 0)) {
        close(made);
        return refuse("setting the size of a socket's buffers");
    }
    *out = made;
    return 0;
}

static int socket_listen(int file, const struct sockaddr *address, socklen_t length, struct file_hello *mine)
{
    if (getrandom(mine->secret, sizeof mine->secret, 0) != sizeof mine->secret)
        return refuse("getrandom");
    if (bind(file, address, length) != 0)
        return refuse("bind");
    return listen(file, BACKLOG) == 0 ? 0 : refuse("listen");
}

static int socket_join(int file, const struct sockaddr *address, socklen_t length,
                       const struct file_hello *theirs)
{
    if (connect(file, address, length) != 0)
        return refuse("connect");
    return send(file, theirs->secret, sizeof theirs->secret, MSG_NOSIGNAL) == sizeof theirs->secret
               ? 0
               : refuse("send");
}

/* Does the other end know the secret? Any process of the network may have connected before rank 0. */
static bool socket_is_of_rank_0(int file, const struct file_hello *mine)
{
    const struct timeval patience = {.tv_sec = SECRET_AFTER_S}, none = {0};
    char got[SECRET_BYTES];
    return setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
           recv(file, got, sizeof got, MSG_WAITALL) == sizeof got &&
           memcmp(got, mine->secret, sizeof got) == 0 &&
           setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &none, sizeof none) == 0;
}

/* The connection exists since the other rank joined, so this does not wait for it. */
static int socket_complete(struct file_link *s, const struct op_env *env, const struct file_hello *mine)
{
    (void)env;
    while (s->f.rank == 1 && s->in < 0) {
        s->in = accept4(s->spare[0], NULL, NULL, SOCK_CLOEXEC);
        if (s->in < 0 && errno != ECONNABORTED && errno != EINTR)
            return refuse("accept");
        if (s->in >= 0 && !socket_is_of_rank_0(s->in, mine)) {
            close(s->in);
            s->in = -1;
        }
    }
    s->out = s->in;
    return 0;
}

static int tcp_offer(struct file_link *s, const struct op_env *env, struct file_hello *mine)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t length = sizeof here;
    addresses_read(&mine->addresses);
    if (s->f.rank == 0)
        return 0;
    int err = socket_open(AF_INET, env, &s->spare[0]);
    if (!err)
        err = socket_listen(s->spare[0], (const struct sockaddr *)&here, length, mine);
    if (!err && getsockname(s->spare[0], (struct sockaddr *)&here, &length) != 0)
        err = refuse("getsockname");
    mine->port = ntohs(here.sin_port);
    return err;
}

static int tcp_join(struct file_link *s, const struct op_env *env, const struct file_hello *mine,
                    const struct file_hello *theirs)
{
    struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)theirs->port)};
    if (s->f.rank == 1)
        return 0;
    int err = socket_open(AF_INET, env, &s->in);
    if (!err)
        err = addresses_choose(&mine->addresses, &theirs->addresses,
                               seat_same_network(&mine->seat, &theirs->seat), &there.sin_addr);
    return err ? err : socket_join(s->in, (const struct sockaddr *)&there, sizeof there, theirs);
}

static int tcp_complete(struct file_link *s, const struct op_env *env, const struct file_hello *mine)
{
    const int on = env->params[NODELAY] == 0;
    int err = socket_complete(s, env, mine);
    if (!err && setsockopt(s->in, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0)
        err = refuse("setting TCP_NODELAY");
    return err;
}

/* A name outside the file system, which disappears with the socket. */
static socklen_t unix_name(struct sockaddr_un *address, const struct link_seat *seat)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int length = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "steelyard-%ld-%lu",
                          (long)seat->pid, (unsigned long)seat->processes);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int unix_offer(struct file_link *s, const struct op_env *env, struct file_hello *mine)
{
    struct sockaddr_un here;
    if (s->f.rank == 0)
        return 0;
    const socklen_t length = unix_name(&here, &mine->seat);
    int err = socket_open(AF_UNIX, env, &s->spare[0]);
    return err ? err : socket_listen(s->spare[0], (const struct sockaddr *)&here, length, mine);
}

static int unix_join(struct file_link *s, const struct op_env *env, const struct file_hello *mine,
                     const struct file_hello *theirs)
{
    struct sockaddr_un there;
    if (!seat_same_network(&mine->seat, &theirs->seat))
        return seat_refuse(env);
    if (s->f.rank == 1)
        return 0;
    const socklen_t length = unix_name(&there, &theirs->seat);
    int err = socket_open(AF_UNIX, env, &s->in);
    return err ? err : socket_join(s->in, (const struct sockaddr *)&there, length, theirs);
}

/* ---- pipes ------------------------------------------------------------------------------------------- */

/* One pipe in each direction. */
static int pipe_offer(struct file_link *s, const struct op_env *env, struct file_hello *mine)
{
    const int size = (int)env->params[BUFSIZE];
    int there[2], back[2];
    if (s->f.rank == 1)
        return 0;
    if (pipe2(there, O_CLOEXEC) != 0)
        return refuse("pipe");
    s->out = there[1];
    mine->files[0] = s->spare[0] = there[0];
    if (pipe2(back, O_CLOEXEC) != 0)
        return refuse("pipe");
    s->in = back[0];
    mine->files[1] = s->spare[1] = back[1];
    if (size > 0 && (fcntl(s->out, F_SETPIPE_SZ, size) < 0 || fcntl(s->in, F_SETPIPE_SZ, size) < 0))
        return refuse("setting the size of a pipe");
    return 0;
}

static int pipe_join(struct file_link *s, const struct op_env *env, const struct file_hello *mine,
                     const struct file_hello *theirs)
{
    if (!seat_same_host(&mine->seat, &theirs->seat))
        return seat_refuse(env);
    if (s->f.rank == 0)
        return 0;
    int err = seat_open_file(&theirs->seat, theirs->files[0], O_RDONLY, &s->in);
    return err ? err : seat_open_file(&theirs->seat, theirs->files[1], O_WRONLY, &s->out);
}

static int pipe_complete(struct file_link *s, const struct op_env *env, const struct file_hello *mine)
{
    (void)s, (void)env, (void)mine;
    return 0;
}

/* ---- setup ------------------------------------------------------------------------------------------- */

static void spares_close(struct file_link *s)
{
    for (int i = 0; i < 2; ++i) {
        if (s->spare[i] >= 0)
            close(s->spare[i]);
        s->spare[i] = -1;
    }
}

static void teardown(void *state)
{
    struct file_link *s = state;
    if (s->f.rank < 2 && s->in >= 0)
        close(s->in);
    if (s->f.rank < 2 && s->out >= 0 && s->out != s->in)
        close(s->out);
    free(s);
}

static int unblock(int file)
{
    const int flags = fcntl(file, F_GETFL);
    return flags >= 0 && fcntl(file, F_SETFL, flags | O_NONBLOCK) == 0 ? 0 : refuse("setting O_NONBLOCK");
}

static int ends_open(void *state, const struct op_env *env, int err)
{
    struct file_link *s = state;
    const struct kind *kind = env->op->row;
    struct file_hello mine, theirs;
    memset(&mine, 0, sizeof mine); /* padding too: it is sent */
    seat_read(env->team, &mine.seat);
    s->in = s->out = s->spare[0] = s->spare[1] = -1;
    if (!err && env->bytes == 0)
        err = err_say(ERR_UNSUPPORTED, "%s moves a stream of bytes, which has no empty message; use bytes=1",
                      env->op->name);
    err = err ? err : kind->offer(s, env, &mine);
    err = link_meet(&s->f, err, &mine, &theirs, sizeof mine);
    err = err ? err : kind->join(s, env, &mine, &theirs);
    err = link_meet(&s->f, err, NULL, NULL, 0);
    err = err ? err : kind->complete(s, env, &mine);
    if (!err && env->params[WAIT] == SPIN) {
        err = unblock(s->in);
        err = err || s->out == s->in ? err : unblock(s->out);
    }
    spares_close(s);
    return link_meet(&s->f, err, NULL, NULL, 0);
}

static const struct link_kind link_of = {.state_bytes = sizeof(struct file_link),
                                         .answer_bytes = 1,
                                         .put = put,
                                         .get = get,
                                         .connect = ends_open,
                                         .teardown = teardown};

static int setup(const struct op_env *env, void **state)
{
    return link_setup(&link_of, env, state);
}

static const struct kind tcp = {tcp_offer, tcp_join, tcp_complete};
static const struct kind local = {unix_offer, unix_join, socket_complete};
static const struct kind pipes = {pipe_offer, pipe_join, pipe_complete};

static const struct op rows[] = {
    {.name = "sock.tcp",
     .summary = "a message there and back over TCP, without MPI; one way, half the round trip",
     .params = tcp_params,
     .row = &tcp},
    {.name = "sock.tcp.stream",
     .summary = "a window of messages over TCP and an answer of a byte; the time of the whole window",
     .params = tcp_stream_params,
     .row = &tcp},
    {.name = "sock.unix",
     .summary = "a message there and back over a Unix socket; one way, half the round trip",
     .params = link_params,
     .row = &local},
    {.name = "sock.unix.stream",
     .summary = "a window of messages over a Unix socket and an answer of a byte; the time of the window",
     .params = link_stream_params,
     .row = &local},
    {.name = "sock.pipe",
     .summary = "a message there and back through two pipes; one way, half the round trip",
     .params = link_params,
     .row = &pipes},
    {.name = "sock.pipe.stream",
     .summary = "a window of messages through a pipe and an answer of a byte; the time of the window",
     .params = link_stream_params,
     .row = &pipes},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    link_op(op, op->row == &tcp ? LAYER_NETWORK : LAYER_PIPE, setup, teardown);
    op->streams = op->turn != NULL;
}

const struct op_family sock_stream_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
