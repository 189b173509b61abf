#include "core/run.h"

#include "base/crash.h"
#include "base/err.h"
#include "core/agree.h"
#include "core/chunk.h"
#include "core/estimate.h"
#include "core/method.h"
#include "core/op.h"
#include "core/phase_gather.h"
#include "core/point.h"
#include "core/ranks_kept.h"
#include "core/sink.h"
#include "core/stop.h"
#include "core/timed_checks.h"
#include "machine/memory_check.h"
#include "machine/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chunk lasts some 20 ms, a block between two synchronisations 2 s at most. */
static const double CHUNK_NS = 20e6, BLOCK_NS = 2e9;
/* The last chunk before the time limit ends there, or a little later lest a few samples are missing. */
static const double AT_THE_LIMIT = 1.02;

struct run {
    const struct point *point;
    const struct team *team;
    struct sink *sink; /* on rank 0 */
    struct op_env env;
    struct buffers buffers;
    struct bench bench;
    struct cold_cache evict; /* empty unless the caches must be cold */
    struct series series;    /* on rank 0 */
    struct phases phases;    /* of an op with phases */
    struct room room;
    struct ranks_kept ranks_kept;
    struct probe *probe; /* NULL: no looks */
    bool probing;        /* after this chunk */
    double obs_ns;       /* about how long a sample takes, barrier and all; on rank 0 */
    int64_t lows;        /* samples of the lower bound so far, on rank 0 */
    int64_t begun;       /* samples, on each rank */
    struct timed_checks checks;
    bool checking; /* what was moved, after this chunk */
    enum stop stop;
};

/* Choose the number of samples of the next chunk; 0: enough. And whether to look at the machine after it.
 * Rank 0 decides. */
static int plan_chunk(struct run *r, int64_t *count)
{
    int64_t plan[3] = {0, 0, 0};
    if (r->team->rank == 0) {
        r->stop = r->point->rule->done(&r->series, r->point->rule_params);
        double most = CHUNK_NS / r->obs_ns;
        double look = (double)r->series.next_look - (double)r->series.count;
        most = fmin(look >= 1 && look < most ? look : most, CHUNK_MOST);
        double block = (double)r->point->method->block;
        const double apart = fmax(r->obs_ns, (double)r->bench.window_ns);
        block = block * apart > BLOCK_NS ? fmax(1, BLOCK_NS / apart) : block;
        most = block > 0 ? (look >= 1 && look < block ? look : block) : most;
        double left = ceil(AT_THE_LIMIT * (r->series.limit_s - r->series.seconds) * 1e9 / r->obs_ns);
        most = left >= 1 && left < most ? left : most;
        const bool is_all = r->point->method->once && r->begun > 0;
        const bool ends = r->stop != STOP_NOT_YET || is_all || r->room.back_ns || r->checks.wrong;
        most = r->point->method->once ? 1 : most;
        plan[0] = ends ? 0 : most < 1 ? 1 : (int64_t)most;
        plan[1] = probe_is_due(r->probe, (double)plan[0] * r->obs_ns);
        plan[2] = timed_checks_due(&r->checks, &r->bench, r->series.seconds);
    }
    int err = team_bcast(r->team, plan, sizeof plan);
    *count = plan[0];
    r->probing = plan[1];
    r->checking = plan[2];
    return err;
}

/* Rank 0: write a chunk, and give the rule one value for each sample that was not late; none if a clock
 * jumped. */
static int digest(struct run *r, const struct chunk *c)
{
    int err = r->sink->chunk(r->sink, r->point, c);
    for (int64_t k = 0; k < c->count && !err; ++k)
        if (c->extents[k].late || r->room.back_ns)
            ++r->series.rejected;
        else if (c->low && c->low[k])
            ++r->lows;
        else
            err = series_add(&r->series, estimate_sample(&r->bench, r->point->method, c, k));
    return err;
}

static int take_sync(struct run *r)
{
    crash_phase("synchronisation");
    r->bench.sync->keeps_all = r->ranks_kept.whole;
    r->bench.sync->keeps_worst = r->ranks_kept.reduces;
    int err = sync_take(r->bench.sync);
    return !err && r->sink ? r->sink->sync(r->sink, r->bench.sync) : err;
}

/* All samples so far, including those without a value. */
static int64_t observed(const struct run *r)
{
    return (int64_t)(r->series.count + r->series.rejected) + r->lows;
}

