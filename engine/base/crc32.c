#include "base/crc32.h"

#include <stdbool.h>

static const uint32_t polynomial = 0xedb88320; /* IEEE 802.3, its bits reversed */

void crc32_prepare(struct crc32 *crc)
{
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t left = byte;
        for (int bit = 0; bit < 8; ++bit) {
            const bool divides = left & 1;
            left = (left >> 1) ^ (divides ? polynomial : 0);
        }
        crc->tables[0][byte] = left;
    }
    for (int k = 1; k < 4; ++k)
        for (uint32_t byte = 0; byte < 256; ++byte) {
            const uint32_t left = crc->tables[k - 1][byte];
            crc->tables[k][byte] = (left >> 8) ^ crc->tables[0][left & 0xff];
        }
}

/* Four bytes at a time (Kounavis and Berry, 2005): a chunk of samples has some 100 KB. */
uint32_t crc32_add(const struct crc32 *crc, uint32_t before, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint32_t left = ~before;
    for (; length >= 4; at += 4, length -= 4) {
        left ^= at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        left = crc->tables[3][left & 0xff] ^ crc->tables[2][(left >> 8) & 0xff] ^
               crc->tables[1][(left >> 16) & 0xff] ^ crc->tables[0][left >> 24];
    }
    for (; length > 0; ++at, --length)
        left = (left >> 8) ^ crc->tables[0][(left ^ *at) & 0xff];
    return ~left;
}
