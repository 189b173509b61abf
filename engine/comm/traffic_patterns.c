#include "comm/traffic_patterns.h"

#include "base/err.h"
#include "base/hash.h"

#include <stdlib.h>

static void add_call(const struct layout_ask *ask, struct layout_peers *p, int caller, int callee)
{
    if (ask->rank == caller)
        p->to[p->to_count++] = callee;
    if (ask->rank == callee)
        p->from[p->from_count++] = caller;
}

/* The ranks in an order that the seed decides, each order as likely as any other (Fisher and Yates 1938, in
 * place as Durstenfeld 1964 does it). */
static void shuffle(const struct layout_ask *ask, int *order)
{
    const uint64_t stream = hash_mix(ask->seed);
    for (int i = 0; i < ask->size; ++i)
        order[i] = i;
    for (int i = ask->size - 1; i > 0; --i) {
        int j = (int)(hash_mix(stream + (uint64_t)i) % ((uint64_t)i + 1)), other = order[j];
        order[j] = order[i];
        order[i] = other;
    }
}

/* 0 calls 1, 2 calls 3, ... */
static void neighbours(const struct layout_ask *ask, struct layout_peers *p)
{
    int even = ask->rank / 2 * 2;
    if (even + 1 < ask->size)
        add_call(ask, p, even, even + 1);
}

static void first_last(const struct layout_ask *ask, struct layout_peers *p)
{
    if (ask->size > 1)
        add_call(ask, p, 0, ask->size - 1);
}

/* The lower half calls the upper half, i calls i + P/2; of an odd number the last rank waits. */
static void bisection(const struct layout_ask *ask, struct layout_peers *p)
{
    int half = ask->size / 2;
    if (ask->rank < 2 * half)
        add_call(ask, p, ask->rank % half, ask->rank % half + half);
}

/* Pairs at random, and who calls in each; of an odd number a random one waits. */
static void matching(const struct layout_ask *ask, struct layout_peers *p)
{
    shuffle(ask, p->order);
    for (int i = 0; i + 1 < ask->size; i += 2)
        add_call(ask, p, p->order[i], p->order[i + 1]);
}

int layout_rounds(int size)
{
    return size % 2 ? size : size - 1;
}

/* A round of a tournament in which each meets each other once (Kirkman 1847): the ranks but the last stand on
 * a circle of an odd number of places, a chord through which pairs those that are as far from its end. Who
 * stands at the end meets the last rank; of an odd number of ranks nobody stands aside, and it waits. The
 * lower rank calls. */
static void round_robin(const struct layout_ask *ask, struct layout_peers *p)
{
    const int places = layout_rounds(ask->size);
    if (places < 1)
        return;
    const int end = (int)((ask->round - 1) % places), aside = ask->size - 1;
    int other = (int)((2 * (int64_t)end - ask->rank + places) % places);
    if (ask->size % 2 == 0)
        other = ask->rank == aside ? end : ask->rank == end ? aside : other;
    if (other != ask->rank)
        add_call(ask, p, ask->rank < other ? ask->rank : other, ask->rank < other ? other : ask->rank);
}

static void pair(const struct layout_ask *ask, struct layout_peers *p)
{
    add_call(ask, p, (int)ask->a, (int)ask->b);
}

/* i calls i + d. */
static void shift(const struct layout_ask *ask, struct layout_peers *p)
{
    int d = (int)(ask->shift % ask->size);
    p->to[p->to_count++] = (int)(((int64_t)ask->rank + d) % ask->size);
    p->from[p->from_count++] = (int)(((int64_t)ask->rank + ask->size - d) % ask->size);
}

static void ring(const struct layout_ask *ask, struct layout_peers *p)
{
    struct layout_ask next = *ask;
    next.shift = 1;
    shift(&next, p);
}

static void random_ring(const struct layout_ask *ask, struct layout_peers *p)
{
    shuffle(ask, p->order);
    for (int i = 0; i < ask->size; ++i)
        add_call(ask, p, p->order[i], p->order[i + 1 < ask->size ? i + 1 : 0]);
}

static void fan_in(const struct layout_ask *ask, struct layout_peers *p)
{
    for (int r = 1; r < ask->size; ++r)
        add_call(ask, p, r, 0);
}

static void fan_out(const struct layout_ask *ask, struct layout_peers *p)
{
    for (int r = 1; r < ask->size; ++r)
        add_call(ask, p, 0, r);
}

