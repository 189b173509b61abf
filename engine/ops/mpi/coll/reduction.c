#include "ops/mpi/coll/reduction.h"

#include "base/err.h"
#include "base/hash.h"

#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Small whole numbers, which all types hold exactly; `im` is the imaginary part. */
struct value {
    int64_t re, im;
};

enum { SUM, PROD, MIN, MAX, LAND, BAND, LOR, BOR, LXOR, BXOR, USER };

const char *const reduce_op_words[REDUCE_OPS + 1] = {"sum", "prod", "min",  "max",  "land", "band",
                                                     "lor", "bor",  "lxor", "bxor", "user", NULL};

/* MPI's groups of types (MPI 4.0, section 6.9.2); no operator is defined for a char. */
enum { INTEGER = 1, FLOATING = 2, COMPLEX = 4, LOGICAL = 8, BYTES = 16 };

static const int defined_for[REDUCE_OPS] = {
    [SUM] = INTEGER | FLOATING | COMPLEX,
    [PROD] = INTEGER | FLOATING | COMPLEX,
    [MIN] = INTEGER | FLOATING,
    [MAX] = INTEGER | FLOATING,
    [LAND] = INTEGER | LOGICAL,
    [LOR] = INTEGER | LOGICAL,
    [LXOR] = INTEGER | LOGICAL,
    [BAND] = INTEGER | BYTES,
    [BOR] = INTEGER | BYTES,
    [BXOR] = INTEGER | BYTES,
    [USER] = INTEGER | FLOATING,
};

/* ---- types ------------------------------------------------------------------------------------------- */

struct number {
    const char *name;
    int group;
    size_t size;
    void (*put)(void *element, struct value v);
    bool (*same)(const void *element, struct value v);
    void (*text)(const void *element, char *text, size_t size);
    MPI_User_function *compose;
};

/* How a number of this type is written, compared and shown; and the user's operator on it.
 *
 * A motion of the line, x -> sign * x + shift, is written as the number 2 * shift + (sign < 0). One motion
 * after the other is a + b if a is even and a - b if it is odd: associative, exact, not commutative. */
#define NUMBER(name, ctype, format)                                                                          \
    static void name##_put(void *element, struct value v)                                                    \
    {                                                                                                        \
        const ctype x = (ctype)v.re;                                                                         \
        memcpy(element, &x, sizeof x);                                                                       \
    }                                                                                                        \
    static bool name##_same(const void *element, struct value v)                                             \
    {                                                                                                        \
        ctype x;                                                                                             \
        memcpy(&x, element, sizeof x);                                                                       \
        return x == (ctype)v.re;                                                                             \
    }                                                                                                        \
    static void name##_text(const void *element, char *text, size_t size)                                    \
    {                                                                                                        \
        ctype x;                                                                                             \
        memcpy(&x, element, sizeof x);                                                                       \
        snprintf(text, size, format, x);                                                                     \
    }

#define COMPOSED(name, ctype)                                                                                \
    static void name##_compose(void *in, void *inout, int *count, MPI_Datatype *type)                        \
    {                                                                                                        \
        const ctype *a = in;                                                                                 \
        ctype *b = inout;                                                                                    \
        (void)type;                                                                                          \
        for (int i = 0; i < *count; ++i)                                                                     \
            b[i] = (ctype)((int64_t)a[i] % 2 != 0 ? a[i] - b[i] : a[i] + b[i]);                              \
    }

NUMBER(double, double, "%.17g") /* numbers that differ in the last bit are printed differently */
NUMBER(float, float, "%.9g")
NUMBER(int, int, "%d")
NUMBER(long, long, "%ld")
NUMBER(short, short, "%d")
NUMBER(int8, int8_t, "%d")
NUMBER(byte, unsigned char, "%d") /* bool too: the byte that is stored */
COMPOSED(double, double)
COMPOSED(float, float)
COMPOSED(int, int)
COMPOSED(long, long)
COMPOSED(short, short)
COMPOSED(int8, int8_t)

static void complex_put(void *element, struct value v)
{
    memcpy(element, (const double[]){(double)v.re, (double)v.im}, 2 * sizeof(double));
}

static bool complex_same(const void *element, struct value v)
{
    double parts[2];
    memcpy(parts, element, sizeof parts);
    return parts[0] == (double)v.re && parts[1] == (double)v.im;
}

static void complex_text(const void *element, char *text, size_t size)
{
    double parts[2];
    memcpy(parts, element, sizeof parts);
    snprintf(text, size, "%.17g%+.17gi", parts[0], parts[1]);
}

#define SHOWN(name) name##_put, name##_same, name##_text

