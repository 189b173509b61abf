/* What the delay inside a construct does to the construct's overhead.
 *
 *     cc -O2 -fopenmp benchmarks/omp_delay.c -o omp_delay && OMP_NUM_THREADS=2 OMP_PROC_BIND=true ./omp_delay
 *
 * A suite that times constructs puts a delay of some 0.1 us inside and takes a time without the construct
 * off. Three delays of one length are compared, interleaved in one process: a loop of additions as a compiler
 * leaves it without -O (its counter and its sum in memory), the same with -O2, and a wait until an instant.
 * Printed is the median, with its quartiles, in ns a delay: what one thread takes for it alone, what all take
 * for it at once, and what ordered and schedule(dynamic, 1) take beyond either. If the delay were not part
 * of the answer, the three lines of a construct would agree. */
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
    ROUNDS = 101,
    TRIES = 21,
    REPS = 20000,
    LOOPS = 5,
    ITERATIONS = 1024,
    DELAY_NS = 100,
    SECOND_NS = 1000000000
};

static volatile int additions; /* in a delay of DELAY_NS */
static int64_t wait_ns;        /* so long after its first reading of the clock a wait ends */

static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* The same loop twice, for it is how it is compiled that differs. */
#define ADDITIONS(name, ...)                                                                                 \
    static __attribute__((noinline, ##__VA_ARGS__)) void name(void)                                          \
    {                                                                                                        \
        const int last = additions;                                                                          \
        float sum = 0;                                                                                       \
        for (int i = 0; i < last; i++)                                                                       \
            sum += i;                                                                                        \
        if (sum < 0)                                                                                         \
            printf("%f\n", sum);                                                                             \
    }
ADDITIONS(add_in_memory, optimize("O0"))
ADDITIONS(add)

static __attribute__((noinline)) void wait_for_instant(void)
{
    const int64_t until = now() + wait_ns;
    while (now() < until)
        ;
}

/* Each in ns a delay. */

static double alone(void (*delay)(void))
{
    const int64_t begin = now();
    for (int i = 0; i < REPS; i++)
        delay();
    return (double)(now() - begin) / REPS;
}

static double together(void (*delay)(void))
{
    const int64_t begin = now();
#pragma omp parallel
    for (int i = 0; i < REPS; i++)
        delay();
    return (double)(now() - begin) / REPS;
}

static double ordered(void (*delay)(void))
{
    const int64_t begin = now();
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < REPS; i++) {
#pragma omp ordered
        delay();
    }
    return (double)(now() - begin) / REPS;
}

static double dynamic(void (*delay)(void))
{
    const int all = ITERATIONS * omp_get_max_threads();
    const int64_t begin = now();
#pragma omp parallel
    for (int k = 0; k < LOOPS; k++)
#pragma omp for schedule(dynamic, 1)
        for (int i = 0; i < all; i++)
            delay();
    return (double)(now() - begin) / (LOOPS * ITERATIONS);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(double (*measure)(void (*)(void)), void (*delay)(void))
{
    double took[TRIES];
    for (int i = 0; i < TRIES; i++)
        took[i] = measure(delay);
    qsort(took, TRIES, sizeof took[0], compare);
    return took[TRIES / 2];
}

enum { ALONE, TOGETHER, ORDERED, ORDERED_TOGETHER, DYNAMIC, DYNAMIC_TOGETHER, QUANTITIES };
static const char *const names[] = {"one thread",    "all threads",   "ordered - one",
                                    "ordered - all", "dynamic - one", "dynamic - all"};

int main(void)
{
    static double values[3][QUANTITIES][ROUNDS];
    static int length[3];
    static void (*const delays[3])(void) = {add_in_memory, add, wait_for_instant};
    static const char *const kinds[3] = {"additions, -O0", "additions, -O2", "wait"};
    for (int d = 0; d < 2; d++) {
        for (additions = 8; middle(alone, delays[d]) < DELAY_NS;)
            additions += 4;
        length[d] = additions;
    }
    wait_ns = DELAY_NS;
    wait_ns -= (int64_t)middle(alone, wait_for_instant) - DELAY_NS;
    for (int n = 0; n < ROUNDS; n++)
        for (int d = 0; d < 3; d++) {
            additions = length[d];
            const double one = alone(delays[d]), all = together(delays[d]);
            const double in_order = ordered(delays[d]), dealt = dynamic(delays[d]);
            const double found[] = {one, all, in_order - one, in_order - all, dealt - one, dealt - all};
            for (int q = 0; q < QUANTITIES; q++)
                values[d][q][n] = found[q];
        }
    for (int q = 0; q < QUANTITIES; q++)
        for (int d = 0; d < 3; d++) {
            double *v = values[d][q];
            qsort(v, ROUNDS, sizeof v[0], compare);
            printf("%-14s %-15s %7.1f [%.1f, %.1f]\n", names[q], kinds[d], v[ROUNDS / 2], v[ROUNDS / 4],
                   v[3 * ROUNDS / 4]);
        }
    return 0;
}
