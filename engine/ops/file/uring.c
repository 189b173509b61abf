#define _GNU_SOURCE
#include "ops/file/uring.h"

#include <errno.h>

#if defined __has_include && __has_include(<linux/io_uring.h>)
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ENTRIES_MAX = 1024 }; /* moves at once: far below what kernels allow, and enough for any device */

/* Both rings are in one map (IORING_FEAT_SINGLE_MMAP, Linux 5.4); what is queued is in another. The kernel
 * moves sq_head and cq_tail, this process the others. */
struct uring {
    int fd;
    char *ring;
    size_t ring_bytes, entry_bytes;
    struct io_uring_sqe *entries;
    unsigned *sq_tail, *sq_places, *cq_head, *cq_tail;
    unsigned sq_mask, cq_mask;
    struct io_uring_cqe *done;
    unsigned room, queued; /* entries; those that have not been started */
};

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static int map_rings(struct uring *u, const struct io_uring_params *p)
{
    u->ring_bytes = larger(p->sq_off.array + p->sq_entries * sizeof(unsigned),
                           p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe));
    u->entry_bytes = p->sq_entries * sizeof *u->entries;
    void *ring = mmap(NULL, u->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->fd,
                      IORING_OFF_SQ_RING);
    if (ring == MAP_FAILED)
        return -1;
    u->ring = ring;
    void *entries =
        mmap(NULL, u->entry_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, u->fd, IORING_OFF_SQES);
    if (entries == MAP_FAILED)
        return -1;
    u->entries = entries;
    u->sq_tail = (unsigned *)(void *)(u->ring + p->sq_off.tail);
    u->sq_places = (unsigned *)(void *)(u->ring + p->sq_off.array);
    u->sq_mask = *(unsigned *)(void *)(u->ring + p->sq_off.ring_mask);
    u->cq_head = (unsigned *)(void *)(u->ring + p->cq_off.head);
    u->cq_tail = (unsigned *)(void *)(u->ring + p->cq_off.tail);
    u->cq_mask = *(unsigned *)(void *)(u->ring + p->cq_off.ring_mask);
    u->done = (struct io_uring_cqe *)(void *)(u->ring + p->cq_off.cqes);
    u->room = p->sq_entries;
    return 0;
}

int uring_open(int64_t most, struct uring **made)
{
    struct io_uring_params p = {0};
    struct uring *u = calloc(1, sizeof *u);
    if (!u) {
        errno = ENOMEM;
        return -1;
    }
    u->fd = (int)syscall(SYS_io_uring_setup, most < ENTRIES_MAX ? (unsigned)most : ENTRIES_MAX, &p);
    int rc = u->fd < 0 ? -1 : 0;
    if (rc == 0 && !(p.features & IORING_FEAT_SINGLE_MMAP)) {
        errno = ENOSYS;
        rc = -1;
    }
    if (rc == 0)
        rc = map_rings(u, &p);
    if (rc != 0) {
        const int error = errno;
        uring_close(u);
        errno = error;
        return -1;
    }
    *made = u;
    return 0;
}

void uring_close(struct uring *u)
{
    if (u->entries)
        munmap(u->entries, u->entry_bytes);
    if (u->ring)
        munmap(u->ring, u->ring_bytes);
    if (u->fd >= 0)
        close(u->fd);
    free(u);
}

int uring_queue(struct uring *u, int file, bool writes, char *piece, size_t bytes, int64_t offset)
{
    if (u->queued == u->room && uring_finish(u) != 0)
        return -1;
    const unsigned tail = *u->sq_tail, place = tail & u->sq_mask;
    u->entries[place] = (struct io_uring_sqe){.opcode = writes ? IORING_OP_WRITE : IORING_OP_READ,
                                              .fd = file,
                                              .off = (uint64_t)offset,
                                              .addr = (uint64_t)(uintptr_t)piece,
                                              .len = (uint32_t)bytes,
                                              .user_data = (uint64_t)bytes | (uint64_t)writes << 63};
    u->sq_places[place] = place;
    __atomic_store_n(u->sq_tail, tail + 1, __ATOMIC_RELEASE); /* the kernel reads the entry after it */
    ++u->queued;
    return 0;
}

/* The error of a move that has ended; 0: it was whole. */
static int error_of(const struct io_uring_cqe *one)
{
    const bool wrote = one->user_data >> 63;
    if (one->res < 0)
        return -one->res;
    return (uint64_t)one->res == (one->user_data & ~(1ULL << 63)) ? 0 : wrote ? ENOSPC : ENODATA;
}

int uring_finish(struct uring *u)
{
    unsigned left = u->queued;
    int error = 0;
    while (left > 0) {
        const long started =
            syscall(SYS_io_uring_enter, u->fd, u->queued, left, IORING_ENTER_GETEVENTS, NULL, 0);
        if (started < 0 && errno != EINTR && errno != EAGAIN)
            return -1;
        u->queued -= started > 0 ? (unsigned)started : 0;
        unsigned head = *u->cq_head;
        for (; head != __atomic_load_n(u->cq_tail, __ATOMIC_ACQUIRE); ++head, --left) {
            const int one = error_of(&u->done[head & u->cq_mask]);
            error = error ? error : one;
        }
        __atomic_store_n(u->cq_head, head, __ATOMIC_RELEASE);
    }
    errno = error;
    return error ? -1 : 0;
}
#else
int uring_open(int64_t most, struct uring **made)
{
    (void)most, (void)made;
    errno = ENOSYS;
    return -1;
}

void uring_close(struct uring *u)
{
    (void)u;
}

int uring_queue(struct uring *u, int file, bool writes, char *piece, size_t bytes, int64_t offset)
{
    (void)u, (void)file, (void)writes, (void)piece, (void)bytes, (void)offset;
    return -1;
}

int uring_finish(struct uring *u)
{
    (void)u;
    return -1;
}
#endif
