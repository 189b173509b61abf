/* A counter reads in half the time of a system's clock, runs at one rate that nobody slews, and is the same
 * for all processes of a host: so ranks that share it need no synchronisation. It counts in a unit of its
 * own, so its rate is measured; and it is a clock only where the processor and the kernel say so. */
#include "time/counter.h"

#include "time/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>

static const char counter_name[] = "tsc", kernel_name[] = "tsc";

/* A fence on either side: the counter is read after all before it has executed, and nothing after it begins
 * before it is read (Intel SDM, RDTSC). With the first alone, which is what clock_gettime() has, the
 * operation would begin some ns before its stamp. RDTSCP and a fence order the same and cost 1 ns more. */
static inline uint64_t counter_read(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

/* The first fence alone: what follows begins while the counter is read. */
static inline uint64_t counter_mark(void)
{
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
}

/* Does it run at one rate, whatever the core's frequency and sleep? (CPUID 0x80000007, EDX bit 8.) */
static bool counter_invariant(void)
{
    const unsigned power = 0x80000007, invariant = 1 << 8;
    unsigned a, b, c, d;
    return __get_cpuid(power, &a, &b, &c, &d) && d & invariant;
}
#elif defined(__aarch64__)
static const char counter_name[] = "cntvct", kernel_name[] = "arch_sys_counter";

static inline uint64_t counter_read(void)
{
    uint64_t count;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(count) : : "memory");
    return count;
}

static inline uint64_t counter_mark(void)
{
    uint64_t count;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count) : : "memory");
    return count;
}

static bool counter_invariant(void)
{
    return true; /* the architecture says so */
}
#else
static const char counter_name[] = "none", kernel_name[] = "none";

static inline uint64_t counter_read(void)
{
    return 0;
}

static inline uint64_t counter_mark(void)
{
    return 0;
}

static bool counter_invariant(void)
{
    return false;
}
#endif

enum { SHIFT = 48 };

uint64_t counter_ns_per_count(double hz)
{
    return (uint64_t)llround(ldexp(1e9 / hz, SHIFT));
}

int64_t counter_to_ns(uint64_t counts, uint64_t ns_per_count)
{
    return (int64_t)(__extension__(unsigned __int128) counts * ns_per_count >> SHIFT);
}

static int64_t read_counter(const struct clock *clock)
{
    return counter_to_ns(counter_read(), clock->rate.ns_per_count);
}

static int64_t mark_counter(const struct clock *clock)
{
    return counter_to_ns(counter_mark(), clock->rate.ns_per_count);
}

/* The counter and the kernel's unslewed clock at one moment. */
struct moment {
    uint64_t count;
    int64_t ns, width_ns; /* the count was read within this long around `ns` */
};

static int64_t raw_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The narrowest of several: what interrupts makes it wider. */
static struct moment moment_take(void)
{
    enum { TRIES = 30 };
    struct moment best = {.width_ns = INT64_MAX};
    for (int i = 0; i < TRIES; ++i) {
        int64_t before = raw_ns();
        uint64_t count = counter_read();
        int64_t width = raw_ns() - before;
        if (width < best.width_ns)
            best = (struct moment){count, before + width / 2, width};
    }
    return best;
}

/* Over 10 ms the rate is certain to some 5 ppm, half the width of both moments; what came out varied by 0.2
 * ppm, for the reading stands at the same place in either. That is enough: a duration is wanted to 1 %, the
 * kernel's own clocks run tens of ppm off true time, and ranks of a host take one of them its rate. */
static struct clock_rate rate_measure(void)
{
    static const struct timespec apart = {.tv_nsec = 10000000};
    struct moment first = moment_take();
    nanosleep(&apart, NULL);
    struct moment last = moment_take();
    double counts = (double)(last.count - first.count), ns = (double)(last.ns - first.ns);
    double hz = counts / ns * 1e9;
    return (struct clock_rate){.hz = hz,
                               .ppm = (double)(first.width_ns + last.width_ns) / 2 / ns * 1e6,
                               .ns_per_count = counter_ns_per_count(hz)};
}

/* The kernel watches its clocksource, compares it between cores, and drops it when it goes wrong. */
static void kernel_clocksource(char *name, size_t size)
{
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");
    if (!file || !fgets(name, (int)size, file))
        snprintf(name, size, "not told");
    name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
}

const char *counter_open(const char *name, struct clock *clock)
{
    char source[32];
    if (strcmp(name, counter_name) != 0)
        return "this processor has no such counter, or this engine cannot read it";
    clock->read = read_counter;
    clock->mark = mark_counter;
    clock->rate = rate_measure();
    if (!(clock->rate.hz > 0 && isfinite(clock->rate.hz)))
        return "it stands still";
    kernel_clocksource(source, sizeof source);
    if (!counter_invariant())
        snprintf(clock->doubt, sizeof clock->doubt,
                 "the processor does not say that its counter runs at one rate");
    else if (strcmp(source, kernel_name) != 0)
        snprintf(clock->doubt, sizeof clock->doubt, "the kernel does not use it: its clock source is %s",
                 source);
    return NULL;
}
