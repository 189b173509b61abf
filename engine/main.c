/* steelyard-mpi, steelyard-solo: run | list | describe; spawned, by the op mpi.spawn alone. */
#define _GNU_SOURCE
#include "base/crash.h"
#include "base/delays.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/place.h"
#include "base/yield.h"
#include "core/launch.h"
#include "core/method.h"
#include "core/op.h"
#include "core/point.h"
#include "core/probe.h"
#include "core/run.h"
#include "core/sink.h"
#include "core/state.h"
#include "core/stop.h"
#include "registry.h"
#include "sync/sync.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

enum { EXIT_INPUT = 2, EXIT_MEASUREMENT = 3, SCHEMA = 1 };

struct options {
    const char *points, *out, *ranks, *yield, *clock, *cpus, *seed, *thread_level, *sync, *paths, *skew,
        *jump, *wild, *probe, *arrivals;
};

static const struct opt option_rows[] = {
    {"--points", "FILE", "a point on each line, as key=value words", offsetof(struct options, points)},
    {"--out", "FILE", "append records to this file; standard output otherwise",
     offsetof(struct options, out)},
    {"--ranks", "N", "how many ranks the launcher was asked for; without MPI: how many to start",
     offsetof(struct options, ranks)},
    {"--yield", "real|none", "none: sched_yield() returns at once, a what-if",
     offsetof(struct options, yield)},
    {"--clock", "NAME", "the source of stamps", offsetof(struct options, clock)},
    {"--cpus", "LIST", "the CPUs of its threads, in order: 0-3,8; 0/1: of ranks; or unbound",
     offsetof(struct options, cpus)},
    {"--seed", "N", "for all that is random", offsetof(struct options, seed)},
    {"--sync", "NAME", "how clocks are synchronised", offsetof(struct options, sync)},
    {"--paths", "symmetric|asymmetric", "asymmetric: only certain clock errors are stated",
     offsetof(struct options, paths)},
    {"--probe", "on|off", "look at the machine between chunks; off for an engine that does nothing else",
     offsetof(struct options, probe)},
    {"--skew", "SEED", "for tests: clocks that are off and drift, differently on each rank",
     offsetof(struct options, skew)},
    {"--jump", "RANK", "for tests: its clock jumps back by 20 ms every 50 ms",
     offsetof(struct options, jump)},
    {"--wild", "RANK", "for tests: the clock of this rank is off by ms more at each reading",
     offsetof(struct options, wild)},
    {"--arrivals", "FILE", "for arrival=file: a line for each repetition, in it a delay in ns for each rank",
     offsetof(struct options, arrivals)},
    {"--thread-level", "LEVEL", "single, funneled, serialized, multiple",
     offsetof(struct options, thread_level)},
    {0},
};

static int usage(FILE *file, int code)
{
    fprintf(file, "usage: steelyard-%s run [options] [key=value ...] | list | describe\n", team_kind);
    for (const struct opt *o = option_rows; o->name; ++o)
        fprintf(file, "  %-14s %-10s %s\n", o->name, o->value, o->summary);
    return code;
}

static int complain(const struct team *team, int err)
{
    fprintf(stderr, "steelyard: rank %d: %s\n", team->rank, err_text());
    return err == ERR_INPUT ? EXIT_INPUT : EXIT_MEASUREMENT;
}

static int list(const struct op *ops, size_t count)
{
    for (size_t i = 0; i < count; ++i)
        printf("%-22s %s%s%s%s\n", ops[i].name, ops[i].summary, ops[i].missing ? " (not here: " : "",
               ops[i].missing ? ops[i].missing : "", ops[i].missing ? ")" : "");
    return 0;
}

static int describe(const struct op *ops, size_t count)
{
    struct json j = {0};
    json_open(&j, NULL, '{');
    json_int(&j, "schema", SCHEMA);
    json_string(&j, "engine", team_kind);
    json_string(&j, "version", STEELYARD_VERSION);
    launch_build(&j);
    team_describe(&j);
    clock_describe(&j, team_wtime);
    sync_describe(&j);
    json_open(&j, "ops", '[');
    for (size_t i = 0; i < count; ++i)
        op_describe(&ops[i], &j);
    json_close(&j, ']');
    json_open(&j, "methods", '[');
    for (size_t i = 0; methods[i]; ++i) {
        json_open(&j, NULL, '{');
        json_string(&j, "name", methods[i]->name);
        json_string(&j, "summary", methods[i]->summary);
        json_bool(&j, "synchronised", methods[i]->sync != SYNC_NEVER);
        json_int(&j, "min_ranks", methods[i]->least_ranks ? methods[i]->least_ranks : 1);
        param_rows_json(&j, "params", methods[i]->params);
        json_bool(&j, "available", methods[i]->missing == NULL);
        json_string(&j, "why_not", methods[i]->missing);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "stop_rules", '[');
    for (size_t i = 0; stop_rules[i]; ++i) {
        json_open(&j, NULL, '{');
        json_string(&j, "name", stop_rules[i]->name);
        json_string(&j, "summary", stop_rules[i]->summary);
        param_rows_json(&j, "params", stop_rules[i]->params);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_close(&j, '}');
    int code = j.failed ? EXIT_MEASUREMENT : 0;
    if (code == 0)
        puts(j.text);
    json_free(&j);
    return code;
}

/* What a file holds, behind what stands in `memory` already. */
static int read_file(const char *path, const char *what, FILE *memory)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return err_say(ERR_INPUT, "cannot read the %s in %s: %s", what, path, strerror(errno));
    for (int c; (c = fgetc(file)) != EOF;)
        fputc(c, memory);
    fclose(file);
    return 0;
}

