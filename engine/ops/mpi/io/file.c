#include "ops/mpi/io/io.h"

#include "base/err.h"
#include "team/team_mpi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const io_view_words[] = {[IO_OFFSETS] = "offsets", [IO_TYPE] = "type", [IO_ONCE] = "once", NULL};

/* ---- hints ---- */

static const char *const switched[] = {"default", "enable", "disable", "automatic", NULL};
static const char *const yes_no[] = {"default", "true", "false", NULL};

#define HINT_WORDS(key, text, list) PARAM_WORDS("hint." key, "hint " key ": " text, list)
#define HINT_NUMBER(key, text)                                                                               \
    {.name = "hint." key, .unit = "", .summary = "hint " key ": " text "; 0: not given", .most = 1e9}

const struct param io_hints[IO_HINTS] = {
    HINT_WORDS("romio_cb_write", "collective buffering of writes", switched),
    HINT_WORDS("romio_cb_read", "collective buffering of reads", switched),
    HINT_WORDS("romio_ds_write", "data sieving of writes", switched),
    HINT_WORDS("romio_ds_read", "data sieving of reads", switched),
    HINT_WORDS("collective_buffering", "collective buffering", yes_no),
    HINT_NUMBER("cb_nodes", "ranks that do the I/O of a collective call"),
    HINT_NUMBER("cb_buffer_size", "bytes of the buffer of each of them"),
    HINT_NUMBER("striping_factor", "devices over which a new file is striped"),
    HINT_NUMBER("striping_unit", "bytes of a stripe"),
};

enum { HINT_PREFIX = sizeof "hint." - 1 };

/* The value of a hint as a text; false: it is not given. */
static bool hint_text(const struct op_env *env, const struct param *row, char text[HINT_VALUE_MAX])
{
    const double value = param_value(env->op->params, env->params, row->name, 0);
    if (row->words)
        snprintf(text, HINT_VALUE_MAX, "%s", row->words[(int)value]);
    else
        snprintf(text, HINT_VALUE_MAX, "%.0f", value);
    return value > 0;
}

static int make_info(struct io *io, const struct op_env *env)
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < IO_HINTS && rc == MPI_SUCCESS; ++i) {
        char text[HINT_VALUE_MAX];
        if (!hint_text(env, &io_hints[i], text))
            continue;
        if (io->info == MPI_INFO_NULL) {
            rc = MPI_Info_create(&io->info);
            memcpy(io->hint_value, text, sizeof text);
            io->hint = (struct hint){io_hints[i].name + HINT_PREFIX, io->hint_value};
        }
        if (rc == MPI_SUCCESS)
            rc = MPI_Info_set(io->info, io_hints[i].name + HINT_PREFIX, text);
    }
    return team_mpi_err(rc, "MPI_Info_set");
}

/* ---- views ---- */

/* A box of a 3-d array by MPI_Type_create_subarray, any other pattern by a list of its pieces. */
static int make_type(struct io *io)
{
    const struct places *s = &io->p.places;
    const int worker = io->p.apart || io->p.together ? 0 : io->p.lanes[0].sectors.worker,
              piece = (int)io->p.piece;
    MPI_Datatype whole;
    int rc = MPI_Type_contiguous(piece, MPI_BYTE, &whole);
    if (rc != MPI_SUCCESS)
        return rc;
    if (io->p.pattern == PLACES_NESTED) {
        int all[3], box[3], first[3];
        const int64_t at[3] = {worker / (s->grid[1] * s->grid[2]), worker / s->grid[2] % s->grid[1],
                               worker % s->grid[2]};
        for (int i = 0; i < 3; ++i) {
            all[i] = (int)(s->grid[i] * s->box[i]);
            box[i] = (int)s->box[i];
            first[i] = (int)(at[i] * s->box[i]);
        }
        rc = MPI_Type_create_subarray(3, all, box, first, MPI_ORDER_C, whole, &io->type);
    } else {
        MPI_Aint *places = malloc((size_t)io->p.count * sizeof *places);
        for (int64_t k = 0; places && k < io->p.count; ++k)
            places[k] = (MPI_Aint)pieces_offset(&io->p, io->p.lanes, k);
        rc = places ? MPI_Type_create_hindexed_block((int)io->p.count, 1, places, whole, &io->type)
                    : MPI_ERR_NO_MEM;
        free(places);
    }
    MPI_Type_free(&whole);
    return rc == MPI_SUCCESS ? MPI_Type_commit(&io->type) : rc;
}

int io_set_view(struct io *io)
{
    return MPI_File_set_view(io->file, 0, MPI_BYTE, io->type == MPI_DATATYPE_NULL ? MPI_BYTE : io->type,
                             "native", io->info);
}

