/* mpi.io.open, mpi.io.set_size, ...: the calls of MPI-IO that move no data, on one file of all ranks. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/io/io.h"
#include "team/team_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct manage_row {
    const char *name, *call, *summary;
    bool writes;                    /* pieces are written before each repetition */
    int (*before)(struct io *io);   /* besides, on this rank; NULL: nothing */
    int (*one)(struct io *io);      /* MPI's code */
    int64_t (*size)(struct io *io); /* of the file afterwards; -1: it is not there; NULL: not looked at */
};

/* A file that a rank has for itself, to delete. */
static void own_name(const struct io *io, char name[PIECES_NAME_MAX])
{
    snprintf(name, PIECES_NAME_MAX, "to-delete-%d", io->p.env->team->rank);
}

/* ---- calls ---- */

static int open_close(struct io *io)
{
    int rc = MPI_File_close(&io->file);
    return rc == MPI_SUCCESS ? io_open_file(io) : rc;
}

static int set_view(struct io *io)
{
    return io_set_view(io);
}

static int set_size(struct io *io)
{
    return MPI_File_set_size(io->file, (MPI_Offset)pieces_length(&io->p));
}

static int preallocate(struct io *io)
{
    return MPI_File_preallocate(io->file, (MPI_Offset)pieces_length(&io->p));
}

static int sync_file(struct io *io)
{
    return MPI_File_sync(io->file);
}

static int delete_own(struct io *io)
{
    return MPI_File_delete(io->own_path, MPI_INFO_NULL);
}

/* ---- before them, and after ---- */

static int make_own(struct io *io)
{
    char name[PIECES_NAME_MAX];
    own_name(io, name);
    const int file = files_file(io->p.folder, name, O_CREAT | O_WRONLY);
    return file >= 0 ? close(file) : files_failed("open", name, io->p.folder_name, errno);
}

/* Empty, so that the call has something to do. */
static int empty(struct io *io)
{
    const int file = files_file(io->p.folder, io->p.lanes[0].name, O_WRONLY);
    const int rc = file >= 0 ? ftruncate(file, 0) : -1;
    const int error = errno;
    if (file >= 0)
        close(file);
    return rc == 0 ? 0 : files_failed("ftruncate", io->p.lanes[0].name, io->p.folder_name, error);
}

static int64_t full(struct io *io)
{
    return pieces_length(&io->p);
}

static int64_t gone(struct io *io)
{
    (void)io;
    return -1;
}

