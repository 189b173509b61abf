/* How IS sorts: keys are moved into buckets by their upper bits, so that those of a bucket lie together;
 * ranks own buckets that follow each other and hold about as many keys each, and are sent the keys in theirs.
 * There the keys of each value are counted, in a table whose part for a bucket stays in the cache, and the
 * sums of the counts are the ranks. */
#include "kernels/npb/is.h"

#include "base/err.h"
#include "base/hot.h"

#include <string.h>

/* ---- the steps, each for the share of a lane ----------------------------------------------------------- */

/* Keys of each bucket. Four tables in turn: keys that follow each other are often of one bucket, and an
 * increment waits for the one before of the same counter. */
HOT static void count_buckets(const uint32_t *keys, size_t count, int shift, int buckets, int64_t *counts,
                              uint32_t *scratch)
{
    uint32_t *a = scratch, *b = a + buckets, *c = b + buckets, *d = c + buckets;
    memset(scratch, 0, 4 * (size_t)buckets * sizeof *scratch);
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        ++a[keys[i] >> shift];
        ++b[keys[i + 1] >> shift];
        ++c[keys[i + 2] >> shift];
        ++d[keys[i + 3] >> shift];
    }
    for (; i < count; ++i)
        ++a[keys[i] >> shift];
    for (int k = 0; k < buckets; ++k)
        counts[k] = (int64_t)a[k] + b[k] + c[k] + d[k];
}

/* next[b]: where the next key of bucket b goes. */
HOT static void scatter(const uint32_t *restrict keys, size_t count, int shift, int64_t *restrict next,
                        uint32_t *restrict sorted)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t key = keys[i];
        sorted[next[key >> shift]++] = key;
    }
}

/* How many keys have each value; `table` begins at value `base`. */
HOT static void count_values(const uint32_t *restrict keys, size_t count, uint32_t base,
                             uint32_t *restrict table)
{
    for (size_t i = 0; i < count; ++i)
        ++table[keys[i] - base];
}

/* From counts to how many are smaller, `sum` being those before the first. */
HOT static void sum_counts(uint32_t *table, size_t count, uint32_t sum)
{
    for (size_t i = 0; i < count; ++i) {
        uint32_t here = table[i];
        table[i] = sum;
        sum += here;
    }
}

/* ---- all lanes, all ranks ------------------------------------------------------------------------------ */

/* Each lane counts its share, finds where its keys of each bucket go, and moves them there. */
void is_fill_buckets(struct is *is)
{
    const int lanes = is->env->threads, buckets = is->buckets;
    uint32_t *scratch = (uint32_t *)(is->lane_counts + (size_t)lanes * (size_t)buckets);
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = share_of(is->mine.count, lanes, l);
        count_buckets(is->keys + s.first, (size_t)s.count, is->shift, buckets,
                      is->lane_counts + (size_t)l * (size_t)buckets,
                      scratch + 4 * (size_t)l * (size_t)buckets);
    }
    int64_t at = 0;
    for (int b = 0; b < buckets; ++b) {
        is->bucket_sizes[b] = -at;
        for (int l = 0; l < lanes; ++l) {
            int64_t *count = &is->lane_counts[(size_t)l * (size_t)buckets + (size_t)b], here = *count;
            *count = at;
            at += here;
        }
        is->bucket_sizes[b] += at;
    }
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = share_of(is->mine.count, lanes, l);
        scatter(is->keys + s.first, (size_t)s.count, is->shift, is->lane_counts + (size_t)l * (size_t)buckets,
                is->sorted);
    }
}

/* Which buckets are whose: each rank takes those in which its even share of all keys begins. And what of mine
 * goes where; a rank's own stay where they are. */