/* ---- calls ---- */

static int make_calls(struct io *io, enum io_view view)
{
    struct pieces *p = &io->p;
    const bool once = view == IO_ONCE;
    if (p->piece * (size_t)(once ? p->count : 1) > INT_MAX)
        return err_say(ERR_UNSUPPORTED,
                       "a call of %s moves less than 2 GiB; give smaller --bytes or --param calls",
                       p->env->op->name);
    if (view != IO_OFFSETS && place_rows[p->pattern].shuffled)
        return err_say(ERR_UNSUPPORTED,
                       "the type of a view cannot go backwards, so pattern=%s has view=offsets only",
                       place_rows[p->pattern].name);
    io->calls = once ? 1 : (int)p->count;
    io->bytes = (int)(p->piece * (size_t)(once ? p->count : 1));
    const size_t count = (size_t)io->calls;
    io->offset = calloc(count, sizeof *io->offset);
    io->seeks = calloc(count, sizeof *io->seeks);
    io->requests = calloc(count, sizeof *io->requests);
    if (!io->offset || !io->seeks || !io->requests)
        return err_say(ERR_NOMEM, "no memory for %d calls", io->calls);
    for (int k = 0; k < io->calls; ++k) {
        io->offset[k] = view == IO_OFFSETS ? pieces_offset(p, p->lanes, k) : (MPI_Offset)k * io->bytes;
        io->requests[k] = MPI_REQUEST_NULL;
        io->seeks[k] = k == 0 || io->offset[k] != io->offset[k - 1] + io->bytes;
    }
    return 0;
}

/* ---- open and close ---- */

int io_open(struct io *io, const struct op_env *env, bool reads, int pattern, bool by_rank)
{
    const enum io_view view =
        (enum io_view)(int)param_value(env->op->params, env->params, "view", IO_OFFSETS);
    io->file = MPI_FILE_NULL;
    io->info = MPI_INFO_NULL;
    io->type = MPI_DATATYPE_NULL;
    io->row = env->op->row;
    io->atomic = param_value(env->op->params, env->params, "atomic", 0) > 0;
    io->sync = (enum io_sync)(int)param_value(env->op->params, env->params, "sync", IO_NO_SYNC);
    int err = pieces_open(&io->p, env, reads, pattern, by_rank);
    io->comm = io->p.apart ? MPI_COMM_SELF : team_comm(env->team);
    err = err ? err : make_calls(io, view);
    err = err ? err : make_info(io, env);
    if (!err && view != IO_OFFSETS)
        err = team_mpi_err(make_type(io), "MPI_Type_create_subarray or MPI_Type_create_hindexed_block");
    if (!err)
        snprintf(io->path, sizeof io->path, "%.*s/%s", FILES_PATH_MAX - 1, env->files, io->p.lanes[0].name);
    /* All open the file or none does, for that is a collective call. */
    int64_t any = err;
    const int met = team_max(env->team, &any);
    if (err || met || any)
        return err ? err : met ? met : err_say(ERR_UNSUPPORTED, "another rank cannot open the file");
    /* And all close it, if one could not set its view. */
    any = err = team_mpi_err(io_open_file(io), "MPI_File_open or MPI_File_set_view");
    const int met_again = team_max(env->team, &any);
    if (err || met_again || !any)
        return err ? err : met_again;
    return err_say(ERR_UNSUPPORTED, "another rank cannot open the file");
}

int io_open_file(struct io *io)
{
    int rc = MPI_File_open(io->comm, io->path, MPI_MODE_CREATE | MPI_MODE_RDWR, io->info, &io->file);
    if (rc == MPI_SUCCESS)
        rc = io_set_view(io);
    if (rc == MPI_SUCCESS && io->atomic)
        rc = MPI_File_set_atomicity(io->file, 1);
    MPI_Info has;
    if (rc == MPI_SUCCESS && io->hint.key && !io->seen.hint &&
        (rc = MPI_File_get_info(io->file, &has)) == MPI_SUCCESS)
        rc = hint_look(&io->hint, has, &io->seen);
    return rc;
}

void io_close(struct io *io)
{
    if (io->file != MPI_FILE_NULL)
        MPI_File_close(&io->file);
    if (io->info != MPI_INFO_NULL)
        MPI_Info_free(&io->info);
    if (io->type != MPI_DATATYPE_NULL)
        MPI_Type_free(&io->type);
    free(io->offset);
    free(io->seeks);
    free(io->requests);
    pieces_close(&io->p);
}

void io_describe_end(const void *state, struct json *j)
{
    const struct io *io = state;
    files_describe(io->p.folder_name, &io->p.facts, j);
    hint_describe(&io->seen, j);
}
