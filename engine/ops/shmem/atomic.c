/* shmem.atomic_add, ...: atomics of rank 0 on a number of rank 1, on each type that OpenSHMEM defines them
 * for. An atomic is a row: its call, its types, and what it does to the number. */
#include "ops/families.h"

#include "base/err.h"
#include "base/hash.h"
#include "ops/common/data.h"
#include "ops/shmem/lanes.h"
#include "team/compat_shmem.h"

#include <stdio.h>
#include <string.h>

enum effect { KEEP, SET, ADD, INC, AND, OR, XOR, SWAP_IF };

/* ---- types ------------------------------------------------------------------------------------------- */

/* The three lists of types of OpenSHMEM 1.4, section 9.7, without those that are the same under another
 * name. */
#define BITWISE(X, ...)                                                                                      \
    X(ulong, unsigned long, __VA_ARGS__)                                                                     \
    X(uint, unsigned int, __VA_ARGS__)                                                                       \
    X(ulonglong, unsigned long long, __VA_ARGS__)                                                            \
    X(int32, int32_t, __VA_ARGS__)                                                                           \
    X(int64, int64_t, __VA_ARGS__)                                                                           \
    X(uint32, uint32_t, __VA_ARGS__)                                                                         \
    X(uint64, uint64_t, __VA_ARGS__)
#define STANDARD(X, ...)                                                                                     \
    X(long, long, __VA_ARGS__)                                                                               \
    X(int, int, __VA_ARGS__)                                                                                 \
    X(longlong, long long, __VA_ARGS__)                                                                      \
    X(uint, unsigned int, __VA_ARGS__)                                                                       \
    X(ulong, unsigned long, __VA_ARGS__)                                                                     \
    X(ulonglong, unsigned long long, __VA_ARGS__)
#define EXTENDED(X, ...)                                                                                     \
    STANDARD(X, __VA_ARGS__)                                                                                 \
    X(float, float, __VA_ARGS__)                                                                             \
    X(double, double, __VA_ARGS__)

enum real { NOT_REAL, REAL_FLOAT, REAL_DOUBLE };
struct type {
    size_t size;
    enum real real;
};

#define TYPE_WORD(T, C, ...) #T,
#define TYPE_ROW(T, C, ...)                                                                                  \
    {sizeof(C), _Generic((C)0, float: REAL_FLOAT, double: REAL_DOUBLE, default: NOT_REAL)},
#define TYPES_OF(list)                                                                                       \
    static const char *const list##_words[] = {list(TYPE_WORD, 0) NULL};                                     \
    static const struct type list##_types[] = {list(TYPE_ROW, 0){0}};
TYPES_OF(BITWISE)
TYPES_OF(STANDARD)
TYPES_OF(EXTENDED)

/* ---- the calls --------------------------------------------------------------------------------------- */

struct atomic {
    struct shmem_lane lane;
    const struct atomic_row *row;
    const struct type *type;
    void (*loop)(struct atomic *s, int64_t reps);
    int calls; /* in a repetition, before a completion */
    uint64_t old, value;
    /* as the calls take them, each on a cache line of its own */
    _Alignas(LANE_LINE) char operand[LANE_LINE], expected[LANE_LINE], result[LANE_LINE];
};

#define CALL(T, name, ...) shmem_ctx_##T##_atomic_##name(ctx, __VA_ARGS__)

/* `reps` repetitions of one atomic on one type.*/
#define ATOMIC_LOOP(T, C, name, call)                                                                        \
    static void name##_##T(struct atomic *s, int64_t reps)                                                   \
    {                                                                                                        \
        typedef C number;                                                                                    \
        const shmem_ctx_t ctx = s->lane.ctx;                                                                 \
        const int pe = s->lane.base.peer, calls = s->calls;                                                  \
        number *const there = (number *)(void *)s->lane.base.window, *const result =                         \
                                                                         (number *)(void *)s->result;        \
        const number value = *(const number *)(const void *)s->operand;                                      \
        const number expected = *(const number *)(const void *)s->expected;                                  \
        (void)ctx, (void)pe, (void)there, (void)result, (void)value, (void)expected;                         \
        for (int64_t r = 0; r < reps; ++r) {                                                                 \
            for (int i = 0; i < calls; ++i)                                                                  \
                call(T, name);                                                                               \
            COMPLETE_##call;                                                                                 \
        }                                                                                                    \
    }

