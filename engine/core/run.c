#include "core/run.h"

#include "base/crash.h"
#include "base/err.h"
#include "core/method.h"
#include "core/op.h"
#include "core/point.h"
#include "core/probe.h"
#include "core/sink.h"
#include "core/stop.h"
#include "core/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chunk is flushed as a whole and lost as a whole: some 20 ms of observations, and not more than fit in a
 * cache. */
enum { CHUNK_MOST = 1024 };
static const double CHUNK_NS = 20e6;

/* Nor does a block between two synchronisations last longer, though it would be more economical. */
static const double BLOCK_NS = 2e9;

/* Stamps of a chunk, mine or everybody's: of rank r, observation k stands at [r * count + k]. */
struct stamps {
    int64_t *start_ns, *stop_ns, *yields, *late;
};

/* Whether a method's observations are of windows, of a lower bound too, between synchronisations. */
static bool has_windows(const struct method *m)
{
    return m->sync != SYNC_NEVER && !m->messages;
}

struct run {
    const struct point *point;
    const struct team *team;
    struct sink *sink; /* on rank 0 */
    struct op_env env;
    struct bench bench;
    struct evict evict;   /* empty unless the caches are to be cold */
    struct series series; /* on rank 0 */
    struct stamps mine, all;
    int64_t *target_ns, *low;  /* of each observation of the chunk, the same on all ranks */
    struct sync_point *before; /* on rank 0, of every rank: the synchronisation before the chunk */
    int64_t before_index;
    int64_t
        *partners; /* on rank 0, of each rank: whom it exchanges messages with, of methods that time them */
    int64_t *last_ns;    /* on rank 0, of each rank: its latest stamp */
    int64_t back_ns;     /* on rank 0: by how much a clock jumped back; 0: none has */
    int back_rank;       /* whose */
    struct probe *probe; /* NULL: nobody looks */
    bool probing;        /* after this chunk */
    double obs_ns;       /* about how long an observation takes, barrier and all; on rank 0 */
    int64_t lows;        /* observations of the lower bound so far, on rank 0 */
    enum stop stop;
};

/* What all ranks must know after something that each may have failed at: the worst error, and on rank 0 the
 * sentence of the first rank that met it. */
static int agree(const struct run *r, int mine, int *worst, char why[ERR_TEXT_MAX])
{
    int64_t value = mine;
    int err = team_max(r->team, &value);
    *worst = (int)value;
    if (err || value == 0)
        return err;
    char text[ERR_TEXT_MAX] = "", *texts = NULL;
    if (mine == *worst)
        snprintf(text, sizeof text, "%s", err_text());
    if (r->team->rank == 0 && !(texts = malloc((size_t)r->team->size * sizeof text)))
        return err_say(ERR_NOMEM, "no memory for the ranks' messages");
    err = team_gather(r->team, text, sizeof text, texts);
    why[0] = '\0';
    for (int i = 0; texts && i < r->team->size && !why[0]; ++i)
        if (texts[(size_t)i * sizeof text])
            snprintf(why, ERR_TEXT_MAX, "%s: rank %d: %.200s", err_word((int)value), i,
                     texts + (size_t)i * sizeof text);
    free(texts);
    return err;
}

/* How many observations the next chunk has; 0: enough. And whether to look at the machine after it. Rank 0
 * decides. */
static int plan_chunk(struct run *r, int64_t *count)
{
    int64_t plan[2] = {0, 0};
    if (r->team->rank == 0) {
        r->stop = r->point->rule->done(&r->series, r->point->rule_params);
        double most = CHUNK_NS / r->obs_ns;
        double look = (double)r->series.next_look - (double)r->series.count;
        most = look >= 1 && look < most ? look : most;
        most = most > CHUNK_MOST ? CHUNK_MOST : most;
        double block = (double)r->point->method->block;
        block = block * r->obs_ns > BLOCK_NS ? fmax(1, BLOCK_NS / r->obs_ns) : block;
        most = block > 0 ? (look >= 1 && look < block ? look : block) : most;
        plan[0] = r->stop != STOP_NOT_YET || r->back_ns ? 0 : most < 1 ? 1 : (int64_t)most;
        plan[1] = probe_is_due(r->probe, (double)plan[0] * r->obs_ns);
    }
    int err = team_bcast(r->team, plan, sizeof plan);
    *count = plan[0];
    r->probing = plan[1];
    return err;
}

static enum op_report report_of(const struct run *r)
{
    return r->point->method->at_root ? OP_ROOT : r->point->op->report;
}

