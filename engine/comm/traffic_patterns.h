/* Who calls whom if many ranks communicate at once: pure functions of the rank, the number of ranks and a few
 * numbers, the same on every rank.
 *
 * A layout is a set of calls, each from a caller to a callee. It does not define the contents of a call. */
#ifndef COMM_TRAFFIC_PATTERNS_H
#define COMM_TRAFFIC_PATTERNS_H

#include <stddef.h>
#include <stdint.h>

/* The layout of a family, and the rank whose calls are wanted. */
struct layout_ask {
    int rank, size;
    int64_t shift; /* of layouts that shift */
    int64_t a, b;  /* of a chosen pair */
    int64_t round; /* of a tournament, from 1 */
    uint64_t seed; /* of random ones */
};

/* The ranks that a rank calls, and those that call it. Every list has room for `size` ranks; `order` is for
 * the layout's own use. */
struct layout_peers {
    int *to, *from, *order;
    int to_count, from_count;
};

struct who_layout {
    const char *name, *summary;
    void (*peers)(const struct layout_ask *ask, struct layout_peers *peers);
    int64_t (*calls)(int size); /* of all ranks together */
};

enum layout_kind {
    LAYOUT_NEIGHBOURS,
    LAYOUT_FIRST_LAST,
    LAYOUT_BISECTION,
    LAYOUT_MATCHING,
    LAYOUT_ROUND_ROBIN,
    LAYOUT_PAIR,
    LAYOUT_SHIFT,
    LAYOUT_RING,
    LAYOUT_RANDOM_RING,
    LAYOUT_FAN_IN,
    LAYOUT_FAN_OUT,
    LAYOUT_ALL,
    LAYOUTS
};

extern const struct who_layout layouts[LAYOUTS];

/* The rounds of a tournament of so many ranks. */
int layout_rounds(int size);

/* The layouts of one-sided calls, whose only parameter is the number of ranks, by their words; or, with
 * WHO_NEIGHBOURS, so many `neighbours` of each rank: alternately above and below, the nearest first, and
 * again from the start if there are too few ranks. */
enum { WHO_WORDS = 7, WHO_NEIGHBOURS = -1, NEIGHBOURS_MOST = 26 };
extern const char *const who_words[WHO_WORDS + 1];

/* The ranks that a rank calls and those that call it, and the calls of all ranks together. The lists are to
 * be freed by layout_free(). ERR_NOMEM. */
int who_peers(int who, int neighbours, int rank, int size, struct layout_peers *peers);
double who_calls(int who, int neighbours, int size);

/* Room for the lists of `size` ranks, to be freed by layout_free(). ERR_NOMEM. */
int layout_alloc(int size, struct layout_peers *peers);
void layout_free(struct layout_peers *peers);

#endif
