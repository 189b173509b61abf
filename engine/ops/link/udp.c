/* sock.udp: a message is a datagram, there and back or as a stream. A lost datagram is not sent again: the
 * rank that waits for it reports an error, which ends the point. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "base/wait.h"
#include "ops/link/address.h"
#include "ops/link/link.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { WAIT, BUFSIZE };
enum { BLOCK, SPIN };
enum {
    DATAGRAM_MOST = 65507, /* the maximum of IPv4's 16-bit length without its header and UDP's */
    LOST_AFTER_S = 5,      /* much longer than a rank waits for its core, shorter than a launch may be
                              silent */
    SPINS = 100000         /* some 30 ms of polling; then the kernel waits, with a timeout */
};

static const char *const waits[] = {"block", "spin", NULL};

#define UDP_PARAMS                                                                                           \
    [WAIT] = PARAM_WORDS("wait", "block: the kernel wakes the waiting process; spin: it polls", waits),      \
    [BUFSIZE] = {"bufsize",                                                                                  \
                 "bytes",                                                                                    \
                 "size of the kernel's buffers; 0: the kernel's choice, or more if a window needs it",       \
                 0,                                                                                          \
                 0,                                                                                          \
                 1 << 30}

static const struct param ping_params[] = {UDP_PARAMS, BUFFERS_PARAMS, {0}};
static const struct param stream_params[] = {UDP_PARAMS, LINK_WINDOW_PARAM, BUFFERS_PARAMS, {0}};

struct udp {
    struct link f; /* first */
    int file, spins;
};

/* What one rank sends to the other at setup: its address, then the addresses that rank 0 sends from and
 * to. */
struct udp_hello {
    struct link_seat seat;
    struct addresses addresses;
    struct sockaddr_in from, to;
};

static int put(struct link *f, const void *data, size_t bytes)
{
    const struct udp *u = (const struct udp *)f;
    ssize_t n;
    do
        n = send(u->file, data, bytes, 0);
    while (n < 0 && errno == EINTR);
    return n >= 0 ? 0 : err_say(ERR_SYSTEM, "send to rank %d failed: %s", f->peer, strerror(errno));
}

static int get(struct link *f, void *data, size_t bytes)
{
    const struct udp *u = (const struct udp *)f;
    for (int spins = 0, looks = 0;;) {
        const bool asks = spins < u->spins;
        ssize_t n = recv(u->file, data, bytes, (asks ? MSG_DONTWAIT : 0) | MSG_TRUNC);
        if (n >= 0)
            return (size_t)n == bytes
                       ? 0
                       : err_say(ERR_WRONG, "a datagram of %zd bytes came instead of %zu", n, bytes);
        if (errno == EAGAIN && asks) {
            ++spins;
            wait_a_little(&looks);
        } else if (errno == EAGAIN)
            return err_say(ERR_SYSTEM,
                           "nothing came from rank %d for %d s: a datagram was lost; use smaller messages, "
                           "a smaller window or sock.tcp",
                           f->peer, LOST_AFTER_S);
        else if (errno != EINTR)
            return err_say(ERR_SYSTEM, "recv from rank %d failed: %s", f->peer, strerror(errno));
    }
}

static int refuse(const char *call)
{
    return err_say(ERR_UNSUPPORTED, "%s failed: %s", call, strerror(errno));
}

/* Room for a window that has not been read. The kernel counts up to twice a datagram's bytes and some 1.2
 * KiB. It doubles the size asked for, and returns the doubled one. */
