/* shm.flag: a message is copied into shared memory, a flag says so, and it is copied out. MPI does at least
 * this within a host, unless one process reads the other's memory (shm.cma).
 *
 * Longer messages go in pieces through a ring of slots, so that the two copies overlap. A message of a few
 * words stands beside its flag, in the same cache line. */
#include "ops/families.h"

#include "base/err.h"
#include "base/wait.h"
#include "ops/link/link.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, PAGE = 4096, SLOTS = 8 };
enum { PIECE };

#define FLAG_PARAMS                                                                                          \
    [PIECE] = {"piece", "bytes", "bytes that are copied at once, into one of 8 slots", 16384, LINE, 1 << 30}

static const struct param ping_params[] = {FLAG_PARAMS, BUFFERS_PARAMS, {0}};
static const struct param stream_params[] = {FLAG_PARAMS, LINK_WINDOW_PARAM, BUFFERS_PARAMS, {0}};

/* The pieces of one direction are numbered from 1. */
struct slot {
    _Alignas(LINE) _Atomic uint64_t number; /* of the piece in it */
    char beside[LINE - sizeof(uint64_t)];   /* a short message */
    char piece[];
};

/* One direction in shared memory. Its slots follow. */
struct flag_lane {
    _Alignas(LINE) _Atomic uint64_t taken; /* pieces */
};

struct flag_end {
    struct flag_lane *lane;
    uint64_t count; /* pieces so far */
    uint64_t most;  /* pieces that may be sent before `taken` is read again */
};

struct flag {
    struct link f; /* first */
    struct flag_end in, out;
    size_t piece, stride; /* of a slot */
    void *memory;
    size_t bytes; /* of it */
};

static inline struct slot *slot_of(const struct flag *s, const struct flag_end *end)
{
    return (struct slot *)((char *)(end->lane + 1) + end->count % SLOTS * s->stride);
}

static int put(struct link *f, const void *data, size_t bytes)
{
    struct flag *s = (struct flag *)f;
    struct flag_end *out = &s->out;
    const char *at = data;
    do {
        struct slot *slot = slot_of(s, out);
        const bool is_short = bytes <= sizeof slot->beside;
        const size_t piece = is_short || bytes <= s->piece ? bytes : s->piece;
        for (int looks = 0; out->count == out->most;) {
            out->most = atomic_load_explicit(&out->lane->taken, memory_order_acquire) + SLOTS;
            if (out->count == out->most)
                wait_a_little(&looks);
        }
        memcpy(is_short ? slot->beside : slot->piece, at, piece);
        atomic_store_explicit(&slot->number, ++out->count, memory_order_release);
        at += piece;
        bytes -= piece;
    } while (bytes > 0);
    return 0;
}

/* A sender has received all that was sent to it, in a ping-pong and in a stream. So when a message arrives,
 * all slots of the other direction are free. */
static int get(struct link *f, void *data, size_t bytes)
{
    struct flag *s = (struct flag *)f;
    struct flag_end *in = &s->in;
    char *at = data;
    do {
        const struct slot *slot = slot_of(s, in);
        const bool is_short = bytes <= sizeof slot->beside;
        const size_t piece = is_short || bytes <= s->piece ? bytes : s->piece;
        for (int looks = 0; atomic_load_explicit(&slot->number, memory_order_acquire) != in->count + 1;)
            wait_a_little(&looks);
        memcpy(at, is_short ? slot->beside : slot->piece, piece);
        atomic_store_explicit(&in->lane->taken, ++in->count, memory_order_release);
        at += piece;
        bytes -= piece;
    } while (bytes > 0);
    s->out.most = s->out.count + SLOTS;
    return 0;
}

static void teardown(void *state)
{
    struct flag *s = state;
    if (s->memory)
        munmap(s->memory, s->bytes);
    free(s);
}

static int ends_open(void *state, const struct op_env *env, int err)
{
    struct flag *s = state;
    s->piece = ((size_t)env->params[PIECE] + LINE - 1) / LINE * LINE;
    s->stride = sizeof(struct slot) + s->piece;
    const size_t lane = (sizeof(struct flag_lane) + SLOTS * s->stride + PAGE - 1) / PAGE * PAGE;
    s->bytes = 2 * lane;
    err = link_share(&s->f, env, err, s->bytes, &s->memory);
    if (err)
        return err;
    char *mine = (char *)s->memory + (size_t)s->f.rank * lane;
    char *theirs = (char *)s->memory + (size_t)s->f.peer * lane;
    s->out = (struct flag_end){.lane = (struct flag_lane *)(void *)mine, .most = SLOTS};
    s->in = (struct flag_end){.lane = (struct flag_lane *)(void *)theirs};
    return 0;
}

static const struct link_kind link_of = {
    .state_bytes = sizeof(struct flag), .put = put, .get = get, .connect = ends_open, .teardown = teardown};

static int setup(const struct op_env *env, void **state)
{
    return link_setup(&link_of, env, state);
}

static const struct op rows[] = {
    {.name = "shm.flag",
     .summary = "a message there and back through shared memory and flags, copied in and out; one way",
     .default_bytes = "0,1..4Mi",
     .params = ping_params},
    {.name = "shm.flag.stream",
     .summary = "a window of messages through shared memory and an empty answer; the time of the window",
     .default_bytes = "0,1..4Mi",
     .params = stream_params},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    link_op(op, LAYER_SHARED_MEMORY, setup, teardown);
}

const struct op_family shm_flag_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
