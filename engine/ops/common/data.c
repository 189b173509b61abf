#include "ops/common/data.h"

#include "base/err.h"

#include <string.h>

int data_align(const struct op_env *env, size_t element)
{
    const size_t align = env->buffers->align;
    return align % element == 0
               ? 0
               : err_say(ERR_INPUT,
                         "align=%zu of %s is no multiple of an element's %zu bytes; choose another", align,
                         env->op->name, element);
}

/* Bytes i to i + 7, for an i that is a multiple of 8: one hash instead of eight, for messages of GiB. */
static void data_word(int from, int to, size_t i, unsigned char word[8])
{
    const unsigned char first = data_byte(from, to, i);
    for (unsigned char k = 0; k < 8; ++k)
        word[k] = first ^ k;
}

void data_fill(void *data, size_t bytes, int from, int to)
{
    unsigned char *p = data, word[8];
    const size_t whole = bytes / sizeof word * sizeof word;
    for (size_t i = 0; i < whole; i += sizeof word) {
        data_word(from, to, i, word);
        memcpy(p + i, word, sizeof word);
    }
    for (size_t i = whole; i < bytes; ++i)
        p[i] = data_byte(from, to, i);
}

void data_poison(void *data, size_t bytes)
{
    if (bytes > 0)
        memset(data, DATA_POISON, bytes);
}

void data_arrived(void *data, size_t bytes, bool planted)
{
    if (planted && bytes > 0)
        ((unsigned char *)data)[bytes - 1] ^= 1;
}

int data_check(const void *data, size_t bytes, int from, int to, int block)
{
    const unsigned char *p = data;
    unsigned char word[8];
    size_t i = 0;
    for (; i + sizeof word <= bytes; i += sizeof word) {
        data_word(from, to, i, word);
        if (memcmp(p + i, word, sizeof word) != 0)
            break; /* and look at each byte */
    }
    for (; i < bytes; ++i)
        if (p[i] != data_byte(from, to, i))
            return err_say(ERR_WRONG, "byte %zu of block %d from rank %d is 0x%02x, should be 0x%02x", i,
                           block, from, p[i], data_byte(from, to, i));
    return 0;
}
