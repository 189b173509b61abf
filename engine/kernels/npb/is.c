/* IS, "integer sort": RNR-94-007, section 3.6. N keys with a distribution that is bell-shaped; in each of ten
 * iterations two keys are changed and the rank of every key, how many are smaller, is found (is_sort.c). */
#include "kernels/npb/is.h"

#include "base/err.h"
#include "base/hash.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_BUCKETS = 256, BUCKETS_A_RANK = 8 };

static const struct is_problem problems[NPB_CLASSES] = {
    [NPB_S] = {16, 11, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}, 0, 0, 0},
    [NPB_W] = {20,
               16,
               {357773, 934767, 875723, 898999, 404505},
               {1249, 11698, 1039987, 1043896, 1048018},
               -2,
               0,
               0},
    [NPB_A] = {23,
               19,
               {2112377, 662041, 5336171, 3642833, 4250760},
               {104, 17523, 123928, 8288932, 8388264},
               -1,
               1,
               0},
    [NPB_B] = {25,
               21,
               {41869, 812306, 5102857, 18232239, 26860214},
               {33422937, 10244, 59149, 33135281, 99},
               0,
               0,
               0},
    [NPB_C] = {27,
               23,
               {44172927, 72999161, 74326391, 129606274, 21736814},
               {61147, 882988, 266290, 133997595, 133525895},
               0,
               0,
               0},
    [NPB_D] = {31,
               27,
               {1317351170, 995930646, 1157283250, 1503301535, 1453734525},
               {1, 36538729, 1978098519, 2145192618, 2147425337},
               0,
               0,
               0},
    [NPB_E] = {35,
               31,
               {21492309536, 24606226181, 12608530949, 4065943607, 3324513396},
               {3, 27580354, 3248475153, 30048754302, 31485259697},
               0,
               0,
               2},
};

static const struct phase phases[] = {[IS_BUCKETS] = {"buckets", false},
                                      [IS_SIZES] = {"sizes", true},
                                      [IS_KEYS] = {"keys", true},
                                      [IS_RANK] = {"rank", false},
                                      {0}};

/* ---- keys ---------------------------------------------------------------------------------------------- */

enum { NUMBERS_A_KEY = 4 };

static uint64_t state_before(int64_t key)
{
    return NPB_SEED * npb_power(NPB_MULTIPLIER, NUMBERS_A_KEY * (uint64_t)key) & NPB_MASK;
}

/* Keys from `first` on: the mean of four numbers, times the greatest value. */
static void make_keys(const struct is *is, int64_t first, int64_t count, uint32_t *keys)
{
    enum { CHUNK = 512 };
    const double scale = (double)(INT64_C(1) << is->problem->values) / NUMBERS_A_KEY;
    double numbers[NUMBERS_A_KEY * CHUNK];
    uint64_t x = state_before(first);
    for (int64_t at = 0; at < count; at += CHUNK) {
        int64_t n = count - at < CHUNK ? count - at : CHUNK;
        npb_fill(&x, NPB_MULTIPLIER, (size_t)(NUMBERS_A_KEY * n), numbers);
        for (int64_t i = 0; i < n; ++i) {
            const double *r = numbers + NUMBERS_A_KEY * i;
            keys[at + i] = (uint32_t)(scale * (r[0] + r[1] + r[2] + r[3]));
        }
    }
}

/* Key number i of the sequence, where it is mine. */
static void put_key(struct is *is, int64_t i, uint32_t value)
{
    if (i >= is->mine.first && i < is->mine.first + is->mine.count)
        is->keys[i - is->mine.first] = value;
}

/* By how much the rank of each test key differs from that in the sequence as it was made, after each
 * iteration: one more where a key that was not smaller has become so, one less where a smaller one has become
 * large. */
static void expect(struct is *is)
{
    for (int t = 0; t < IS_TESTS; ++t) {
        uint32_t value = is->test_keys[t];
        int64_t more =
            2 * (int64_t)value < INT64_C(1) << is->problem->values ? is->problem->low : is->problem->high;
        for (int i = 1; i <= IS_ITERATIONS; ++i) {
            uint32_t small = 0, large = 0;
            make_keys(is, i, 1, &small);
            make_keys(is, i + IS_ITERATIONS, 1, &large);
            more += (small >= value) - (large < value);
            is->expected[i - 1][t] = is->problem->rank[t] + more;
        }
    }
}

