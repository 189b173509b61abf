/* A launch from its beginning to its end. */
#include "launch/launch.h"

#include "base/binding.h"
#include "base/crash.h"
#include "base/delays.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/libraries.h"
#include "base/system_time.h"
#include "base/yield.h"
#include "core/first.h"
#include "core/op.h"
#include "core/point.h"
#include "core/run.h"
#include "launch/options.h"
#include "launch/points.h"
#include "machine/probe.h"
#include "machine/state.h"
#include "machine/work_rate.h"
#include "sink/jsonl.h"
#include "sync/sync.h"
#include "team/hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What the points of a launch share. */
struct shared {
    const struct options *options;
    const struct settings *settings;
    const struct team *team;
    struct clock clock;
    struct sync sync;
    struct sink_jsonl *sink; /* on rank 0 */
    struct probe *probe;     /* NULL: nobody looks */
    struct delays delays;
    bool of_all;        /* every rank tells where it is, and how it fares */
    double work_per_us; /* 0: no op works */
    const struct first *first;
};

/* What the launch does before all else, if --first says so. */
struct before {
    int64_t began_ns; /* when main did */
    struct point point;
    struct first first;
};

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

/* Ranks that run engines of two kinds take what the others send for something else. */
static int expect_engine(const struct team *team)
{
    const uint64_t own = program_hash();
    uint64_t first = own;
    int err = team_bcast(team, &first, sizeof first);
    if (!err && first != own)
        err = err_say(ERR_INPUT,
                      "%s has another engine than the host of rank 0; give --stage, which brings one to all "
                      "hosts, or a cache that all of them see",
                      host_mine(team)->name);
    return err;
}

static bool any_works(const struct point *points, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; ++i)
        any = any || points[i].op->works;
    return any;
}