#define NAMED(name) "mpi.io." name, "MPI_File_" name
static const struct manage_row rows[] = {
    {NAMED("open"), "MPI_File_close and MPI_File_open with the view of the op", .one = open_close},
    {NAMED("set_view"), "MPI_File_set_view: the view that the parameter view names", .one = set_view},
    {NAMED("set_size"), "MPI_File_set_size of an empty file", .before = empty, .one = set_size, .size = full},
    {NAMED("preallocate"), "MPI_File_preallocate of an empty file", .before = empty, .one = preallocate,
     .size = full},
    {NAMED("sync"), "MPI_File_sync of pieces that have been written before", .writes = true,
     .one = sync_file},
    {NAMED("delete"), "MPI_File_delete of an empty file of each rank", .before = make_own, .one = delete_own,
     .size = gone},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static const char *const off_on[] = {"off", "on", NULL};
static const struct param own_params[] = {
    PIECES_PLACES_PARAMS,
    PARAM_WORDS("view", "offsets: a plain view; type: one whose type is the pattern", io_view_words),
    PARAM_WORDS("atomic", "on: atomic mode, by MPI_File_set_atomicity", off_on),
};
static struct param made[PARAMS_MAX + 1];

/* Write all pieces of this rank, as of a new repetition. */
static int write_pieces(struct io *io)
{
    int err = 0;
    ++io->p.repetition;
    for (int k = 0; k < io->calls && !err; ++k) {
        char *data = io->p.lanes[0].data + (size_t)k * (size_t)io->bytes;
        for (int64_t i = 0; i < io->bytes / (int64_t)io->p.piece; ++i)
            sectors_stamp(&io->p.lanes[0].sectors, data + (size_t)i * io->p.piece, k + i, io->p.repetition);
        err = team_mpi_err(
            MPI_File_write_at(io->file, io->offset[k], data, io->bytes, MPI_BYTE, MPI_STATUS_IGNORE),
            "MPI_File_write_at");
    }
    return err;
}

/* ---- a repetition ---- */

static int prepare(void *state)
{
    struct io *io = state;
    const struct manage_row *row = io->row;
    int err = team_barrier(io->p.env->team);
    if (!err && row->before)
        err = row->before(io);
    if (!err && row->writes)
        err = write_pieces(io);
    const int met = team_barrier(io->p.env->team);
    return err ? err : met;
}

static int run(void *state, int64_t reps)
{
    struct io *io = state;
    const struct manage_row *row = io->row;
    int rc = MPI_SUCCESS;
    for (int64_t r = 0; r < reps && rc == MPI_SUCCESS; ++r)
        rc = row->one(io);
    return team_mpi_err(rc, row->call);
}

/* The file as POSIX sees it. */
static int look_at_size(struct io *io, int64_t wanted)
{
    char name[PIECES_NAME_MAX];
    struct stat stat;
    if (wanted < 0)
        own_name(io, name);
    else
        memcpy(name, io->p.lanes[0].name, sizeof name);
    const int64_t found = fstatat(io->p.folder, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 ? stat.st_size : -1;
    return found + io->p.env->planted == wanted
               ? 0
               : err_say(ERR_WRONG, "%s has %lld bytes after %s, should have %lld (-1: it is not there)",
                         name, (long long)found, ((const struct manage_row *)io->row)->call,
                         (long long)wanted);
}

/* A file that was opened again, or has a new view, still moves its pieces to their places. */
static int look_at_pieces(struct io *io, int err)
{
    const struct manage_row *row = io->row;
    if (!err && !row->writes)
        err = write_pieces(io);
    int64_t any = err;
    const int met = team_max(io->p.env->team, &any);
    if (!met && !any) /* all of them sync, or none does: another rank reads what this one has written */
        err = team_mpi_err(MPI_File_sync(io->file), "MPI_File_sync");
    return pieces_look(&io->p, err ? err : met);
}

static int verify(void *state)
{
    struct io *io = state;
    const struct manage_row *row = io->row;
    int err = pieces_renew(&io->p);
    const int prepared = row->before || row->writes ? prepare(io) : 0;
    err = err ? err : prepared;
    const int ran = run(io, 1);
    int met = team_barrier(io->p.env->team);
    err = err ? err : ran;
    if (!err && row->size)
        err = look_at_size(io, row->size(io));
    met = met ? met : team_barrier(io->p.env->team);
    err = err ? err : met;
    return row->size ? err : look_at_pieces(io, err);
}

/* ---- setup ---- */

static void teardown(void *state)
{
    struct io *io = state;
    char name[PIECES_NAME_MAX];
    own_name(io, name);
    if (io->p.folder >= 0)
        unlinkat(io->p.folder, name, 0);
    io_close(io);
    free(io);
}

static int setup(const struct op_env *env, void **state)
{
    struct io *io = calloc(1, sizeof *io);
    if (!io)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    int err = io_open(io, env, false, PLACES_CONTIGUOUS, false);
    char name[PIECES_NAME_MAX];
    own_name(io, name);
    snprintf(io->own_path, sizeof io->own_path, "%.*s/%s", FILES_PATH_MAX - 1, env->files ? env->files : "",
             name);
    if (err)
        teardown(io);
    else
        *state = io;
    return err;
}

/* Only of the call that has one of the system behind it, on as many bytes. */
static const char *below(const struct op_env *env)
{
    return ((const struct manage_row *)env->op->row)->writes ? "file.fsync" : NULL;
}

static void op_at(size_t i, struct op *op)
{
    const struct manage_row *row = &rows[i];
    memcpy(made, own_params, sizeof own_params);
    memcpy(made + sizeof own_params / sizeof own_params[0], io_hints, sizeof io_hints);
    *op = (struct op){
        .family = "mpi-io",
        .summary = row->summary,
        .class = OP_COLLECTIVE,
        .role = ROLE_FILE,
        .report = OP_SLOWEST,
        .parts = 1,
        .default_bytes = "64Ki",
        .params = made,
        .missing = IO_MISSING,
        .row = row,
        .prepare = row->before || row->writes ? prepare : NULL,
        .setup = setup,
        .run = run,
        .verify = verify,
        .describe_end = io_describe_end,
        .teardown = teardown,
        .below = below,
    };
    memcpy(op->name, row->name, strlen(row->name) + 1);
}

const struct op_family mpi_io_manage_ops = {.count = ROWS, .op_at = op_at};