void is_share_buckets(struct is *is, const int64_t *mine)
{
    const int size = is->env->comm.size, me = is->env->comm.rank;
    const int64_t total = INT64_C(1) << is->problem->keys;
    int64_t before = 0;
    int rank = 0;
    size_t at = 0;
    is->first_bucket[0] = 0;
    memset(is->send_bytes, 0, (size_t)size * sizeof *is->send_bytes);
    for (int b = 0; b < is->buckets; ++b) {
        /* the rank whose share the bucket's middle is in */
        int owner = (int)((double)(before + is->bucket_sizes[b] / 2) / (double)total * size);
        owner = owner < size ? owner : size - 1;
        while (rank < owner)
            is->first_bucket[++rank] = b;
        if (rank == me && is->first_bucket[me] == b)
            is->below = before;
        before += is->bucket_sizes[b];
        is->send_bytes[rank] += (size_t)mine[b] * sizeof *is->keys;
    }
    while (rank < size)
        is->first_bucket[++rank] = is->buckets;
    for (int r = 0; r < size; ++r) {
        is->send_at[r] = at;
        at += is->send_bytes[r];
    }
}

/* The sizes of what comes, and then the keys. What is my own is not sent. */
int is_exchange_keys(struct is *is)
{
    const struct comm *comm = &is->env->comm;
    const int me = comm->rank;
    size_t kept = is->send_bytes[me], at = 0;
    is->send_bytes[me] = 0;
    int err = comm_alltoall(comm, is->send_bytes, is->recv_bytes, sizeof *is->send_bytes);
    for (int r = 0; r < comm->size && !err; ++r) {
        is->recv_at[r] = at;
        at += is->recv_bytes[r];
    }
    phase_end(is->env->phases, IS_SIZES);
    if (!err && at > is->room * sizeof *is->arrived)
        err = err_say(ERR_WRONG,
                      "npb.is: %zu bytes of keys come to rank %d, more than its share of NPB's keys", at, me);
    if (!err)
        err = comm_run(is->exchange);
    is->send_bytes[me] = kept;
    is->here = (at + kept) / sizeof *is->keys;
    phase_end(is->env->phases, IS_KEYS);
    return err;
}

struct is_piece is_piece_of(const struct is *is, int sender)
{
    bool mine = sender == is->env->comm.rank;
    const uint32_t *all = mine ? is->sorted : is->arrived;
    const size_t *at = mine ? is->send_at : is->recv_at, *bytes = mine ? is->send_bytes : is->recv_bytes;
    return (struct is_piece){all + at[sender] / sizeof *all, bytes[sender] / sizeof *all};
}

/* Where in a piece the keys of bucket `bucket` and above begin. */
static size_t find_bucket(struct is_piece p, int bucket, int shift)
{
    size_t low = 0, high = p.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((int)(p.keys[middle] >> shift) < bucket)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The part of the table for some of my buckets. */
static void count_part(struct is *is, int first, int end, uint32_t *sum)
{
    size_t width = (size_t)1 << is->shift, count = 0;
    uint32_t *table = is->table + (size_t)(first - is->first_bucket[is->env->comm.rank]) * width;
    memset(table, 0, (size_t)(end - first) * width * sizeof *table);
    for (int r = 0; r < is->env->comm.size; ++r) {
        struct is_piece p = is_piece_of(is, r);
        size_t from = find_bucket(p, first, is->shift), to = find_bucket(p, end, is->shift);
        count_values(p.keys + from, to - from, (uint32_t)((size_t)first * width), table);
        count += to - from;
    }
    *sum = (uint32_t)count;
}

void is_find_ranks(struct is *is)
{
    const int lanes = is->env->threads, me = is->env->comm.rank;
    const int first = is->first_bucket[me], count = is->first_bucket[me + 1] - first;
    const size_t width = (size_t)1 << is->shift;
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = share_of(count, lanes, l);
        count_part(is, first + (int)s.first, first + (int)(s.first + s.count), &is->lane_sums[l]);
    }
    uint32_t before = 0;
    for (int l = 0; l < lanes; ++l) {
        uint32_t here = is->lane_sums[l];
        is->lane_sums[l] = before;
        before += here;
    }
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = share_of(count, lanes, l);
        sum_counts(is->table + (size_t)s.first * width, (size_t)s.count * width, is->lane_sums[l]);
    }
}