static const struct number numbers[] = {
    {"double", FLOATING, sizeof(double), SHOWN(double), double_compose},
    {"float", FLOATING, sizeof(float), SHOWN(float), float_compose},
    {"int", INTEGER, sizeof(int), SHOWN(int), int_compose},
    {"long", INTEGER, sizeof(long), SHOWN(long), long_compose},
    {"byte", BYTES, 1, SHOWN(byte), NULL},
    {"char", 0, 1, SHOWN(byte), NULL},
    {"complex", COMPLEX, sizeof(double _Complex), SHOWN(complex), NULL},
    {"bool", LOGICAL, sizeof(bool), SHOWN(byte), NULL},
    {"short", INTEGER, sizeof(short), SHOWN(short), short_compose},
    {"int8", INTEGER, sizeof(int8_t), SHOWN(int8), int8_compose},
};

const char *const reduce_type_words[REDUCE_TYPES + 1] = {"double",  "float", "int",   "long", "byte", "char",
                                                         "complex", "bool",  "short", "int8", NULL};
const int reduce_type_bytes[REDUCE_TYPES] = {
    sizeof(double), sizeof(float), sizeof(int), sizeof(long), 0, 0, 0, 0, sizeof(short), sizeof(int8_t)};
const char *const data_type_words[DATA_TYPES + 1] = {"byte",   "char",    "int",  "long", "float",
                                                     "double", "complex", "bool", NULL};
const int data_type_bytes[DATA_TYPES] = {
    1, 1, sizeof(int), sizeof(long), sizeof(float), sizeof(double), sizeof(double _Complex), sizeof(bool)};

static int find(const char *word)
{
    int row = 0;
    while (strcmp(numbers[row].name, word) != 0)
        ++row;
    return row;
}

MPI_Datatype reduction_type(const char *word, size_t *size)
{
    const MPI_Datatype types[] = {MPI_DOUBLE,           MPI_FLOAT,  MPI_INT,   MPI_LONG,  MPI_BYTE, MPI_CHAR,
                                  MPI_C_DOUBLE_COMPLEX, MPI_C_BOOL, MPI_SHORT, MPI_INT8_T};
    const int row = find(word);
    *size = numbers[row].size;
    return types[row];
}

/* ---- numbers ----------------------------------------------------------------------------------------- */

/* At most eight factors of three over all ranks, and signs, so that a product stays small. */
static int64_t factor(const struct reduction *r, int rank, size_t i, uint64_t random)
{
    enum { THREES = 8 };
    const size_t every = ((size_t)r->ranks + THREES - 1) / THREES;
    return (((size_t)rank + i) % every == 0 ? 3 : 1) * (random % 2 ? -1 : 1);
}

/* For `and` and `or`, each rank's number decides with a probability of 1/P, so that answers vary at any P. */
static struct value value(const struct reduction *r, int rank, int block, size_t i)
{
    enum { NUMBERS = 16, BYTE_VALUES = 256 };
    const uint64_t who = (uint64_t)r->first + (uint64_t)rank * (uint64_t)r->stride;
    const uint64_t random = hash_mix((who << 48) ^ ((uint64_t)block << 32) ^ i);
    const int64_t small = 1 + (int64_t)(random % NUMBERS), byte = (int64_t)(random >> 8) % BYTE_VALUES;
    const bool decides = (random >> 16) % (uint64_t)r->ranks == 0;
    const int64_t truth = r->number->group == LOGICAL ? 1 : small;
    switch (r->which) {
    case PROD:
        return (struct value){factor(r, rank, i, random), 0};
    case MIN:
    case MAX:
        return (struct value){byte / 2, 0};
    case LAND:
        return (struct value){decides ? 0 : truth, 0};
    case LOR:
        return (struct value){decides ? truth : 0, 0};
    case LXOR:
        return (struct value){random >> 63 ? truth : 0, 0};
    case BAND:
        return (struct value){decides ? byte : BYTE_VALUES - 1, 0};
    case BOR:
        return (struct value){decides ? byte : 0, 0};
    case BXOR:
        return (struct value){byte, 0};
    default: /* sums, and motions of the line */
        return (struct value){small, byte};
    }
}

