/* Where the pieces of a worker (a rank, or a thread of one) lie in a file that all of them share: an access
 * pattern is a row. */
#ifndef OPS_COMMON_PLACES_H
#define OPS_COMMON_PLACES_H

#include "base/opt.h"

#include <stdbool.h>
#include <stdint.h>

/* Workers with equally many pieces; box: the pieces of one, and grid: the workers, in three dimensions. */
struct places {
    int64_t workers, pieces;
    int64_t run; /* segmented: so many pieces follow each other */
    int64_t box[3], grid[3];
};

struct place_row {
    const char *name;
    int64_t (*at)(const struct places *p, int64_t worker, int64_t piece); /* counted in pieces */
    bool shuffled;
};

enum { PLACES_CONTIGUOUS, PLACES_STRIDED, PLACES_SEGMENTED, PLACES_NESTED, PLACES_RANDOM, PLACES };
extern const struct place_row place_rows[PLACES];
extern const char *const place_words[PLACES + 1];
#define PLACES_PARAM                                                                                         \
    PARAM_WORDS(                                                                                             \
        "pattern",                                                                                           \
        "where a rank's pieces lie in the file. contiguous: one after the other; strided: by turns with "    \
        "those of other ranks; segmented: some of them by turns; nested: its box of a 3-d array; "           \
        "random: strided, in random order",                                                                  \
        place_words)

struct places places_of(int64_t workers, int64_t pieces);

/* The places of a worker's pieces, in the order in which it does them: to `at`, which has room for them. */
void places_list(const struct places *p, int row, int64_t worker, int64_t *at);

#endif
