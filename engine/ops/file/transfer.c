/* file.pwrite, file.pread, ...: what each way of moving data to and from a file takes without MPI, by ranks
 * and threads. It is the floor under MPI-IO. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "base/kernel_files.h"
#include "ops/common/data.h"
#include "ops/file/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct param params[] = {PIECES_PARAMS, [PIECES_OWN] = OP_CHECKS_PARAM, BUFFERS_PARAMS, {0}};

/* ---- pieces ---- */

static char *memory(const struct transfer *t, const struct piece_lane *lane, int64_t i)
{
    return pieces_memory(&t->p, lane, i);
}

/* A short count of an ordinary file means that there is no more room, or that the file ends. */
static int all_of(const struct transfer *t, ssize_t moved)
{
    if (moved >= 0 && (size_t)moved != t->p.piece)
        errno = t->row->reads ? ENODATA : ENOSPC;
    return (size_t)moved == t->p.piece ? 0 : -1;
}

static int write_piece(const struct transfer *t, struct piece_lane *lane, int64_t i)
{
    return all_of(t, pwrite(lane->file, memory(t, lane, i), t->p.piece, pieces_offset(&t->p, lane, i)));
}

static int read_piece(const struct transfer *t, struct piece_lane *lane, int64_t i)
{
    return all_of(t, pread(lane->file, memory(t, lane, i), t->p.piece, pieces_offset(&t->p, lane, i)));
}

static int write_mapped(const struct transfer *t, struct piece_lane *lane, int64_t i)
{
    memcpy(lane->map + pieces_offset(&t->p, lane, i), memory(t, lane, i), t->p.piece);
    return 0;
}

static int read_mapped(const struct transfer *t, struct piece_lane *lane, int64_t i)
{
    memcpy(memory(t, lane, i), lane->map + pieces_offset(&t->p, lane, i), t->p.piece);
    return 0;
}

static struct uring *ring_of(const struct transfer *t, const struct piece_lane *lane)
{
    return t->rings[lane - t->p.lanes];
}

static int queue_piece(const struct transfer *t, struct piece_lane *lane, int64_t i)
{
    return uring_queue(ring_of(t, lane), lane->file, !t->row->reads, memory(t, lane, i), t->p.piece,
                       pieces_offset(&t->p, lane, i));
}

/* ---- after them ---- */

static int nothing(const struct transfer *t, struct piece_lane *lane)
{
    (void)t, (void)lane;
    return 0;
}

static int sync_all(const struct transfer *t, struct piece_lane *lane)
{
    (void)t;
    return fsync(lane->file);
}

static int sync_data(const struct transfer *t, struct piece_lane *lane)
{
    (void)t;
    return fdatasync(lane->file);
}

static int finish_queue(const struct transfer *t, struct piece_lane *lane)
{
    return uring_finish(ring_of(t, lane));
}

static int sync_map(const struct transfer *t, struct piece_lane *lane)
{
    return msync(lane->map, (size_t)pieces_length(&t->p), MS_SYNC);
}

/* ---- rows ---- */

#define WRITES(function) .piece = function, .after = nothing
#define READS(function) .piece = function, .after = nothing, .reads = true

