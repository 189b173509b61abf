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

/* Those that code knows: all are rows of places.c. */
enum { PLACES_CONTIGUOUS, PLACES_STRIDED, PLACES_SEGMENTED, PLACES_NESTED, PLACES_RANDOM };
extern const struct place_row place_rows[];
extern const char *const place_words[]; /* up to NULL */
extern const char places_summary[];
#define PLACES_PARAM {.name = "pattern", .unit = "", .summary = places_summary, .words = place_words}

struct places places_of(int64_t workers, int64_t pieces);

/* The places of a worker's pieces, in the order in which it does them: to `at`, which has room for them. */
void places_list(const struct places *p, int row, int64_t worker, int64_t *at);

#endif
