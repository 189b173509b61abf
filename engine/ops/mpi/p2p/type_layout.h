/* Data in memory with gaps: the same layout as a datatype of MPI and as a table of offsets, so that MPI's
 * work can be checked without it. */
#ifndef OPS_MPI_P2P_TYPE_LAYOUT_H
#define OPS_MPI_P2P_TYPE_LAYOUT_H

#include "core/op.h"

#include <mpi.h>

/* The parameters of a layout, which come first in an op's table. */
enum { LAYOUT_TYPE, LAYOUT_BLOCK, LAYOUT_STRIDE, LAYOUT_PARAMS };
enum { LAYOUT_BLOCK_MOST = 1 << 24 };
extern const char *const layout_types[6];
extern const int layout_type_bytes[5];
#define LAYOUT_ROWS                                                                                          \
    [LAYOUT_TYPE] = PARAM_TYPES("type", "how the data lie in memory", layout_types, layout_type_bytes),      \
    [LAYOUT_BLOCK] = {"block", "", "doubles in a block", 1, 1, LAYOUT_BLOCK_MOST, .all = "blocks"},          \
    [LAYOUT_STRIDE] = {                                                                                      \
        "stride", "", "doubles from the start of a block to the start of the next; 0: twice the block",      \
        0,        0,  LAYOUT_BLOCK_MOST}

struct type_layout {
    int blocks, block, stride;    /* of doubles: in a block, and from the start of one to the next */
    size_t block_bytes, bytes;    /* of one, and of all: without the gaps */
    size_t span, room;            /* from the start to the last byte; and with the watched bytes behind it */
    size_t *at;                   /* bytes from the start to each block */
    int *lengths, *displacements; /* of an indexed type, in doubles */
    int (*make)(const struct type_layout *l, MPI_Datatype *type); /* and commits it: MPI's code */

    /* The elements in their order, as basic types: `records` times the pieces. */
    int records, pieces;
    struct {
        int count;
        MPI_Datatype type;
        size_t bytes;
    } piece[3];
};

/* ERR_INPUT for sizes that do not fit together. Call layout_close() after a failure, too. */
int layout_open(struct type_layout *l, const struct op_env *env);
void layout_close(struct type_layout *l);

/* Fill `room` bytes: poison, and in the blocks the data of rank `from` for `to`. */
void layout_fill(const struct type_layout *l, char *memory, int from, int to);

/* Check that every byte of the blocks is that of rank `from` for `to`, and that all others are still
 * poison. */
int layout_check(const struct type_layout *l, const char *memory, int from, int to);

/* Without the datatype, element by element: from or to memory without gaps. MPI's codes. */
int layout_pack_size(const struct type_layout *l, MPI_Comm comm, int *size);
int layout_pack(const struct type_layout *l, const char *flat, char *packed, int size, MPI_Comm comm);
int layout_unpack(const struct type_layout *l, const char *packed, int size, char *flat, MPI_Comm comm);

/* The same by copying, for a program that packs by itself. */
void layout_copy_out(const struct type_layout *l, const char *memory, char *flat);
void layout_copy_in(const struct type_layout *l, const char *flat, char *memory);

#endif
