#define _GNU_SOURCE
#include "machine/resource_use.h"

#include "base/kernel_files.h"
#include "base/yield.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 128 };

const char *const used_names[USED_FIELDS] = {
    [USED_TOOK_NS] = "took_ns",
    [USED_USER_NS] = "user_ns",
    [USED_SYSTEM_NS] = "system_ns",
    [USED_VOLUNTARY] = "voluntary",
    [USED_INVOLUNTARY] = "involuntary",
    [USED_YIELDS] = "yields",
    [USED_CYCLES] = "cycles",
    [USED_INSTRUCTIONS] = "instructions",
    [USED_CACHE_MISSES] = "cache_misses",
    [USED_TLB_MISSES] = "tlb_misses",
    [USED_ENERGY_UJ] = "energy_uj",
};

#define TLB_MISS                                                                                             \
    (PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
static const struct {
    uint32_t type;
    uint64_t event;
} events[USED_EVENTS] = {{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                         {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
                         {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
                         {PERF_TYPE_HW_CACHE, TLB_MISS}};

void used_open(const char *root, struct used_meter *m)
{
    *m = (struct used_meter){.root = root};
    for (int i = 0; i < USED_EVENTS; ++i) {
        struct perf_event_attr ask;
        memset(&ask, 0, sizeof ask);
        ask.size = sizeof ask;
        ask.type = events[i].type;
        ask.config = events[i].event;
        ask.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
        ask.inherit = 1;
        ask.exclude_kernel = ask.exclude_hv = 1; /* which need no rights where perf_event_paranoid is 2 */
        m->events[i] = (int)syscall(SYS_perf_event_open, &ask, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    }
}

void used_close(struct used_meter *m)
{
    for (int i = 0; i < USED_EVENTS; ++i)
        if (m->events[i] > 0)
            close(m->events[i]);
}

static int64_t time_ns(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

/* An event that had to share its counter with others was not counted all the time. */
static int64_t event_read(int file)
{
    struct {
        int64_t count, enabled_ns, running_ns;
    } is;
    return file > 0 && read(file, &is, sizeof is) == sizeof is && is.enabled_ns == is.running_ns ? is.count
                                                                                                 : -1;
}

/* The number behind `key` in a file of a zone of power. */
static int64_t zone_number(const struct used_meter *m, int zone, const char *name, const char *key)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/sys/class/powercap/intel-rapl:%d/%s", zone, name);
    return kernel_file_number(m->root, path, key);
}

/* What all packages have used since the last reading; -1 where there is none. Their counters begin anew at
 * the end of their range. A zone that is no package is the whole platform (psys), packages and all. */
static int64_t energy_read(struct used_meter *m)
{
    int64_t sum = -1, now = 0;
    for (int p = 0; p < USED_PACKAGES_MOST && (now = zone_number(m, p, "energy_uj", "")) >= 0; ++p) {
        if (zone_number(m, p, "name", "package-") < 0)
            continue;
        const int64_t grown = now - m->energy_uj[p];
        const int64_t range = grown < 0 ? zone_number(m, p, "max_energy_range_uj", "") : 0;
        sum = (sum < 0 ? 0 : sum) + grown + (range > 0 ? range : 0);
        m->energy_uj[p] = now;
    }
    return sum;
}

static void used_read(const struct used_meter *m, const struct clock *clock, int64_t *v)
{
    struct rusage process;
    getrusage(RUSAGE_SELF, &process);
    v[USED_USER_NS] = time_ns(process.ru_utime);
    v[USED_SYSTEM_NS] = time_ns(process.ru_stime);
    v[USED_VOLUNTARY] = process.ru_nvcsw;
    v[USED_INVOLUNTARY] = process.ru_nivcsw;
    v[USED_YIELDS] = yield_count();
    for (int i = 0; i < USED_EVENTS; ++i)
        v[USED_CYCLES + i] = event_read(m->events[i]);
    v[USED_TOOK_NS] = clock_now(clock);
}

void used_begin(struct used_meter *m, const struct clock *clock)
{
    energy_read(m);
    used_read(m, clock, m->last.value);
}

void used_end(struct used_meter *m, const struct clock *clock, struct used *used)
{
    used_read(m, clock, used->value);
    for (int i = 0; i < USED_ENERGY_UJ; ++i)
        used->value[i] = used->value[i] < 0 || m->last.value[i] < 0 ? -1 : used->value[i] - m->last.value[i];
    used->value[USED_ENERGY_UJ] = energy_read(m);
}