static double value_of(const struct run *r, const struct chunk *c, int64_t k)
{
    if (c->before)
        return r->point->method->messages ? value_messages(c, k, r->partners) : value_global(c, k);
    return value_local(c, k, report_of(r)) - r->bench.path.late_ns - r->bench.path.observer_ns;
}

/* Rank 0: does a rank's clock show an earlier time than it has shown before? Then no duration of it is worth
 * anything, and the point ends. */
static void find_jump(struct run *r, const struct chunk *c)
{
    for (int i = 0; i < c->ranks; ++i)
        for (int64_t k = 0; k < c->count; ++k) {
            int64_t start = c->start_ns[i * c->count + k], stop = c->stop_ns[i * c->count + k];
            int64_t last = k || c->first ? r->last_ns[i] : start;
            int64_t back = last - start > start - stop ? last - start : start - stop;
            r->last_ns[i] = stop;
            if (back > r->back_ns) {
                r->back_ns = back;
                r->back_rank = i;
            }
        }
}

/* Rank 0: write a chunk down and show the rule one value for each observation that was not late. None where a
 * clock jumped. */
static int digest(struct run *r, const struct chunk *c)
{
    int err = r->sink->chunk(r->sink, r->point, c);
    find_jump(r, c);
    for (int64_t k = 0; k < c->count && !err; ++k)
        if (chunk_late(c, k) || r->back_ns)
            ++r->series.rejected;
        else if (c->low && c->low[k])
            ++r->lows;
        else
            err = series_add(&r->series, value_of(r, c, k));
    return err;
}

/* Rank 0 keeps the synchronisation that a block starts from, which the last one's end may have been. */
static int open_block(struct run *r)
{
    const struct method *m = r->point->method;
    if (m->sync != SYNC_NEVER && r->team->rank == 0) {
        memcpy(r->before, r->bench.sync->all, (size_t)r->team->size * sizeof *r->before);
        r->before_index = r->bench.sync->count - 1;
    }
    return m->open ? m->open(&r->bench) : 0;
}

static int take_sync(struct run *r)
{
    int err = sync_take(r->bench.sync);
    return !err && r->sink ? r->sink->sync(r->sink, r->bench.sync) : err;
}

/* All observations so far, those that gave no value among them. */
static int64_t observed(const struct run *r)
{
    return (int64_t)(r->series.count + r->series.rejected) + r->lows;
}

/* Everybody's stamps to rank 0. */
static int gather_chunk(struct run *r, int64_t count)
{
    size_t bytes = (size_t)count * sizeof(int64_t);
    int err = team_gather(r->team, r->mine.start_ns, bytes, r->all.start_ns);
    if (!err)
        err = team_gather(r->team, r->mine.stop_ns, bytes, r->all.stop_ns);
    if (!err)
        err = team_gather(r->team, r->mine.yields, sizeof *r->mine.yields, r->all.yields);
    if (!err && has_windows(r->point->method))
        err = team_gather(r->team, r->mine.late, bytes, r->all.late);
    return err;
}

static int observe_chunk(struct run *r, int64_t count)
{
    const struct method *m = r->point->method;
    int64_t begin = clock_now(r->bench.clock);
    *r->mine.yields = 0;
    r->bench.count = count;
    int err = open_block(r);
    for (int64_t k = 0; k < count && !err; ++k) {
        struct observation o = {0};
        if (r->bench.evict)
            evict_caches(r->bench.evict);
        err = m->observe(&r->bench, &o);
        r->mine.start_ns[k] = o.start_ns;
        r->mine.stop_ns[k] = o.stop_ns;
        r->mine.late[k] = o.late;
        r->target_ns[k] = o.target_ns;
        r->low[k] = o.low;
        *r->mine.yields += o.yields;
    }
    if (!err && m->sync == SYNC_BLOCK)
        err = take_sync(r);
    if (err)
        return err;
    double took = (double)(clock_now(r->bench.clock) - begin);
    r->obs_ns = took / (double)count;
    r->series.seconds += took / 1e9;
    const struct probed *probed = NULL;
    err = r->probing ? probe_take(r->probe, &probed) : 0;
    err = err ? err : gather_chunk(r, count);
    if (err || r->team->rank != 0)
        return err;
    bool synchronised = m->sync != SYNC_NEVER, windows = has_windows(m);
    return digest(r, &(struct chunk){.first = observed(r),
                                     .target_ns = windows ? r->target_ns : NULL,
                                     .late = windows ? r->all.late : NULL,
                                     .window_ns = r->bench.windows.width_ns,
                                     .low = r->bench.low_reps > 0 ? r->low : NULL,
                                     .before = synchronised ? r->before : NULL,
                                     .after = synchronised ? r->bench.sync->all : NULL,
                                     .before_index = r->before_index,
                                     .after_index = synchronised ? r->bench.sync->count - 1 : 0,
                                     .count = count,
                                     .ranks = r->team->size,
                                     .probed = probed,
                                     .start_ns = r->all.start_ns,
                                     .stop_ns = r->all.stop_ns,
                                     .yields = r->all.yields});
}

