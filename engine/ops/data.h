/* Buffers for messages, and contents that tell where each byte came from. */
#ifndef OPS_DATA_H
#define OPS_DATA_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* blocks * bytes on page boundaries, written once so that no page is missing later; *data is NULL for 0
 * bytes. ERR_NOMEM. */
int data_alloc(size_t blocks, size_t bytes, void **data);

/* Byte i of what rank `from` has for rank `to`. */
static inline unsigned char data_byte(int from, int to, size_t i)
{
    return (unsigned char)hash_mix(((uint64_t)from << 48) ^ ((uint64_t)to << 32) ^ (i / 8)) ^
           (unsigned char)(i % 8);
}

void data_fill(void *data, size_t bytes, int from, int to);

/* What no rank sends, before a message is to arrive: every byte is DATA_POISON. */
enum { DATA_POISON = 0xa5 };
void data_poison(void *data, size_t bytes);

/* Called between the run and the check. For tests of the check, where `planted`: the last bit of what has
 * arrived is flipped. */
void data_arrived(void *data, size_t bytes, bool planted);

/* ERR_WRONG, and which byte is what instead of what. `block` numbers it for the sentence. */
int data_check(const void *data, size_t bytes, int from, int to, int block);

#endif