/* The words, if any, as a line, and the file, if any; on rank 0. */
static int read_text(const char *path, const char *what, int words, char **word, char **text, size_t *length)
{
    FILE *memory = open_memstream(text, length);
    if (!memory)
        return err_say(ERR_NOMEM, "no memory for the %s", what);
    for (int i = 0; i < words; ++i)
        fprintf(memory, "%s ", word[i]);
    if (words > 0)
        fputc('\n', memory);
    int err = path ? read_file(path, what, memory) : 0;
    if (fclose(memory) != 0 && !err)
        err = err_say(ERR_NOMEM, "no memory for the %s", what);
    return err;
}

/* Rank 0's text on all ranks: they parse the same. */
static int share_text(const struct team *team, const char *what, char **text, size_t *length)
{
    int err = team_bcast(team, length, sizeof *length);
    if (!err && team->rank != 0 && !(*text = malloc(*length + 1)))
        err = err_say(ERR_NOMEM, "no memory for the %s", what);
    if (!err)
        err = team_bcast(team, *text, *length);
    if (!err)
        (*text)[*length] = '\0';
    return err;
}

static int share_delays(const struct options *o, const struct team *team, struct delays *delays)
{
    char *text = NULL;
    size_t length = 0;
    int err = team->rank == 0 ? read_text(o->arrivals, "arrivals", 0, NULL, &text, &length) : 0;
    err = err ? err : share_text(team, "arrivals", &text, &length);
    err = err ? err : delays_parse(text, delays);
    free(text);
    return err;
}

/* Those of the file, or of the command line as one. */
static int share_points(const struct options *o, const struct team *team, int argc, char **argv,
                        const struct op *ops, size_t op_count, struct point **out, size_t *count)
{
    char *text = NULL;
    size_t length = 0;
    int err = team->rank == 0 ? read_text(o->points, "points", argc - 2, argv + 2, &text, &length) : 0;
    err = err ? err : share_text(team, "points", &text, &length);
    struct point *points =
        err ? NULL : calloc(length / 4 + 1, sizeof *points); /* no point is shorter than op=x */
    size_t n = 0;
    if (!err && !points)
        err = err_say(ERR_NOMEM, "no memory for the points");
    char *rest = text;
    for (char *line = err ? NULL : strsep(&rest, "\n"); line && !err; line = strsep(&rest, "\n"))
        if (line[strspn(line, " \t\r")] != '\0')
            err = point_parse(line, ops, op_count, &points[n++]);
    if (!err && n == 0)
        err = err_say(ERR_INPUT, "there is no point to measure; name one as op=self.empty, or --points FILE");
    free(text);
    if (err)
        free(points);
    *out = err ? NULL : points;
    *count = n;
    return err;
}

/* The classic mistake: an mpiexec of another MPI starts the ranks, and each of them believes to be alone. */
static int expect_ranks(int64_t wanted, const struct team *team)
{
    if (wanted == 0 || wanted == team->size)
        return 0;
    return err_say(
        ERR_INPUT,
        "%lld ranks were started and this one sees %d: mpiexec belongs to another MPI than the library that "
        "this engine found; use the mpiexec of that library",
        (long long)wanted, team->size);
}

static bool any_works(const struct point *points, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; ++i)
        any = any || points[i].op->works;
    return any;
}

/* Into the records, outside all that is timed; in simulation there is no machine whose state it could be. */
static int write_state(const struct team *team, const struct clock *clock, int64_t point, int threads,
                       struct sink_jsonl *sink)
{
    struct json j = {0};
    int err = clock->sleeps ? 0 : state_record(team, clock, point, threads, &j);
    if (!err && sink && j.length > 0)
        err = sink_jsonl_line(sink, &j);
    json_free(&j);
    return err;
}

static int most_threads(const struct point *points, size_t count)
{
    int most = 1;
    for (size_t i = 0; i < count; ++i)
        most = points[i].threads > most ? points[i].threads : most;
    return most;
}

