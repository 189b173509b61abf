#include "core/sink.h"

#include "base/err.h"
#include "base/json.h"
#include "core/method.h"
#include "core/op.h"
#include "core/point.h"
#include "core/probe.h"
#include "core/stop.h"
#include "sync/sync.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sink_jsonl {
    struct sink sink; /* first: the one is the other */
    FILE *file;
    const char *path;
    struct json json;
};

int sink_jsonl_line(struct sink_jsonl *s, const struct json *document)
{
    if (document->failed)
        return err_say(ERR_NOMEM, "no memory for a record of %zu bytes", document->length);
    if (fwrite(document->text, 1, document->length, s->file) != document->length ||
        fputc('\n', s->file) == EOF || fflush(s->file) != 0)
        return err_say(ERR_SYSTEM, "cannot write records to %s: %s; what stands there is kept", s->path,
                       strerror(errno));
    return 0;
}

static struct json *record(struct sink_jsonl *s, const char *name, const struct point *p)
{
    struct json *j = &s->json;
    json_reset(j);
    json_open(j, NULL, '{');
    json_string(j, "record", name);
    json_int(j, "point", p->id);
    return j;
}

static int finish(struct sink_jsonl *s)
{
    json_close(&s->json, '}');
    return sink_jsonl_line(s, &s->json);
}

static void write_path(struct json *j, const struct path *path)
{
    json_open(j, "path", '{');
    json_int(j, "late", path->late);
    json_int(j, "observer", path->observer);
    json_double(j, "late_ns", path->late_ns);
    json_double(j, "observer_ns", path->observer_ns);
    json_int(j, "loops", path->loops);
    json_close(j, '}');
}

static int write_point(struct sink *sink, const struct point *p, const struct opening *o)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    struct json *j = record(s, "point", p);
    json_string(j, "op", p->op->name);
    json_int(j, "bytes", (int64_t)p->bytes);
    json_int(j, "ranks", o->ranks);
    json_int(j, "threads", p->threads);
    param_values_json(j, "params", p->op->params, p->op_params);
    json_string(j, "method", p->method->name);
    param_values_json(j, "method_params", p->method->params, p->method_params);
    json_string(j, "rule", p->rule->name);
    param_values_json(j, "rule_params", p->rule->params, p->rule_params);
    json_double(j, "moved_bytes", o->moved);
    if (o->work > 0)
        json_double(j, "work", o->work);
    json_int(j, "parts", o->parts);
    json_string(j, "report", o->report);
    json_int(j, "reps", o->reps);
    json_int(j, "warm_up_reps", o->warm_up_reps);
    if (o->low_reps > 0)
        json_int(j, "low_reps", o->low_reps);
    if (o->path)
        write_path(j, o->path);
    if (o->partners) {
        json_open(j, "partners", '[');
        for (int i = 0; i < o->ranks; ++i)
            json_int(j, NULL, o->partners[i]);
        json_close(j, ']');
    }
    json_int(j, "start_ns", o->start_ns);
    return finish(s);
}

static void write_stamps(struct json *j, const char *key, const struct chunk *c, const int64_t *stamps)
{
    json_open(j, key, '[');
    for (int r = 0; r < c->ranks; ++r) {
        json_open(j, NULL, '[');
        for (int64_t k = 0; k < c->count; ++k)
            json_int(j, NULL, stamps[r * c->count + k]);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void write_counts(struct json *j, const struct op *op, const struct chunk *c)
{
    const int counters = op_counters(op);
    json_open(j, "counts", '{');
    for (int i = 0; i < counters; ++i) {
        json_open(j, op->counters[i], '[');
        for (int r = 0; r < c->ranks; ++r) {
            json_open(j, NULL, '[');
            for (int64_t k = 0; k < c->count; ++k)
                json_int(j, NULL, c->counts[(r * c->count + k) * counters + i]);
            json_close(j, ']');
        }
        json_close(j, ']');
    }
    json_close(j, '}');
}

static void write_spun(struct json *j, const struct chunk *c)
{
    json_open(j, "spun_ns", '[');
    for (int r = 0; r < c->ranks; ++r)
        json_int(j, NULL, c->spun[r].ns);
    json_close(j, ']');
    json_open(j, "spun_lost_ns", '[');
    for (int r = 0; r < c->ranks; ++r)
        json_int(j, NULL, c->spun[r].lost_ns);
    json_close(j, ']');
    json_open(j, "spun_longest_ns", '[');
    for (int r = 0; r < c->ranks; ++r)
        json_int(j, NULL, c->spun[r].longest_ns);
    json_close(j, ']');
}

static void write_probed(struct json *j, const struct probed *probed, int ranks)
{
    json_double(j, "canary_ns", probed->canary_ns);
    json_open(j, "noise", '[');
    for (int r = 0; r < ranks; ++r)
        json_double(j, NULL, probed->noise[r]);
    json_close(j, ']');
    json_open(j, "cpu", '[');
    for (int r = 0; r < ranks; ++r)
        json_int(j, NULL, probed->cpu[r]);
    json_close(j, ']');
}

static int write_chunk(struct sink *sink, const struct point *p, const struct chunk *c)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    struct json *j = record(s, "obs", p);
    json_int(j, "first", c->first);
    json_int(j, "count", c->count);
    write_stamps(j, "start_ns", c, c->start_ns);
    write_stamps(j, "stop_ns", c, c->stop_ns);
    json_open(j, "yields", '[');
    for (int r = 0; r < c->ranks; ++r)
        json_int(j, NULL, c->yields[r]);
    json_close(j, ']');
    if (c->counts)
        write_counts(j, p->op, c);
    if (c->spun)
        write_spun(j, c);
    if (c->probed)
        write_probed(j, c->probed, c->ranks);
    if (c->low) {
        json_open(j, "low", '[');
        for (int64_t k = 0; k < c->count; ++k)
            if (c->low[k])
                json_int(j, NULL, k);
        json_close(j, ']');
    }
    if (c->before) {
        json_int(j, "sync_before", c->before_index);
        json_int(j, "sync_after", c->after_index);
    }
    if (c->target_ns) {
        json_int(j, "window_ns", c->window_ns);
        json_open(j, "target_ns", '[');
        for (int64_t k = 0; k < c->count; ++k)
            json_int(j, NULL, c->target_ns[k]);
        json_close(j, ']');
        json_open(j, "late", '['); /* on any rank */
        for (int64_t k = 0; k < c->count; ++k)
            if (chunk_late(c, k))
                json_int(j, NULL, k);
        json_close(j, ']');
    }
    return finish(s);
}

static void write_ranks(struct json *j, const char *key, const struct phase_chunk *c, int column)
{
    json_open(j, key, '[');
    for (int r = 0; r < c->ranks; ++r)
        json_int(j, NULL, c->values[r * c->columns + column]);
    json_close(j, ']');
}

static int write_phases(struct sink *sink, const struct point *p, const struct phase_chunk *c)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    struct json *j = record(s, "phases", p);
    const struct phase *rows = p->op->phases;
    json_int(j, "first", c->first);
    json_int(j, "count", c->count);
    json_open(j, "phases", '[');
    for (int i = 0; i < c->phases; ++i) {
        json_open(j, NULL, '{');
        json_string(j, "name", rows[i].name);
        json_bool(j, "communicates", rows[i].communicates);
        write_ranks(j, "ns", c, i);
        write_ranks(j, "calls", c, c->phases + i);
        json_close(j, '}');
    }
    json_close(j, ']');
    for (int i = 0; phase_counters[i]; ++i)
        write_ranks(j, phase_counters[i], c, 2 * c->phases + i);
    return finish(s);
}