static int write_opening(struct run *r)
{
    const struct method *m = r->point->method;
    const struct op *op = r->env.op;
    double moved = m->messages ? (double)r->env.bytes : op->moved ? op->moved(&r->env) : 0;
    return r->sink->point(r->sink, r->point,
                          &(struct opening){.ranks = r->team->size,
                                            .parts = m->messages ? 1 : op->parts,
                                            .reps = r->bench.reps,
                                            .warm_up_reps = r->bench.warm_up_reps,
                                            .low_reps = r->bench.low_reps,
                                            .report = m->messages               ? "message"
                                                      : report_of(r) == OP_ROOT ? "root"
                                                                                : "slowest",
                                            .start_ns = clock_now(r->bench.clock),
                                            .moved = moved,
                                            .partners = op->partner && m->messages ? r->partners : NULL,
                                            .path = r->bench.path.loops > 0 ? &r->bench.path : NULL});
}

static int gather_partners(struct run *r)
{
    int64_t mine = r->bench.partner;
    return team_gather(r->team, &mine, sizeof mine, r->partners);
}

/* Everything between the two checks. */
static int observe_all(struct run *r)
{
    int64_t count = 1;
    int err = r->point->method->begin(&r->bench);
    r->obs_ns = fmax(r->obs_ns, 2 * (double)r->bench.windows.width_ns);
    if (!err && r->point->method->sync != SYNC_NEVER)
        err = take_sync(r); /* what the first block starts from */
    if (!err && r->point->method->messages)
        err = gather_partners(r);
    if (!err && r->sink)
        err = write_opening(r);
    while (!err && !(err = plan_chunk(r, &count)) && count > 0)
        err = observe_chunk(r, count);
    return err;
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
                                                 .verified = verified});
}

static bool stamps_alloc(struct stamps *s, size_t ranks)
{
    s->start_ns = calloc(ranks * CHUNK_MOST, sizeof(int64_t));
    s->stop_ns = calloc(ranks * CHUNK_MOST, sizeof(int64_t));
    s->yields = calloc(ranks, sizeof(int64_t));
    s->late = calloc(ranks * CHUNK_MOST, sizeof(int64_t));
    return s->start_ns && s->stop_ns && s->yields && s->late;
}

static void stamps_free(struct stamps *s)
{
    free(s->start_ns);
    free(s->stop_ns);
    free(s->yields);
    free(s->late);
}

/* Between setup and teardown: check, observe, check. */
static int measure(struct run *r)
{
    int worst = 0;
    char why[ERR_TEXT_MAX] = "";
    int err = agree(r, r->env.op->verify(r->bench.state), &worst, why);
    if (err || worst)
        return err ? err : end(r, "failed", why, false);
    err = observe_all(r);
    if (!err)
        err = agree(r, r->env.op->verify(r->bench.state), &worst, why);
    if (!worst && r->back_ns)
        snprintf(why, sizeof why,
                 "clock: rank %d: the clock %s jumped back by %.1f us between two readings; choose another "
                 "with --clock",
                 r->back_rank, r->bench.clock->name, (double)r->back_ns / 1e3);
    return err ? err : end(r, why[0] ? "failed" : "ok", why[0] ? why : NULL, !worst);
}

/* Clocks that cannot be related end the point and not the launch, for other methods need no such thing. All
 * ranks have the error; those that saw it have a sentence. */
static int refuse(const struct run *r)
{
    int worst = 0;
    char why[ERR_TEXT_MAX] = "", text[ERR_TEXT_MAX + ERR_TEXT_MAX];
    int err = agree(r, ERR_CLOCK, &worst, why);
    int length = snprintf(text, sizeof text, "%s; methods that need no common clock:", why);
    for (size_t i = 0; methods[i] && length < (int)sizeof text; ++i)
        if (methods[i]->sync == SYNC_NEVER && method_suits(methods[i], r->point->op))
            length += snprintf(text + length, sizeof text - (size_t)length, " %s", methods[i]->name);
    return err ? err : end(r, "failed", text, false);
}

static bool is_cold(const struct point *p)
{
    int row = param_find(p->method->params, "cache");
    return row >= 0 && strcmp(p->method->params[row].words[(int)p->method_params[row]], "cold") == 0;
}

