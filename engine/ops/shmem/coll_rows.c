/* shmem.broadcast, shmem.sum_to_all, ...: collectives of OpenSHMEM on all ranks, a row each. */
#include "ops/families.h"

#include "ops/shmem/coll.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- the calls --------------------------------------------------------------------------------------- */

#define SYNC c->sync[c->set]
#define ACTIVE 0, 0, c->size
#define BLOCKS c->dest, c->source, c->count

/* One with blocks of numbers of 64 or of 32 bits. */
#define BLOCK_CALL(name, call64, call32)                                                                     \
    static void name##_64(struct coll *c)                                                                    \
    {                                                                                                        \
        call64;                                                                                              \
    }                                                                                                        \
    static void name##_32(struct coll *c)                                                                    \
    {                                                                                                        \
        call32;                                                                                              \
    }
BLOCK_CALL(broadcast, shmem_broadcast64(BLOCKS, 0, ACTIVE, SYNC), shmem_broadcast32(BLOCKS, 0, ACTIVE, SYNC))
BLOCK_CALL(collect, shmem_collect64(BLOCKS, ACTIVE, SYNC), shmem_collect32(BLOCKS, ACTIVE, SYNC))
BLOCK_CALL(fcollect, shmem_fcollect64(BLOCKS, ACTIVE, SYNC), shmem_fcollect32(BLOCKS, ACTIVE, SYNC))
BLOCK_CALL(alltoall, shmem_alltoall64(BLOCKS, ACTIVE, SYNC), shmem_alltoall32(BLOCKS, ACTIVE, SYNC))
#define STRIDED c->dest, c->source, COLL_STEP, COLL_STEP, c->count
BLOCK_CALL(alltoalls, shmem_alltoalls64(STRIDED, ACTIVE, SYNC), shmem_alltoalls32(STRIDED, ACTIVE, SYNC))

static void barrier_all_call(struct coll *c)
{
    (void)c;
    shmem_barrier_all();
}

static void sync_all_call(struct coll *c)
{
    (void)c;
    shmem_sync_all();
}

static void barrier_call(struct coll *c)
{
    shmem_barrier(ACTIVE, SYNC);
}

/* The same on teams, of OpenSHMEM 1.5. */
#define ON_TEAM(kind, name, ...)                                                                             \
    SHMEM15(shmem_##kind##_##name(c->handle, (kind##_t *)(void *)c->dest, (kind##_t *)(void *)c->source,     \
                                  __VA_ARGS__))
#define TEAM_CALL(name, ...)                                                                                 \
    static void team_##name##_64(struct coll *c)                                                             \
    {                                                                                                        \
        ON_TEAM(int64, name, __VA_ARGS__);                                                                   \
        (void)c;                                                                                             \
    }                                                                                                        \
    static void team_##name##_32(struct coll *c)                                                             \
    {                                                                                                        \
        ON_TEAM(int32, name, __VA_ARGS__);                                                                   \
        (void)c;                                                                                             \
    }
TEAM_CALL(broadcast, c->count, 0)
TEAM_CALL(collect, c->count)
TEAM_CALL(fcollect, c->count)
TEAM_CALL(alltoall, c->count)
TEAM_CALL(alltoalls, COLL_STEP, COLL_STEP, c->count)

static void team_sync_call(struct coll *c)
{
    SHMEM15(shmem_team_sync(c->handle));
    (void)c;
}

/* ---- reductions: each operator on each type ---------------------------------------------------------- */

#define WHOLE(X, ...)                                                                                        \
    X(long, long, __VA_ARGS__)                                                                               \
    X(int, int, __VA_ARGS__)                                                                                 \
    X(longlong, long long, __VA_ARGS__)                                                                      \
    X(short, short, __VA_ARGS__)
#define NUMBERS(X, ...)                                                                                      \
    WHOLE(X, __VA_ARGS__)                                                                                    \
    X(double, double, __VA_ARGS__)                                                                           \
    X(float, float, __VA_ARGS__)

#define ACCESS(T, C, ...)                                                                                    \
    static int64_t read_##T(const void *at)                                                                  \
    {                                                                                                        \
        return (int64_t)*(const C *)at;                                                                      \
    }                                                                                                        \
    static void write_##T(void *at, int64_t value)                                                           \
    {                                                                                                        \
        *(C *)at = (C)value;                                                                                 \
    }
NUMBERS(ACCESS, 0)

#define REDUCE(T, C, name)                                                                                   \
    static void name##_##T(struct coll *c)                                                                   \
    {                                                                                                        \
        shmem_##T##_##name##_to_all((C *)(void *)c->dest, (C *)(void *)c->source, (int)c->count, ACTIVE,     \
                                    (C *)c->work[c->set], SYNC);                                             \
    }