/* Into the records, outside all that is timed; in simulation there is no machine whose state it could be. */
static int write_state(const struct shared *s, int64_t point, int threads)
{
    struct json j = {0};
    int err = s->clock.sleeps ? 0 : state_record(s->team, &s->clock, point, threads, s->of_all, &j);
    if (!err && s->sink && j.length > 0)
        err = sink_jsonl_line(s->sink, &j);
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

/* The clock that was asked for, and what tests do to it. */
static int open_clock(struct shared *s)
{
    const struct settings *set = s->settings;
    int err = launch_clock(s->team, s->options->clock, &s->clock);
    if (!err && set->skew >= 0)
        err = clock_skew(&s->clock, (uint64_t)set->skew * 1000003 + (uint64_t)s->team->rank);
    if (!err && set->jump == s->team->rank)
        err = clock_jump(&s->clock);
    if (!err && set->wild == s->team->rank)
        err = clock_go_wild(&s->clock, (uint64_t)set->seed);
    return err;
}

static int write_launch(const struct shared *s, int threads)
{
    struct json j = {0};
    int err = launch_record(s->team, &s->clock, s->settings->seed, threads, s->of_all, &j);
    if (!err && s->sink)
        err = sink_jsonl_line(s->sink, &j);
    json_free(&j);
    return err;
}

static int open_shared(struct shared *s, const struct point *points, size_t count)
{
    const struct options *o = s->options;
    int err = sync_choose(&s->sync, o->sync, o->paths);
    err = err ? err : open_clock(s);
    if (!err && s->team->rank == 0)
        err = sink_jsonl_open(o->out, &s->sink);
    err = err ? err : write_launch(s, most_threads(points, count));
    if (!err && s->settings->probes)
        err = probe_open(s->team, &s->clock, &s->probe);
    if (!err && any_works(points, count))
        err = work_rate_find(s->team, &s->clock, &s->work_per_us);
    err = err ? err : write_state(s, -1, 1);
    return !err && o->arrivals ? points_share_delays(s->team, o->arrivals, &s->delays) : err;
}

static int close_shared(struct shared *s)
{
    int err = s->sink ? sink_jsonl_close(s->sink) : 0;
    probe_close(s->probe);
    sync_close(&s->sync);
    clock_close(&s->clock);
    delays_close(&s->delays);
    return err;
}

static int measure_one(struct shared *s, struct point point)
{
    point.work_per_us = s->work_per_us;
    point.delays = s->options->arrivals ? &s->delays : NULL;
    point.files = s->options->files;
    point.first = s->first;
    point.keep = s->settings->keep;
    point.seed = hash_mix((uint64_t)s->settings->seed + (uint64_t)point.id);
    int err =
        run_point(&point, s->team, &s->clock, &s->sync, s->probe, s->sink ? sink_jsonl_sink(s->sink) : NULL);
    return err ? err : write_state(s, point.id, point.threads);
}

static int measure(const struct options *o, const struct settings *settings, const struct team *team,
                   const struct first *first, const struct point *points, size_t count)
{
    struct shared s = {.options = o, .settings = settings, .team = team, .first = first};
    const enum keep keep = keep_of(settings->keep, team->size);
    s.of_all = keep == KEEP_RANKS || keep == KEEP_BOTH;
    int err = open_shared(&s, points, count);
    for (size_t i = 0; i < count && !err; ++i)
        err = measure_one(&s, points[i]);
    int close_err = close_shared(&s);
    return err ? err : close_err;
}

/* Each rank reads it itself: nothing can be sent yet. */
static int read_first(const struct launch *l, struct before *before)
{
    if (!l->options->first)
        return 0;
    char *line = strdup(l->options->first);
    int err = line ? point_parse(line, l->ops, l->op_count, &before->point)
                   : err_say(ERR_NOMEM, "no memory for the words of --first");
    free(line);
    if (!err && !before->point.op->first)
        err =
            err_say(ERR_INPUT, "%s is not timed before all else; leave --first out", before->point.op->name);
    return err;
}

static int do_first(struct team *team, void *data)
{
    struct before *before = data;
    const struct op *op = before->point.op;
    team->began_ns = before->began_ns;
    team->loses = op->missing || op->first->loses >= team->size ? 0 : op->first->loses;
    first_take(&before->first, &before->point, team);
    return 0;
}

/* An open team, on the CPUs that were asked for. */
static int open_team(const struct launch *l, const struct settings *settings, struct before *before,
                     struct team *team)
{
    const struct options *o = l->options;
    before->began_ns = l->began_ns;
    int err = team_open(team, o->thread_level ? o->thread_level : "single", (int)settings->ranks,
                        before->point.op ? do_first : NULL, before);
    team->began_ns = team->size == 1 || team->init_end_ns > 0 ? l->began_ns : 0;
    if (err)
        return err;
    if (settings->started > 0 && team->began_ns > 0)
        team->launch_ns = system_time_ns(CLOCK_REALTIME) - settings->started -
                          (system_time_ns(CLOCK_MONOTONIC) - team->began_ns);
    crash_watch(team->rank);
    err = expect_ranks(settings->ranks, team);
    err = err ? err : expect_engine(team);
    return !err && o->cpus ? launch_bind(o->cpus, team) : err;
}

static int run(const struct launch *l)
{
    const struct options *o = l->options;
    struct team team = {0};
    struct settings settings;
    struct before before = {0};
    struct point *points = NULL;
    size_t count = 0;
    int err = o->cpus ? launch_bind(o->cpus, NULL) : 0;
    err = err ? err : options_read(o, &settings);
    err = err ? err : read_first(l, &before);
    if (err)
        return l->complain(&team, err);
    if (!settings.yields)
        yield_disable();
    err = open_team(l, &settings, &before, &team);
    if (!err)
        err = points_share(&team, o->points, l->words, l->word, l->ops, l->op_count, &points, &count);
    if (!err)
        err = measure(o, &settings, &team, &before.first, points, count);
    free(points);
    if (!err)
        err = launch_close(&team, o->out);
    else if (team.own) {
        int code = l->complain(&team, err);
        fflush(NULL);
        crash_expect_exit();
        team_abort(&team, code);
    } else {
        hosts_close(&team);
    }
    return err ? l->complain(&team, err) : 0;
}

int launch_run(const struct launch *l)
{
    const int rank = launch_rank();
    crash_watch(rank);
    crash_watch_exit(rank);
    const int code = run(l);
    crash_expect_exit();
    return code;
}
