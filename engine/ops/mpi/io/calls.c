/* mpi.io.write_at, mpi.io.read_all, ...: what the calls of rows.c take, with their data and checks. */
#include "ops/families.h"

#include "base/err.h"
#include "comm/compat_mpi.h"
#include "ops/common/data.h"
#include "ops/mpi/io/rows.h"
#include "team/team_mpi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

static const char *const sync_words[] = {[IO_NO_SYNC] = "none",
                                         [IO_SYNC_INSIDE] = "inside",
                                         [IO_SYNC_EACH] = "each",
                                         [IO_SYNC_VISIBLE] = "visible",
                                         NULL};
#define ATOMIC_PARAM                                                                                         \
    PARAM_WORDS(                                                                                             \
        "atomic",                                                                                            \
        "on: atomic mode, by MPI_File_set_atomicity; overlapping: the same, and all ranks write the "        \
        "same pieces, of which each call's must be of one rank",                                             \
        pieces_atomic)
#define SYNC_PARAM                                                                                           \
    PARAM_WORDS("sync",                                                                                      \
                "inside: a repetition ends with MPI_File_sync; each: so does each of its calls; visible: "   \
                "each call is followed by MPI_File_sync, MPI_Barrier and MPI_File_sync, after which all "    \
                "ranks see its data",                                                                        \
                sync_words)
#define VIEW_PARAM                                                                                           \
    PARAM_WORDS("view",                                                                                      \
                "offsets: a call for each piece at its offset; type: a call for each, through a view whose " \
                "type is the pattern; once: one call for all pieces through it",                             \
                io_view_words)

static const struct param placed_params[] = {PIECES_PARAMS, VIEW_PARAM},
                          pointer_params[] = {PIECES_CALLS_ROW, PIECES_MEMORY_ROW},
                          last_params[] = {ATOMIC_PARAM, SYNC_PARAM, OP_CHECKS_PARAM, BUFFERS_PARAMS};

/* Made by op_at(), with the same result each time. */
static struct param made[IO_ROWS][PARAMS_MAX + 1];
static struct io_row of_new[IO_WRITES]; /* rows of writes, into an emptied file */

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

static int empty(void *state)
{
    struct io *io = state;
    int met = team_barrier(io->p.env->team);
    const int err = team_mpi_err(MPI_File_set_size(io->file, 0), "MPI_File_set_size");
    met = met ? met : team_barrier(io->p.env->team);
    return err ? err : met;
}

static int empty_and_rewind(void *state)
{
    const int err = empty(state), rewound = rewind_shared(state);
    return err ? err : rewound;
}

/* What is done before each repetition; NULL: nothing. */
static int (*preparation(const struct io_row *row))(void *)
{
    return row->empties ? shares(row) ? empty_and_rewind : empty : shares(row) ? rewind_shared : NULL;
}

/* Stamp or wipe the pieces of a call. */
static void make_ready(struct io *io, const struct io_row *row, int k)
{
    struct piece_lane *lane = io->p.lanes;
    const int64_t each = io->p.count / io->calls;
    for (int64_t i = k * each; i < (k + 1) * each; ++i)
        if (row->reads)
            sectors_wipe(&lane->sectors, pieces_memory(&io->p, lane, i));
        else
            sectors_stamp(&lane->sectors, pieces_memory(&io->p, lane, i), i, io->p.repetition);
}

/* The first of two errors. */
static int first_of(int rc, int later)
{
    return rc != MPI_SUCCESS ? rc : later;
}

/* What follows each call: all of it, for the others wait. */
static int sync_call(struct io *io)
{
    if (io->sync < IO_SYNC_EACH)
        return MPI_SUCCESS;
    int rc = MPI_File_sync(io->file);
    if (io->sync == IO_SYNC_VISIBLE) {
        rc = first_of(rc, MPI_Barrier(io->comm));
        rc = first_of(rc, MPI_File_sync(io->file));
    }
    return rc;
}

/* A rank whose call failed makes the others, too: it may be alone, and others wait for it in them. */
static int repetition(struct io *io, const struct io_row *row)
{
    int rc = MPI_SUCCESS;
    for (int k = 0; k < io->calls; ++k) {
        make_ready(io, row, k);
        if (row->pointer == INDIVIDUAL && io->seeks[k])
            rc = first_of(rc, MPI_File_seek(io->file, io->offset[k], MPI_SEEK_SET));
        rc = first_of(rc, row->one(io, k));
        rc = first_of(rc, sync_call(io));
    }
    return row->starts ? first_of(rc, MPI_Waitall(io->calls, io->requests, statuses_ignored())) : rc;
}

