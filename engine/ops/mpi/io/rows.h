/* Rows of the calls of MPI-IO that move data. */
#ifndef OPS_MPI_IO_ROWS_H
#define OPS_MPI_IO_ROWS_H

#include "ops/mpi/io/io.h"

/* Where a call finds the place in the file. */
enum io_pointer { EXPLICIT, INDIVIDUAL, ANYWHERE, ORDERED };

struct io_row {
    const char *name, *call, *summary;
    bool reads;
    enum io_pointer pointer;
    bool starts;  /* it gives a request */
    bool empties; /* the file is emptied before each repetition */
    int (*one)(struct io *io, int k);
};

/* The first half of them write. */
enum { IO_ROWS = 28, IO_WRITES = IO_ROWS / 2 };
extern const struct io_row io_rows[IO_ROWS];

#endif
