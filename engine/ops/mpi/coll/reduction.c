#include "ops/mpi/coll/reduction.h"

#include "base/err.h"
#include "base/hash.h"
#include "ops/mpi/coll/number.h"

#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SUM, PROD, MIN, MAX, LAND, BAND, LOR, BOR, LXOR, BXOR, USER, MINLOC, MAXLOC };

const char *const reduce_op_words[REDUCE_OPS + 1] = {"sum", "prod", "min",  "max",  "land",   "band",   "lor",
                                                     "bor", "lxor", "bxor", "user", "minloc", "maxloc", NULL};

static const int defined_for[REDUCE_OPS] = {
    [SUM] = INTEGER | FLOATING | COMPLEX | SUMMED, /* MPICH 5.0.2 ends a job at other operators on bfloat16 */
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
    [MINLOC] = PAIRS,
    [MAXLOC] = PAIRS,
};

/* ---- numbers ----------------------------------------------------------------------------------------- */

/* At most eight factors of three over all ranks, and signs, so that a product stays small: five in 16 bits.
 */
static int64_t factor(const struct reduction *r, int rank, size_t i, uint64_t random)
{
    const size_t threes = r->number->exact ? 5 : 8, every = ((size_t)r->ranks + threes - 1) / threes;
    return (((size_t)rank + i) % every == 0 ? 3 : 1) * (random % 2 ? -1 : 1);
}

enum { NUMBERS = 16 };

/* From 1 to NUMBERS. In 16 bits it is less, so that a sum stays exact: with many ranks 1, with more than sums
 * can have some ranks add 0, others at each element. */
static int64_t addend(const struct reduction *r, int rank, size_t i, uint64_t random)
{
    const int64_t exact = r->number->exact, share = exact ? exact / r->ranks : NUMBERS;
    if (share < 1)
        return ((size_t)rank + i) % (size_t)r->ranks < (size_t)exact;
    return 1 + (int64_t)(random % (uint64_t)(share < NUMBERS ? share : NUMBERS));
}

/* For `and` and `or`, each rank's number decides with a probability of 1/P, so that answers vary at any P. */
static struct value value(const struct reduction *r, int rank, int block, size_t i)
{
    enum { BYTE_VALUES = 256 };
    const uint64_t who = (uint64_t)r->first + (uint64_t)rank * (uint64_t)r->stride;
    const uint64_t random = hash_mix((who << 48) ^ ((uint64_t)block << 32) ^ i);
    const int64_t small = addend(r, rank, i, random);
    const int64_t byte = (int64_t)(random >> 8) % BYTE_VALUES;
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
    case MINLOC:
    case MAXLOC: /* many are the same, so that places decide */
        return (struct value){byte % NUMBERS, rank};
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
    case MINLOC:
        return a.re < b.re || (a.re == b.re && a.im < b.im) ? a : b;
    case MAXLOC:
        return a.re > b.re || (a.re == b.re && a.im < b.im) ? a : b;
    default:
        return (struct value){a.re % 2 != 0 ? a.re - b.re : a.re + b.re, 0};
    }
}

/* ---- all of it --------------------------------------------------------------------------------------- */

int reduction_open(struct reduction *r, int op, int type)
{
    const MPI_Op ops[REDUCE_OPS] = {MPI_SUM, MPI_PROD, MPI_MIN,  MPI_MAX,     MPI_LAND,   MPI_BAND,  MPI_LOR,
                                    MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_OP_NULL, MPI_MINLOC, MPI_MAXLOC};
    const char *word = number_type_words[type];
    const struct number *number = &numbers[type];
    if (!(defined_for[op] & number->group) || (op == USER && !number->compose))
        return err_say(ERR_INPUT, "%s operator=%s for type=%s; choose another operator or type",
                       op == USER || number->group == SUMMED ? "there is no" : "MPI does not define",
                       reduce_op_words[op], word);
    *r = (struct reduction){.op = ops[op], .which = op, .number = number, .ranks = 1, .stride = 1};
    r->type = reduction_type(word, &r->size);
    if (r->type == MPI_DATATYPE_NULL)
        return err_say(
            ERR_UNSUPPORTED,
            "this MPI has no numbers of type=%s; MPICH 4.2 and later have, but not through the standard ABI",
            word);
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
    const int bits = r->number->exact               ? 0
                     : r->size > sizeof(int)        ? MOST_BITS
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
