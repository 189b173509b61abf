/* shm.cma: each message is copied once, by process_vm_readv (Linux's cross-memory attach), after a flag in
 * shared memory says that it is ready. MPI does at least this for long messages within a host. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "base/wait.h"
#include "ops/link/link.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

enum { LINE = 64, PAGE = 4096 };

static const struct param ping_params[] = {BUFFERS_PARAMS, {0}};
static const struct param stream_params[] = {LINK_WINDOW_PARAM, BUFFERS_PARAMS, {0}};

/* The number of messages that each rank has ready. */
struct flags {
    struct {
        _Alignas(LINE) _Atomic uint64_t ready;
    } of[2];
};

/* The address of a rank's messages. */
struct source {
    pid_t pid;
    uintptr_t address;
};

struct cma {
    struct link f; /* first */
    struct flags *flags;
    struct source theirs;
    uint64_t sent, received;
};

/* The data stay in place until the other rank's next message says that it has read them. */
static int put(struct link *f, const void *data, size_t bytes)
{
    struct cma *s = (struct cma *)f;
    (void)data, (void)bytes;
    atomic_store_explicit(&s->flags->of[f->rank].ready, ++s->sent, memory_order_release);
    return 0;
}

static int read_whole(const struct cma *s, void *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        struct iovec here = {(char *)data + done, bytes - done};
        struct iovec there = {(void *)(s->theirs.address + done), bytes - done};
        ssize_t n = process_vm_readv(s->theirs.pid, &here, 1, &there, 1, 0);
        if (n <= 0)
            return err_say(ERR_UNSUPPORTED,
                           "process_vm_readv from rank %d failed: %s; a container or "
                           "kernel.yama.ptrace_scope may forbid it",
                           s->f.peer, strerror(errno));
        done += (size_t)n;
    }
    return 0;
}

static int get(struct link *f, void *data, size_t bytes)
{
    struct cma *s = (struct cma *)f;
    const uint64_t next = ++s->received;
    for (int looks = 0; atomic_load_explicit(&s->flags->of[f->peer].ready, memory_order_acquire) < next;)
        wait_a_little(&looks);
    return read_whole(s, data, bytes);
}

static void teardown(void *state)
{
    struct cma *s = state;
    if (s->flags) {
        munmap(s->flags, PAGE);
        prctl(PR_SET_PTRACER, 0L, 0L, 0L, 0L);
    }
    free(s);
}

/* Each rank allows the other to read its memory and tries to read the other's. Some kernels forbid it between
 * siblings. */
static int ends_open(void *state, const struct op_env *env, int err)
{
    struct cma *s = state;
    struct source mine;
    void *memory = NULL;
    char first = 0;
    memset(&mine, 0, sizeof mine); /* padding too: it is sent */
    mine.pid = getpid();
    mine.address = (uintptr_t)s->f.send;
    err = link_share(&s->f, env, err, PAGE, &memory);
    s->flags = memory;
    err = link_meet(&s->f, err, &mine, &s->theirs, sizeof mine);
    if (!err)
        prctl(PR_SET_PTRACER, (unsigned long)s->theirs.pid, 0L, 0L, 0L);
    err = link_meet(&s->f, err, NULL, NULL, 0);
    err = err ? err : read_whole(s, &first, 1);
    return link_meet(&s->f, err, NULL, NULL, 0);
}

static const struct link_kind link_of = {
    .state_bytes = sizeof(struct cma), .put = put, .get = get, .connect = ends_open, .teardown = teardown};

static int setup(const struct op_env *env, void **state)
{
    return link_setup(&link_of, env, state);
}

static const struct op rows[] = {
    {.name = "shm.cma",
     .summary = "a message there and back by process_vm_readv and a flag, copied once; one way",
     .default_bytes = "0,1..4Mi",
     .params = ping_params},
    {.name = "shm.cma.stream",
     .summary = "a window of messages by process_vm_readv and an empty answer; the time of the window",
     .default_bytes = "0,1..4Mi",
     .params = stream_params},
};

static void op_at(size_t i, struct op *op)
{
    *op = rows[i];
    link_op(op, LAYER_SHARED_MEMORY, setup, teardown);
}

const struct op_family shm_cma_ops = {.count = sizeof rows / sizeof rows[0], .op_at = op_at};