static int observe_samples(struct run *r, int64_t count)
{
    int err = 0;
    for (int64_t k = 0; k < count && !err; ++k) {
        struct observation o = {0};
        crash_sample(++r->begun);
        err = method_make_ready(&r->bench);
        err = err ? err : r->point->method->observe(&r->bench, &o);
        r->room.mine.start_ns[k] = o.start_ns;
        r->room.mine.stop_ns[k] = o.stop_ns;
        r->room.mine.late[k] = o.late;
        r->room.target_ns[k] = o.target_ns;
        r->room.low[k] = o.low;
        *r->room.mine.yields += o.yields;
        if (r->room.mine.counts)
            r->env.op->counted(r->bench.state, r->room.mine.counts + k * op_counters(r->env.op));
        if (r->checks.each && !err)
            err = timed_checks_do(&r->checks, &r->bench);
    }
    return err;
}

static int observe_chunk(struct run *r, int64_t count)
{
    const struct method *m = r->point->method;
    int64_t begin = clock_now(r->bench.clock);
    phases_reset(&r->phases);
    *r->room.mine.yields = 0;
    r->bench.count = count;
    r->bench.spun = (struct spun){0};
    ranks_kept_open_block(&r->ranks_kept, &r->room, &r->bench);
    int err = m->open ? m->open(&r->bench) : 0;
    r->checks.left = true;
    crash_phase("samples");
    err = err ? err : observe_samples(r, count);
    ranks_kept_close_block(&r->room, &r->bench);
    if (!err && m->sync == SYNC_BLOCK)
        err = take_sync(r);
    if (err)
        return err;
    double took = (double)(clock_now(r->bench.clock) - begin);
    r->obs_ns = took / (double)count;
    r->series.seconds += took / 1e9;
    const struct probed *probed = NULL;
    err = r->checking ? timed_checks_do(&r->checks, &r->bench) : 0;
    if (err)
        return err;
    crash_phase("gathering");
    err = r->probing ? probe_take(r->probe, r->ranks_kept.whole, &probed) : 0;
    bool synchronised = m->sync != SYNC_NEVER, windows = method_has_windows(m), whole = r->ranks_kept.whole;
    int64_t kept = -1;
    err = err ? err : ranks_kept_take(&r->ranks_kept, &r->room, r->team, &r->bench, windows, &kept);
    err = err ? err : phases_gather(r->env.phases, r->team, r->point, whole, r->sink, observed(r), count);
    if (err || r->team->rank != 0)
        return err;
    const struct stamps *stamps = whole ? &r->room.all : &r->room.mine;
    return digest(r, &(struct chunk){.first = observed(r),
                                     .ranks_kept = &r->ranks_kept,
                                     .extents = r->room.reduced->samples,
                                     .all_yields = r->room.reduced->tally.yields,
                                     .kept = kept,
                                     .kept_ns = r->room.kept,
                                     .target_ns = windows ? r->room.target_ns : NULL,
                                     .window_ns = r->bench.window_ns,
                                     .spun = windows ? stamps->spun : NULL,
                                     .counts = stamps->counts,
                                     .used = r->bench.clock->sleeps ? NULL : stamps->used,
                                     .low = m->lows ? r->room.low : NULL,
                                     .before = synchronised && r->ranks_kept.whole ? r->room.before : NULL,
                                     .after = synchronised && r->ranks_kept.whole ? r->bench.sync->all : NULL,
                                     .before_index = r->ranks_kept.before_index,
                                     .after_index = synchronised ? r->bench.sync->count - 1 : -1,
                                     .count = count,
                                     .ranks = r->team->size,
                                     .probed = probed,
                                     .start_ns = stamps->start_ns,
                                     .stop_ns = stamps->stop_ns,
                                     .yields = stamps->yields});
}

static int write_opening(struct run *r)
{
    const struct method *m = r->point->method;
    const struct op *op = r->env.op;
    double moved = m->streams ? 0 : m->messages ? (double)r->env.bytes : op->moved ? op->moved(&r->env) : 0;
    return r->sink->point(r->sink, r->point,
                          &(struct opening){.ranks = r->team->size,
                                            .parts = m->messages ? 1 : op->parts,
                                            .reps = r->bench.reps,
                                            .warm_up_reps = r->bench.warm_up_reps,
                                            .report = m->messages                  ? "message"
                                                      : r->bench.report == OP_ROOT ? "root"
                                                                                   : "slowest",
                                            .start_ns = clock_now(r->bench.clock),
                                            .moved = moved,
                                            .work = op->work ? op->work(&r->env) : 0,
                                            .below = op->below ? op->below(&r->env) : NULL,
                                            .bench = &r->bench});
}

