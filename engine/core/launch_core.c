/* How fast the core runs: cycles of its own, which are not those of the time-stamp counter. */
#include "core/launch.h"

#include "base/json.h"

#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Additions that wait for each other, one cycle each on every core of today. Of two registers: some cores add
 * a small constant when they rename it, in no time at all. */
static uint64_t additions_do(uint64_t x, uint64_t y, int64_t count)
{
    for (int64_t i = 0; i < count; i += 4) {
        x += y;
        __asm__ volatile("" : "+r"(x), "+r"(y));
        x += y;
        __asm__ volatile("" : "+r"(x), "+r"(y));
        x += y;
        __asm__ volatile("" : "+r"(x), "+r"(y));
        x += y;
        __asm__ volatile("" : "+r"(x), "+r"(y));
    }
    return x;
}

/* The counter of cycles of this thread in user mode, where the kernel and the machine let us have it; -1. */
static int cycles_open(void)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_CPU_CYCLES;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL);
}

/* What the counter shows; -1: nothing. */
static int64_t cycles_now(int counter)
{
    int64_t count = 0;
    return counter >= 0 && read(counter, &count, sizeof count) == (ssize_t)sizeof count ? count : -1;
}

/* The fastest of many short stretches is one that nobody else took time from. */
void launch_core(const struct clock *clock, struct json *j)
{
    enum { STRETCHES = 50, ADDITIONS = 100000 };
    if (clock->sleeps)
        return;
    const int counter = cycles_open();
    double best_hz = 0, counted_hz = 0;
    uint64_t x = 1;
    for (int i = 0; i < STRETCHES; ++i) {
        const int64_t cycles = cycles_now(counter), start = clock_now(clock);
        x = additions_do(x, (uint64_t)start | 1, ADDITIONS);
        const int64_t took = clock_now(clock) - start, counted = cycles_now(counter) - cycles;
        if (took <= 0 || ADDITIONS * 1e9 / (double)took <= best_hz)
            continue;
        best_hz = ADDITIONS * 1e9 / (double)took;
        counted_hz = cycles > 0 && counted > 0 ? (double)counted * 1e9 / (double)took : 0;
    }
    if (counter >= 0)
        close(counter);
    json_open(j, "core", '{');
    json_double(j, "hz", counted_hz > 0 ? counted_hz : best_hz);
    json_string(j, "by", x == 0 ? NULL : counted_hz > 0 ? "counter" : "additions");
    json_close(j, '}');
}