/* ---- an iteration -------------------------------------------------------------------------------------- */

/* The ranks of the test keys that are mine. */
static void look_up(struct is *is, int iteration)
{
    const int me = is->env->comm.rank;
    for (int t = 0; t < IS_TESTS; ++t) {
        int bucket = (int)(is->test_keys[t] >> is->shift);
        bool mine = bucket >= is->first_bucket[me] && bucket < is->first_bucket[me + 1];
        size_t at = is->test_keys[t] - ((size_t)is->first_bucket[me] << is->shift);
        is->found[iteration][t] = mine ? is->below + is->table[at] : 0;
    }
}

static int solve(void *state)
{
    struct is *is = state;
    struct phases *p = is->env->phases;
    const int64_t values = INT64_C(1) << is->problem->values;
    int64_t *mine = is->bucket_sizes + is->buckets;
    int err = 0;
    for (int i = 0; i < IS_ITERATIONS && !err; ++i) {
        phase_begin(p);
        put_key(is, i + 1, (uint32_t)(i + 1));
        put_key(is, i + 1 + IS_ITERATIONS, (uint32_t)(values - (i + 1)));
        is_fill_buckets(is);
        memcpy(mine, is->bucket_sizes, (size_t)is->buckets * sizeof *mine);
        phase_end(p, IS_BUCKETS);
        err = comm_sum_ints(&is->env->comm, is->bucket_sizes, (size_t)is->buckets);
        if (!err) {
            is_share_buckets(is, mine);
            err = is_exchange_keys(is);
        }
        if (!err) {
            is_find_ranks(is);
            look_up(is, i);
            phase_end(p, IS_RANK);
        }
    }
    return err;
}

/* ---- before and after ---------------------------------------------------------------------------------- */

static int reset(void *state)
{
    struct is *is = state;
    const int lanes = is->env->threads;
    const uint32_t most = (uint32_t)((UINT64_C(1) << is->problem->values) - 1);
#pragma omp parallel for num_threads(lanes) schedule(static, 1)
    for (int l = 0; l < lanes; ++l) {
        struct share s = share_of(is->mine.count, lanes, l);
        make_keys(is, is->mine.first + s.first, s.count, is->keys + s.first);
    }
    for (int64_t i = 0; is->env->planted && i < is->mine.count; ++i) /* 1e-6 of a key is less than 1 */
        is->keys[i] += is->keys[i] < most;
    memset(is->found, 0, sizeof is->found);
    return 0;
}

/* The keys in the order that the table gives them: a permutation of what there was, and in order. */
static int check_order(const struct is *is, uint32_t *ordered, int64_t *wrong, int64_t *greatest)
{
    const size_t base = (size_t)is->first_bucket[is->env->comm.rank] << is->shift;
    uint32_t *next = is->table; /* is not needed any more */
    for (int r = 0; r < is->env->comm.size; ++r) {
        struct is_piece p = is_piece_of(is, r);
        for (size_t i = 0; i < p.count; ++i) {
            size_t place = next[p.keys[i] - base]++;
            if (place >= is->here)
                return err_say(ERR_WRONG, "npb.is: a key has rank %zu among %zu keys", place, is->here);
            ordered[place] = p.keys[i];
        }
    }
    *wrong = 0;
    for (size_t i = 1; i < is->here; ++i)
        *wrong += ordered[i - 1] > ordered[i];
    *greatest = is->here ? (int64_t)ordered[is->here - 1] : -1;
    return 0;
}

/* A sum that says whether two sets of keys are the same: of 24 bits each, so that 2^35 of them do not
 * overflow. */
static int64_t hash_keys(const uint32_t *keys, size_t count)
{
    enum { BITS_LEFT_OUT = 40 };
    int64_t sum = 0;
    for (size_t i = 0; i < count; ++i)
        sum += (int64_t)(hash_mix(keys[i]) >> BITS_LEFT_OUT);
    return sum;
}

