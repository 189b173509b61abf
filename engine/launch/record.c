#define _GNU_SOURCE
#include "launch/launch.h"

#include "base/binding.h"
#include "base/err.h"
#include "base/json.h"
#include "base/libraries.h"
#include "base/secret.h"
#include "base/system_time.h"
#include "base/thread_places.h"
#include "base/variables.h"
#include "base/yield.h"
#include "machine/core_speed.h"
#include "machine/kind.h"
#include "team/hosts.h"

#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STEELYARD_VERSION
#define STEELYARD_VERSION "unknown"
#endif
#ifndef STEELYARD_FLAGS
#define STEELYARD_FLAGS "unknown"
#endif
#ifndef STEELYARD_ADDED
#define STEELYARD_ADDED ""
#endif

enum { SCHEMA = 1 };

/* Where one rank is: what sched_getaffinity() and sched_getcpu() say, not what the launcher was asked for. */
struct place {
    char host[sizeof((struct host *)0)->name];
    char cpus[192];
    char lanes[THREAD_PLACES_MAX]; /* of the threads of a pool, apart by '|'; "": there is one */
    char refused[64];              /* why it is not bound as it should be */
    int pid, cpu;
    double clock_cost_ns;
    int64_t clock_tick_ns;
    char clock_doubt[CLOCK_DOUBT_MAX], clock_passed[CLOCK_PASSED_MAX];
    int64_t clock_base_ns;
    int64_t launch_ns, exec_to_main_ns, main_to_init_ns, init_ns; /* 0: not known, or no MPI */
    bool other_libraries, other_machine;                          /* than rank 0 */
    char machine[MACHINE_KIND_MAX];
};