static int run(void *state, int64_t reps)
{
    struct io *io = state;
    const struct io_row *row = io->row;
    int rc = MPI_SUCCESS;
    for (int64_t r = 0; r < reps && rc == MPI_SUCCESS; ++r) {
        io->p.repetition += !row->reads;
        rc = repetition(io, row);
        if (io->sync == IO_SYNC_INSIDE)
            rc = first_of(rc, MPI_File_sync(io->file));
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
    pieces_part(&io->p, ((const struct io_row *)io->row)->reads);
    for (int i = 0; i < ROUNDS; ++i) {
        const int renewed = pieces_renew(&io->p), synced = MPI_File_sync(io->file);
        err = err ? err : renewed ? renewed : team_mpi_err(synced, "MPI_File_sync");
        /* Collective calls need all ranks, also one that has failed. */
        int (*const prepare)(void *) = preparation(io->row);
        const int ready = prepare ? prepare(io) : 0;
        const int ran = run(io, 1);
        err = err ? err : ready ? ready : ran;
        int64_t failed = err; /* on any rank: the others would find what came of it */
        const int met = team_max(io->p.env->team, &failed);
        err = err ? err : met;
        if (met || failed)
            break;
        err = look(io, 0);
    }
    pieces_part(&io->p, false);
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

/* Pieces of which it is told whose they are, in places that ranks can share; and a sync has nothing pending.
 */
static int check_params(const struct op_env *env)
{
    const struct io_row *row = env->op->row;
    const double *values = env->params;
    if (row->starts && (int)param_value(env->op->params, values, "sync", IO_NO_SYNC) >= IO_SYNC_EACH)
        return err_say(ERR_UNSUPPORTED,
                       "%s starts all its calls before it waits, so nothing can be synced after each; give "
                       "sync=inside",
                       row->name);
    const bool is_one_call = (int)param_value(env->op->params, values, "view", IO_OFFSETS) == IO_ONCE;
    const int lacks = row->starts || is_one_call ? pieces_at_once(env) : 0;
    if (lacks)
        return lacks;
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
    int err = check_params(env);
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

/* A sync inside costs a write what fsync costs; a read has nothing to sync. Nothing without MPI syncs after
 * each piece. */
static const char *below(const struct op_env *env)
{
    static const char *const floors[][2] = {
        [IO_NO_SYNC] = {"file.pwrite", "file.pwrite.new"},
        [IO_SYNC_INSIDE] = {"file.pwrite.fsync", "file.pwrite.new.fsync"},
        [IO_SYNC_EACH] = {NULL, NULL},
        [IO_SYNC_VISIBLE] = {NULL, NULL},
    };
    const struct io_row *row = env->op->row;
    const int sync = (int)param_value(env->op->params, env->params, "sync", IO_NO_SYNC);
    return row->reads ? "file.pread" : floors[sync][row->empties];
}

static void add(struct param *params, const struct param *more, size_t count)
{
    memcpy(params + param_count(params), more, count * sizeof *more);
}
#define ADD(params, list) add(params, list, sizeof list / sizeof list[0])

/* A write into an emptied file is the write of its row in all else. */
static const struct io_row *row_at(size_t i)
{
    static char names[IO_WRITES][OP_NAME_MAX], summaries[IO_WRITES][160];
    if (i < IO_ROWS)
        return &io_rows[i];
    struct io_row *row = &of_new[i - IO_ROWS];
    *row = io_rows[i - IO_ROWS];
    row->empties = true;
    snprintf(names[i - IO_ROWS], sizeof names[0], "%s.new", row->name);
    snprintf(summaries[i - IO_ROWS], sizeof summaries[0], "%s, into a file that was emptied before",
             row->summary);
    row->name = names[i - IO_ROWS];
    row->summary = summaries[i - IO_ROWS];
    return row;
}

static void op_at(size_t i, struct op *op)
{
    const struct io_row *row = row_at(i);
    struct param *params = made[i % IO_ROWS];
    memset(params, 0, sizeof made[0]);
    if (shares(row))
        ADD(params, pointer_params);
    else
        ADD(params, placed_params);
    ADD(params, last_params);
    ADD(params, io_hints);
    *op = (struct op){
        .family = "mpi-io",
        .summary = row->summary,
        .class = OP_COLLECTIVE,
        .role = ROLE_FILE,
        .form = row->starts ? FORM_NONBLOCKING : FORM_BLOCKING,
        .report = OP_SLOWEST,
        .parts = 1,
        .default_bytes = "4Ki..1Mi",
        .params = params,
        .missing = IO_MISSING,
        .row = row,
        .prepare = preparation(row),
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

const struct op_family mpi_io_ops = {.count = IO_ROWS + IO_WRITES, .op_at = op_at};