/* Do everything between the two checks. */
static int observe_all(struct run *r)
{
    int64_t count = 1;
    crash_phase("warm-up");
    int err = r->point->method->begin(&r->bench);
    r->obs_ns = fmax(r->obs_ns, 2 * (double)r->bench.window_ns);
    if (!err && r->point->method->sync != SYNC_NEVER)
        err = take_sync(r); /* where the first block starts */
    if (!err && r->sink)
        err = write_opening(r);
    lanes_reset(&r->phases);
    while (!err && !(err = plan_chunk(r, &count)) && count > 0)
        err = observe_chunk(r, count);
    err = err ? err : ranks_kept_tell(&r->ranks_kept, r->team, r->point, r->sink);
    err = err ? err : lanes_gather(r->env.phases, r->team, r->point, r->sink);
    return !err && r->env.op->check && r->checks.left ? timed_checks_do(&r->checks, &r->bench) : err;
}

static int end(const struct run *r, const char *status, const char *why, bool verified)
{
    return !r->sink ? 0
                    : r->sink->end(r->sink, r->point,
                                   &(struct end){.status = status,
                                                 .why = why,
                                                 .flag = r->series.count ? stop_flag(r->stop) : NULL,
                                                 .count = observed(r),
                                                 .rejected = (int64_t)r->series.rejected,
                                                 .stop_ns = clock_now(r->bench.clock),
                                                 .verified = verified,
                                                 .state = r->bench.state});
}

/* Between setup and teardown: check, observe, check. */
static int measure(struct run *r)
{
    int worst = 0;
    char why[ERR_TEXT_MAX] = "";
    crash_phase("check of the answer");
    int err = agree(r->team, r->env.op->verify(r->bench.state), &worst, why);
    if (err || worst)
        return err ? err : end(r, "failed", why, false);
    err = observe_all(r);
    if (!err && r->checks.wrong)
        return end(r, "failed", r->checks.why, false);
    crash_phase("check of the answer");
    if (!err)
        err = agree(r->team, r->env.op->verify(r->bench.state), &worst, why);
    if (!worst && r->room.back_ns)
        snprintf(why, sizeof why,
                 "clock: rank %d: the clock %s jumped back by %.1f us between two readings; choose another "
                 "with --clock",
                 r->room.back_rank, r->bench.clock->name, (double)r->room.back_ns / 1e3);
    return err ? err : end(r, why[0] ? "failed" : "ok", why[0] ? why : NULL, !worst);
}

/* End the point, not the launch, if clocks cannot be related, because other methods need no common clock. All
 * ranks have the error; those that saw it have a sentence. */
static int refuse(const struct run *r)
{
    int worst = 0;
    char why[ERR_TEXT_MAX] = "", text[ERR_TEXT_MAX + ERR_TEXT_MAX];
    int err = agree(r->team, ERR_CLOCK, &worst, why);
    int length = snprintf(text, sizeof text, "%s; methods that need no common clock:", why);
    for (size_t i = 0; methods[i] && length < (int)sizeof text; ++i)
        if (methods[i]->sync == SYNC_NEVER && !methods[i]->missing && method_suits(methods[i], r->point->op))
            length += snprintf(text + length, sizeof text - (size_t)length, " %s", methods[i]->name);
    return err ? err : end(r, "failed", text, false);
}

