/* mpi.io.write_at, mpi.io.read_all, ...: the calls of MPI-IO that move data. Each is a row. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/io/io.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a call finds the place in the file. */
enum io_pointer { EXPLICIT, INDIVIDUAL, ANYWHERE, ORDERED };

struct io_row {
    const char *name, *call, *summary;
    bool reads;
    enum io_pointer pointer;
    bool starts; /* it gives a request */
    int (*one)(struct io *io, int k);
};

/* ---- the calls ---- */

#define AT io->p.lanes[0].data + (size_t)k *(size_t)io->bytes
#define DATA AT, io->bytes, MPI_BYTE
#define AT_OFFSET io->file, io->offset[k], DATA
#define HERE io->file, DATA
#define IGNORED MPI_STATUS_IGNORE
#define REQUEST &io->requests[k]

#define IO_CALL(name, ...)                                                                                   \
    static int name(struct io *io, int k)                                                                    \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }

/* A split collective: its two calls. */
#define IO_SPLIT(name, begin, end)                                                                           \
    static int name(struct io *io, int k)                                                                    \
    {                                                                                                        \
        const int rc = begin;                                                                                \
        return rc == MPI_SUCCESS ? end : rc;                                                                 \
    }

IO_CALL(write_at, MPI_File_write_at(AT_OFFSET, IGNORED))
IO_CALL(write_at_all, MPI_File_write_at_all(AT_OFFSET, IGNORED))
IO_CALL(iwrite_at, MPI_File_iwrite_at(AT_OFFSET, REQUEST))
IO_CALL(iwrite_at_all, MPI_File_iwrite_at_all(AT_OFFSET, REQUEST))
IO_SPLIT(write_at_all_begin, MPI_File_write_at_all_begin(AT_OFFSET),
         MPI_File_write_at_all_end(io->file, AT, IGNORED))
IO_CALL(write_here, MPI_File_write(HERE, IGNORED))
IO_CALL(write_all, MPI_File_write_all(HERE, IGNORED))
IO_CALL(iwrite, MPI_File_iwrite(HERE, REQUEST))
IO_CALL(iwrite_all, MPI_File_iwrite_all(HERE, REQUEST))
IO_SPLIT(write_all_begin, MPI_File_write_all_begin(HERE), MPI_File_write_all_end(io->file, AT, IGNORED))
IO_CALL(write_shared, MPI_File_write_shared(HERE, IGNORED))
IO_CALL(iwrite_shared, MPI_File_iwrite_shared(HERE, REQUEST))
IO_CALL(write_ordered, MPI_File_write_ordered(HERE, IGNORED))
IO_SPLIT(write_ordered_begin, MPI_File_write_ordered_begin(HERE),
         MPI_File_write_ordered_end(io->file, AT, IGNORED))

IO_CALL(read_at, MPI_File_read_at(AT_OFFSET, IGNORED))
IO_CALL(read_at_all, MPI_File_read_at_all(AT_OFFSET, IGNORED))
IO_CALL(iread_at, MPI_File_iread_at(AT_OFFSET, REQUEST))
IO_CALL(iread_at_all, MPI_File_iread_at_all(AT_OFFSET, REQUEST))
IO_SPLIT(read_at_all_begin, MPI_File_read_at_all_begin(AT_OFFSET),
         MPI_File_read_at_all_end(io->file, AT, IGNORED))
IO_CALL(read_here, MPI_File_read(HERE, IGNORED))
IO_CALL(read_all, MPI_File_read_all(HERE, IGNORED))
IO_CALL(iread, MPI_File_iread(HERE, REQUEST))
IO_CALL(iread_all, MPI_File_iread_all(HERE, REQUEST))
IO_SPLIT(read_all_begin, MPI_File_read_all_begin(HERE), MPI_File_read_all_end(io->file, AT, IGNORED))
IO_CALL(read_shared, MPI_File_read_shared(HERE, IGNORED))
IO_CALL(iread_shared, MPI_File_iread_shared(HERE, REQUEST))
IO_CALL(read_ordered, MPI_File_read_ordered(HERE, IGNORED))
IO_SPLIT(read_ordered_begin, MPI_File_read_ordered_begin(HERE),
         MPI_File_read_ordered_end(io->file, AT, IGNORED))

