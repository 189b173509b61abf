#include "ops/mpi/p2p/type_layout.h"

#include "base/err.h"
#include "base/hash.h"
#include "ops/common/data.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENT = 8, GUARD = 64 }; /* bytes: of a double; behind the last block */

enum { CONTIGUOUS, VECTOR, INDEXED, STRUCT, SUBARRAY };
const char *const layout_types[] = {"contiguous", "vector", "indexed", "struct", "subarray", NULL};
const int layout_type_bytes[] = {ELEMENT, ELEMENT, ELEMENT, ELEMENT, ELEMENT};

/* ---- the datatypes ---- */

static int commit(int rc, MPI_Datatype *type)
{
    return rc == MPI_SUCCESS ? MPI_Type_commit(type) : rc;
}

static int make_contiguous(const struct type_layout *l, MPI_Datatype *type)
{
    return commit(MPI_Type_contiguous(l->blocks * l->block, MPI_DOUBLE, type), type);
}

static int make_vector(const struct type_layout *l, MPI_Datatype *type)
{
    return commit(MPI_Type_vector(l->blocks, l->block, l->stride, MPI_DOUBLE, type), type);
}

static int make_indexed(const struct type_layout *l, MPI_Datatype *type)
{
    return commit(MPI_Type_indexed(l->blocks, l->lengths, l->displacements, MPI_DOUBLE, type), type);
}

/* Columns in the middle of a matrix of `blocks` rows. */
static int make_subarray(const struct type_layout *l, MPI_Datatype *type)
{
    const int whole[] = {l->blocks, l->stride}, part[] = {l->blocks, l->block};
    const int start[] = {0, (l->stride - l->block) / 2};
    return commit(MPI_Type_create_subarray(2, whole, part, start, MPI_ORDER_C, MPI_DOUBLE, type), type);
}

/* Records of an int, four chars and doubles, with the gap behind. */
static int make_struct(const struct type_layout *l, MPI_Datatype *type)
{
    const int lengths[] = {1, 4, l->block - 1}, members = l->block > 1 ? 3 : 2;
    const MPI_Aint at[] = {0, 4, ELEMENT};
    const MPI_Datatype types[] = {MPI_INT, MPI_CHAR, MPI_DOUBLE};
    MPI_Datatype record = MPI_DATATYPE_NULL, apart = MPI_DATATYPE_NULL;
    int rc = MPI_Type_create_struct(members, lengths, at, types, &record);
    if (rc == MPI_SUCCESS)
        rc = MPI_Type_create_resized(record, 0, (MPI_Aint)l->stride * ELEMENT, &apart);
    if (rc == MPI_SUCCESS)
        rc = commit(MPI_Type_contiguous(l->blocks, apart, type), type);
    if (record != MPI_DATATYPE_NULL)
        MPI_Type_free(&record);
    if (apart != MPI_DATATYPE_NULL)
        MPI_Type_free(&apart);
    return rc;
}

static int (*const makes[])(const struct type_layout *l, MPI_Datatype *type) = {
    [CONTIGUOUS] = make_contiguous, [VECTOR] = make_vector,     [INDEXED] = make_indexed,
    [STRUCT] = make_struct,         [SUBARRAY] = make_subarray,
};

/* ---- opening ---- */

/* Compute the sizes, or say why there are none. */
static int measure(struct type_layout *l, const struct op_env *env, int type)
{
    const char *name = env->op->name;
    const size_t elements = env->bytes / ELEMENT;
    const double stride = env->params[LAYOUT_STRIDE];
    l->bytes = env->bytes;
    l->block = (int)env->params[LAYOUT_BLOCK];
    l->stride = stride > 0 ? (int)stride : 2 * l->block;
    if (env->bytes % ELEMENT != 0)
        return err_say(ERR_INPUT, "%s has doubles: %zu bytes are no multiple of 8", name, env->bytes);
    if (env->bytes > INT_MAX)
        return err_say(
            ERR_UNSUPPORTED,
            "%s packs into a buffer whose size is MPI's int: %zu bytes are more than 2147483647; use "
            "mpi.pingpong_c for larger messages",
            name, env->bytes);
    if (type == CONTIGUOUS) { /* one block */
        l->block = l->stride = (int)elements;
    } else if (elements % (size_t)l->block != 0) {
        return err_say(ERR_INPUT, "%s has blocks of %d doubles: %zu bytes are no multiple of %d", name,
                       l->block, env->bytes, ELEMENT * l->block);
    } else if (l->stride < l->block) {
        return err_say(ERR_INPUT, "stride=%d is less than block=%d: the blocks would overlap", l->stride,
                       l->block);
    }
    l->blocks = elements == 0 ? 0 : (int)(elements / (size_t)l->block);
    l->block_bytes = ELEMENT * (size_t)l->block;
    if ((double)l->blocks * l->stride > INT_MAX)
        return err_say(
            ERR_INPUT,
            "%d blocks with stride=%d span more doubles than MPI's int can say (2147483647), in %g "
            "bytes; use a smaller stride",
            l->blocks, l->stride, (double)l->blocks * l->stride * ELEMENT);
    return 0;
}

/* Where block b starts, in doubles. The blocks of an indexed type are anywhere in their stride. */
static int place(const struct type_layout *l, int type, int b)
{
    const int free = l->stride - l->block;
    return b * l->stride + (type == INDEXED    ? (int)(hash_mix((uint64_t)b) % ((uint64_t)free + 1))
                            : type == SUBARRAY ? free / 2
                                               : 0);
}

