/* Multiply-adds: each kernel of this processor does all steps of its lanes, exactly, and of no others. */
#include "test.h"

#include "base/fma.h"

#include <string.h>

static void test_kernel(const struct fma *kernel)
{
    enum { STEPS = 1000 };
    double lanes[FMA_LANES_MOST + 1];
    for (int i = 0; i <= FMA_LANES_MOST; ++i)
        lanes[i] = i;
    kernel->steps(lanes, STEPS, 1, 1);
    for (int i = 0; i <= FMA_LANES_MOST; ++i)
        CHECK(lanes[i] == i + (i < kernel->lanes ? STEPS : 0));
    CHECK(FMA_LANES_MOST % kernel->lanes == 0); /* a repetition is whole steps */
    lanes[0] = 3;
    kernel->steps(lanes, 2, 0.5, 2);
    CHECK(lanes[0] == (3 * 0.5 + 2) * 0.5 + 2);
}

int main(void)
{
    int kernels = 0;
    for (const struct fma *kernel; (kernel = fma_kernel(kernels)); ++kernels)
        test_kernel(kernel);
    CHECK(kernels > 0 && strcmp(fma_kernel(kernels - 1)->name, "baseline") == 0); /* it needs nothing */
    return test_result();
}