static void write_column(struct json *j, const char *key, const struct sync *sync,
                         double (*of)(const struct sync_point *))
{
    json_open(j, key, '[');
    for (int r = 0; r < sync->team->size; ++r)
        json_double(j, NULL, of(&sync->all[r]));
    json_close(j, ']');
}

static double offset_of(const struct sync_point *p)
{
    return p->map.offset_ns;
}

static double drift_ppm_of(const struct sync_point *p)
{
    return p->map.drift * 1e6;
}

static double error_of(const struct sync_point *p)
{
    return p->error_ns;
}

static double bound_of(const struct sync_point *p)
{
    return p->bound_ns;
}

static int write_sync(struct sink *sink, const struct sync *sync)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    struct json *j = &s->json;
    json_reset(j);
    json_open(j, NULL, '{');
    json_string(j, "record", "sync");
    json_int(j, "index", sync->count - 1);
    json_string(j, "algorithm", sync->algorithm->name);
    json_string(j, "error_basis", sync->asymmetric ? "bound" : "closure");
    json_int(j, "domains", sync->leader_count);
    json_int(j, "cost_ns", sync->cost_ns);
    json_open(j, "at_ns", '[');
    for (int r = 0; r < sync->team->size; ++r)
        json_int(j, NULL, sync->all[r].map.at_ns);
    json_close(j, ']');
    if (sync->clock->skew) {
        json_open(j, "true_ns", '[');
        for (int r = 0; r < sync->team->size; ++r)
            json_int(j, NULL, sync->all[r].true_ns);
        json_close(j, ']');
    }
    write_column(j, "offset_ns", sync, offset_of);
    write_column(j, "drift_ppm", sync, drift_ppm_of);
    write_column(j, "error_ns", sync, error_of);
    write_column(j, "bound_ns", sync, bound_of);
    return finish(s);
}

static int write_end(struct sink *sink, const struct point *p, const struct end *e)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    struct json *j = record(s, "end", p);
    json_string(j, "status", e->status);
    json_string(j, "why", e->why);
    json_string(j, "flag", e->flag);
    json_int(j, "count", e->count);
    json_int(j, "rejected", e->rejected);
    json_bool(j, "verified", e->verified);
    json_int(j, "stop_ns", e->stop_ns);
    return finish(s);
}

int sink_jsonl_open(const char *path, struct sink_jsonl **out)
{
    struct sink_jsonl *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the records");
    s->sink = (struct sink){.point = write_point,
                            .chunk = write_chunk,
                            .phases = write_phases,
                            .sync = write_sync,
                            .end = write_end};
    s->path = path ? path : "standard output";
    s->file = path ? fopen(path, "a") : stdout;
    if (!s->file) {
        free(s);
        return err_say(ERR_SYSTEM, "cannot open %s for records: %s", path, strerror(errno));
    }
    *out = s;
    return 0;
}

int sink_jsonl_close(struct sink_jsonl *s)
{
    int rc = s->file == stdout ? fflush(s->file) : fclose(s->file);
    int err = rc ? err_say(ERR_SYSTEM, "cannot finish the records in %s: %s", s->path, strerror(errno)) : 0;
    json_free(&s->json);
    free(s);
    return err;
}

struct sink *sink_jsonl_sink(struct sink_jsonl *s)
{
    return &s->sink;
}
