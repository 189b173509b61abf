#define _GNU_SOURCE
#include "base/binding.h"

#include "base/err.h"
#include "base/openmp_places.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* File-scope state, because it is the process's, as its affinity is: the kernel keeps the set of CPUs, but
 * not their order. Set before there are threads, read by all. */
static struct {
    enum { PLACE_DEFAULT, PLACE_UNBOUND, PLACE_LIST } kind;
    int count, cores;
    int cpus[CPU_SETSIZE];
    cpu_set_t all;
    cpu_set_t openmp; /* of the first thread; none: OpenMP's run-time system does not bind it */
    const char *refused;
} place;

/* 0-3,8; "" for no CPU. */
static void set_text(const cpu_set_t *set, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t cpu = 0; cpu < CPU_SETSIZE && at < size; ++cpu) {
        size_t first = cpu;
        while (cpu < CPU_SETSIZE && CPU_ISSET(cpu, set))
            ++cpu;
        if (cpu > first)
            at += (size_t)snprintf(text + at, size - at, cpu > first + 1 ? "%s%zu-%zu" : "%s%zu",
                                   at ? "," : "", first, cpu - 1);
    }
}

static void read_all(void)
{
    if (sched_getaffinity(0, sizeof place.all, &place.all) != 0)
        CPU_ZERO(&place.all);
}

void binding_start(void)
{
    read_all();
    CPU_ZERO(&place.openmp);
    openmp_place(&place.openmp);
    if (CPU_COUNT(&place.openmp) == 0)
        return;
    openmp_all_places(&place.all);
    binding_thread(-1);
}

void binding_openmp(bool on)
{
    if (CPU_COUNT(&place.openmp) == 0)
        return;
    if (!on) {
        binding_thread(-1);
        return;
    }
    read_all();
    sched_setaffinity(0, sizeof place.openmp, &place.openmp);
}

void binding_openmp_meant(char *text, size_t size)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    openmp_place(&set);
    set_text(&set, text, size);
}

/* The first CPU of the core that this one belongs to; the CPU itself where the system does not tell. */
static int core_of(int cpu)
{
    char path[96];
    int first = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%d", &first) != 1)
        first = cpu;
    if (file)
        fclose(file);
    return first;
}

/* For a process without a list, whose launcher may have bound it as late as in MPI_Init. */
static void read_cpus(void)
{
    cpu_set_t cores;
    int others[CPU_SETSIZE], rest = 0;
    CPU_ZERO(&cores);
    read_all();
    place.count = 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET((size_t)cpu, &place.all))
            continue;
        const int core = core_of(cpu);
        if (core >= 0 && core < CPU_SETSIZE && CPU_ISSET((size_t)core, &cores)) {
            others[rest++] = cpu;
            continue;
        }
        if (core >= 0 && core < CPU_SETSIZE)
            CPU_SET((size_t)core, &cores);
        place.cpus[place.count++] = cpu;
    }
    place.cores = place.count;
    for (int i = 0; i < rest; ++i)
        place.cpus[place.count++] = others[i];
}

/* Where the list of a rank begins and ends; NULL: there is none. One list is that of all ranks. */
static const char *part_of(const char *text, int rank, const char **end)
{
    bool several = strchr(text, '/') != NULL;
    for (; several && text && rank > 0; --rank) {
        const char *slash = strchr(text, '/');
        text = slash ? slash + 1 : NULL;
    }
    if (text)
        *end = text + strcspn(text, "/");
    return text;
}

/* The next `3` or `0-3` of a list that ends at `end`: where the one after it begins; NULL: it is none. */
static const char *next_range(const char *at, const char *end, long *first, long *last)
{
    char *stop = NULL;
    *first = *last = strtol(at, &stop, 10);
    if (stop == at || *at < '0' || *at > '9')
        return NULL;
    if (*stop == '-') {
        at = stop + 1;
        *last = strtol(at, &stop, 10);
        if (stop == at || *at < '0' || *at > '9')
            return NULL;
    }
    if (stop > end || (stop < end && *stop != ',') || *last < *first || *last >= CPU_SETSIZE)
        return NULL;
    return stop < end ? stop + 1 : stop;
}

/* The kernel takes a set of which it allows a part: each CPU is asked for alone. */
static int bind_one(const char *text, int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        return 0;
    if (errno != EINVAL) {
        binding_refuse(errno);
        return 0;
    }
    char allowed[128];
    sched_setaffinity(0, sizeof place.all, &place.all);
    binding_allowed(allowed, sizeof allowed);
    return err_say(
        ERR_INPUT,
        "CPU %d of '%s' is not on this machine, or the control group does not allow it; use some of "
        "%s",
        cpu, text, allowed);
}

int binding_set(const char *text, int rank)
{
    read_all();
    if (strcmp(text, "unbound") == 0) {
        place.kind = PLACE_UNBOUND;
        return 0;
    }
    if (rank < 0 && strchr(text, '/'))
        return 0;
    const char *end = NULL, *at = part_of(text, rank, &end);
    if (!at)
        return err_say(ERR_INPUT, "'%s' has no CPUs for rank %d of a host; give a list for each, apart by /",
                       text, rank);
    place.count = 0;
    do {
        long first = 0, last = 0;
        at = next_range(at, end, &first, &last);
        if (!at || last - first >= CPU_SETSIZE - place.count)
            return err_say(ERR_INPUT, "'%s' is not a list of CPUs; write 0 or 0-3,8", text);
        for (long cpu = first; cpu <= last; ++cpu)
            place.cpus[place.count++] = (int)cpu;
    } while (at[-1] == ',');
    int err = 0;
    for (int i = 0; i < place.count && !err; ++i)
        err = bind_one(text, place.cpus[i]);
    if (err)
        return err;
    place.kind = PLACE_LIST;
    if (place.refused)
        return 0;
    CPU_ZERO(&place.all);
    for (int i = 0; i < place.count; ++i)
        CPU_SET((size_t)place.cpus[i], &place.all);
    binding_refuse(binding_thread(-1));
    return 0;
}

int binding_cpu(int lane)
{
    if (place.kind == PLACE_DEFAULT && place.count == 0)
        read_cpus();
    return place.kind != PLACE_UNBOUND && lane < place.count ? place.cpus[lane] : -1;
}

bool binding_is_set(void)
{
    return place.kind != PLACE_DEFAULT;
}

bool binding_binds_caller(int lanes)
{
    return place.kind == PLACE_LIST ||
           (place.kind == PLACE_DEFAULT && binding_cpu(0) >= 0 && place.cores == lanes);
}

int binding_thread(int cpu)
{
    cpu_set_t set = place.all;
    if (cpu >= 0) {
        CPU_ZERO(&set);
        CPU_SET((size_t)cpu, &set);
    }
    return CPU_COUNT(&set) == 0 || sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

const char *binding_refused(void)
{
    return place.refused;
}

void binding_refuse(int errno_code)
{
    if (errno_code)
        place.refused = strerror(errno_code);
}

void binding_allowed(char *text, size_t size)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        CPU_ZERO(&set);
    set_text(&set, text, size);
}
