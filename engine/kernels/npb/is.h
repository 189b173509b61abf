/* Shared by is.c, which has the problem and the answer, and is_sort.c, which sorts. */
#ifndef KERNELS_NPB_IS_H
#define KERNELS_NPB_IS_H

#include "kernels/npb/npb.h"

enum { IS_ITERATIONS = 10, IS_TESTS = 5 };

/* For a class: log2 of the number of keys and of the upper bound of keys; the indices of five keys, and their
 * published ranks, which differ from those in the unchanged sequence: by `low` for keys in the lower half, by
 * `high` in the upper. `slack`: for class E the difference is not known here. */
struct is_problem {
    int keys, values;
    int64_t index[IS_TESTS], rank[IS_TESTS];
    int low, high, slack;
};

struct is {
    struct kernel_env *env;
    const struct is_problem *problem;
    struct share mine;  /* the keys of this rank, by their place in the sequence */
    int buckets, shift; /* a key's bucket is key >> shift */
    size_t room;        /* for keys in `arrived` */
    uint32_t *keys, *sorted, *arrived;
    uint32_t *table;       /* for the values of my buckets: how many keys are smaller, on this rank */
    int64_t *lane_counts;  /* [lane][bucket]: keys of this lane's share, then where its next one goes */
    int64_t *bucket_sizes; /* on all ranks together */
    int *first_bucket;     /* of each rank, and the end */
    size_t *send_bytes, *send_at, *recv_bytes, *recv_at;
    uint32_t *lane_sums; /* of each lane: keys in its buckets */
    struct comm_plan *exchange;
    int64_t below; /* keys on the ranks below */
    size_t here;   /* keys in my buckets */
    uint32_t test_keys[IS_TESTS];
    int64_t found[IS_ITERATIONS][IS_TESTS];    /* ranks, on the rank that has the key; 0 elsewhere */
    int64_t expected[IS_ITERATIONS][IS_TESTS]; /* increments: see expect() */
};

enum { IS_BUCKETS, IS_SIZES, IS_KEYS, IS_RANK };

/* A piece of my keys, all of one sender and in the order of buckets. */
struct is_piece {
    const uint32_t *keys;
    size_t count;
};

struct is_piece is_piece_of(const struct is *is, int sender);

/* The steps of an iteration. My keys into buckets; `mine`: the sizes of those, `bucket_sizes`: of all ranks.
 */
void is_fill_buckets(struct is *is);
void is_share_buckets(struct is *is, const int64_t *mine);
int is_exchange_keys(struct is *is);
void is_find_ranks(struct is *is);

#endif
