/* Contents of files that show, for each sector of 512 bytes, who wrote it for which place in which
 * repetition; and checks that name what is wrong.
 *
 * A sector begins with a stamp of eight bytes: worker, sector and repetition. The bytes behind it are a
 * function of worker, place and round of checks. A piece of less than eight bytes has the first bytes of a
 * stamp. */
#ifndef OPS_COMMON_SECTORS_H
#define OPS_COMMON_SECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SECTOR = 512, SECTOR_STAMP = 8, STAMP_BITS = 24 };

/* The pieces of a worker in memory: one behind the other. */
struct sectors {
    int worker;
    size_t piece; /* bytes */
    int64_t pieces;
    int round;  /* of checks */
    bool alike; /* all pieces are written from the same memory: they differ by their stamps alone */
};

/* The stamp of the sector-th sector of all of a worker. The repetition is in the lowest bytes. */
static inline uint64_t sector_stamp(int worker, int64_t sector, int64_t repetition)
{
    const uint64_t number = (1 << STAMP_BITS) - 1;
    return ((uint64_t)repetition & number) | ((uint64_t)worker & 0xffff) << STAMP_BITS |
           ((uint64_t)sector & number) << (STAMP_BITS + 16);
}

static inline int64_t sectors_in(const struct sectors *s)
{
    return (int64_t)((s->piece + SECTOR - 1) / SECTOR);
}

/* Write all but stamps. */
void sectors_fill(const struct sectors *s, char *data);

/* Stamp one piece, before it is written; and wipe its stamps, before it is read. */
void sectors_stamp(const struct sectors *s, char *piece, int64_t number, int64_t repetition);
void sectors_wipe(const struct sectors *s, char *piece);

/* Who has written a piece, and its number, by the stamp of its first sector; false: it is too small to say.
 */
bool sectors_owner(const struct sectors *s, const char *piece, int *worker, int64_t *number);

/* Check a piece as it was found at `offset` of a file. ERR_WRONG, with the offset, whose it is and what is
 * there instead. */
int sectors_check(const struct sectors *s, const char *piece, int64_t number, int64_t repetition,
                  int64_t offset);

#endif
