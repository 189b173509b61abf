/* What the delay inside a construct does to the construct's overhead.
 *
 *     cc -O2 -fopenmp benchmarks/omp_delay.c -o omp_delay && OMP_NUM_THREADS=2 OMP_PROC_BIND=true ./omp_delay
 *
 * A suite that times constructs puts a delay of some 0.1 us inside and takes a time without the construct
 * off. Delays of one length are compared, interleaved in one process: a loop of additions as a compiler
 * leaves it without -O (its counter and its sum in memory), the same with -O2, that with a fence behind it,
 * which a core passes when all before is done, a wait until an instant, and such a wait between two fences.
 * Printed is the median, with its quartiles, in ns a delay: what one thread takes for it alone, what all take
 * for it at once, and what a barrier, a lock of each thread's own, critical (all threads pass in turn),
 * ordered and schedule(dynamic, 1) take beyond that. If the delay were not part of the answer, the lines of a
 * construct would agree. */
#include <omp.h>
#include <stdbool.h>
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

static inline void fence(void)
{
#if defined(__x86_64__)
    __asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#endif
}

static __attribute__((noinline)) void add_and_fence(void)
{
    add();
    fence();
}

static __attribute__((noinline)) void wait_between_fences(void)
{
    fence();
    wait_for_instant();
    fence();
}

static __attribute__((noinline)) void nothing(void)
{
    __asm__ volatile("" : : : "memory");
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

static double barrier(void (*delay)(void))
{
    const int64_t begin = now();
#pragma omp parallel
    for (int i = 0; i < REPS; i++) {
        delay();
#pragma omp barrier
    }
    return (double)(now() - begin) / REPS;
}

static double own_lock(void (*delay)(void))
{
    const int64_t begin = now();
#pragma omp parallel
    {
        omp_lock_t lock;
        omp_init_lock(&lock);
        for (int i = 0; i < REPS; i++) {
            omp_set_lock(&lock);
            delay();
            omp_unset_lock(&lock);
        }
        omp_destroy_lock(&lock);
    }
    return (double)(now() - begin) / REPS;
}

static double critical(void (*delay)(void))
{
    const int64_t begin = now();
#pragma omp parallel for schedule(static)
    for (int i = 0; i < REPS; i++) {
#pragma omp critical
        delay();
    }
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

static int least_additions(void (*delay)(void))
{
    for (additions = 8; middle(alone, delay) < DELAY_NS;)
        additions += 4;
    return additions;
}

static int64_t shorter_wait(void (*delay)(void))
{
    wait_ns = DELAY_NS;
    return 2 * DELAY_NS - (int64_t)middle(alone, delay);
}

struct kind {
    const char *name;
    void (*delay)(void);
    bool waits, fixed;
};
static const struct kind kinds[] = {
    {"nothing", .delay = nothing, .fixed = true},
    {"additions, -O0", .delay = add_in_memory},
    {"additions, -O2", .delay = add},
    {"... and a fence", .delay = add_and_fence},
    {"wait", .delay = wait_for_instant, .waits = true},
    {"... in fences", .delay = wait_between_fences, .waits = true},
};

static const struct {
    const char *name;
    double (*measure)(void (*)(void));
} constructs[] = {
    {"barrier", barrier}, {"own lock", own_lock}, {"critical", critical},
    {"ordered", ordered}, {"dynamic", dynamic},
};
enum {
    KINDS = sizeof kinds / sizeof kinds[0],
    CONSTRUCTS = sizeof constructs / sizeof constructs[0],
    ONE = 0,
    ALL,
    LESS_ONE,                         /* of each construct */
    LESS_ALL = LESS_ONE + CONSTRUCTS, /* likewise */
    QUANTITIES = LESS_ALL + CONSTRUCTS
};

static void print_line(const char *name, const char *less, const char *kind, double took[ROUNDS])
{
    qsort(took, ROUNDS, sizeof took[0], compare);
    printf("%-8s %-12s %-15s %7.1f [%.1f, %.1f]\n", name, less, kind, took[ROUNDS / 2], took[ROUNDS / 4],
           took[3 * ROUNDS / 4]);
}

int main(void)
{
    static double values[KINDS][QUANTITIES][ROUNDS];
    static int added[KINDS];
    static int64_t waited[KINDS];
    for (int k = 0; k < KINDS; k++)
        if (kinds[k].waits)
            waited[k] = shorter_wait(kinds[k].delay);
        else if (!kinds[k].fixed)
            added[k] = least_additions(kinds[k].delay);
    for (int n = 0; n < ROUNDS; n++)
        for (int k = 0; k < KINDS; k++) {
            additions = added[k];
            wait_ns = waited[k];
            values[k][ONE][n] = alone(kinds[k].delay);
            values[k][ALL][n] = together(kinds[k].delay);
            for (int c = 0; c < CONSTRUCTS; c++) {
                const double took = constructs[c].measure(kinds[k].delay);
                values[k][LESS_ONE + c][n] = took - values[k][ONE][n];
                values[k][LESS_ALL + c][n] = took - values[k][ALL][n];
            }
        }
    for (int k = 0; k < KINDS; k++)
        print_line("delay", "one thread", kinds[k].name, values[k][ONE]);
    for (int k = 0; k < KINDS; k++)
        print_line("delay", "all threads", kinds[k].name, values[k][ALL]);
    for (int c = 0; c < CONSTRUCTS; c++)
        for (int k = 0; k < KINDS; k++) {
            print_line(constructs[c].name, "less one", kinds[k].name, values[k][LESS_ONE + c]);
            print_line(constructs[c].name, "less all", kinds[k].name, values[k][LESS_ALL + c]);
        }
    return 0;
}
