#include "ops/common/data.h"

#include "base/err.h"

#include <string.h>

const char *const data_states[] = {
    [DATA_APART] = "apart", [DATA_SAME] = "same", [DATA_WRITTEN] = "written", NULL};

enum data_state data_state_of(const struct op_env *env)
{
    return (enum data_state)(int)param_value(env->op->params, env->params, "buffer", DATA_APART);
}

int data_align(const struct op_env *env, size_t element)
{
    const size_t align = env->buffers->align;
    return align % element == 0
               ? 0
               : err_say(ERR_INPUT,
                         "align=%zu of %s is no multiple of an element's %zu bytes; choose another", align,
                         env->op->name, element);
}

/* Bytes i to i + 7, where i is a multiple of 8. One hash for eight bytes is fast enough for messages of
 * GiB. */
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

/* The compiler must not know that the new word equals the old one. */
void data_write_again(void *data, size_t bytes)
{
    char *p = data;
    uint64_t word;
    size_t i = 0;
    for (; i + sizeof word <= bytes; i += sizeof word) {
        memcpy(&word, p + i, sizeof word);
        __asm__ volatile("" : "+r"(word));
        memcpy(p + i, &word, sizeof word);
    }
    for (; i < bytes; ++i) {
        char byte = p[i];
        __asm__ volatile("" : "+r"(byte));
        p[i] = byte;
    }
    __asm__ volatile("" : : "r"(p) : "memory");
}

int data_verify(const struct data_round *round, void *state, int rounds)
{
    int err = 0, wrong = 0;
    for (int i = 0; i < rounds && !err; ++i) {
        round->fill(state);
        err = round->run(state, 1);
        if (!err && !wrong)
            wrong = round->look(state);
    }
    return err ? err : wrong;
}

int data_check_left(const struct data_round *round, void *state)
{
    const int wrong = round->look(state);
    round->fill(state);
    const int err = round->run(state, 1);
    round->poison(state);
    return err ? err : wrong;
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

/* What is received combined with what all have sent is nothing. */
int data_check_bits(void *data, void *room, size_t bytes, int first, int ranks)
{
    unsigned char *p = data;
    const unsigned char *sent = room;
    for (int from = first; from < first + ranks; ++from) {
        data_fill(room, bytes, from, 0);
        for (size_t i = 0; i < bytes; ++i)
            p[i] ^= sent[i];
    }
    for (size_t i = 0; i < bytes; ++i)
        if (p[i])
            return err_say(ERR_WRONG, "byte %zu of the bits of all ranks is wrong", i);
    return 0;
}
