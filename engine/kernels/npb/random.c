/* The generator in bulk: eight streams, each eight steps ahead of itself, so that the processor need not wait
 * for one product to begin the next. */
#include "base/hot.h"
#include "kernels/npb/npb.h"

uint64_t npb_power(uint64_t a, uint64_t k)
{
    uint64_t power = 1;
    for (a &= NPB_MASK; k > 0; k >>= 1) {
        if (k & 1)
            power = power * a & NPB_MASK;
        a = a * a & NPB_MASK;
    }
    return power;
}

/* An integer below 2^52 as a double, without an instruction that old processors lack for vectors: as the low
 * bits of 2^52 + x. */
static inline double to_double(uint64_t x)
{
    union {
        uint64_t bits;
        double value;
    } u = {.bits = x | UINT64_C(0x4330000000000000)};
    return u.value - 0x1p52;
}

HOT void npb_fill(uint64_t *x, uint64_t a, size_t count, double *numbers)
{
    enum { STREAMS = 8 };
    uint64_t s[STREAMS], last = *x;
    size_t whole = count / STREAMS * STREAMS;
    uint64_t leap = a; /* a^STREAMS */
    for (int i = 1; i < STREAMS; i *= 2)
        leap = leap * leap & NPB_MASK;
    for (int i = 0; i < STREAMS; ++i) {
        last = last * a & NPB_MASK;
        s[i] = last;
    }
    for (size_t k = 0; k < whole; k += STREAMS)
        for (int i = 0; i < STREAMS; ++i) {
            numbers[k + (size_t)i] = to_double(s[i]) * NPB_SCALE;
            s[i] = s[i] * leap & NPB_MASK;
        }
    for (size_t k = whole; k < count; ++k)
        numbers[k] = to_double(s[k - whole]) * NPB_SCALE;
    *x = *x * npb_power(a, count) & NPB_MASK;
}