int layout_open(struct type_layout *l, const struct op_env *env)
{
    const int type = (int)env->params[LAYOUT_TYPE];
    *l = (struct type_layout){0};
    int err = measure(l, env, type);
    if (err)
        return err;
    const size_t count = (size_t)l->blocks + 1; /* not none */
    l->at = calloc(count, sizeof *l->at);
    l->lengths = calloc(count, sizeof *l->lengths);
    l->displacements = calloc(count, sizeof *l->displacements);
    if (!l->at || !l->lengths || !l->displacements)
        return err_say(ERR_NOMEM, "no memory for the places of %d blocks; use larger blocks", l->blocks);
    for (int b = 0; b < l->blocks; ++b) {
        l->lengths[b] = l->block;
        l->displacements[b] = place(l, type, b);
        l->at[b] = (size_t)l->displacements[b] * ELEMENT;
    }
    l->span = l->blocks > 0 ? l->at[l->blocks - 1] + l->block_bytes : 0;
    l->room = l->span + GUARD;
    l->make = l->blocks > 0 ? makes[type] : make_contiguous; /* MPI has no empty subarray */
    l->records = l->pieces = 1;
    l->piece[0].count = l->blocks * l->block;
    l->piece[0].type = MPI_DOUBLE;
    l->piece[0].bytes = l->bytes;
    if (type == STRUCT) {
        l->records = l->blocks;
        l->pieces = 3;
        l->piece[0].count = 1, l->piece[0].type = MPI_INT, l->piece[0].bytes = 4;
        l->piece[1].count = 4, l->piece[1].type = MPI_CHAR, l->piece[1].bytes = 4;
        l->piece[2].count = l->block - 1, l->piece[2].type = MPI_DOUBLE,
        l->piece[2].bytes = l->block_bytes - ELEMENT;
    }
    return 0;
}

void layout_close(struct type_layout *l)
{
    free(l->at);
    free(l->lengths);
    free(l->displacements);
}

/* ---- contents ---- */

void layout_fill(const struct type_layout *l, char *memory, int from, int to)
{
    size_t i = 0;
    data_poison(memory, l->room);
    for (int b = 0; b < l->blocks; ++b)
        for (size_t k = 0; k < l->block_bytes; ++k)
            memory[l->at[b] + k] = (char)data_byte(from, to, i++);
}

/* Check that the bytes from `first` to before `end` are in a gap. */
static int check_gap(const char *memory, size_t first, size_t end)
{
    for (size_t k = first; k < end; ++k)
        if ((unsigned char)memory[k] != DATA_POISON)
            return err_say(ERR_WRONG, "byte %zu lies in a gap and has become 0x%02x", k,
                           (unsigned char)memory[k]);
    return 0;
}

int layout_check(const struct type_layout *l, const char *memory, int from, int to)
{
    size_t i = 0, end = 0;
    int err = 0;
    for (int b = 0; b < l->blocks && !err; ++b) {
        err = check_gap(memory, end, l->at[b]);
        end = l->at[b] + l->block_bytes;
        for (size_t k = l->at[b]; k < end && !err; ++k, ++i)
            if ((unsigned char)memory[k] != data_byte(from, to, i))
                err = err_say(ERR_WRONG, "byte %zu of block %d from rank %d is 0x%02x, should be 0x%02x",
                              k - l->at[b], b, from, (unsigned char)memory[k], data_byte(from, to, i));
    }
    return err ? err : check_gap(memory, end, l->room);
}

int layout_pack_size(const struct type_layout *l, MPI_Comm comm, int *size)
{
    int rc = MPI_SUCCESS, piece = 0, sum = 0;
    for (int k = 0; k < l->pieces && rc == MPI_SUCCESS; ++k) {
        rc = MPI_Pack_size(l->piece[k].count, l->piece[k].type, comm, &piece);
        sum += piece;
    }
    *size = sum * l->records;
    return rc;
}

int layout_pack(const struct type_layout *l, const char *flat, char *packed, int size, MPI_Comm comm)
{
    int rc = MPI_SUCCESS, position = 0;
    for (int r = 0; r < l->records; ++r)
        for (int k = 0; k < l->pieces && rc == MPI_SUCCESS; flat += l->piece[k++].bytes)
            rc = MPI_Pack(flat, l->piece[k].count, l->piece[k].type, packed, size, &position, comm);
    return rc;
}

int layout_unpack(const struct type_layout *l, const char *packed, int size, char *flat, MPI_Comm comm)
{
    int rc = MPI_SUCCESS, position = 0;
    for (int r = 0; r < l->records; ++r)
        for (int k = 0; k < l->pieces && rc == MPI_SUCCESS; flat += l->piece[k++].bytes)
            rc = MPI_Unpack(packed, size, &position, flat, l->piece[k].count, l->piece[k].type, comm);
    return rc;
}

void layout_copy_out(const struct type_layout *l, const char *memory, char *flat)
{
    for (int b = 0; b < l->blocks; ++b, flat += l->block_bytes)
        memcpy(flat, memory + l->at[b], l->block_bytes);
}

void layout_copy_in(const struct type_layout *l, const char *flat, char *memory)
{
    for (int b = 0; b < l->blocks; ++b, flat += l->block_bytes)
        memcpy(memory + l->at[b], flat, l->block_bytes);
}