/* Full verification: the last iteration's ranks put all keys in order, across ranks too. The exchange does
 * not need `keys` any more, whose hash is that of all keys before. */
static int answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    struct is *is = state;
    const struct comm *comm = &is->env->comm;
    uint32_t *ordered = malloc((is->here + 1) * sizeof *ordered);
    int64_t ends[2] = {0, 0}, *all = calloc(2 * (size_t)comm->size, sizeof *all);
    int64_t sums[IS_ITERATIONS * IS_TESTS + 4] = {0}, *wrong = &sums[IS_ITERATIONS * IS_TESTS];
    int err = !ordered || !all ? err_say(ERR_NOMEM, "no memory for %zu keys in order", is->here) : 0;
    memcpy(sums, is->found, sizeof is->found);
    wrong[2] = hash_keys(is->keys, (size_t)is->mine.count);
    wrong[3] = (int64_t)is->here;
    if (!err)
        err = check_order(is, ordered, &wrong[0], &ends[1]);
    if (!err) {
        ends[0] = is->here ? (int64_t)ordered[0] : INT64_MAX;
        wrong[2] -= hash_keys(ordered, is->here);
        err = comm_allgather(comm, ends, sizeof ends, all);
    }
    for (int r = 0; r < comm->rank && !err; ++r) /* nobody below has a greater key */
        wrong[1] += all[2 * r + 1] > ends[0];
    if (!err)
        err = comm_sum_ints(comm, sums, sizeof sums / sizeof sums[0]);
    values[0] = 0;
    for (int i = 0; i < IS_ITERATIONS && !err; ++i)
        for (int t = 0; t < IS_TESTS; ++t)
            values[0] += llabs(sums[i * IS_TESTS + t] - is->expected[i][t]) <= is->problem->slack;
    values[1] = (double)(wrong[0] + wrong[1]);
    values[2] = (double)(wrong[2] != 0);
    values[3] = (double)(wrong[3] - (INT64_C(1) << is->problem->keys));
    *count = 4;
    free(ordered);
    free(all);
    return err;
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

/* Buckets enough for every rank to get about its share: 2^i of at most as many as there are values. */
static int bucket_bits(const struct kernel_env *env)
{
    int bits = 0;
    while ((1 << bits) < LEAST_BUCKETS || (1 << bits) < BUCKETS_A_RANK * env->comm.size)
        ++bits;
    return bits < problems[npb_class(env->params)].values ? bits : problems[npb_class(env->params)].values;
}

static int ranks(const struct kernel_env *env)
{
    int most =
        1 << (problems[npb_class(env->params)].values < 20 ? problems[npb_class(env->params)].values : 20);
    most /= BUCKETS_A_RANK;
    return env->comm.size <= most
               ? 0
               : err_say(ERR_UNSUPPORTED, "npb.is class %s takes any number of ranks up to %d, not %d",
                         npb_classes[npb_class(env->params)], most, env->comm.size);
}

/* The densest bucket of a bell of four numbers is 8/3 of an even share; a rank gets its share and at most one
 * bucket more. */
static size_t room_for(const struct kernel_env *env)
{
    const size_t total = (size_t)1 << problems[npb_class(env->params)].keys;
    const size_t slack = 4096; /* many standard deviations of a small bucket */
    return total / (size_t)env->comm.size + 3 * (total >> bucket_bits(env)) + slack;
}

static size_t table_room(const struct kernel_env *env)
{
    return (size_t)1
           << problems[npb_class(env->params)].values; /* no rank knows before which values it gets */
}

static double memory(const struct kernel_env *env)
{
    double share = (double)(INT64_C(1) << problems[npb_class(env->params)].keys) / env->comm.size;
    double arrived = env->comm.size > 1 ? (double)room_for(env) : 0;
    return sizeof(uint32_t) *
           (3 * share + arrived + (double)table_room(env)); /* one `share`: in order, to check */
}

static void close_is(void *state)
{
    struct is *is = state;
    comm_plan_close(is->exchange);
    free(is->keys);
    free(is->sorted);
    free(is->arrived);
    free(is->table);
    free(is->lane_counts);
    free(is->bucket_sizes);
    free(is->first_bucket);
    free(is->send_bytes);
    free(is->lane_sums);
    free(is);
}