static int make_room(const struct udp *u, const struct op_env *env)
{
    const size_t needed = (size_t)u->f.window * (2 * env->bytes + 1280);
    const int asked = (int)env->params[BUFSIZE];
    int size = asked > 0 ? asked : needed / 2 < 1 << 30 ? (int)(needed / 2) : 1 << 30, given = 0;
    socklen_t length = sizeof given;
    if (size > 0 && setsockopt(u->file, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0 &&
        setsockopt(u->file, SOL_SOCKET, SO_RCVBUF, &size, sizeof size) != 0)
        return refuse("setting the size of a socket's buffer");
    if (asked > 0 && setsockopt(u->file, SOL_SOCKET, SO_SNDBUF, &size, sizeof size) != 0)
        return refuse("setting the size of a socket's buffer");
    if (getsockopt(u->file, SOL_SOCKET, SO_RCVBUF, &given, &length) != 0)
        return refuse("getsockopt");
    if (needed > 0 && (size_t)given < needed)
        return err_say(ERR_UNSUPPORTED,
                       "a window of %d datagrams of %zu bytes needs %zu bytes of buffer, the kernel gives %d "
                       "(net.core.rmem_max); use a smaller window",
                       u->f.window, env->bytes, needed, given);
    return 0;
}

static int open_at(struct udp *u, const struct op_env *env, const struct sockaddr_in *here)
{
    const struct timeval patience = {.tv_sec = LOST_AFTER_S};
    u->file = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (u->file < 0)
        return refuse("socket");
    if (setsockopt(u->file, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0)
        return refuse("setting SO_RCVTIMEO");
    if (bind(u->file, (const struct sockaddr *)here, sizeof *here) != 0)
        return refuse("bind");
    return make_room(u, env);
}

/* Find a socket's address. */
static int own_address(const struct udp *u, struct sockaddr_in *here)
{
    socklen_t length = sizeof *here;
    return getsockname(u->file, (struct sockaddr *)here, &length) == 0 ? 0 : refuse("getsockname");
}

/* Drop what others may have sent before the socket was connected. */
static void drop_what_came(const struct udp *u)
{
    char one;
    while (recv(u->file, &one, sizeof one, MSG_DONTWAIT | MSG_TRUNC) >= 0)
        continue;
}

/* Rank 0 chooses where to send, and so the kernel chooses where from. Rank 1 then binds to just that address,
 * so that its answers come from where rank 0 expects them. */
static int choose_ends(struct udp *u, const struct op_env *env, struct udp_hello *mine,
                       struct udp_hello *theirs)
{
    int err = 0;
    if (u->f.rank == 0) {
        mine->to = theirs->from;
        err = addresses_choose(&mine->addresses, &theirs->addresses,
                               seat_same_network(&mine->seat, &theirs->seat), &mine->to.sin_addr);
        if (!err && connect(u->file, (const struct sockaddr *)&mine->to, sizeof mine->to) != 0)
            err = refuse("connect");
        err = err ? err : own_address(u, &mine->from);
    }
    err = link_meet(&u->f, err, mine, theirs, sizeof *mine);
    if (!err && u->f.rank == 1) {
        close(u->file);
        err = open_at(u, env, &theirs->to);
        if (!err && connect(u->file, (const struct sockaddr *)&theirs->from, sizeof theirs->from) != 0)
            err = refuse("connect");
    }
    if (!err)
        drop_what_came(u); /* the other rank sends only after the next line */
    return link_meet(&u->f, err, NULL, NULL, 0);
}

static int ends_open(void *state, const struct op_env *env, int err)
{
    struct udp *u = state;
    const struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    struct udp_hello mine, theirs;
    memset(&mine, 0, sizeof mine); /* padding too: it is sent */
    u->file = -1;
    u->spins = env->params[WAIT] == SPIN ? SPINS : 0;
    seat_read(env->team, &mine.seat);
    addresses_read(&mine.addresses);
    if (!err && env->bytes > DATAGRAM_MOST)
        err = err_say(ERR_UNSUPPORTED, "a datagram has at most %d bytes, not %zu; use sock.tcp",
                      DATAGRAM_MOST, env->bytes);
    err = err ? err : open_at(u, env, &any);
    err = err ? err : own_address(u, &mine.from);
    err = link_meet(&u->f, err, &mine, &theirs, sizeof mine);
    return err ? err : choose_ends(u, env, &mine, &theirs);
}

static void teardown(void *state)
{
    struct udp *u = state;
    if (u->f.rank < 2 && u->file >= 0)
        close(u->file);
    free(u);
}

static const struct link_kind link_of = {
    .state_bytes = sizeof(struct udp), .put = put, .get = get, .connect = ends_open, .teardown = teardown};

static int setup(const struct op_env *env, void **state)
{
    return link_setup(&link_of, env, state);
}

static const struct op rows[] = {
    {.name = "sock.udp",
     .summary = "a datagram there and back over UDP; one way, half the round trip",
     .default_bytes = "0,1..32Ki",
     .params = ping_params},
    {.name = "sock.udp.stream",
     .summary = "a window of datagrams and an empty answer; the time of the whole window",
     .default_bytes = "0,1..32Ki",
     .params = stream_params},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    link_op(op, LAYER_NETWORK, setup, teardown);
}

const struct op_family sock_udp_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