static int measure(const struct options *o, const struct team *team, const struct point *points, size_t count)
{
    struct delays delays = {0};
    struct clock clock = {0};
    struct sink_jsonl *sink = NULL;
    struct json document = {0};
    struct sync sync = {0};
    int64_t seed = 1, skew = 0, jump = -1, wild = -1;
    struct probe *probe = NULL;
    double work_per_us = 0;
    int err = o->seed ? num_int(o->seed, "--seed", 0, INT64_MAX, &seed) : 0;
    if (!err && o->skew)
        err = num_int(o->skew, "--skew", 0, INT64_MAX, &skew);
    if (!err && o->jump)
        err = num_int(o->jump, "--jump", 0, INT_MAX, &jump);
    if (!err && o->wild)
        err = num_int(o->wild, "--wild", 0, INT_MAX, &wild);
    if (!err)
        err = sync_choose(&sync, o->sync, o->paths);
    if (!err)
        err = launch_clock(team, o->clock, &clock);
    if (!err && o->skew)
        err = clock_skew(&clock, (uint64_t)skew * 1000003 + (uint64_t)team->rank);
    if (!err && jump == team->rank)
        err = clock_jump(&clock);
    if (!err && wild == team->rank)
        err = clock_go_wild(&clock, (uint64_t)seed);
    if (!err && team->rank == 0)
        err = sink_jsonl_open(o->out, &sink);
    if (!err)
        err = launch_record(team, &clock, seed, most_threads(points, count), &document);
    if (!err && sink)
        err = sink_jsonl_line(sink, &document);
    if (!err && !(o->probe && strcmp(o->probe, "off") == 0))
        err = probe_open(team, &clock, &probe);
    if (!err && any_works(points, count))
        err = launch_work(team, &clock, &work_per_us);
    if (!err)
        err = write_state(team, &clock, -1, 1, sink);
    if (!err && o->arrivals)
        err = share_delays(o, team, &delays);
    for (size_t i = 0; i < count && !err; ++i) {
        struct point point = points[i];
        point.work_per_us = work_per_us;
        point.delays = o->arrivals ? &delays : NULL;
        point.seed = hash_mix((uint64_t)seed + (uint64_t)point.id);
        err = run_point(&point, team, &clock, &sync, probe, sink ? sink_jsonl_sink(sink) : NULL);
        err = err ? err : write_state(team, &clock, point.id, point.threads, sink);
    }
    if (sink) {
        int close_err = sink_jsonl_close(sink);
        err = err ? err : close_err;
    }
    probe_close(probe);
    sync_close(&sync);
    clock_close(&clock);
    json_free(&document);
    delays_close(&delays);
    return err;
}

/* `began_ns`: when main did. */
static int run(const struct options *o, int argc, char **argv, const struct op *ops, size_t op_count,
               int64_t began_ns)
{
    struct team team = {0};
    struct point *points = NULL;
    size_t count = 0;
    int64_t ranks = 0; /* 0: not said */
    int err = o->cpus ? launch_bind(o->cpus, NULL) : 0;
    if (!err && o->ranks)
        err = num_int(o->ranks, "--ranks", 1, 1 << 30, &ranks);
    if (!err && o->yield && strcmp(o->yield, "real") != 0 && strcmp(o->yield, "none") != 0)
        err = err_say(ERR_INPUT, "--yield takes real or none, not '%s'", o->yield);
    if (!err && o->probe && strcmp(o->probe, "on") != 0 && strcmp(o->probe, "off") != 0)
        err = err_say(ERR_INPUT, "--probe takes on or off, not '%s'", o->probe);
    if (err)
        return complain(&team, err);
    if (o->yield && strcmp(o->yield, "none") == 0)
        yield_disable();
    err = team_open(&team, o->thread_level ? o->thread_level : "single", (int)ranks);
    team.began_ns = team.size == 1 || team.init_end_ns > 0 ? began_ns : 0;
    if (!err) {
        crash_watch(team.rank);
        err = expect_ranks(ranks, &team);
    }
    if (!err && o->cpus)
        err = launch_bind(o->cpus, &team);
    if (!err)
        err = share_points(o, &team, argc, argv, ops, op_count, &points, &count);
    if (!err)
        err = measure(o, &team, points, count);
    free(points);
    if (!err)
        err = launch_close(&team, o->out);
    else if (team.own) {
        int code = complain(&team, err);
        fflush(NULL);
        team_abort(&team, code);
    }
    return err ? complain(&team, err) : 0;
}

int main(int argc, char **argv)
{
    const int64_t began_ns = launch_now();
    struct options options = {0};
    struct op *ops = NULL;
    size_t count = 0;
    place_start();
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a rank does not outlive the launcher that started it */
    int err = opt_take(option_rows, &options, &argc, argv);
    if (!err)
        err = registry_ops(&ops, &count);
    if (err)
        return complain(&(struct team){0}, err);
    int code;
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "run") == 0)
        code = run(&options, argc, argv, ops, count, began_ns);
    else if (strcmp(command, "list") == 0)
        code = list(ops, count);
    else if (strcmp(command, "describe") == 0)
        code = describe(ops, count);
    else if (strcmp(command, "spawned") == 0 && argc == 3)
        code = registry_spawned(argv[2]);
    else
        code = usage(strcmp(command, "help") == 0 ? stdout : stderr,
                     strcmp(command, "help") == 0 ? 0 : EXIT_INPUT);
    free(ops);
    return code;
}
