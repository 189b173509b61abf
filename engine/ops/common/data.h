/* Contents of buffers that tell where each byte came from. */
#ifndef OPS_COMMON_DATA_H
#define OPS_COMMON_DATA_H

#include "base/hash.h"
#include "core/op.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Byte i of what rank `from` has for rank `to`. */
static inline unsigned char data_byte(int from, int to, size_t i)
{
    return (unsigned char)hash_mix(((uint64_t)from << 48) ^ ((uint64_t)to << 32) ^ (i / 8)) ^
           (unsigned char)(i % 8);
}

void data_fill(void *data, size_t bytes, int from, int to);

/* What no rank sends, before a message is to arrive: every byte is DATA_POISON. */
enum { DATA_POISON = BUFFERS_FILL };
void data_poison(void *data, size_t bytes);

/* Called between the run and the check. For tests of the check, where `planted`: the last bit of what has
 * arrived is flipped. */
void data_arrived(void *data, size_t bytes, bool planted);

/* ERR_WRONG, and which byte is what instead of what. `block` numbers it for the sentence. */
int data_check(const void *data, size_t bytes, int from, int to, int block);

/* Elements of so many bytes must not be torn by the parameter `align`. ERR_INPUT. */
int data_align(const struct op_env *env, size_t element);

#endif
