#include "machine/core_speed.h"

#include "base/json.h"
#include "machine/best_of.h"

#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Additions that wait for each other, one cycle each on every core of today. With two registers: some cores
 * add a small constant when they rename it, in no time at all. */
static uint64_t additions_do(uint64_t x, int64_t count)
{
    uint64_t y = x | 1;
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

void core_speed_json(const struct clock *clock, struct json *j)
{
    enum { STRETCHES = 50, ADDITIONS = 100000 };
    if (clock->sleeps)
        return;
    const int counter = cycles_open();
    const struct stretch best = best_of(clock, STRETCHES, additions_do, ADDITIONS, counter);
    if (counter >= 0)
        close(counter);
    const double cycles = best.cycles > 0 ? (double)best.cycles : ADDITIONS;
    json_open(j, "core", '{');
    json_double(j, "hz", best.ns > 0 ? 1e9 * cycles / (double)best.ns : NAN);
    json_string(j, "by", best.cycles > 0 ? "counter" : "additions");
    json_close(j, '}');
}