/* Each calls all others, its successor first, so that not all call the same one. */
static void all(const struct layout_ask *ask, struct layout_peers *p)
{
    struct layout_ask next = *ask;
    for (next.shift = 1; next.shift < ask->size; ++next.shift)
        shift(&next, p);
}

static int64_t half(int size)
{
    return size / 2;
}

static int64_t one(int size)
{
    (void)size;
    return 1;
}

static int64_t each(int size)
{
    return size;
}

static int64_t others(int size)
{
    return size - 1;
}

static int64_t each_other(int size)
{
    return (int64_t)size * (size - 1);
}

const struct who_layout layouts[LAYOUTS] = {
    [LAYOUT_NEIGHBOURS] = {"neighbours", "rank 0 with 1, 2 with 3, ...; the last rank of an odd number waits",
                           neighbours, half},
    [LAYOUT_FIRST_LAST] = {"first_last", "rank 0 with the last, the others wait", first_last, one},
    [LAYOUT_BISECTION] = {"bisection", "rank i with i + P/2; the last rank of an odd number waits", bisection,
                          half},
    [LAYOUT_MATCHING] = {"matching", "random pairs of ranks; one rank of an odd number waits", matching,
                         half},
    [LAYOUT_ROUND_ROBIN] =
        {"round_robin",
         "a round of a tournament in which each rank meets each other once; one rank of an "
         "odd number waits",
         round_robin, half},
    [LAYOUT_PAIR] = {"pair", "rank a with rank b, the others wait", pair, one},
    [LAYOUT_SHIFT] = {"shift", "each rank i to i + d, all at once", shift, each},
    [LAYOUT_RING] = {"ring", "each rank with the next, all at once", ring, each},
    [LAYOUT_RANDOM_RING] = {"random_ring", "each rank with the next in a random order, all at once",
                            random_ring, each},
    [LAYOUT_FAN_IN] = {"fan_in", "all ranks to rank 0, at once", fan_in, others},
    [LAYOUT_FAN_OUT] = {"fan_out", "rank 0 to all ranks, at once", fan_out, others},
    [LAYOUT_ALL] = {"all", "each rank to all others, at once", all, each_other},
};

int layout_alloc(int size, struct layout_peers *peers)
{
    size_t room = (size_t)size;
    *peers = (struct layout_peers){.to = calloc(room, sizeof(int)),
                                   .from = calloc(room, sizeof(int)),
                                   .order = calloc(room, sizeof(int))};
    if (peers->to && peers->from && peers->order)
        return 0;
    layout_free(peers);
    return err_say(ERR_NOMEM, "no memory for the layout of %d ranks, %zu bytes", size,
                   3 * room * sizeof(int));
}

void layout_free(struct layout_peers *peers)
{
    free(peers->to);
    free(peers->from);
    free(peers->order);
    *peers = (struct layout_peers){0};
}

/* ---- of one-sided calls ---- */

static const enum layout_kind choices[WHO_WORDS] = {LAYOUT_BISECTION, LAYOUT_NEIGHBOURS, LAYOUT_FIRST_LAST,
                                                    LAYOUT_RING,      LAYOUT_FAN_IN,     LAYOUT_FAN_OUT,
                                                    LAYOUT_ALL};
const char *const who_words[WHO_WORDS + 1] = {"bisection", "neighbours", "first_last", "ring",
                                              "fan_in",    "fan_out",    "all",        NULL};

static int neighbour(int size, int k)
{
    const int turn = k % (size - 1), step = turn / 2 + 1;
    return turn % 2 == 0 ? step : size - step;
}

int who_peers(int who, int neighbours, int rank, int size, struct layout_peers *peers)
{
    const int err = layout_alloc(size > NEIGHBOURS_MOST ? size : NEIGHBOURS_MOST, peers);
    if (!err && who != WHO_NEIGHBOURS)
        layouts[choices[who]].peers(&(struct layout_ask){.rank = rank, .size = size}, peers);
    for (int k = 0; k < neighbours && !err && who == WHO_NEIGHBOURS; ++k) {
        const int step = neighbour(size, k);
        peers->to[peers->to_count++] = (rank + step) % size;
        peers->from[peers->from_count++] = (rank + size - step) % size;
    }
    return err;
}

double who_calls(int who, int neighbours, int size)
{
    return who == WHO_NEIGHBOURS ? (double)size * neighbours : (double)layouts[choices[who]].calls(size);
}