static struct value combine(int which, struct value a, struct value b)
{
    switch (which) {
    case SUM:
        return (struct value){a.re + b.re, a.im + b.im};
    case PROD: /* no factor has an imaginary part */
        return (struct value){a.re * b.re, 0};
    case MIN:
        return a.re < b.re ? a : b;
    case MAX:
        return a.re > b.re ? a : b;
    case LAND:
        return (struct value){a.re && b.re, 0};
    case LOR:
        return (struct value){a.re || b.re, 0};
    case LXOR:
        return (struct value){!a.re != !b.re, 0};
    case BAND:
        return (struct value){a.re & b.re, 0};
    case BOR:
        return (struct value){a.re | b.re, 0};
    case BXOR:
        return (struct value){a.re ^ b.re, 0};
    default:
        return (struct value){a.re % 2 != 0 ? a.re - b.re : a.re + b.re, 0};
    }
}

/* ---- all of it --------------------------------------------------------------------------------------- */

int reduction_open(struct reduction *r, int op, int type)
{
    const MPI_Op ops[REDUCE_OPS] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX,  MPI_LAND,   MPI_BAND,
                                    MPI_LOR, MPI_BOR,  MPI_LXOR, MPI_BXOR, MPI_OP_NULL};
    const char *word = reduce_type_words[type];
    const struct number *number = &numbers[find(word)];
    if (!(defined_for[op] & number->group))
        return err_say(ERR_INPUT, "%s operator=%s for type=%s; choose another operator or type",
                       op == USER ? "there is no" : "MPI does not define", reduce_op_words[op], word);
    *r = (struct reduction){.op = ops[op], .which = op, .number = number, .ranks = 1, .stride = 1};
    r->type = reduction_type(word, &r->size);
    if (op == USER && MPI_Op_create(number->compose, 0, &r->op) != MPI_SUCCESS)
        return err_say(ERR_MPI, "MPI_Op_create failed");
    return 0;
}

void reduction_close(struct reduction *r)
{
    if (r->number && r->which == USER && r->op != MPI_OP_NULL)
        MPI_Op_free(&r->op);
}

void reduction_fill(const struct reduction *r, void *data, size_t count, int rank, int block)
{
    for (size_t i = 0; i < count; ++i)
        r->number->put((char *)data + i * r->size, value(r, rank, block, i));
}

void reduction_settle(const struct reduction *r, void *data, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        r->number->put((char *)data + i * r->size, (struct value){r->which == PROD, 0});
}

static int say_wrong(const struct reduction *r, const char *element, size_t i, struct value expected)
{
    enum { NUMBER_TEXT = 64 };
    char is[NUMBER_TEXT], should[NUMBER_TEXT];
    char largest[sizeof(double _Complex)];
    r->number->put(largest, expected);
    r->number->text(element, is, sizeof is);
    r->number->text(largest, should, sizeof should);
    return err_say(ERR_WRONG, "element %zu of the %s is %s, should be %s", i, reduce_op_words[r->which], is,
                   should);
}

int reduction_check(const struct reduction *r, const void *data, size_t count, int last, int block)
{
    for (size_t i = 0; i < count; ++i) {
        const char *element = (const char *)data + i * r->size;
        struct value expected = value(r, 0, block, i);
        for (int rank = 1; rank <= last; ++rank)
            expected = combine(r->which, expected, value(r, rank, block, i));
        if (!r->number->same(element, expected))
            return say_wrong(r, element, i, expected);
    }
    return 0;
}

bool reduction_repeats(const struct reduction *r, int64_t times)
{
    enum { LARGEST = 256, FLOAT_BITS = 24, INT_BITS = 31, MOST_BITS = 53 };
    const int bits = r->size > sizeof(int)          ? MOST_BITS
                     : r->number->group == FLOATING ? FLOAT_BITS
                     : r->size == sizeof(int)       ? INT_BITS
                                                    : 0;
    if (r->which == SUM)
        return times < ((int64_t)1 << bits) / LARGEST - 1;
    return r->which != PROD && r->which != USER;
}

/* For all operators but sums, a repetition gives the answer of one or of two. */
static struct value combine_times(int which, struct value a, struct value b, int64_t times)
{
    if (which == SUM)
        return (struct value){a.re + times * b.re, a.im + times * b.im};
    if (times == 0)
        return a;
    if ((which != LXOR && which != BXOR) || times % 2 == 1)
        return combine(which, a, b);
    return combine(which, combine(which, a, b), b);
}

int reduction_check_times(const struct reduction *r, const void *data, size_t count, int last, int64_t times,
                          int block)
{
    for (size_t i = 0; i < count; ++i) {
        const char *element = (const char *)data + i * r->size;
        struct value expected = value(r, 0, block, i);
        for (int rank = 1; rank <= last; ++rank)
            expected = combine_times(r->which, expected, value(r, rank, block, i), times);
        if (!r->number->same(element, expected))
            return say_wrong(r, element, i, expected);
    }
    return 0;
}