/* The ways to call: what is given, and what comes back. */
#define GIVES_VALUE(T, name) CALL(T, name, there, value, pe)
#define GIVES_NOTHING(T, name) CALL(T, name, there, pe)
#define FETCHES_VALUE(T, name) *result = CALL(T, name, there, value, pe)
#define FETCHES_NOTHING(T, name) *result = CALL(T, name, there, pe)
#define FETCHES_IF(T, name) *result = CALL(T, name, there, expected, value, pe)
#define LATER_VALUE(T, name) SHMEM15(CALL(T, name, result, there, value, pe))
#define LATER_NOTHING(T, name) SHMEM15(CALL(T, name, result, there, pe))
#define LATER_IF(T, name) SHMEM15(CALL(T, name, result, there, expected, value, pe))
/* What they complete by: an answer is its own completion. */
#define COMPLETE_GIVES_VALUE shmem_ctx_quiet(ctx)
#define COMPLETE_GIVES_NOTHING shmem_ctx_quiet(ctx)
#define COMPLETE_FETCHES_VALUE (void)0
#define COMPLETE_FETCHES_NOTHING (void)0
#define COMPLETE_FETCHES_IF (void)0
#define COMPLETE_LATER_VALUE shmem_ctx_quiet(ctx)
#define COMPLETE_LATER_NOTHING shmem_ctx_quiet(ctx)
#define COMPLETE_LATER_IF shmem_ctx_quiet(ctx)
#define FETCHES_GIVES_VALUE false
#define FETCHES_GIVES_NOTHING false
#define FETCHES_FETCHES_VALUE true
#define FETCHES_FETCHES_NOTHING true
#define FETCHES_FETCHES_IF true
#define FETCHES_LATER_VALUE true
#define FETCHES_LATER_NOTHING true
#define FETCHES_LATER_IF true
#define IS_LATER_GIVES_VALUE false
#define MISSING_GIVES_VALUE NULL
#define IS_LATER_GIVES_NOTHING false
#define MISSING_GIVES_NOTHING NULL
#define IS_LATER_FETCHES_VALUE false
#define MISSING_FETCHES_VALUE NULL
#define IS_LATER_FETCHES_NOTHING false
#define MISSING_FETCHES_NOTHING NULL
#define IS_LATER_FETCHES_IF false
#define MISSING_FETCHES_IF NULL
#define IS_LATER_LATER_VALUE true
#define MISSING_LATER_VALUE SHMEM15_MISSING
#define IS_LATER_LATER_NOTHING true
#define MISSING_LATER_NOTHING SHMEM15_MISSING
#define IS_LATER_LATER_IF true
#define MISSING_LATER_IF SHMEM15_MISSING

/* Name, types, call, effect, summary. */
#define ATOMICS(X)                                                                                           \
    X(fetch, EXTENDED, FETCHES_NOTHING, KEEP, "a number of rank 1 is read")                                  \
    X(set, EXTENDED, GIVES_VALUE, SET, "a number of rank 1 is written")                                      \
    X(swap, EXTENDED, FETCHES_VALUE, SET, "a number of rank 1 is replaced, the old one fetched")             \
    X(compare_swap, STANDARD, FETCHES_IF, SWAP_IF,                                                           \
      "a number of rank 1 is replaced if it is the expected one")                                            \
    X(add, STANDARD, GIVES_VALUE, ADD, "a number is added to one of rank 1")                                 \
    X(inc, STANDARD, GIVES_NOTHING, INC, "one is added to a number of rank 1")                               \
    X(and, BITWISE, GIVES_VALUE, AND, "bits of a number of rank 1 are cleared")                              \
    X(or, BITWISE, GIVES_VALUE, OR, "bits of a number of rank 1 are set")                                    \
    X(xor, BITWISE, GIVES_VALUE, XOR, "bits of a number of rank 1 are flipped")                              \
    X(fetch_add, STANDARD, FETCHES_VALUE, ADD, "as atomic_add, and the old number is fetched")               \
    X(fetch_inc, STANDARD, FETCHES_NOTHING, INC, "as atomic_inc, and the old number is fetched")             \
    X(fetch_and, BITWISE, FETCHES_VALUE, AND, "as atomic_and, and the old number is fetched")                \
    X(fetch_or, BITWISE, FETCHES_VALUE, OR, "as atomic_or, and the old number is fetched")                   \
    X(fetch_xor, BITWISE, FETCHES_VALUE, XOR, "as atomic_xor, and the old number is fetched")                \
    X(fetch_nbi, EXTENDED, LATER_NOTHING, KEEP, "as atomic_fetch, the answer comes later")                   \
    X(swap_nbi, EXTENDED, LATER_VALUE, SET, "as atomic_swap, the answer comes later")                        \
    X(compare_swap_nbi, STANDARD, LATER_IF, SWAP_IF, "as atomic_compare_swap, the answer comes later")       \
    X(fetch_add_nbi, STANDARD, LATER_VALUE, ADD, "as atomic_fetch_add, the answer comes later")              \
    X(fetch_inc_nbi, STANDARD, LATER_NOTHING, INC, "as atomic_fetch_inc, the answer comes later")            \
    X(fetch_and_nbi, BITWISE, LATER_VALUE, AND, "as atomic_fetch_and, the answer comes later")               \
    X(fetch_or_nbi, BITWISE, LATER_VALUE, OR, "as atomic_fetch_or, the answer comes later")                  \
    X(fetch_xor_nbi, BITWISE, LATER_VALUE, XOR, "as atomic_fetch_xor, the answer comes later")

