/* The checksum of a line of records: CRC-32 as in zlib, PNG and Ethernet, so that any reader has it. */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* tables[k][b]: what byte b leaves behind when k more bytes have followed it. */
struct crc32 {
    uint32_t tables[4][256];
};

void crc32_prepare(struct crc32 *crc);

/* The checksum of what `before` is the checksum of (0: of nothing), followed by these bytes. */
uint32_t crc32_add(const struct crc32 *crc, uint32_t before, const void *bytes, size_t length);

#endif
