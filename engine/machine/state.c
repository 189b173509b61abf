#define _GNU_SOURCE
#include "machine/state.h"

#include "base/binding.h"
#include "base/err.h"
#include "base/json.h"
#include "base/kernel_files.h"
#include "base/thread_places.h"
#include "base/work.h"
#include "machine/best_of.h"
#include "machine/interfaces.h"
#include "machine/ports.h"
#include "team/hosts.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LINE_MOST = 1024, PATH_BYTES = 512, CPUS_BYTES = 192 };

struct rank_state {
    char cpus[CPUS_BYTES];
    int64_t value[STATE_FIELDS];
};

static const char *const names[STATE_FIELDS] = {
    [STATE_AT_NS] = "at_ns",
    [STATE_CPU] = "cpu",
    [STATE_MIGRATIONS] = "migrations",
    [STATE_VOLUNTARY] = "voluntary",
    [STATE_INVOLUNTARY] = "involuntary",
    [STATE_OWN_NS] = "own_ns",
    [STATE_BUSY_NS] = "busy_ns",
    [STATE_STEAL_NS] = "steal_ns",
    [STATE_KHZ] = "khz",
    [STATE_THROTTLES] = "throttles",
    [STATE_QUOTA_STOPS] = "quota_stops",
    [STATE_STEP_PS] = "step_ps",
};

static int64_t cpu_number(int64_t cpu, const char *name)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%lld/%s", (long long)cpu, name);
    return kernel_file_number("", path, "");
}

/* Whatever ran on these CPUs, and what the hypervisor took: proc(5), user nice system idle iowait irq softirq
 * steal, in ticks. What guests used is part of user. */
static void cpus_read(const cpu_set_t *cpus, int64_t *busy_ns, int64_t *steal_ns)
{
    const int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
    char line[LINE_MOST];
    FILE *file = fopen("/proc/stat", "r");
    *busy_ns = *steal_ns = file ? 0 : -1;
    while (file && fgets(line, sizeof line, file) && strncmp(line, "cpu", 3) == 0) {
        unsigned cpu = 0;
        long long user, nice, system, idle, wait, irq, soft, steal = 0;
        if (sscanf(line, "cpu%u %lld %lld %lld %lld %lld %lld %lld %lld", &cpu, &user, &nice, &system, &idle,
                   &wait, &irq, &soft, &steal) < 8 ||
            cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, cpus))
            continue; /* the sum of all CPUs, or another one */
        *busy_ns += (user + nice + system + irq + soft) * tick_ns;
        *steal_ns += steal * tick_ns;
    }
    if (file)
        fclose(file);
}

/* For the control group that has a say on CPU time. */
static int64_t quota_stops(void)
{
    struct cgroup groups[CGROUPS_MOST];
    const int count = cgroups_of("", "cpu", groups);
    int64_t stops = -1;
    for (int i = 0; i < count && stops < 0; ++i) {
        char path[CGROUP_FOLDER_MAX + PATH_BYTES];
        snprintf(path, sizeof path, "%s/cpu.stat", groups[i].folder);
        stops = kernel_file_number("", path, "nr_throttled");
    }
    return stops;
}

static int64_t time_ns(struct timeval t)
{
    return (int64_t)t.tv_sec * 1000000000 + (int64_t)t.tv_usec * 1000;
}

/* What a step of work takes; -1: not known. */
static int64_t step_ps(const struct clock *clock)
{
    enum { STRETCHES = 8, STEPS = 4000 }; /* a few us each: many ticks of the clock */
    const int64_t best_ns = best_of(clock, STRETCHES, work_do, STEPS, -1).ns;
    return best_ns > 0 ? best_ns * 1000 / STEPS : -1;
}

static void state_read(struct rank_state *s, const struct clock *clock)
{
    struct rusage used;
    cpu_set_t cpus;
    memset(s, 0, sizeof *s); /* padding too: it is sent */
    CPU_ZERO(&cpus);
    sched_getaffinity(0, sizeof cpus, &cpus);
    binding_allowed(s->cpus, sizeof s->cpus);
    getrusage(RUSAGE_SELF, &used);
    int64_t *v = s->value;
    v[STATE_CPU] = sched_getcpu();
    v[STATE_MIGRATIONS] = kernel_file_number("", "/proc/self/sched", "se.nr_migrations");
    v[STATE_VOLUNTARY] = used.ru_nvcsw;
    v[STATE_INVOLUNTARY] = used.ru_nivcsw;
    v[STATE_KHZ] = cpu_number(v[STATE_CPU], "cpufreq/scaling_cur_freq");
    v[STATE_THROTTLES] = cpu_number(v[STATE_CPU], "thermal_throttle/core_throttle_count");
    v[STATE_QUOTA_STOPS] = quota_stops();
    v[STATE_STEP_PS] = step_ps(clock);
    cpus_read(&cpus, &v[STATE_BUSY_NS], &v[STATE_STEAL_NS]);
    v[STATE_OWN_NS] = time_ns(used.ru_utime) + time_ns(used.ru_stime);
    v[STATE_AT_NS] = clock_now(clock);
}