#define LOOPS(name, list, call, ...) list(ATOMIC_LOOP, name, call)
ATOMICS(LOOPS)

#define LOOP_NAME(T, C, name) name##_##T,
#define ATOMIC_ROW(word, list, call, does, text)                                                             \
    {.name = "atomic_" #word,                                                                                \
     .loops = {list(LOOP_NAME, word)},                                                                       \
     .summary = text,                                                                                        \
     .effect = does,                                                                                         \
     .words = list##_words,                                                                                  \
     .types = list##_types,                                                                                  \
     .word_count = sizeof list##_words / sizeof list##_words[0] - 1,                                         \
     .fetches = FETCHES_##call,                                                                              \
     .later = IS_LATER_##call,                                                                               \
     .missing = MISSING_##call},

enum { TYPES_MOST = 8 };
static const struct atomic_row {
    const char *name, *summary;
    void (*loops[TYPES_MOST])(struct atomic *s, int64_t reps);
    enum effect effect;
    const char *const *words;
    const struct type *types;
    int word_count;
    bool fetches;
    bool later; /* the answer comes at some time before shmem_quiet() returns */
    const char *missing;
} rows[] = {ATOMICS(ATOMIC_ROW)};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- answers ----------------------------------------------------------------------------------------- */

static void number_write(const struct type *type, void *at, uint64_t value)
{
    const float as_float = (float)value;
    const double as_double = (double)value;
    const uint32_t half = (uint32_t)value;
    if (type->real == REAL_FLOAT)
        memcpy(at, &as_float, sizeof as_float);
    else if (type->real == REAL_DOUBLE)
        memcpy(at, &as_double, sizeof as_double);
    else
        memcpy(at, type->size == sizeof half ? (const void *)&half : &value, type->size);
}

/* What the number is after so many calls. */
static uint64_t after(const struct atomic *s, int64_t calls)
{
    if (calls == 0)
        return s->old;
    switch (s->row->effect) {
    case KEEP:
        return s->old;
    case SET:
    case SWAP_IF: /* later ones do not find what they expect */
        return s->value;
    case ADD:
        return s->old + s->value * (uint64_t)calls;
    case INC:
        return s->old + (uint64_t)calls;
    case AND:
        return s->old & s->value;
    case OR:
        return s->old | s->value;
    case XOR:
        return calls % 2 ? s->old ^ s->value : s->old;
    }
    return 0;
}

/* Small numbers, which every type holds. The value differs from the old one and changes it by each operator.
 */
static void fresh(struct lane *lane)
{
    struct atomic *s = (struct atomic *)lane;
    const uint64_t mixed = hash_mix((lane->generation << 20) ^ (uint64_t)lane->thread);
    enum { BITS = 12, LOW = (1 << BITS) - 1, ODD = 1 << BITS, EVEN = ODD << 1 };
    s->old = (mixed & LOW) | EVEN;
    s->value = ((mixed >> BITS) & LOW) | ODD;
    number_write(s->type, s->operand, s->value);
    number_write(s->type, s->expected, s->old);
    data_poison(s->result, sizeof s->result);
    data_poison(lane->window, LANE_LINE);
    number_write(s->type, lane->window, s->old);
}

static int compare(const struct atomic *s, const void *at, uint64_t right, const char *what)
{
    char expected[sizeof(uint64_t)];
    number_write(s->type, expected, right);
    if (memcmp(at, expected, s->type->size) == 0)
        return 0;
    char words[2][2 * sizeof expected + 1];
    for (size_t i = 0; i < s->type->size; ++i) { /* the highest byte first */
        const size_t byte = s->type->size - 1 - i;
        snprintf(words[0] + 2 * i, 3, "%02x", ((const unsigned char *)at)[byte]);
        snprintf(words[1] + 2 * i, 3, "%02x", (unsigned char)expected[byte]);
    }
    return err_say(ERR_WRONG, "%s is 0x%s, should be 0x%s", what, words[0], words[1]);
}

static int check(struct lane *lane, int64_t reps)
{
    struct atomic *s = (struct atomic *)lane;
    const int64_t calls = reps * s->calls;
    int err = 0;
    /* Several nonblocking calls fetch into one place, and none of them is the last. */
    if (lane->acts && s->row->fetches && (s->calls == 1 || !s->row->later)) {
        data_arrived(s->result, s->type->size, lane->planted);
        err = compare(s, s->result, after(s, calls - 1), "what was fetched");
    }
    if (!err && lane->is_target) {
        data_arrived(lane->window, s->type->size, lane->planted);
        err = compare(s, lane->window, after(s, calls), "the number");
        for (size_t i = s->type->size; i < LANE_LINE && !err; ++i)
            if ((unsigned char)lane->window[i] != DATA_POISON)
                err = err_say(ERR_WRONG, "byte %zu behind the number was written", i - s->type->size);
    }
    return err;
}

/* ---- setup and rows ---------------------------------------------------------------------------------- */

static void loop(struct lane *lane, int64_t reps)
{
    struct atomic *s = (struct atomic *)lane;
    s->loop(s, reps);
}

static int plan(const struct op_env *env, size_t *symmetric)
{
    (void)env;
    *symmetric = LANE_LINE;
    return 0;
}

enum { TYPE, CALLS, CONTEXT, CHECK, PARAMS };
static struct made {
    const struct atomic_row *row;
    char summary[160];
    struct param params[PARAMS + 1];
} made[2 * ROWS];

static int open_lane(struct lane *lane, const struct op_env *env)
{
    const struct made *own = env->op->row;
    struct atomic *s = (struct atomic *)lane;
    const int type = (int)env->params[TYPE];
    s->row = own->row;
    s->type = &own->row->types[type];
    s->loop = own->row->loops[type];
    s->calls = (int)env->params[CALLS];
    return 0;
}

static const struct duty duty = {.size = sizeof(struct atomic),
                                 SHMEM_DUTY,
                                 .plan = plan,
                                 .open = open_lane,
                                 .loop = loop,
                                 .fresh = fresh,
                                 .check = check};

static int setup(const struct op_env *env, void **state)
{
    return lanes_setup(env, &duty, state);
}

static double calls_of(const struct op_env *env)
{
    return env->threads * env->params[CALLS];
}

static void op_at(size_t i, struct op *op)
{
    const bool threaded = i >= ROWS;
    struct made *own = &made[i];
    *own = (struct made){.row = &rows[i % ROWS],
                         .params = {[TYPE] = {.name = "type", .unit = "", .summary = "type of the number"},
                                    [CALLS] = {.name = "calls",
                                               .unit = "",
                                               .summary = "calls in a repetition, which complete together",
                                               .normal = 1,
                                               .least = 1,
                                               .most = 65536},
                                    [CONTEXT] = SHMEM_CONTEXT_PARAM,
                                    [CHECK] = OP_CHECKS_PARAM}};
    own->params[TYPE].words = own->row->words;
    own->params[TYPE].most = own->row->word_count - 1;
    snprintf(own->summary, sizeof own->summary, "%s%s", threaded ? "each thread: " : "", own->row->summary);
    *op = job_op(own->row->name, threaded);
    op->summary = own->summary;
    op->params = own->params;
    op->row = own;
    op->missing = own->row->missing;
    op->setup = setup;
    op->work = calls_of;
}

const struct op_family shmem_atomic_ops = {.count = 2 * ROWS, .op_at = op_at};
