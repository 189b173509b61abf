/* The life of a collective of OpenSHMEM: memory, data, and what the answer must be. Those with an active set
 * take two pSync arrays in turn, as the standard advises (OpenSHMEM 1.4, section 9.8). */
#define _GNU_SOURCE
#include "ops/shmem/coll.h"

#include "base/err.h"
#include "base/hash.h"
#include "ops/common/data.h"
#include "ops/shmem/lanes.h"
#include "team/team_shmem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LATE_NS = 1000000 }; /* far more than a barrier takes */

/* ---- data -------------------------------------------------------------------------------------------- */

/* Element k that a rank gives: small, so that no sum or product leaves any type. */
static int64_t given(const struct coll *c, int rank, size_t k)
{
    const uint64_t hash = hash_mix(((uint64_t)c->generation << 40) ^ ((uint64_t)rank << 24) ^ k);
    enum { FEW = 5, BITS = 0x7f };
    if (c->row->combined == PROD)
        return (size_t)rank == k % (size_t)c->size ? 2 + c->generation % 2 : 1;
    return c->row->combined >= AND ? (int64_t)(hash & BITS) : 1 + (int64_t)(hash % FEW);
}

static int64_t combined(const struct coll *c, size_t k)
{
    int64_t all = given(c, 0, k);
    for (int r = 1; r < c->size; ++r) {
        const int64_t one = given(c, r, k);
        const int64_t answers[] = {[SUM] = all + one,
                                   [PROD] = all * one,
                                   [MIN] = one < all ? one : all,
                                   [MAX] = one > all ? one : all,
                                   [AND] = all & one,
                                   [OR] = all | one,
                                   [XOR] = all ^ one};
        all = answers[c->row->combined];
    }
    return all;
}

static size_t step_of(const struct coll *c)
{
    return c->element * (c->row->strided ? COLL_STEP : 1);
}

/* The number of the data from a rank for another; for all of them where it sends one block. */
static int number_of(const struct coll *c, int to)
{
    return (int)(hash_mix((uint64_t)c->generation << 20 ^ (uint64_t)(c->row->sends_all ? to : 0)) & INT_MAX);
}

/* Element k of block b, as its bytes of data_fill() say. */
static void block_element(const struct coll *c, int from, int to, size_t k, void *element)
{
    unsigned char *bytes = element;
    for (size_t i = 0; i < c->element; ++i)
        bytes[i] = data_byte(from, number_of(c, to), k * c->element + i);
}

static void fill_source(struct coll *c)
{
    const int me = c->team->rank;
    const int blocks = c->row->sends_all ? c->size : 1;
    for (int b = 0; b < blocks; ++b)
        for (size_t k = 0; k < c->count; ++k) {
            char *at = c->source + ((size_t)b * c->count + k) * step_of(c);
            if (c->row->answer == OVER_ALL)
                c->store(at, given(c, me, k));
            else
                block_element(c, me, b, k, at);
        }
}

static void wait_late(void)
{
    const struct timespec late = {.tv_nsec = LATE_NS};
    nanosleep(&late, NULL);
}

static int fresh(struct coll *c)
{
    ++c->generation;
    data_poison(c->source, c->source_bytes);
    data_poison(c->dest, c->dest_bytes);
    fill_source(c);
    c->moved = 0;
    return team_barrier(c->team);
}

/* ---- answers ----------------------------------------------------------------------------------------- */

/* Bytes that no answer comes to: between the numbers of a strided one, and a root's own block. */
static int check_untouched(const struct coll *c)
{
    const bool root = c->row->answer == FROM_ROOT && c->team->rank == 0;
    const size_t used = root ? 0 : c->element;
    for (size_t i = 0; i < c->dest_bytes; ++i)
        if (i % step_of(c) >= used && (unsigned char)c->dest[i] != DATA_POISON)
            return err_say(ERR_WRONG, "byte %zu of the answer was written, and nothing belongs there", i);
    return 0;
}

static int check_blocks(const struct coll *c)
{
    const int me = c->team->rank;
    const bool one = c->row->answer == FROM_ROOT || c->row->answer == FROM_ROOT_TO_ALL;
    const int blocks = !one ? c->size : c->row->answer == FROM_ROOT && me == 0 ? 0 : 1;
    unsigned char right[sizeof(uint64_t)];
    for (int b = 0; b < blocks; ++b)
        for (size_t k = 0; k < c->count; ++k) {
            const char *at = c->dest + ((size_t)b * c->count + k) * step_of(c);
            block_element(c, b, me, k, right);
            if (memcmp(at, right, c->element) != 0)
                return err_say(ERR_WRONG, "number %zu of the block from rank %d is not what it sent", k, b);
        }
    return check_untouched(c);
}

static int check_combined(const struct coll *c)
{
    for (size_t k = 0; k < c->count; ++k) {
        const int64_t is = c->load(c->dest + k * c->element), right = combined(c, k);
        if (is != right)
            return err_say(ERR_WRONG, "element %zu of the answer is %lld, should be %lld", k, (long long)is,
                           (long long)right);
    }
    return 0;
}

static int look(struct coll *c)
{
    const size_t used = c->row->answer == FROM_ROOT && c->team->rank == 0 ? 0 : c->dest_bytes;
    data_arrived(c->dest, used - (used > 0 && c->row->strided ? c->element : 0), c->planted);
    return c->count == 0 ? 0 : c->row->answer == OVER_ALL ? check_combined(c) : check_blocks(c);
}

int coll_run(void *state, int64_t reps)
{
    struct coll *c = state;
    c->moved += reps;
    for (int64_t i = 0; i < reps; ++i) {
        c->call(c);
        c->set = 1 - c->set;
    }
    return 0;
}