/* What no rank's system tells is left out. */
static void field_write(const struct rank_state *all, int ranks, int field, struct json *j)
{
    bool told = false;
    for (int r = 0; r < ranks; ++r)
        told = told || all[r].value[field] >= 0;
    if (!told)
        return;
    json_ints(j, names[field], &all->value[field], ranks, sizeof *all);
}

/* Where the threads of each rank were, and were meant to be, when the point had ended. */
static int lanes_write(const struct team *team, bool of_all, struct json *j)
{
    const int ranks = of_all ? team->size : team_chosen_count(team->size);
    struct lanes {
        char seen[THREAD_PLACES_MAX], meant[THREAD_PLACES_MAX];
    } mine = {0}, *all = NULL;
    snprintf(mine.seen, sizeof mine.seen, "%s", thread_places_seen());
    snprintf(mine.meant, sizeof mine.meant, "%s", thread_places_meant());
    thread_places_forget();
    if (team->rank == 0 && !(all = malloc((size_t)ranks * sizeof *all)))
        return err_say(ERR_NOMEM, "no memory for the places of the threads of %d ranks", ranks);
    int err = of_all ? team_gather(team, &mine, sizeof mine, all)
                     : team_gather_chosen(team, &mine, sizeof mine, all);
    if (!err && team->rank == 0) {
        json_open(j, "lanes", '[');
        for (int r = 0; r < ranks; ++r)
            thread_places_json(j, NULL, all[r].seen);
        json_close(j, ']');
        json_open(j, "lanes_meant", '[');
        for (int r = 0; r < ranks; ++r)
            thread_places_json(j, NULL, all[r].meant);
        json_close(j, ']');
    }
    free(all);
    return err;
}

/* The interfaces by which each rank is connected to others. */
static int ports_write(const struct team *team, bool of_all, struct json *j)
{
    const int ranks = of_all ? team->size : team_chosen_count(team->size);
    struct port_address addresses[PORT_ADDRESSES_MOST];
    char mine[PORTS_BYTES], (*all)[PORTS_BYTES] = NULL;
    ports_read("", addresses, port_addresses(addresses), mine);
    if (team->rank == 0 && !(all = malloc((size_t)ranks * sizeof *all)))
        return err_say(ERR_NOMEM, "no memory for the interfaces of %d ranks", ranks);
    int err =
        of_all ? team_gather(team, mine, sizeof mine, all) : team_gather_chosen(team, mine, sizeof mine, all);
    if (!err && team->rank == 0) {
        json_open(j, "ports", '[');
        for (int r = 0; r < ranks; ++r)
            json_string(j, NULL, all[r]);
        json_close(j, ']');
    }
    free(all);
    return err;
}

int state_record(const struct team *team, const struct clock *clock, int64_t point, int threads, bool of_all,
                 struct json *j)
{
    const int ranks = of_all ? team->size : team_chosen_count(team->size);
    struct rank_state mine, *all = NULL;
    state_read(&mine, clock);
    if (team->rank == 0 && !(all = malloc((size_t)ranks * sizeof *all)))
        return err_say(ERR_NOMEM, "no memory for the state of %d ranks", ranks);
    int err = of_all ? team_gather(team, &mine, sizeof mine, all)
                     : team_gather_chosen(team, &mine, sizeof mine, all);
    if (!err && team->rank == 0) {
        json_open(j, NULL, '{');
        json_string(j, "record", "state");
        if (point >= 0)
            json_int(j, "point", point);
        if (ranks < team->size) {
            json_open(j, "ranks", '[');
            for (int i = 0; i < ranks; ++i)
                json_int(j, NULL, team_chosen(team->size, i));
            json_close(j, ']');
        }
        json_open(j, "cpus", '[');
        for (int r = 0; r < ranks; ++r)
            json_string(j, NULL, all[r].cpus);
        json_close(j, ']');
        for (int field = 0; field < STATE_FIELDS; ++field)
            field_write(all, ranks, field, j);
    }
    if (!err && threads > 1)
        err = lanes_write(team, of_all, j);
    if (!err && host_ranks(team) < team->size)
        err = interfaces_write(team, of_all, j);
    if (!err && host_ranks(team) < team->size)
        err = ports_write(team, of_all, j);
    if (!err && team->rank == 0)
        json_close(j, '}');
    free(all);
    return err;
}