static const struct transfer_row rows[] = {
    {"file.pwrite", "write pieces of a file, into the page cache", "pwrite", WRITES(write_piece)},
    {"file.pwrite.fsync", "write pieces of a file, then fsync", "pwrite or fsync", .piece = write_piece,
     .after = sync_all},
    {"file.pwrite.fdatasync", "write pieces of a file, then fdatasync", "pwrite or fdatasync",
     .piece = write_piece, .after = sync_data},
    {"file.pwrite.new", "write pieces of a file that was emptied before, so that each takes new room",
     "pwrite", .empties = true, WRITES(write_piece)},
    {"file.pwrite.new.fsync", "write pieces of a file that was emptied before, then fsync", "pwrite or fsync",
     .empties = true, .piece = write_piece, .after = sync_all},
    {"file.pwrite.direct", "write pieces of a file past the page cache, O_DIRECT", "pwrite",
     .flags = O_DIRECT, WRITES(write_piece)},
    {"file.fsync", "fsync of pieces that have been written before", "fsync", .piece = write_piece,
     .after = sync_all, .only_after = true},
    {"file.fdatasync", "fdatasync of pieces that have been written before", "fdatasync", .piece = write_piece,
     .after = sync_data, .only_after = true},
    {"file.pread", "read pieces of a file from the page cache", "pread", READS(read_piece)},
    {"file.pread.cold", "read pieces of a file that the page cache was asked to drop", "pread", .cold = true,
     READS(read_piece)},
    {"file.pread.direct", "read pieces of a file past the page cache, O_DIRECT", "pread", .flags = O_DIRECT,
     READS(read_piece)},
    {"file.mmap.write", "write pieces of a mapped file", "mmap", .maps = true, WRITES(write_mapped)},
    {"file.mmap.msync", "write pieces of a mapped file, then msync", "msync", .maps = true,
     .piece = write_mapped, .after = sync_map},
    {"file.uring.write", "write pieces of a file, all queued at once with io_uring", "io_uring",
     .queues = true, .piece = queue_piece, .after = finish_queue},
    {"file.uring.read", "read pieces of a file from the page cache, all queued at once with io_uring",
     "io_uring", .queues = true, .reads = true, .piece = queue_piece, .after = finish_queue},
    {"file.mmap.read", "read pieces of a mapped file from the page cache", "mmap", .maps = true,
     READS(read_mapped)},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- the timed part ---- */

static void fail(const struct transfer *t, struct piece_lane *lane)
{
    lane->error = errno;
    lane->call = t->row->call;
}

static void write_lane(void *state, int number)
{
    struct transfer *t = state;
    struct piece_lane *lane = &t->p.lanes[number];
    for (int64_t r = 0; r < t->reps && !lane->error; ++r) {
        for (int64_t i = 0; i < t->p.count && !lane->error; ++i) {
            sectors_stamp(&lane->sectors, memory(t, lane, i), i, t->p.repetition + r + 1);
            if (t->row->piece(t, lane, i) != 0)
                fail(t, lane);
        }
        if (!lane->error && t->row->after(t, lane) != 0)
            fail(t, lane);
    }
}

static void read_lane(void *state, int number)
{
    struct transfer *t = state;
    struct piece_lane *lane = &t->p.lanes[number];
    for (int64_t r = 0; r < t->reps; ++r) {
        for (int64_t i = 0; i < t->p.count && !lane->error; ++i) {
            sectors_wipe(&lane->sectors, memory(t, lane, i));
            if (t->row->piece(t, lane, i) != 0)
                fail(t, lane);
        }
        if (!lane->error && t->row->after(t, lane) != 0)
            fail(t, lane);
    }
}

static void sync_lane(void *state, int number)
{
    struct transfer *t = state;
    struct piece_lane *lane = &t->p.lanes[number];
    for (int64_t r = 0; r < t->reps && !lane->error; ++r)
        if (t->row->after(t, lane) != 0)
            fail(t, lane);
}

static int told(const struct transfer *t)
{
    for (int i = 0; i < t->p.threads; ++i)
        if (t->p.lanes[i].error)
            return files_failed(t->p.lanes[i].call, t->p.lanes[i].name, t->p.folder_name,
                                t->p.lanes[i].error);
    return 0;
}

static int run(void *state, int64_t reps)
{
    struct transfer *t = state;
    t->reps = reps;
    pool_run(t->pool, t->row->reads ? read_lane : t->row->only_after ? sync_lane : write_lane, t);
    t->p.repetition += t->row->reads || t->row->only_after ? 0 : reps;
    return told(t);
}

/* ---- before it ---- */

/* Bytes that this process has had from storage, by /proc/self/io; -1: the kernel does not tell. */
static int64_t bytes_read(void)
{
    return kernel_file_number("", "/proc/self/io", "read_bytes");
}

/* Dirty pages cannot be dropped, so they are written before. */
static int drop(void *state)
{
    struct transfer *t = state;
    for (int i = 0; i < t->p.threads; ++i)
        (void)posix_fadvise(t->p.lanes[i].file, 0, 0, POSIX_FADV_DONTNEED);
    t->read_before = bytes_read();
    return 0;
}

static int write_before(void *state)
{
    struct transfer *t = state;
    ++t->p.repetition;
    for (int n = 0; n < t->p.threads; ++n)
        for (int64_t i = 0; i < t->p.count && !t->p.lanes[n].error; ++i) {
            struct piece_lane *lane = &t->p.lanes[n];
            sectors_stamp(&lane->sectors, memory(t, lane, i), i, t->p.repetition);
            if (t->row->piece(t, lane, i) != 0)
                fail(t, lane);
        }
    return told(t);
}

/* Ranks that share a file all empty it, before any of them writes. */
static int empty(void *state)
{
    const struct transfer *t = state;
    int err = 0;
    for (int i = 0; i < t->p.threads && !err; ++i)
        if (ftruncate(t->p.lanes[i].file, 0) != 0)
            err = files_failed("ftruncate", t->p.lanes[i].name, t->p.folder_name, errno);
    const int met = team_barrier(t->p.env->team);
    return err ? err : met;
}

static const char *const counters[] = {"from_storage_bytes", NULL};

static void counted(void *state, int64_t *values)
{
    struct transfer *t = state;
    const int64_t now = bytes_read();
    values[0] = now < 0 || t->read_before < 0 ? -1 : now - t->read_before;
}

/* ---- checks ---- */

static int verify(void *state)
{
    enum { ROUNDS = 2 };
    struct transfer *t = state;
    int err = 0;
    pieces_part(&t->p, t->row->reads);
    for (int i = 0; i < ROUNDS; ++i) { /* all of them, for others wait */
        const int renewed = pieces_renew(&t->p);
        err = err ? err : renewed;
        if (!err && t->row->only_after)
            err = write_before(t);
        const int emptied = t->row->empties ? empty(t) : 0;
        err = err ? err : emptied;
        err = err ? err : run(t, 1);
        err = pieces_look(&t->p, err);
    }
    pieces_part(&t->p, false);
    return err;
}

static int check(void *state)
{
    struct transfer *t = state;
    return pieces_look(&t->p, 0);
}

/* ---- setup ---- */

static void teardown(void *state)
{
    struct transfer *t = state;
    transfer_ways_close(t);
    if (t->pool)
        pool_close(t->pool);
    pieces_close(&t->p);
    free(t);
}

static int check_direct(const struct op_env *env)
{
    return env->bytes % SECTOR == 0 && env->buffers->align % SECTOR == 0
               ? 0
               : err_say(ERR_UNSUPPORTED,
                         "%s needs a multiple of %d bytes, not %zu; give others with --bytes", env->op->name,
                         SECTOR, env->bytes);
}

static int setup(const struct op_env *env, void **state)
{
    const struct transfer_row *row = env->op->row;
    struct transfer *t = calloc(1, sizeof *t);
    if (!t)
        return err_say(ERR_NOMEM, "no memory for the state of %s", row->name);
    t->row = row;
    int err = pieces_open(&t->p, env, row->reads, PLACES_CONTIGUOUS, false);
    if (!err && row->flags & O_DIRECT)
        err = check_direct(env);
    if (!err && row->queues)
        err = pieces_at_once(env);
    err = pieces_open_files(&t->p, row->flags, err);
    if (!err)
        err = transfer_ways_open(t);
    if (!err)
        err = pool_open(env->threads, &t->pool);
    if (err)
        teardown(t);
    else
        *state = t;
    return err;
}

static void describe_end(const void *state, struct json *j)
{
    const struct transfer *t = state;
    files_describe(t->p.folder_name, &t->p.facts, j);
}

static void op_at(size_t i, struct op *op)
{
    const struct transfer_row *row = &rows[i];
    *op = (struct op){
        .family = "file",
        .summary = row->summary,
        .class = OP_COLLECTIVE,
        .role = ROLE_FILE,
        .report = OP_SLOWEST,
        .parts = 1,
        .threaded = true,
        .default_bytes = "4Ki..1Mi",
        .params = params,
        .row = row,
        .prepare = row->cold         ? drop
                   : row->only_after ? write_before
                   : row->empties    ? empty
                                     : NULL,
        .counters = row->cold ? counters : NULL,
        .counted = row->cold ? counted : NULL,
        .setup = setup,
        .run = run,
        .verify = verify,
        .check = check,
        .describe_end = describe_end,
        .teardown = teardown,
        .moved = pieces_moved,
        .work = pieces_work,
    };
    memcpy(op->name, row->name, strlen(row->name) + 1);
}

const struct op_family file_transfer_ops = {.count = ROWS, .op_at = op_at};
