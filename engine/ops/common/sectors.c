#include "ops/common/sectors.h"

#include "base/err.h"
#include "ops/common/data.h"

#include <stdbool.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The bytes of a sector of a piece, the last of which may be shorter. */
static size_t length(const struct sectors *s, int64_t i)
{
    return least(SECTOR, s->piece - (size_t)i * SECTOR);
}

/* A sector as it should be. */
static void make(const struct sectors *s, char *data, int64_t sector, size_t bytes, int64_t repetition)
{
    const uint64_t stamp = sector_stamp(s->worker, sector, repetition);
    const uint64_t of_body = (uint64_t)(s->alike ? sector % sectors_in(s) : sector);
    const int place = (int)hash_mix(of_body ^ (uint64_t)s->round << STAMP_BITS) & 0xffff;
    data_fill(data, bytes, s->worker, place);
    memcpy(data, &stamp, least(bytes, SECTOR_STAMP));
}

void sectors_fill(const struct sectors *s, char *data)
{
    for (int64_t p = 0; p < s->pieces; ++p)
        for (int64_t i = 0; i < sectors_in(s); ++i)
            make(s, data + (size_t)p * s->piece + (size_t)i * SECTOR, p * sectors_in(s) + i, length(s, i), 0);
}

void sectors_stamp(const struct sectors *s, char *piece, int64_t number, int64_t repetition)
{
    const int64_t each = sectors_in(s);
    for (int64_t i = 0; i < each; ++i) {
        const uint64_t stamp = sector_stamp(s->worker, number * each + i, repetition);
        memcpy(piece + (size_t)i * SECTOR, &stamp, least(length(s, i), SECTOR_STAMP));
    }
}

void sectors_wipe(const struct sectors *s, char *piece)
{
    for (int64_t i = 0; i < sectors_in(s); ++i)
        memset(piece + (size_t)i * SECTOR, DATA_POISON, least(length(s, i), SECTOR_STAMP));
}

bool sectors_owner(const struct sectors *s, const char *piece, int *worker, int64_t *number)
{
    uint64_t stamp = 0;
    memcpy(&stamp, piece, least(s->piece, SECTOR_STAMP));
    *worker = (int)(stamp >> STAMP_BITS & 0xffff);
    *number = (int64_t)(stamp >> (STAMP_BITS + 16)) / sectors_in(s);
    return s->piece >= SECTOR_STAMP;
}

static bool is_all(const char *data, size_t bytes, unsigned char value)
{
    size_t i = 0;
    while (i < bytes && (unsigned char)data[i] == value)
        ++i;
    return i == bytes;
}

/* Say what is in the place of a sector of `worker`, which `wanted` is. */
static int explain(const struct sectors *s, const char *found, const char *wanted, size_t bytes,
                   int64_t offset, bool begun, int64_t repetition)
{
    const uint64_t number = (1 << STAMP_BITS) - 1;
    uint64_t stamp = 0, own = 0;
    memcpy(&stamp, found, least(bytes, SECTOR_STAMP));
    memcpy(&own, wanted, least(bytes, SECTOR_STAMP));
    const long long at = offset, then = (long long)(stamp & number);
    const int who = (int)(stamp >> STAMP_BITS & 0xffff);
    const bool whole = bytes >= SECTOR_STAMP;
    if (is_all(found, bytes, 0) || is_all(found, bytes, DATA_POISON))
        return err_say(ERR_WRONG, "offset %lld, of rank %d: nothing has arrived there", at, s->worker);
    if (whole && (stamp & ~number) == (own & ~number) && stamp != own)
        return err_say(ERR_WRONG, "offset %lld, of rank %d: %s of repetition %lld, should be %lld", at,
                       s->worker, begun ? "torn, from here on data" : "stale data", then,
                       (long long)repetition);
    if (whole && stamp != own) {
        const struct sectors theirs = {who, s->piece, s->pieces, s->round, s->alike};
        char other[SECTOR];
        const int64_t sector = (int64_t)(stamp >> (STAMP_BITS + 16));
        make(&theirs, other, sector, bytes, then);
        if (memcmp(other, found, bytes) == 0)
            return err_say(ERR_WRONG, "offset %lld, of rank %d: misplaced, it holds piece %lld of rank %d",
                           at, s->worker, (long long)(sector / sectors_in(s)), who);
    }
    size_t i = 0;
    while (found[i] == wanted[i])
        ++i;
    return err_say(ERR_WRONG, "offset %lld, of rank %d: the byte is 0x%02x, should be 0x%02x",
                   at + (long long)i, s->worker, (unsigned char)found[i], (unsigned char)wanted[i]);
}

int sectors_check(const struct sectors *s, const char *piece, int64_t number, int64_t repetition,
                  int64_t offset)
{
    char wanted[SECTOR];
    for (int64_t i = 0; i < sectors_in(s); ++i) {
        const char *found = piece + (size_t)i * SECTOR;
        make(s, wanted, number * sectors_in(s) + i, length(s, i), repetition);
        if (memcmp(found, wanted, length(s, i)) != 0)
            return explain(s, found, wanted, length(s, i), offset + i * SECTOR, i > 0, repetition);
    }
    return 0;
}