#define REDUCTIONS(X)                                                                                        \
    X(sum, NUMBERS, SUM, "the sum")                                                                          \
    X(prod, NUMBERS, PROD, "the product")                                                                    \
    X(min, NUMBERS, MIN, "the least")                                                                        \
    X(max, NUMBERS, MAX, "the largest")                                                                      \
    X(and, WHOLE, AND, "the bits that all have")                                                             \
    X(or, WHOLE, OR, "the bits that any has")                                                                \
    X(xor, WHOLE, XOR, "the bits that an odd number have")
#define REDUCE_ALL(name, list, ...) list(REDUCE, name)
REDUCTIONS(REDUCE_ALL)

/* Types of teams' bitwise reductions are of fixed sizes; of the sizes of the first kinds. */
#define SIZES(X, ...)                                                                                        \
    X(int64, int64_t, __VA_ARGS__)                                                                           \
    X(int32, int32_t, __VA_ARGS__)
#define REDUCE_ON_TEAM(T, C, name)                                                                           \
    static void team_##name##_##T(struct coll *c)                                                            \
    {                                                                                                        \
        SHMEM15(                                                                                             \
            shmem_##T##_##name##_reduce(c->handle, (C *)(void *)c->dest, (C *)(void *)c->source, c->count)); \
        (void)c;                                                                                             \
    }
#define TEAM_REDUCTIONS(X)                                                                                   \
    X(sum, NUMBERS, SUM, "the sum")                                                                          \
    X(prod, NUMBERS, PROD, "the product")                                                                    \
    X(min, NUMBERS, MIN, "the least")                                                                        \
    X(max, NUMBERS, MAX, "the largest")                                                                      \
    X(and, SIZES, AND, "the bits that all have")                                                             \
    X(or, SIZES, OR, "the bits that any has")                                                                \
    X(xor, SIZES, XOR, "the bits that an odd number have")
#define REDUCE_ALL_ON_TEAM(name, list, ...) list(REDUCE_ON_TEAM, name)
TEAM_REDUCTIONS(REDUCE_ALL_ON_TEAM)

/* ---- rows -------------------------------------------------------------------------------------------- */

#define KIND_WORD(T, C, ...) #T,
#define KIND_BYTES(T, C, ...) sizeof(C),
#define KIND_ACCESS(T, C, ...) {#T, sizeof(C), read_##T, write_##T},
static const char *const NUMBERS_words[] = {NUMBERS(KIND_WORD, 0) NULL},
                         *const WHOLE_words[] = {WHOLE(KIND_WORD, 0) NULL},
                         *const SIZES_words[] = {SIZES(KIND_WORD, 0) NULL},
                         *const width_words[] = {"64", "32", NULL};
static const int NUMBERS_bytes[] = {NUMBERS(KIND_BYTES, 0)}, WHOLE_bytes[] = {WHOLE(KIND_BYTES, 0)},
                 SIZES_bytes[] = {SIZES(KIND_BYTES, 0)};
const int coll_width_bytes[2] = {8, 4};
const struct coll_kind coll_kinds[] = {NUMBERS(KIND_ACCESS, 0)}; /* those of WHOLE come first */

static const struct param width_params[] = {PARAM_TYPES("width", "bits of the numbers that blocks consist of",
                                                        width_words, coll_width_bytes),
                                            OP_CHECKS_PARAM,
                                            {0}},
                          NUMBERS_params[] = {PARAM_TYPES("type", "type of the numbers", NUMBERS_words,
                                                          NUMBERS_bytes),
                                              OP_CHECKS_PARAM,
                                              {0}},
                          WHOLE_params[] = {
                              PARAM_TYPES("type", "type of the numbers", WHOLE_words, WHOLE_bytes),
                              OP_CHECKS_PARAM,
                              {0}};

#define TEAM_PARAM                                                                                           \
    PARAM_WORDS("team", "the library's own of all ranks, or one that is split from it", coll_teams)
#define TEAM_TYPES(word)                                                                                     \
    PARAM_TYPES("type", "type of the numbers", word##_words, word##_bytes), TEAM_PARAM, OP_CHECKS_PARAM, {0}
static const struct param team_width_params[] = {PARAM_TYPES("width",
                                                             "bits of the numbers that blocks consist of",
                                                             width_words, coll_width_bytes),
                                                 TEAM_PARAM,
                                                 OP_CHECKS_PARAM,
                                                 {0}},
                          team_NUMBERS_params[] = {TEAM_TYPES(NUMBERS)},
                          team_SIZES_params[] = {TEAM_TYPES(SIZES)}, team_params[] = {TEAM_PARAM, {0}};

#define REDUCE_NAME(T, C, name) name##_##T,
#define TEAM_REDUCE_NAME(T, C, name) team_##name##_##T,
#define TEAM_REDUCTION_ROW(word, list, combines, text)                                                       \
    {"shmem.team." #word "_reduce",                                                                          \
     text " over all ranks of a team at each",                                                               \
     {list(TEAM_REDUCE_NAME, word)},                                                                         \
     OVER_ALL,                                                                                               \
     FLOW_ALL,                                                                                               \
     team_##list##_params,                                                                                   \
     .on_team = true,                                                                                        \
     .combined = combines},
#define TEAM_ROW(word, text, ...)                                                                            \
    {"shmem.team." #word, text,       {team_##word##_64, team_##word##_32}, .params = team_width_params,     \
     .on_team = true,     __VA_ARGS__}
#define REDUCTION_ROW(word, list, combines, text)                                                            \
    {"shmem." #word "_to_all",                                                                               \
     text " over all ranks at every rank",                                                                   \
     {list(REDUCE_NAME, word)},                                                                              \
     OVER_ALL,                                                                                               \
     FLOW_ALL,                                                                                               \
     list##_params,                                                                                          \
     .combined = combines},
#define BLOCK_ROW(word, text, ...) {"shmem." #word, text, {word##_64, word##_32}, __VA_ARGS__}
#define BARRIER_ROW(word, text) {"shmem." #word, text, {word##_call}, CAME, .flow = FLOW_ALL}

static const struct coll_row rows[] = {
    BARRIER_ROW(barrier_all,
                "shmem_barrier_all: no rank leaves before all have come and their puts are done"),
    BARRIER_ROW(sync_all, "shmem_sync_all: no rank leaves before all have come"),
    BARRIER_ROW(barrier, "shmem_barrier over an active set of all ranks"),
    BLOCK_ROW(broadcast, "a block of rank 0 at all other ranks", FROM_ROOT, FLOW_OUT, .params = width_params),
    BLOCK_ROW(collect, "a block of each rank, which may differ in size, at every rank", FROM_EACH, FLOW_ALL,
              .params = width_params),
    BLOCK_ROW(fcollect, "a block of each rank, all of one size, at every rank", FROM_EACH, FLOW_ALL,
              .params = width_params),
    BLOCK_ROW(alltoall, "a block of its own from each rank to every rank", MY_FROM_EACH, FLOW_ALL,
              .params = width_params, .sends_all = true),
    BLOCK_ROW(alltoalls, "as alltoall, every second number of a block", MY_FROM_EACH, FLOW_ALL,
              .params = width_params, .sends_all = true, .strided = true),
    REDUCTIONS(REDUCTION_ROW){"shmem.team.sync",
                              "shmem_team_sync: no rank of a team leaves before all have come",
                              {team_sync_call},
                              CAME,
                              FLOW_ALL,
                              team_params,
                              .on_team = true},
    TEAM_ROW(broadcast, "a block of rank 0 at all ranks of a team", .answer = FROM_ROOT_TO_ALL,
             .flow = FLOW_OUT),
    TEAM_ROW(collect, "as shmem.collect on a team", .answer = FROM_EACH, .flow = FLOW_ALL),
    TEAM_ROW(fcollect, "as shmem.fcollect on a team", .answer = FROM_EACH, .flow = FLOW_ALL),
    TEAM_ROW(alltoall, "as shmem.alltoall on a team", .answer = MY_FROM_EACH, .flow = FLOW_ALL,
             .sends_all = true),
    TEAM_ROW(alltoalls, "as shmem.alltoalls on a team", .answer = MY_FROM_EACH, .flow = FLOW_ALL,
             .sends_all = true, .strided = true),
    TEAM_REDUCTIONS(TEAM_REDUCTION_ROW)};
enum { ROWS = sizeof rows / sizeof rows[0] };

static void op_at(size_t i, struct op *op)
{
    const struct coll_row *row = &rows[i];
    *op = (struct op){.family = "openshmem",
                      .summary = row->summary,
                      .class = OP_COLLECTIVE,
                      .role = ROLE_COLLECTIVE,
                      .flow = row->flow,
                      .report = OP_SLOWEST,
                      .parts = 1,
                      .default_bytes = row->answer == CAME ? NULL : "8..1Mi",
                      .params = row->params,
                      .missing = row->on_team ? SHMEM15_MISSING : NULL,
                      .row = row,
                      .setup = coll_setup,
                      .run = coll_run,
                      .verify = coll_verify,
                      .check = row->answer == CAME ? NULL : coll_check,
                      .teardown = coll_teardown};
    snprintf(op->name, sizeof op->name, "%s", row->name);
}

const struct op_family shmem_coll_ops = {.count = ROWS, .op_at = op_at};
