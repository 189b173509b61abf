#define _GNU_SOURCE
#include "ops/file/transfer.h"

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static int map_files(struct transfer *t)
{
    for (int i = 0; i < t->p.threads; ++i) {
        struct piece_lane *lane = &t->p.lanes[i];
        void *map =
            mmap(NULL, (size_t)pieces_length(&t->p), PROT_READ | PROT_WRITE, MAP_SHARED, lane->file, 0);
        if (map == MAP_FAILED)
            return files_failed("mmap", lane->name, t->p.folder_name, errno);
        lane->map = map;
    }
    return 0;
}

/* A page of a map that finds no room is a SIGBUS, so blocks are taken before. */
static int take_blocks(struct transfer *t)
{
    for (int i = 0; i < t->p.threads; ++i) {
        const int error = posix_fallocate(t->p.lanes[i].file, 0, pieces_length(&t->p));
        if (error)
            return files_failed("fallocate", t->p.lanes[i].name, t->p.folder_name, error);
    }
    return 0;
}

static int open_rings(struct transfer *t)
{
    t->rings = calloc((size_t)t->p.threads, sizeof(struct uring *));
    if (!t->rings)
        return err_say(ERR_NOMEM, "no memory for the queues of %d threads", t->p.threads);
    for (int i = 0; i < t->p.threads; ++i)
        if (uring_open(t->p.count, &t->rings[i]) != 0)
            return err_say(ERR_UNSUPPORTED,
                           "io_uring cannot be used here: %s; see /proc/sys/kernel/io_uring_disabled, and "
                           "what a container forbids",
                           strerror(errno));
    return 0;
}

int transfer_ways_open(struct transfer *t)
{
    int err = 0;
    if (t->row->maps)
        err = take_blocks(t);
    if (!err && t->row->maps)
        err = map_files(t);
    return !err && t->row->queues ? open_rings(t) : err;
}

void transfer_ways_close(struct transfer *t)
{
    for (int i = 0; t->p.lanes && i < t->p.threads; ++i)
        if (t->p.lanes[i].map)
            munmap(t->p.lanes[i].map, (size_t)pieces_length(&t->p));
    for (int i = 0; t->rings && i < t->p.threads; ++i)
        if (t->rings[i])
            uring_close(t->rings[i]);
    free(t->rings);
}
