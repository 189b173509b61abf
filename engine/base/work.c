#include "base/work.h"

/* Knuth's generator for MMIX (The Art of Computer Programming 2, 3.3.4): each step must wait for the one
 * before, so a core has nothing to reorder, and a few cycles are the grain of the work. */
static const uint64_t FACTOR = 6364136223846793005U, ADDEND = 1442695040888963407U;

uint64_t work_do(uint64_t x, int64_t steps)
{
    for (int64_t i = 0; i < steps; ++i) {
        x = x * FACTOR + ADDEND;
        __asm__ volatile("" : "+r"(x)); /* no step can be left out or taken together with another */
    }
    return x;
}

/* A step is x -> a x + c; so are 2, 4, 8, ... steps, each pair made of the one before applied twice. */
uint64_t work_after(uint64_t x, int64_t steps)
{
    uint64_t a = FACTOR, c = ADDEND;
    for (int64_t rest = steps; rest > 0; rest /= 2) {
        if (rest % 2 == 1)
            x = a * x + c;
        c = a * c + c;
        a = a * a;
    }
    return x;
}