static int check_threads(const struct op *op, int threads)
{
    const bool few = threads < op->least_threads, many = op->most_threads && threads > op->most_threads;
    const int fit = few ? op->least_threads : op->most_threads;
    return !few && !many ? 0
                         : err_say(ERR_UNSUPPORTED, "%s needs %s %d threads, not %d; give --threads %d",
                                   op->name, few ? "at least" : "at most", fit, threads, fit);
}

/* What this rank can see is in the way of the point, or 0. */
static int setup(struct run *r)
{
    const struct op *op = r->env.op;
    if (op->missing)
        return err_say(ERR_UNSUPPORTED, "%s", op->missing);
    if (r->point->method->missing)
        return err_say(ERR_UNSUPPORTED, "%s", r->point->method->missing);
    if (method_follows(r->point->method) && op->flow_at && op->flow_at(&r->env) != op->flow)
        return err_say(ERR_UNSUPPORTED,
                       "the method %s rests on who waits for whom in %s from or to rank 0, in one group that "
                       "comes together; leave its root, groups and arrival as they are, or use epoch",
                       r->point->method->name, op->name);
    if (r->team->size < op->least_ranks)
        return err_say(ERR_UNSUPPORTED, "%s needs %d ranks, there is %d", op->name, op->least_ranks,
                       r->team->size);
    int err = check_threads(op, r->env.threads);
    if (err)
        return err;
    if (r->team->size < r->point->method->least_ranks)
        return err_say(ERR_UNSUPPORTED, "the method %s needs %d ranks, there is %d", r->point->method->name,
                       r->point->method->least_ranks, r->team->size);
    size_t size = (size_t)r->team->size;
    r->target_ns = calloc(CHUNK_MOST, sizeof *r->target_ns);
    r->low = calloc(CHUNK_MOST, sizeof *r->low);
    r->bench.stamps_ns = calloc(CHUNK_MOST, sizeof *r->bench.stamps_ns);
    r->before = calloc(size, sizeof *r->before);
    r->last_ns = calloc(size, sizeof *r->last_ns);
    r->partners = calloc(size, sizeof *r->partners);
    if (!stamps_alloc(&r->mine, 1) || (r->sink && !stamps_alloc(&r->all, size)) || !r->target_ns || !r->low ||
        !r->bench.stamps_ns || !r->before || !r->last_ns || !r->partners)
        return err_say(ERR_NOMEM, "no memory for the stamps of %d ranks", r->team->size);
    if (is_cold(r->point)) {
        err = evict_open(&r->evict);
        if (err)
            return err;
        r->bench.evict = &r->evict;
    }
    return op->setup(&r->env, &r->bench.state);
}

/* The synchronisation that a method needs, begun when the first one does. */
static int synchronise(struct run *r, struct sync *sync)
{
    if (r->point->method->sync == SYNC_NEVER)
        return 0;
    r->bench.sync = sync;
    return sync->team ? 0 : sync_open(sync, r->team, r->bench.clock);
}

int run_point(const struct point *p, const struct team *team, const struct clock *clock, struct sync *sync,
              struct probe *probe, struct sink *sink)
{
    struct run r = {.point = p, .team = team, .sink = sink, .obs_ns = CHUNK_NS};
    r.probe = p->threads > 1 ? NULL : probe; /* threads wait for work on cores that it would look at */
    r.env = (struct op_env){p->op,
                            team,
                            clock,
                            p->bytes,
                            p->threads,
                            p->op_params,
                            p->method->messages,
                            team->rank == p->plant,
                            p->work_per_us};
    r.bench = (struct bench){
        .op = p->op, .team = team, .clock = clock, .params = p->method_params, .seed = p->seed};
    r.series.tick = (double)clock->tick_ns;
    int worst = 0;
    char why[ERR_TEXT_MAX] = "";
    crash_context(p->id, p->op->name);
    int mine = setup(&r);
    int err = agree(&r, mine, &worst, why);
    if (!err)
        err = worst ? end(&r, worst == ERR_MPI ? "failed" : "skipped", why, false) : synchronise(&r, sync);
    if (!err && !worst)
        err = measure(&r);
    if (err == ERR_CLOCK)
        err = refuse(&r);
    if (mine == 0)
        p->op->teardown(r.bench.state);
    stamps_free(&r.mine);
    stamps_free(&r.all);
    evict_close(&r.evict);
    free(r.target_ns);
    free(r.low);
    free(r.bench.stamps_ns);
    free(r.before);
    free(r.last_ns);
    free(r.partners);
    series_free(&r.series);
    return err;
}