/* Set up; return the obstacles that this rank sees, or 0. */
static int setup(struct run *r)
{
    const struct op *op = r->env.op;
    if (op->missing)
        return err_say(ERR_UNSUPPORTED, "%s", op->missing);
    if (r->point->method->missing)
        return err_say(ERR_UNSUPPORTED, "%s", r->point->method->missing);
    if (method_follows(r->point->method) && op->flow_at && op->flow_at(&r->env) != op->flow)
        return err_say(ERR_UNSUPPORTED,
                       "the method %s needs rank 0 as the root and one group that arrives together, unlike "
                       "this %s; leave its root, groups and arrival at their defaults, or use epoch",
                       r->point->method->name, op->name);
    if (r->team->size < op->least_ranks)
        return err_say(ERR_UNSUPPORTED, "%s needs %d ranks, there is %d", op->name, op->least_ranks,
                       r->team->size);
    int err = op_check_threads(op, r->env.threads);
    if (err)
        return err;
    if (r->team->size < r->point->method->least_ranks)
        return err_say(ERR_UNSUPPORTED, "the method %s needs %d ranks, there is %d", r->point->method->name,
                       r->point->method->least_ranks, r->team->size);
    ranks_kept_open(&r->ranks_kept, r->point, r->team->size);
    err = room_open(r->team, op->counts && !op->counts(&r->env) ? 0 : op_counters(op), r->ranks_kept.whole,
                    &r->room);
    if (err)
        return err;
    r->bench.own = calloc(1, r->point->method->size > 0 ? r->point->method->size : 1);
    if (!r->bench.own)
        return err_say(ERR_NOMEM, "no memory for the method %s", r->point->method->name);
    if (param_value(r->point->method->params, r->point->method_params, "cache", CACHE_WARM) == CACHE_COLD) {
        err = cold_cache_open(&r->evict);
        if (err)
            return err;
        r->bench.evict = &r->evict;
    }
    return op->setup(&r->env, &r->bench.state);
}

/* Begin the synchronisation that a method needs, at the first such method. */
static int synchronise(struct run *r, struct sync *sync)
{
    if (r->point->method->sync == SYNC_NEVER)
        return 0;
    r->bench.sync = sync;
    return sync->team ? 0 : sync_open(sync, r->team, r->bench.clock);
}

/* The input of its op and its method, nothing of which is allocated. */
static void open_run(struct run *r, const struct point *p, const struct team *team, const struct clock *clock,
                     struct probe *probe, struct sink *sink)
{
    *r = (struct run){.point = p, .team = team, .sink = sink, .obs_ns = CHUNK_NS};
    r->probe = p->threads > 1 ? NULL : probe; /* threads wait for work on the cores that it would look at */
    r->buffers = buffers_of(p->op->params, p->op_params);
    r->env = (struct op_env){.op = p->op,
                             .team = team,
                             .clock = clock,
                             .bytes = p->bytes,
                             .threads = p->threads,
                             .params = p->op_params,
                             .by_turns = p->method->messages,
                             .one_way = p->method->streams,
                             .planted = team->rank == p->plant,
                             .phases = p->op->phases ? &r->phases : NULL,
                             .buffers = &r->buffers,
                             .delays = p->delays,
                             .files = p->files,
                             .first = p->first,
                             .work_per_us = p->work_per_us};
    r->bench = (struct bench){.op = p->op,
                              .team = team,
                              .clock = clock,
                              .params = p->method_params,
                              .report = p->method->at_root ? OP_ROOT : p->op->report,
                              .brief = p->brief,
                              .phases = r->env.phases,
                              .first = p->first,
                              .checks = &r->checks,
                              .seed = p->seed};
    r->series.tick = (double)clock->tick_ns;
    timed_checks_open(&r->checks, p->op, p->op_params);
}

int run_point(const struct point *p, const struct team *team, const struct clock *clock, struct sync *sync,
              struct probe *probe, struct sink *sink)
{
    struct run r;
    open_run(&r, p, team, clock, probe, sink);
    int worst = 0;
    char why[ERR_TEXT_MAX] = "";
    crash_context(p->id, p->op->name);
    phases_open(&r.phases, clock, p->op->phases);
    int mine = setup(&r);
    int err = agree(r.team, mine, &worst, why);
    if (!err && !worst)
        err = agree(r.team, memory_check(team, r.buffers.bytes), &worst, why);
    if (!err && !worst)
        err = agree(r.team, buffers_touch(&r.buffers), &worst, why);
    if (!err)
        err = worst ? end(&r, worst == ERR_MPI || worst == ERR_SYSTEM ? "failed" : "skipped", why, false)
                    : synchronise(&r, sync);
    if (!err && !worst)
        err = measure(&r);
    if (err == ERR_CLOCK)
        err = refuse(&r);
    crash_phase("teardown");
    if (mine == 0)
        p->op->teardown(r.bench.state);
    if (r.bench.own && p->method->end)
        p->method->end(&r.bench);
    free(r.bench.own);
    phases_close(&r.phases);
    buffers_close(&r.buffers);
    room_close(&r.room);
    ranks_kept_close(&r.ranks_kept);
    cold_cache_close(&r.evict);
    series_free(&r.series);
    return err;
}
