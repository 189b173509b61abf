/* Files: where pieces lie by each pattern, and what is said of data that are not as they should be. */
#include "test.h"

#include "base/err.h"
#include "ops/common/files.h"
#include "ops/common/places.h"
#include "ops/common/sectors.h"

#include <stdlib.h>
#include <string.h>

/* Every place of the file is that of one piece of one worker. */
static void test_each_place_once(void)
{
    static const int64_t sizes[][2] = {{1, 1}, {1, 7}, {2, 16}, {3, 12}, {4, 5}, {7, 30}, {8, 64}};
    for (int row = 0; place_words[row]; ++row)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
            const struct places p = places_of(sizes[i][0], sizes[i][1]);
            const int64_t all = p.workers * p.pieces;
            int64_t *at = calloc((size_t)p.pieces, sizeof *at);
            int *seen = calloc((size_t)all, sizeof *seen);
            for (int64_t worker = 0; worker < p.workers; ++worker) {
                places_list(&p, row, worker, at);
                for (int64_t k = 0; k < p.pieces; ++k) {
                    CHECK(at[k] >= 0 && at[k] < all);
                    ++seen[at[k]];
                }
            }
            for (int64_t k = 0; k < all; ++k)
                CHECK(seen[k] == 1);
            free(seen);
            free(at);
        }
}

/* By hand, for two workers with four pieces each: a box is 1 x 2 x 2, and the boxes stand side by side. */
static void test_known_places(void)
{
    static const int64_t second[][4] = {[PLACES_CONTIGUOUS] = {4, 5, 6, 7},
                                        [PLACES_STRIDED] = {1, 3, 5, 7},
                                        [PLACES_SEGMENTED] = {2, 3, 6, 7},
                                        [PLACES_NESTED] = {2, 3, 6, 7}};
    const struct places p = places_of(2, 4);
    int64_t at[4];
    CHECK(strcmp(place_rows[PLACES_NESTED].name, "nested") == 0 && place_rows[PLACES_RANDOM].shuffled);
    for (int row = 0; row < PLACES_RANDOM; ++row) {
        places_list(&p, row, 1, at);
        CHECK(memcmp(at, second[row], sizeof at) == 0);
    }
    const struct places many = places_of(1, 64);
    int64_t random[64];
    int moved = 0;
    places_list(&many, PLACES_RANDOM, 0, random);
    for (int k = 0; k < 64; ++k)
        moved += random[k] != k;
    CHECK(moved > 32);
}

enum { PIECE = 1024 + 100, PIECES = 3 };

/* Three pieces of worker 1 in repetition 5. */
static void make(const struct sectors *s, char *data)
{
    sectors_fill(s, data);
    for (int64_t k = 0; k < PIECES; ++k)
        sectors_stamp(s, data + k * PIECE, k, 5);
}

static void test_what_is_wrong_is_said(void)
{
    const struct sectors s = {.worker = 1, .piece = PIECE, .pieces = PIECES, .round = 2};
    const struct sectors other = {.worker = 0, .piece = PIECE, .pieces = PIECES, .round = 2};
    char data[PIECE * PIECES], old[PIECE * PIECES], theirs[PIECE * PIECES], piece[PIECE];
    make(&s, data);
    make(&s, old);
    make(&other, theirs);
    sectors_stamp(&s, old + PIECE, 1, 4);
    const char *right = data + PIECE;
    CHECK(sectors_check(&s, right, 1, 5, 8000) == 0);

    memset(piece, 0, sizeof piece); /* dropped */
    CHECK(sectors_check(&s, piece, 1, 5, 8000) == ERR_WRONG);
    CHECK(strstr(err_text(), "offset 8000, of rank 1: nothing has arrived"));

    CHECK(sectors_check(&s, old + PIECE, 1, 5, 8000) == ERR_WRONG);
    CHECK(strstr(err_text(), "offset 8000, of rank 1: stale data of repetition 4, should be 5"));

    memcpy(piece, right, sizeof piece);
    memcpy(piece + SECTOR, old + PIECE + SECTOR, sizeof piece - SECTOR);
    CHECK(sectors_check(&s, piece, 1, 5, 8000) == ERR_WRONG);
    CHECK(strstr(err_text(), "offset 8512, of rank 1: torn"));

    CHECK(sectors_check(&s, data, 1, 5, 8000) == ERR_WRONG);
    CHECK(strstr(err_text(), "misplaced, it holds piece 0 of rank 1"));
    CHECK(sectors_check(&s, theirs + 2 * PIECE, 1, 5, 8000) == ERR_WRONG);
    CHECK(strstr(err_text(), "misplaced, it holds piece 2 of rank 0"));

    for (size_t bit = 0; bit < 8 * PIECE; bit += 37) {
        memcpy(piece, right, sizeof piece);
        piece[bit / 8] = (char)(piece[bit / 8] ^ 1 << bit % 8);
        CHECK(sectors_check(&s, piece, 1, 5, 8000) == ERR_WRONG);
    }

    int worker = 0;
    int64_t number = 0;
    CHECK(sectors_owner(&s, right, &worker, &number) && worker == 1 && number == 1);
}

/* What has the same memory differs by its stamps: another piece in its place is still told. */
static void test_pieces_of_one_memory(void)
{
    const struct sectors s = {.worker = 1, .piece = PIECE, .pieces = PIECES, .round = 2, .alike = true};
    char data[PIECE * PIECES], first[PIECE];
    make(&s, data);
    for (int64_t k = 0; k < PIECES; ++k) {
        memcpy(first, data, sizeof first);
        sectors_stamp(&s, first, k, 5);
        CHECK(memcmp(first, data + k * PIECE, sizeof first) == 0);
        CHECK(sectors_check(&s, first, k, 5, 0) == 0);
    }
    CHECK(sectors_check(&s, data + PIECE, 2, 5, 8000) == ERR_WRONG);
    CHECK(strstr(err_text(), "misplaced, it holds piece 1 of rank 1"));
    first[PIECE - 1] ^= 1;
    CHECK(sectors_check(&s, first, PIECES - 1, 5, 0) == ERR_WRONG);
}

static void test_kinds_of_file_systems(void)
{
    static const char *const known[][2] = {
        {"tmpfs", "memory"}, {"ext4", "local"}, {"nfs4", "network"}, {"lustre", "network"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        CHECK(strcmp(files_kind(known[i][0]), known[i][1]) == 0);
    CHECK(!files_kind("") && !files_kind("ext") && !files_kind("fuse"));
}

/* A piece that is smaller than a stamp still differs from that of the repetition before. */
static void test_small_pieces(void)
{
    for (size_t bytes = 1; bytes < 20; ++bytes) {
        const struct sectors s = {.worker = 3, .piece = bytes, .pieces = 1, .round = 1};
        char data[20];
        int worker;
        int64_t number;
        sectors_fill(&s, data);
        sectors_stamp(&s, data, 0, 8);
        CHECK(sectors_check(&s, data, 0, 8, 0) == 0);
        CHECK(sectors_check(&s, data, 0, 9, 0) == ERR_WRONG);
        CHECK(sectors_owner(&s, data, &worker, &number) == (bytes >= SECTOR_STAMP));
        sectors_wipe(&s, data);
        CHECK(sectors_check(&s, data, 0, 8, 0) == ERR_WRONG);
    }
}

int main(void)
{
    test_each_place_once();
    test_known_places();
    test_what_is_wrong_is_said();
    test_pieces_of_one_memory();
    test_kinds_of_file_systems();
    test_small_pieces();
    return test_result();
}
