#include "core/method.h"

#include "base/json.h"
#include "base/num.h"
#include "base/yield.h"

#include <stdlib.h>
#include <string.h>

const struct method *const methods[] = {
    &method_batch,
    &method_root,
    &method_rank, /* back to back */
    &method_each,
    &method_open_loop, /* message by message */
    &method_epoch,
    &method_window,
    &method_round_time, /* at instants of one clock */
    &method_barrier,
    &method_library_barrier, /* after a barrier */
    &method_ack,
    &method_bisected_ack,
    &method_trigger,
    &method_trigger_ack, /* along a path */
    &method_bounds,      /* from above and below */
    &method_first,       /* once, when the launch begins */
    &method_truth,       /* in simulation */
    NULL,
};

const struct method *method_find(const char *name)
{
    for (size_t i = 0; methods[i]; ++i)
        if (strcmp(methods[i]->name, name) == 0)
            return methods[i];
    return NULL;
}

bool method_follows(const struct method *method)
{
    bool follows = false;
    for (int flow = 0; flow < OP_FLOWS; ++flow)
        follows = follows || method->flows[flow];
    return follows;
}

bool method_suits(const struct method *method, const struct op *op)
{
    bool flows = !method_follows(method) || method->flows[op->flow];
    return method->suits[op->class] && flows && (!method->messages || op->turn) &&
           (!method->streams || op->streams) && (!op->prepare || method->single) &&
           (!op->lead_in || method->leads_in) && method->once == (op->first != NULL);
}

bool method_has_windows(const struct method *method)
{
    return method->sync != SYNC_NEVER && !method->messages;
}

/* A collective of MPI, also with work beside it. */
static bool is_collective(const struct op *op)
{
    return op->role == ROLE_COLLECTIVE || (op->role == ROLE_OVERLAP && op->class == OP_COLLECTIVE);
}

const char *method_nature(const struct method *method, const struct op *op, int ranks)
{
    const bool holds = ranks > 1 && (!method->of_collectives || is_collective(op));
    return holds ? method->nature : NULL;
}

const char *method_bound(const struct method *method)
{
    static const char *const words[BOUNDS] = {[BOUND_LOWER] = "lower", [BOUND_UPPER] = "upper"};
    return words[method->bound];
}

static void describe(const struct method *m, struct json *j)
{
    json_open(j, NULL, '{');
    json_string(j, "name", m->name);
    json_string(j, "summary", m->summary);
    json_string(j, "nature", m->nature);
    json_bool(j, "of_collectives", m->of_collectives);
    json_string(j, "bound", method_bound(m));
    json_bool(j, "synchronised", m->sync != SYNC_NEVER);
    json_int(j, "min_ranks", m->least_ranks ? m->least_ranks : 1);
    param_rows_json(j, "params", m->params);
    json_bool(j, "available", m->missing == NULL);
    json_string(j, "why_not", m->missing);
    json_close(j, '}');
}

void methods_describe(struct json *j)
{
    json_open(j, "methods", '[');
    for (size_t i = 0; methods[i]; ++i)
        describe(methods[i], j);
    json_close(j, ']');
}

const struct method *method_default(const struct op *op)
{
    static const struct method *const defaults[OP_CLASSES] = {
        [OP_LOCAL] = &method_batch, [OP_P2P] = &method_batch, [OP_COLLECTIVE] = &method_epoch};
    return op->first ? &method_first : op->prepare ? &method_barrier : defaults[op->class];
}

int method_make_ready(const struct bench *bench)
{
    if (bench->evict)
        cold_cache_empty(bench->evict);
    return bench->op->prepare ? bench->op->prepare(bench->state) : 0;
}

int method_time(const struct bench *bench, struct observation *o)
{
    int64_t yields = yield_count();
    int64_t start = clock_now(bench->clock);
    int err = bench->op->run(bench->state, bench->reps);
    int64_t stop = clock_now(bench->clock);
    o->start_ns = start;
    o->stop_ns = stop;
    o->yields = yield_count() - yields;
    return err;
}

int method_time_at(struct bench *b, int64_t target_ns, struct observation *o)
{
    int64_t local = map_to_local(&b->sync->mine.map, target_ns);
    o->target_ns = target_ns;
    o->late = clock_now(b->clock) > local;
    clock_wait(b->clock, local, &b->spun);
    return method_time(b, o);
}

int method_pilot(struct bench *bench, double rep_ns, int64_t *took_ns)
{
    enum { MOST = 20, LEAST = 3 };
    const double long_ns = 100e6; /* all of them: as long as a point's samples */
    struct bench pilot = *bench;
    int64_t took[MOST];
    int count = MOST * rep_ns < long_ns ? MOST : LEAST * rep_ns < long_ns ? (int)(long_ns / rep_ns) : LEAST;
    pilot.reps = 1;
    for (int i = 0; i < count; ++i) {
        struct observation o = {0};
        int64_t begin = clock_now(bench->clock);
        int err = method_make_ready(bench);
        if (!err)
            err = team_barrier(bench->team);
        if (!err)
            err = method_time(&pilot, &o);
        if (err)
            return err;
        took[i] = clock_now(bench->clock) - begin;
    }
    bench->warm_up_reps += count;
    qsort(took, (size_t)count, sizeof took[0], num_compare_ints);
    *took_ns = took[count == MOST ? MOST - 2 : count - 1];
    return team_max(bench->team, took_ns);
}

int method_meet(const struct bench *bench, int64_t after_ns, int64_t *reference_ns)
{
    int64_t heard = clock_now(bench->clock);
    int err = team_barrier(bench->team); /* gauges the time to tell all */
    int64_t now = clock_now(bench->clock);
    *reference_ns = map_to_reference(&bench->sync->mine.map, now) + 2 * (now - heard) + after_ns;
    return err ? err : team_max(bench->team, reference_ns);
}
