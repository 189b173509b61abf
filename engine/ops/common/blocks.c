#include "ops/common/blocks.h"

#include "base/err.h"
#include "ops/common/data.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = sizeof(int64_t) };

int blocks_open(struct blocks *blocks, const struct op_env *env)
{
    int err = 0;
    if (blocks->lane->acts)
        err = buffers_take(env->buffers, (size_t)blocks->count, blocks->stride, (void **)&blocks->local);
    blocks->packed = blocks->step ? malloc(blocks->bytes + 1) : NULL;
    if (!err && blocks->step && !blocks->packed)
        err = err_say(ERR_NOMEM, "no memory for the numbers of %s", env->op->name);
    return err;
}

void blocks_close(struct blocks *blocks)
{
    free(blocks->packed);
}

/* ---- data ---- */

static int number_of(const struct blocks *b, int place)
{
    const uint64_t which = (b->lane->generation << 40) ^ ((uint64_t)b->lane->thread << 20) ^ (uint64_t)place;
    return (int)(hash_mix(which) & INT_MAX);
}

static size_t numbers(const struct blocks *b)
{
    return b->bytes / NUMBER;
}

static void fill(const struct blocks *b, char *at, int place)
{
    data_poison(at, b->stride);
    data_fill(b->step ? b->packed : (void *)at, b->bytes, b->lane->rank, number_of(b, place));
    for (size_t k = 0; b->step && k < numbers(b); ++k)
        memcpy(at + k * b->step * NUMBER, b->packed + k * NUMBER, NUMBER);
}

/* The window of a get and the buffer of a put have the data; the others have poison, where they arrive. */
static void renew(const struct blocks *b, char *places, bool sent)
{
    for (int i = 0; i < b->count; ++i) {
        char *at = places + (size_t)i * b->stride;
        if (sent)
            fill(b, at, i);
        else
            data_poison(at, b->stride);
    }
}

void blocks_fresh(const struct blocks *b)
{
    if (b->lane->acts)
        renew(b, b->local, !b->gets);
    if (b->lane->is_target)
        renew(b, b->lane->window, b->gets);
}

/* ---- checks ---- */

/* Bytes that nothing was written to: between the numbers of strided calls, and behind each place. */
static int check_gaps(const struct blocks *b, const unsigned char *at, int place)
{
    const size_t step = b->step * NUMBER, used = numbers(b) * step;
    for (size_t k = b->step ? 0 : b->bytes; k < b->stride; ++k)
        if (at[k] != DATA_POISON && !(b->step && k < used && k % step < NUMBER))
            return err_say(ERR_WRONG, "byte %zu of block %d was written, and nothing was sent there", k,
                           place);
    return 0;
}

int blocks_check(const struct blocks *b)
{
    char *arrived = b->gets ? b->local : b->lane->window;
    int err = 0;
    if (b->bytes == 0 || !(b->gets ? b->lane->acts : b->lane->is_target))
        return 0;
    const size_t end = b->step ? ((numbers(b) - 1) * b->step + 1) * NUMBER : b->bytes;
    data_arrived(arrived, (size_t)(b->count - 1) * b->stride + end, b->lane->planted);
    for (int i = 0; i < b->count && !err; ++i) {
        const char *at = arrived + (size_t)i * b->stride;
        for (size_t k = 0; b->step && k < numbers(b); ++k)
            memcpy(b->packed + k * NUMBER, at + k * b->step * NUMBER, NUMBER);
        err = data_check(b->step ? (const void *)b->packed : at, b->bytes, b->lane->peer, number_of(b, i), i);
        err = err ? err : check_gaps(b, (const unsigned char *)at, i);
    }
    return err;
}