/* How long this process has been there, in the steps in which Linux remembers that, 10 ms; 0: not known. */
static int64_t process_age(void)
{
    char text[1024] = "";
    FILE *file = fopen("/proc/self/stat", "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    enum { AFTER_NAME = 19 }; /* fields between the name, which may hold spaces, and the start in ticks */
    const char *at = length > 0 ? strrchr(text, ')') : NULL;
    for (int i = 0; at && i < AFTER_NAME + 1; ++i)
        at = strchr(at + 1, ' ');
    int64_t start = at ? strtoll(at, NULL, 10) * (1000000000 / sysconf(_SC_CLK_TCK)) : 0;
    return start > 0 ? system_time_ns(CLOCK_BOOTTIME) - start : 0;
}

/* How this rank came to be: loaded, begun, a rank of MPI. */
static void start_read(struct place *place, const struct team *team)
{
    int64_t age = process_age();
    if (age > 0 && team->began_ns > 0)
        place->exec_to_main_ns = age - (system_time_ns(CLOCK_MONOTONIC) - team->began_ns);
    place->launch_ns = team->launch_ns;
    if (team->init_end_ns > 0) {
        place->main_to_init_ns = team->init_end_ns - team->began_ns - team->before_init_ns;
        place->init_ns = team->init_end_ns - team->init_begin_ns;
    }
}

static void place_read(struct place *place, const struct team *team, const struct clock *clock)
{
    memset(place, 0, sizeof *place); /* padding too: it is sent */
    snprintf(place->host, sizeof place->host, "%s", host_mine(team)->name);
    place->pid = (int)getpid();
    place->cpu = sched_getcpu();
    binding_allowed(place->cpus, sizeof place->cpus);
    place->clock_cost_ns = clock->cost_ns;
    place->clock_tick_ns = clock->tick_ns;
    place->clock_base_ns = clock->base;
    machine_kind(place->machine, sizeof place->machine);
    start_read(place, team);
    memcpy(place->clock_doubt, clock->doubt, sizeof place->clock_doubt);
    memcpy(place->clock_passed, clock->passed, sizeof place->clock_passed);
}

static void place_write(const struct place *place, int rank, struct json *j)
{
    json_open(j, NULL, '{');
    json_int(j, "rank", rank);
    json_string(j, "host", place->host);
    json_int(j, "pid", place->pid);
    json_string(j, "cpus", place->cpus);
    json_int(j, "cpu", place->cpu);
    if (place->lanes[0])
        thread_places_json(j, "lanes", place->lanes);
    if (place->refused[0])
        json_string(j, "refused", place->refused);
    json_double(j, "clock_cost_ns", place->clock_cost_ns);
    json_int(j, "clock_tick_ns", place->clock_tick_ns);
    json_int(j, "clock_base_ns", place->clock_base_ns);
    json_string(j, "clock_doubt", place->clock_doubt[0] ? place->clock_doubt : NULL);
    if (place->clock_passed[0])
        json_string(j, "clock_passed", place->clock_passed);
    if (place->other_libraries)
        json_bool(j, "other_libraries", true);
    if (rank == 0 || place->other_machine)
        json_string(j, "machine", place->machine);
    if (place->launch_ns > 0)
        json_int(j, "launch_ns", place->launch_ns);
    if (place->exec_to_main_ns > 0)
        json_int(j, "exec_to_main_ns", place->exec_to_main_ns);
    if (place->init_ns > 0) {
        json_int(j, "main_to_init_ns", place->main_to_init_ns);
        json_int(j, "init_ns", place->init_ns);
    }
    json_close(j, '}');
}

enum wrong { NOTHING_WRONG, CLOCK_PASSED, WRONG };

/* Where not all ranks tell where they are: the first of which most is wrong, and the coarsest clock. */
struct worst_place {
    struct place place;
    int rank;
    enum wrong wrong;
    int64_t most_tick_ns;
};

static void merge_worst(void *into_bytes, const void *from_bytes, size_t bytes)
{
    struct worst_place *into = into_bytes;
    const struct worst_place *from = from_bytes;
    (void)bytes;
    const int64_t most = from->most_tick_ns > into->most_tick_ns ? from->most_tick_ns : into->most_tick_ns;
    if (from->wrong > into->wrong)
        *into = *from;
    into->most_tick_ns = most;
}

/* Places of all ranks; or of chosen ones, of those of rank 0's host, whose processes the package looks at,
 * and of one more where that is wrong. */
struct places {
    struct place *of, *here; /* on rank 0 */
    bool of_all, has_here;
    struct worst_place worst;
};

static int places_gather(const struct team *team, const struct place *mine, struct places *p)
{
    const int count = p->of_all ? team->size : team_chosen_count(team->size);
    const bool is_here = p->has_here && host_is_same(team, 0, team->rank);
    memset(&p->worst, 0, sizeof p->worst);
    p->worst.place = *mine;
    p->worst.rank = team->rank;
    p->worst.wrong = mine->clock_passed[0] ? CLOCK_PASSED : NOTHING_WRONG;
    if (mine->refused[0] || mine->clock_doubt[0] || mine->other_libraries || mine->other_machine)
        p->worst.wrong = WRONG;
    p->worst.most_tick_ns = mine->clock_tick_ns;
    if (team->rank == 0) {
        p->of = malloc((size_t)count * sizeof *p->of);
        p->here = malloc((size_t)host_ranks(team) * sizeof *p->here);
        if (!p->of || !p->here)
            return err_say(ERR_NOMEM, "no memory for the places of %d ranks", count);
    }
    if (p->of_all)
        return team_gather(team, mine, sizeof *mine, p->of);
    int err = team_gather_chosen(team, mine, sizeof *mine, p->of);
    if (!err && is_here)
        err = host_gather(team, mine, sizeof *mine, p->here);
    return err ? err : team_reduce(team, &p->worst, sizeof p->worst, merge_worst);
}

/* Whether the places that are written anyway have that rank's. */
static bool has_place(const struct places *p, const struct team *team, int rank)
{
    bool found = p->of_all || (p->has_here && host_is_same(team, 0, rank));
    for (int i = 0; i < team_chosen_count(team->size); ++i)
        found = found || team_chosen(team->size, i) == rank;
    return found;
}

static void places_write(const struct places *p, const struct team *team, struct json *j)
{
    const int count = p->of_all ? team->size : team_chosen_count(team->size);
    json_open(j, "places", '[');
    for (int i = 0; p->has_here && !p->of_all && i < host_ranks(team); ++i)
        place_write(&p->here[i], host_rank(team, i), j);
    for (int i = 0; i < count; ++i) {
        const int rank = p->of_all ? i : team_chosen(team->size, i);
        if (p->of_all || !p->has_here || !host_is_same(team, 0, rank))
            place_write(&p->of[i], rank, j);
    }
    if (p->worst.wrong && !has_place(p, team, p->worst.rank))
        place_write(&p->worst.place, p->worst.rank, j);
    json_close(j, ']');
    if (!p->of_all)
        json_int(j, "tick_most_ns", p->worst.most_tick_ns);
}

/* Variables that decide how launches behave, with their values. */
static void environment_write(struct json *j)
{
    extern char **environ;
    json_open(j, "environment", '{');
    for (char **e = environ; *e; ++e) {
        char name[128];
        size_t length = strcspn(*e, "=");
        if (length < sizeof name && variable_is_setting(*e)) {
            memcpy(name, *e, length);
            name[length] = '\0';
            char *value = secret_masked(name, length, (*e)[length] ? *e + length + 1 : "");
            json_string(j, name, value);
            free(value);
        }
    }
    json_close(j, '}');
}

void launch_build(struct json *j)
{
    json_open(j, "build", '{');
#if defined(__clang__)
    json_string(j, "compiler", "clang " __clang_version__);
#elif defined(__GNUC__)
    json_string(j, "compiler", "gcc " __VERSION__);
#else
    json_string(j, "compiler", "unknown");
#endif
    json_string(j, "flags", STEELYARD_FLAGS);
    if (STEELYARD_ADDED[0])
        json_string(j, "added", STEELYARD_ADDED);
#ifdef _OPENMP
    json_int(j, "openmp", _OPENMP);
#else
    json_int(j, "openmp", 0);
#endif
    json_close(j, '}');
}

int launch_record(const struct team *team, const struct clock *clock, int64_t seed, int threads, bool of_all,
                  struct json *j)
{
    struct place mine;
    struct places places = {.of_all = of_all, .has_here = !clock->sleeps}; /* simulated, there is no host */
    place_read(&mine, team, clock);
    int err = launch_lanes(threads);
    if (err)
        return err;
    snprintf(mine.lanes, sizeof mine.lanes, "%s", thread_places_seen());
    if (binding_refused())
        snprintf(mine.refused, sizeof mine.refused, "%s", binding_refused());
    uint64_t first = libraries_hash();
    const uint64_t own = first;
    err = team_bcast(team, &first, sizeof first);
    mine.other_libraries = own != first;
    char machine[MACHINE_KIND_MAX];
    memcpy(machine, mine.machine, sizeof machine);
    err = err ? err : team_bcast(team, machine, sizeof machine);
    mine.other_machine = strcmp(machine, mine.machine) != 0;
    err = err ? err : places_gather(team, &mine, &places);
    if (!err && team->rank == 0) {
        json_open(j, NULL, '{');
        json_string(j, "record", "launch");
        json_int(j, "schema", SCHEMA);
        json_string(j, "engine", team_kind);
        json_string(j, "version", STEELYARD_VERSION);
        launch_build(j);
        team_record(team, j);
        json_int(j, "ranks", team->size);
        json_int(j, "seed", seed);
        json_open(j, "clock", '{');
        json_string(j, "name", clock->name);
        json_double(j, "cost_ns", clock->cost_ns);
        json_int(j, "tick_ns", clock->tick_ns);
        json_bool(j, "forced", clock->forced);
        json_double(j, "hz", clock->rate.hz > 0 ? clock->rate.hz : NAN);
        json_double(j, "hz_ppm", clock->rate.hz > 0 ? clock->rate.ppm : NAN);
        json_close(j, '}');
        core_speed_json(clock, j);
        json_string(j, "yield", yield_disabled() ? "none" : "real");
        json_int(j, "start_unix_ns", system_time_ns(CLOCK_REALTIME));
        places_write(&places, team, j);
        libraries_json(j, "libraries");
        environment_write(j);
        json_close(j, '}');
    }
    free(places.of);
    free(places.here);
    return err;
}
