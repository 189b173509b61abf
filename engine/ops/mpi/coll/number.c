#include "ops/mpi/coll/number.h"

#include "comm/compat_mpi.h"

#include <complex.h>
#include <stdio.h>
#include <string.h>

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

/* A number and where it was. The bytes between are nobody's. */
#define PAIR(name, ctype, format)                                                                            \
    struct name##_pair {                                                                                     \
        ctype number;                                                                                        \
        int place;                                                                                           \
    };                                                                                                       \
    static void name##_pair_put(void *element, struct value v)                                               \
    {                                                                                                        \
        struct name##_pair pair;                                                                             \
        memset(&pair, 0, sizeof pair);                                                                       \
        pair.number = (ctype)v.re;                                                                           \
        pair.place = (int)v.im;                                                                              \
        memcpy(element, &pair, sizeof pair);                                                                 \
    }                                                                                                        \
    static bool name##_pair_same(const void *element, struct value v)                                        \
    {                                                                                                        \
        struct name##_pair pair;                                                                             \
        memcpy(&pair, element, sizeof pair);                                                                 \
        return pair.number == (ctype)v.re && pair.place == (int)v.im;                                        \
    }                                                                                                        \
    static void name##_pair_text(const void *element, char *text, size_t size)                               \
    {                                                                                                        \
        struct name##_pair pair;                                                                             \
        memcpy(&pair, element, sizeof pair);                                                                 \
        snprintf(text, size, format " of rank %d", pair.number, pair.place);                                 \
    }

PAIR(double, double, "%.17g")
PAIR(int, int, "%d")

/* The bits of a whole number: those of a float, and of them the upper half; or IEEE's half. */
static uint32_t float_bits(int64_t whole)
{
    const float x = (float)whole;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint16_t bfloat16_of(int64_t whole)
{
    return (uint16_t)(float_bits(whole) >> 16);
}

static uint16_t float16_of(int64_t whole)
{
    enum { BIAS = 127 - 15 }; /* of the exponents */
    const uint32_t bits = float_bits(whole);
    const uint32_t exponent = (bits >> 23 & 0xff) - BIAS;
    return (uint16_t)(bits >> 16 & 0x8000) |
           (whole == 0 ? 0 : (uint16_t)(exponent << 10 | (bits >> 13 & 0x3ff)));
}

#define NARROW(name)                                                                                         \
    static void name##_put(void *element, struct value v)                                                    \
    {                                                                                                        \
        memcpy(element, &(uint16_t){name##_of(v.re)}, sizeof(uint16_t));                                     \
    }                                                                                                        \
    static bool name##_same(const void *element, struct value v)                                             \
    {                                                                                                        \
        return memcmp(element, &(uint16_t){name##_of(v.re)}, sizeof(uint16_t)) == 0;                         \
    }                                                                                                        \
    static void name##_text(const void *element, char *text, size_t size)                                    \
    {                                                                                                        \
        uint16_t bits;                                                                                       \
        memcpy(&bits, element, sizeof bits);                                                                 \
        snprintf(text, size, "0x%04x", bits);                                                                \
    }

NARROW(float16)
NARROW(bfloat16)

#define SHOWN(name) name##_put, name##_same, name##_text

const struct number numbers[NUMBER_TYPES] = {
    {"double", FLOATING, sizeof(double), SHOWN(double), double_compose, 0},
    {"float", FLOATING, sizeof(float), SHOWN(float), float_compose, 0},
    {"int", INTEGER, sizeof(int), SHOWN(int), int_compose, 0},
    {"long", INTEGER, sizeof(long), SHOWN(long), long_compose, 0},
    {"byte", BYTES, 1, SHOWN(byte), NULL, 0},
    {"char", 0, 1, SHOWN(byte), NULL, 0},
    {"complex", COMPLEX, sizeof(double _Complex), SHOWN(complex), NULL, 0},
    {"bool", LOGICAL, sizeof(bool), SHOWN(byte), NULL, 0},
    {"short", INTEGER, sizeof(short), SHOWN(short), short_compose, 0},
    {"int8", INTEGER, sizeof(int8_t), SHOWN(int8), int8_compose, 0},
    {"double_int", PAIRS, sizeof(struct double_pair), SHOWN(double_pair), NULL, 0},
    {"int_int", PAIRS, sizeof(struct int_pair), SHOWN(int_pair), NULL, 0},
    {"float16", FLOATING, sizeof(uint16_t), SHOWN(float16), NULL, 2048},
    {"bfloat16", SUMMED, sizeof(uint16_t), SHOWN(bfloat16), NULL, 256},
};

const char *const reduce_type_words[REDUCE_TYPES + 1] = {"double",  "float", "int",   "long", "byte", "char",
                                                         "complex", "bool",  "short", "int8", NULL};
const int reduce_type_bytes[REDUCE_TYPES] = {
    sizeof(double), sizeof(float), sizeof(int), sizeof(long), 0, 0, 0, 0, sizeof(short), sizeof(int8_t)};
const char *const number_type_words[NUMBER_TYPES + 1] = {
    "double", "float", "int",        "long",    "byte",    "char",     "complex", "bool",
    "short",  "int8",  "double_int", "int_int", "float16", "bfloat16", NULL};
const int number_type_bytes[NUMBER_TYPES] = {
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
    const MPI_Datatype types[] = {
        MPI_DOUBLE, MPI_FLOAT, MPI_INT,    MPI_LONG,       MPI_BYTE, MPI_CHAR,       MPI_C_DOUBLE_COMPLEX,
        MPI_C_BOOL, MPI_SHORT, MPI_INT8_T, MPI_DOUBLE_INT, MPI_2INT, COMPAT_FLOAT16, COMPAT_BFLOAT16};
    const int row = find(word);
    *size = numbers[row].size;
    return types[row];
}
