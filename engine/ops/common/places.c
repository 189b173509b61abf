#include "ops/common/places.h"

#include "base/hash.h"

/* The largest divisor of a number that is not above its square or cubic root. */
static int64_t divisor(int64_t number, int power)
{
    int64_t found = 1;
    for (int64_t i = 1; (power == 2 ? i * i : i * i * i) <= number; ++i)
        found = number % i == 0 ? i : found;
    return found;
}

static void box_of(int64_t number, int64_t box[3])
{
    box[0] = divisor(number, 3);
    box[1] = divisor(number / box[0], 2);
    box[2] = number / box[0] / box[1];
}

struct places places_of(int64_t workers, int64_t pieces)
{
    struct places p = {.workers = workers, .pieces = pieces, .run = divisor(pieces, 2)};
    box_of(pieces, p.box);
    box_of(workers, p.grid);
    return p;
}

static int64_t contiguous(const struct places *p, int64_t worker, int64_t piece)
{
    return worker * p->pieces + piece;
}

static int64_t strided(const struct places *p, int64_t worker, int64_t piece)
{
    return piece * p->workers + worker;
}

static int64_t segmented(const struct places *p, int64_t worker, int64_t piece)
{
    return (piece / p->run * p->workers + worker) * p->run + piece % p->run;
}

/* The array of all boxes, with its last dimension fastest. */
static int64_t nested(const struct places *p, int64_t worker, int64_t piece)
{
    const int64_t *box = p->box, *grid = p->grid;
    const int64_t x = worker / (grid[1] * grid[2]) * box[0] + piece / (box[1] * box[2]);
    const int64_t y = worker / grid[2] % grid[1] * box[1] + piece / box[2] % box[1];
    const int64_t z = worker % grid[2] * box[2] + piece % box[2];
    return (x * grid[1] * box[1] + y) * grid[2] * box[2] + z;
}

/* The patterns: name, where a piece lies, whether the pieces are shuffled, and that in words. The order of
 * the first is that of the enum. */
#define PATTERNS(X)                                                                                          \
    X(contiguous, contiguous, false, "one after the other")                                                  \
    X(strided, strided, false, "by turns with those of other ranks")                                         \
    X(segmented, segmented, false, "some of them by turns")                                                  \
    X(nested, nested, false, "its box of a 3-d array")                                                       \
    X(random, strided, true, "strided, in random order")
#define ROW(word, function, is_shuffled, text) {.name = #word, .at = function, .shuffled = is_shuffled},
#define NAME(word, function, is_shuffled, text) #word,
#define SENTENCE(word, function, is_shuffled, text) "; " #word ": " text

const struct place_row place_rows[] = {PATTERNS(ROW)};
const char *const place_words[] = {PATTERNS(NAME) NULL};
const char places_summary[] = "where a rank's pieces lie in the file" PATTERNS(SENTENCE);

void places_list(const struct places *p, int row, int64_t worker, int64_t *at)
{
    for (int64_t i = 0; i < p->pieces; ++i)
        at[i] = place_rows[row].at(p, worker, i);
    for (int64_t i = p->pieces - 1; place_rows[row].shuffled && i > 0; --i) { /* Fisher, Yates */
        const int64_t other = (int64_t)(hash_mix(((uint64_t)worker << 32) ^ (uint64_t)i) % (uint64_t)(i + 1));
        const int64_t kept = at[i];
        at[i] = at[other];
        at[other] = kept;
    }
}