/* ---- rows ---- */

#define WRITE(function, name, text, ...)                                                                     \
    {"mpi.io." name, "MPI_File_" name, "MPI_File_" name ": " text, .one = function, __VA_ARGS__}
#define READ(function, name, text, ...) WRITE(function, name, text, .reads = true, __VA_ARGS__)

static const struct io_row rows[] = {
    WRITE(write_at, "write_at", "each rank by itself, at explicit offsets", .pointer = EXPLICIT),
    WRITE(write_at_all, "write_at_all", "all ranks together, at explicit offsets", .pointer = EXPLICIT),
    WRITE(iwrite_at, "iwrite_at", "each rank by itself, nonblocking, at explicit offsets",
          .pointer = EXPLICIT, .starts = true),
    WRITE(iwrite_at_all, "iwrite_at_all", "all ranks together, nonblocking, at explicit offsets",
          .pointer = EXPLICIT, .starts = true),
    WRITE(write_at_all_begin, "write_at_all_begin", "and _end: split, at explicit offsets",
          .pointer = EXPLICIT),
    WRITE(write_here, "write", "each rank by itself, at its own pointer", .pointer = INDIVIDUAL),
    WRITE(write_all, "write_all", "all ranks together, at their own pointers", .pointer = INDIVIDUAL),
    WRITE(iwrite, "iwrite", "each rank by itself, nonblocking, at its own pointer", .pointer = INDIVIDUAL,
          .starts = true),
    WRITE(iwrite_all, "iwrite_all", "all ranks together, nonblocking, at their own pointers",
          .pointer = INDIVIDUAL, .starts = true),
    WRITE(write_all_begin, "write_all_begin", "and _end: split, at their own pointers",
          .pointer = INDIVIDUAL),
    WRITE(write_shared, "write_shared", "each rank by itself, at the pointer that all share",
          .pointer = ANYWHERE),
    WRITE(iwrite_shared, "iwrite_shared", "each rank by itself, nonblocking, at the shared pointer",
          .pointer = ANYWHERE, .starts = true),
    WRITE(write_ordered, "write_ordered", "all ranks in their order, at the shared pointer",
          .pointer = ORDERED),
    WRITE(write_ordered_begin, "write_ordered_begin", "and _end: split, in order, at the shared pointer",
          .pointer = ORDERED),
    READ(read_at, "read_at", "each rank by itself, at explicit offsets", .pointer = EXPLICIT),
    READ(read_at_all, "read_at_all", "all ranks together, at explicit offsets", .pointer = EXPLICIT),
    READ(iread_at, "iread_at", "each rank by itself, nonblocking, at explicit offsets", .pointer = EXPLICIT,
         .starts = true),
    READ(iread_at_all, "iread_at_all", "all ranks together, nonblocking, at explicit offsets",
         .pointer = EXPLICIT, .starts = true),
    READ(read_at_all_begin, "read_at_all_begin", "and _end: split, at explicit offsets", .pointer = EXPLICIT),
    READ(read_here, "read", "each rank by itself, at its own pointer", .pointer = INDIVIDUAL),
    READ(read_all, "read_all", "all ranks together, at their own pointers", .pointer = INDIVIDUAL),
    READ(iread, "iread", "each rank by itself, nonblocking, at its own pointer", .pointer = INDIVIDUAL,
         .starts = true),
    READ(iread_all, "iread_all", "all ranks together, nonblocking, at their own pointers",
         .pointer = INDIVIDUAL, .starts = true),
    READ(read_all_begin, "read_all_begin", "and _end: split, at their own pointers", .pointer = INDIVIDUAL),
    READ(read_shared, "read_shared", "each rank by itself, at the pointer that all share",
         .pointer = ANYWHERE),
    READ(iread_shared, "iread_shared", "each rank by itself, nonblocking, at the shared pointer",
         .pointer = ANYWHERE, .starts = true),
    READ(read_ordered, "read_ordered", "all ranks in their order, at the shared pointer", .pointer = ORDERED),
    READ(read_ordered_begin, "read_ordered_begin", "and _end: split, in order, at the shared pointer",
         .pointer = ORDERED),
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- parameters ---- */

static const char *const sync_words[] = {"none", "inside", NULL};
#define ATOMIC_PARAM                                                                                         \
    PARAM_WORDS(                                                                                             \
        "atomic",                                                                                            \
        "on: atomic mode, by MPI_File_set_atomicity; overlapping: the same, and all ranks write the "        \
        "same pieces, of which each call's must be of one rank",                                             \
        pieces_atomic)
#define SYNC_PARAM PARAM_WORDS("sync", "inside: a repetition ends with MPI_File_sync", sync_words)
#define VIEW_PARAM                                                                                           \
    PARAM_WORDS("view",                                                                                      \
                "offsets: a call for each piece at its offset; type: a call for each, through a view whose " \
                "type is the pattern; once: one call for all pieces through it",                             \
                io_view_words)

static const struct param placed_params[] = {PIECES_PARAMS, VIEW_PARAM},
                          pointer_params[] = {PIECES_CALLS_ROW},
                          last_params[] = {ATOMIC_PARAM, SYNC_PARAM, OP_CHECKS_PARAM, BUFFERS_PARAMS};

/* Made by op_at(), with the same result each time. */
static struct param made[ROWS][PARAMS_MAX + 1];

/* ---- the timed part ---- */

static bool shares(const struct io_row *row)
{
    return row->pointer == ANYWHERE || row->pointer == ORDERED;
}

/* No rank may set the shared pointer back while another still uses it: MPI does not say that the call waits.
 */
static int rewind_shared(void *state)
{
    struct io *io = state;
    const int met = team_barrier(io->p.env->team);
    return met ? met : team_mpi_err(MPI_File_seek_shared(io->file, 0, MPI_SEEK_SET), "MPI_File_seek_shared");
}

static int repetition(struct io *io, const struct io_row *row)
{
    int rc = MPI_SUCCESS;
    for (int k = 0; k < io->calls && rc == MPI_SUCCESS; ++k) {
        if (row->pointer == INDIVIDUAL && io->seeks[k])
            rc = MPI_File_seek(io->file, io->offset[k], MPI_SEEK_SET);
        if (rc == MPI_SUCCESS)
            rc = row->one(io, k);
    }
    if (rc == MPI_SUCCESS && row->starts)
        rc = MPI_Waitall(io->calls, io->requests, statuses_ignored());
    return rc;
}

static int run(void *state, int64_t reps)
{
    struct io *io = state;
    const struct io_row *row = io->row;
    struct piece_lane *lane = io->p.lanes;
    int rc = MPI_SUCCESS;
    for (int64_t r = 0; r < reps && rc == MPI_SUCCESS; ++r) {
        io->p.repetition += !row->reads;
        for (int64_t i = 0; i < io->p.count; ++i) {
            char *piece = lane->data + (size_t)i * io->p.piece;
            if (row->reads)
                sectors_wipe(&lane->sectors, piece);
            else
                sectors_stamp(&lane->sectors, piece, i, io->p.repetition);
        }
        rc = repetition(io, row);
        if (rc == MPI_SUCCESS && io->syncs)
            rc = MPI_File_sync(io->file);
    }
    return team_mpi_err(rc, row->call);
}

/* ---- checks ---- */

static int look(struct io *io, int err)
{
    const struct io_row *row = io->row;
    const int synced = row->reads ? 0 : team_mpi_err(MPI_File_sync(io->file), "MPI_File_sync");
    err = err ? err : synced;
    if (io->p.together)
        return pieces_look_atomic(&io->p, io->calls, err);
    return row->pointer == ANYWHERE ? pieces_look_anywhere(&io->p, err) : pieces_look(&io->p, err);
}

static int verify(void *state)
{
    enum { ROUNDS = 2 };
    struct io *io = state;
    int err = 0;
    for (int i = 0; i < ROUNDS; ++i) {
        const int renewed = pieces_renew(&io->p), synced = MPI_File_sync(io->file);
        err = err ? err : renewed ? renewed : team_mpi_err(synced, "MPI_File_sync");
        /* Collective calls need all ranks, also one that has failed. */
        const int ready = shares(io->row) ? rewind_shared(io) : 0;
        const int ran = run(io, 1);
        err = err ? err : ready ? ready : ran;
        err = look(io, err);
    }
    return err;
}

static int check(void *state)
{
    return look(state, 0);
}

/* ---- setup ---- */

static void teardown(void *state)
{
    struct io *io = state;
    io_close(io);
    free(io);
}

enum { LEAST_TOLD = 8 };

/* Pieces of which it is told whose they are, in places that ranks can share. */
static int check_overlap(const struct op_env *env)
{
    const struct io_row *row = env->op->row;
    const double *values = env->params;
    if ((int)param_value(env->op->params, values, "atomic", 0) != PIECES_OVERLAPPING)
        return 0;
    if (!row->reads && !shares(row) &&
        (int)param_value(env->op->params, values, "file", 0) == PIECES_SHARED && env->bytes >= LEAST_TOLD)
        return 0;
    return err_say(
        ERR_UNSUPPORTED,
        "%s cannot have atomic=overlapping, which is for calls that write %d bytes or more to their own "
        "places in a shared file",
        row->name, LEAST_TOLD);
}

static int setup(const struct op_env *env, void **state)
{
    const struct io_row *row = env->op->row;
    struct io *io = calloc(1, sizeof *io);
    if (!io)
        return err_say(ERR_NOMEM, "no memory for the state of %s", row->name);
    if (row->pointer == ANYWHERE && env->bytes < LEAST_TOLD) {
        free(io);
        return err_say(ERR_UNSUPPORTED, "%s needs %d bytes to tell whose they are; give larger --bytes",
                       row->name, LEAST_TOLD);
    }
    int err = check_overlap(env);
    if (err) {
        free(io);
        return err;
    }
    const bool ordered = row->pointer == ORDERED;
    err = io_open(io, env, row->reads, ordered ? PLACES_STRIDED : PLACES_CONTIGUOUS, ordered);
    if (err)
        teardown(io);
    else
        *state = io;
    return err;
}

/* A sync inside costs a write what fsync costs; a read has nothing to sync. */
static const char *below(const struct op_env *env)
{
    const struct io_row *row = env->op->row;
    const bool syncs = param_value(env->op->params, env->params, "sync", 0) > 0;
    return row->reads ? "file.pread" : syncs ? "file.pwrite.fsync" : "file.pwrite";
}

static void add(struct param *params, const struct param *more, size_t count)
{
    memcpy(params + param_count(params), more, count * sizeof *more);
}
#define ADD(params, list) add(params, list, sizeof list / sizeof list[0])

static void op_at(size_t i, struct op *op)
{
    const struct io_row *row = &rows[i];
    memset(made[i], 0, sizeof made[i]);
    if (shares(row))
        ADD(made[i], pointer_params);
    else
        ADD(made[i], placed_params);
    ADD(made[i], last_params);
    ADD(made[i], io_hints);
    *op = (struct op){
        .family = "mpi-io",
        .summary = row->summary,
        .class = OP_COLLECTIVE,
        .role = ROLE_FILE,
        .form = row->starts ? FORM_NONBLOCKING : FORM_BLOCKING,
        .report = OP_SLOWEST,
        .parts = 1,
        .default_bytes = "4Ki..1Mi",
        .params = made[i],
        .missing = IO_MISSING,
        .row = row,
        .prepare = shares(row) ? rewind_shared : NULL,
        .setup = setup,
        .run = run,
        .verify = verify,
        .check = check,
        .describe_end = io_describe_end,
        .teardown = teardown,
        .below = below,
        .moved = pieces_moved,
        .work = pieces_work,
    };
    memcpy(op->name, row->name, strlen(row->name) + 1);
    if (row->starts) /* mpi.io.iwrite_at is a form of mpi.io.write_at */
        snprintf(op->base, sizeof op->base, "mpi.io.%s", row->name + strlen("mpi.io.i"));
}

const struct op_family mpi_io_ops = {.count = ROWS, .op_at = op_at};
