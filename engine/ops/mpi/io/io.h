/* Shared by the ops of MPI-IO: an open file of a rank, its view and its hints. */
#ifndef OPS_MPI_IO_IO_H
#define OPS_MPI_IO_IO_H

#include "comm/hint_mpi.h"
#include "ops/common/pieces.h"

#include <mpi.h>
#include <stdbool.h>

/* How pieces are found in the file: io_view_words. */
enum io_view {
    IO_OFFSETS, /* a call for each piece, at its offset */
    IO_TYPE,    /* a call for each piece, one behind the other in a view whose type is the pattern */
    IO_ONCE,    /* one call for all pieces, in such a view */
};
extern const char *const io_view_words[4];

/* When MPI_File_sync is called in the timed part. */
enum io_sync { IO_NO_SYNC, IO_SYNC_INSIDE, IO_SYNC_EACH, IO_SYNC_VISIBLE };

/* Hints, each a parameter: the words of one that has words begin with "default", which gives none; of a
 * number, 0 gives none. */
enum { IO_HINTS = 9 };
extern const struct param io_hints[IO_HINTS];

enum { IO_PATH_MAX = FILES_PATH_MAX + PIECES_NAME_MAX };

struct io {
    struct pieces p; /* of one lane */
    const void *row;
    MPI_Comm comm; /* of those who open the file together */
    MPI_File file; /* MPI_FILE_NULL: not open */
    MPI_Info info;
    MPI_Datatype type;                             /* of the view; MPI_DATATYPE_NULL: none */
    char path[IO_PATH_MAX], own_path[IO_PATH_MAX]; /* of the file; of one of this rank, to delete */
    bool atomic;                                   /* the mode of the file */
    enum io_sync sync;
    struct hint hint; /* the first that was given */
    char hint_value[HINT_VALUE_MAX];
    struct hint_seen seen;

    /* The arguments of a call. */
    int calls;          /* in a repetition */
    int bytes;          /* of a call */
    MPI_Offset *offset; /* of each call, in the view */
    bool *seeks;        /* does an individual pointer have to be set before it? */
    MPI_Request *requests;
    int rc; /* MPI's code of the last run */
};

/* Take pieces with that pattern, where the op has no such parameter, the info of its hints, and the types.
 * Collective: all ranks meet, whatever goes wrong. As setup of ops; on failure io_close() is due. */
int io_open(struct io *io, const struct op_env *env, bool reads, int pattern, bool by_rank);
void io_close(struct io *io);

/* Open the file by MPI, with the view of the op. Collective over io->comm. MPI's code. */
int io_open_file(struct io *io);
int io_set_view(struct io *io);

void io_describe_end(const void *state, struct json *j);

#endif