/* One rank comes late and tells all others just before; nobody may leave without having heard of it. */
static int verify_barrier(struct coll *c)
{
    const int me = c->team->rank, late = c->generation % c->size;
    const uint64_t now = (uint64_t)++c->generation;
    int err = team_barrier(c->team);
    if (me == late)
        wait_late();
    for (int r = 0; r < c->size; ++r)
        shmem_uint64_p(&c->came[me], now, r);
    shmem_quiet();
    err = err ? err : coll_run(c, 1);
    if (c->planted)
        c->came[late] ^= 1;
    for (int r = 0; r < c->size && !err; ++r)
        if (*(volatile uint64_t *)&c->came[r] != now)
            err = err_say(ERR_WRONG, "this rank left before rank %d had come", r);
    const int met = team_barrier(c->team);
    return err ? err : met;
}

int coll_verify(void *state)
{
    struct coll *c = state;
    int err = 0, wrong = 0;
    if (c->row->answer == CAME) {
        for (int r = 0; r < c->size && !err; ++r) /* each of them is late once */
            err = verify_barrier(c);
        return err;
    }
    for (int round = 0; round < COLL_SETS && !err; ++round) {
        err = fresh(c);
        err = err ? err : coll_run(c, 1);
        err = err ? err : team_barrier(c->team);
        wrong = err || wrong ? wrong : look(c);
    }
    c->planted = false;
    err = err ? err : fresh(c);
    return err ? err : wrong;
}

int coll_check(void *state)
{
    struct coll *c = state;
    int err = team_barrier(c->team);
    const int wrong = err || c->moved == 0 || c->row->answer == CAME ? 0 : look(c);
    err = err ? err : fresh(c);
    return wrong ? wrong : err;
}

/* ---- setup ------------------------------------------------------------------------------------------- */

static char *cut(char **memory, size_t bytes)
{
    char *part = *memory;
    *memory += lane_lines(bytes);
    return part;
}

/* Sizes alone: the memory begins at NULL. Then again, with what was taken. */
static size_t lay_out(struct coll *c, char *memory)
{
    char *const begin = memory;
    enum { SYNC_BYTES = SHMEM_SYNC_SIZE * sizeof(long) };
    const size_t least = SHMEM_REDUCE_MIN_WRKDATA_SIZE, half = c->count / 2 + 1;
    for (int s = 0; s < COLL_SETS; ++s) {
        c->sync[s] = (long *)(void *)cut(&memory, SYNC_BYTES);
        c->work[s] = cut(&memory, (half > least ? half : least) * sizeof(double));
    }
    c->came = (uint64_t *)(void *)cut(&memory, (size_t)c->size * sizeof *c->came);
    c->source = cut(&memory, c->source_bytes);
    c->dest = cut(&memory, c->dest_bytes);
    return (size_t)(memory - begin);
}

static int plan(struct coll *c, const struct op_env *env)
{
    const int type = c->row->answer == CAME ? 0 : (int)env->params[COLL_TYPE];
    c->call = c->row->calls[type];
    c->element = c->row->answer == OVER_ALL ? coll_kinds[type].size : (size_t)coll_width_bytes[type];
    c->load = coll_kinds[type].load;
    c->store = coll_kinds[type].store;
    if (env->bytes % c->element != 0)
        return err_say(ERR_INPUT, "%s takes numbers of %zu bytes: %zu bytes are no multiple; give one",
                       env->op->name, c->element, env->bytes);
    c->count = env->bytes / c->element;
    if (c->count > INT_MAX)
        return err_say(ERR_INPUT, "%s takes %d numbers at most; give fewer bytes", env->op->name, INT_MAX);
    const size_t block = c->count * step_of(c), all = block * (size_t)c->size;
    c->source_bytes = c->row->sends_all ? all : block;
    c->dest_bytes = c->row->answer == FROM_EACH || c->row->answer == MY_FROM_EACH ? all : block;
    return 0;
}

const char *const coll_teams[3] = {"world", "split", NULL};

/* Collective; an error is one of all ranks. */
static int choose_team(struct coll *c, const struct op_env *env)
{
    int refused = 0;
    c->is_split = (int)lanes_param(env, "team", TEAM_WORLD) == TEAM_SPLIT;
    SHMEM15(c->handle = SHMEM_TEAM_WORLD);
    if (c->is_split)
        SHMEM15(refused = shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, c->size, NULL, 0, &c->handle));
    if (refused)
        c->is_split = false;
    return refused ? err_say(ERR_UNSUPPORTED, "this OpenSHMEM makes no further team; give team=world") : 0;
}

void coll_teardown(void *state)
{
    struct coll *c = state;
    if (c->is_split)
        SHMEM15(shmem_team_destroy(c->handle));
    free(c);
}

int coll_setup(const struct op_env *env, void **state)
{
    struct coll c = {
        .row = env->op->row, .team = env->team, .size = env->team->size, .planted = env->planted};
    void *memory = NULL;
    int err = plan(&c, env);
    const size_t bytes = err ? 0 : lay_out(&c, NULL);
    err = err ? err : team_symmetric(env->team, bytes, &memory);
    if (err)
        return err;
    struct coll *own = malloc(sizeof *own);
    if (!own)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    buffers_count(env->buffers, bytes);
    lay_out(&c, memory);
    for (int s = 0; s < COLL_SETS; ++s)
        for (int i = 0; i < SHMEM_SYNC_SIZE; ++i)
            c.sync[s][i] = SHMEM_SYNC_VALUE;
    memset(c.came, 0, (size_t)c.size * sizeof *c.came);
    if (c.row->on_team)
        err = choose_team(&c, env);
    *own = c;
    if (err)
        coll_teardown(own);
    else
        *state = own;
    return err;
}
