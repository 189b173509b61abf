/* Stores to, loads from and atomics on memory that two processes of a host share. */
#include "ops/link/direct.h"

#include "base/err.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct shared {
    void *memory; /* rank 0's part, then rank 1's */
    size_t bytes; /* of both */
};

struct shm {
    struct direct direct;
    char *there; /* the window of the other rank's lane */
};

static char *place(const struct direct *s, size_t at)
{
    return ((const struct shm *)s)->there + at;
}

static void put(struct direct *s, size_t to, const void *from, size_t bytes)
{
    memcpy(place(s, to), from, bytes);
}

static void tell(struct direct *s, size_t to, const uint64_t *number)
{
    atomic_store_explicit((_Atomic uint64_t *)(void *)place(s, to), *number, memory_order_release);
}

static void get(struct direct *s, void *to, size_t from, size_t bytes)
{
    memcpy(to, place(s, from), bytes);
}

static uint64_t fetch_add(struct direct *s, size_t to, uint64_t value)
{
    return atomic_fetch_add((_Atomic uint64_t *)(void *)place(s, to), value);
}

static void fence(struct direct *s)
{
    (void)s;
    atomic_thread_fence(memory_order_release);
}

/* The stores have left the core's own queue: nobody reads what was there before. */
static void quiet(struct direct *s)
{
    (void)s;
    atomic_thread_fence(memory_order_seq_cst);
}

static void look(struct direct *s)
{
    (void)s;
}

static int memory(struct lanes *lanes, const struct op_env *env, int err, size_t bytes, char **mine)
{
    const struct link ends = direct_ends(lanes);
    struct shared *shared = calloc(1, sizeof *shared);
    lanes->shared = shared;
    if (ends.rank > 1)
        return err;
    if (!err && !shared)
        err = err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    void *both = NULL;
    err = link_share(&ends, env, err, 2 * bytes, &both);
    if (err)
        return err;
    *shared = (struct shared){both, 2 * bytes};
    *mine = (char *)both + (size_t)ends.rank * bytes;
    return 0;
}

/* Its lanes lie in both halves alike. */
static int join(struct lanes *lanes, const struct op_env *env, int err)
{
    const struct link ends = direct_ends(lanes);
    const struct shared *shared = lanes->shared;
    (void)env;
    for (int t = 0; t < lanes->count && ends.rank <= 1 && !err; ++t) {
        struct shm *s = (struct shm *)lane_at(lanes, t);
        const size_t half = shared->bytes / 2;
        s->there = ends.rank == 0 ? s->direct.lane.window + half : s->direct.lane.window - half;
    }
    return link_meet(&ends, err, NULL, NULL, 0);
}

static void leave(struct lanes *lanes)
{
    struct shared *shared = lanes->shared;
    if (shared && shared->memory)
        munmap(shared->memory, shared->bytes);
    free(shared);
}

const struct direct_library direct_shm = {.prefix = "shm",
                                          .size = sizeof(struct shm),
                                          .put = put,
                                          .get = get,
                                          .add = fetch_add,
                                          .tell = tell,
                                          .fence = fence,
                                          .quiet = quiet,
                                          .look = look,
                                          .memory = memory,
                                          .join = join,
                                          .leave = leave};
