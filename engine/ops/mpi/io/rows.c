/* The calls of MPI-IO that move data: each is a function and a row. */
#include "ops/mpi/io/rows.h"

/* ---- the calls ---- */

#define AT pieces_memory(&io->p, io->p.lanes, k)
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

const struct io_row io_rows[IO_ROWS] = {
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