static int alloc(struct is *is)
{
    struct kernel_env *env = is->env;
    const size_t lanes = (size_t)env->threads, buckets = (size_t)is->buckets, size = (size_t)env->comm.size;
    const size_t mine = (size_t)is->mine.count;
    is->room = size > 1 ? room_for(env) : 1;
    is->first_bucket = calloc(size + 1, sizeof *is->first_bucket);
    is->send_bytes = calloc(4 * size, sizeof *is->send_bytes);
    is->lane_sums = calloc(lanes, sizeof *is->lane_sums);
    if (!is->first_bucket || !is->send_bytes || !is->lane_sums)
        return err_say(ERR_NOMEM, "no memory for the buckets of %zu ranks", size);
    is->send_at = is->send_bytes + size;
    is->recv_bytes = is->send_at + size;
    is->recv_at = is->recv_bytes + size;
    int err = kernel_alloc(env, mine, sizeof *is->keys, &is->keys);
    if (!err)
        err = kernel_alloc(env, mine, sizeof *is->sorted, &is->sorted);
    if (!err)
        err = kernel_alloc(env, is->room, sizeof *is->arrived, &is->arrived);
    if (!err)
        err = kernel_alloc(env, table_room(env), sizeof *is->table, &is->table);
    if (!err) /* and four tables of each lane's behind */
        err = kernel_alloc(env, lanes * buckets, sizeof *is->lane_counts + 4 * sizeof(uint32_t),
                           &is->lane_counts);
    return err ? err : kernel_alloc(env, 2 * buckets, sizeof *is->bucket_sizes, &is->bucket_sizes);
}

static int open_is(struct kernel_env *env, void **state)
{
    struct is *is = calloc(1, sizeof *is);
    bool stop = false;
    int err = !is ? err_say(ERR_NOMEM, "no memory for the state of a kernel") : 0;
    if (!err) {
        is->env = env;
        is->problem = &problems[npb_class(env->params)];
        is->mine = share_of(INT64_C(1) << is->problem->keys, env->comm.size, env->comm.rank);
        is->buckets = 1 << bucket_bits(env);
        is->shift = is->problem->values - bucket_bits(env);
        err = alloc(is);
    }
    err = kernel_agree(env, err, &stop);
    if (!stop) {
        struct comm_pieces out = {is->sorted, is->send_bytes, is->send_at};
        struct comm_pieces in = {is->arrived, is->recv_bytes, is->recv_at};
        err = comm_plan_varying(&env->comm, env->back, sizeof *is->keys, &out, &in, 0, &is->exchange);
        for (int t = 0; t < IS_TESTS; ++t)
            make_keys(is, is->problem->index[t], 1, &is->test_keys[t]);
        expect(is);
    }
    if (err || stop) {
        if (is)
            close_is(is);
    } else
        *state = is;
    return err;
}

static const double *expected(const double *chosen)
{
    static const struct npb_answer all_right = {{IS_ITERATIONS * IS_TESTS, 0, 0, 0}};
    (void)chosen;
    return all_right.values;
}

static double work(const double *chosen)
{
    return IS_ITERATIONS * (double)(INT64_C(1) << problems[npb_class(chosen)].keys); /* keys ranked */
}

static const char *const names[] = {"test keys that have the published rank in their iteration",
                                    "keys out of order", "whether keys were changed on the way",
                                    "keys too many", NULL};
static const char *const backends[] = {"collective", "icollective", "nonblocking", "blocking", NULL};
static const struct param params[] = {NPB_PARAMS(backends), {0}};

const struct kernel npb_is = {
    .name = "npb.is",
    .summary = "NAS IS: ranks of integer keys, an all-to-all exchange of all data",
    .params = params,
    .phases = phases,
    .ranks = ranks,
    .memory = memory,
    .open = open_is,
    .close = close_is,
    .reset = reset,
    .solve = solve,
    .answer = answer,
    .value_names = names,
    .expected = expected,
    .work = work,
};
