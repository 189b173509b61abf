#include "sink/jsonl.h"

#include "base/crc32.h"
#include "base/err.h"
#include "base/json.h"
#include "core/method.h"
#include "core/op.h"
#include "core/point.h"
#include "core/ranks_kept.h"
#include "core/stop.h"
#include "machine/probe.h"
#include "machine/resource_use.h"
#include "sink/reduced_json.h"
#include "sync/sync.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sink_jsonl {
    struct sink sink; /* first, so that both have one address */
    FILE *file;
    const char *path;
    struct json json;
    struct crc32 crc;
    int64_t lines; /* written */
};

int sink_jsonl_line(struct sink_jsonl *s, const struct json *document)
{
    if (document->failed)
        return err_say(ERR_NOMEM, "no memory for a record of %zu bytes", document->length);
    const size_t open = document->length - 1; /* all but the last brace */
    char seal[64];
    int length = snprintf(seal, sizeof seal, ",\"line\":%" PRId64, ++s->lines);
    const uint32_t crc =
        crc32_add(&s->crc, crc32_add(&s->crc, 0, document->text, open), seal, (size_t)length);
    length += snprintf(seal + length, sizeof seal - (size_t)length, ",\"crc\":\"%08" PRIx32 "\"}\n", crc);
    if (fwrite(document->text, 1, open, s->file) != open ||
        fwrite(seal, 1, (size_t)length, s->file) != (size_t)length || fflush(s->file) != 0)
        return err_say(ERR_SYSTEM, "cannot write records to %s: %s; the records before it are kept", s->path,
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

static int write_point(struct sink *sink, const struct point *p, const struct opening *o)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    struct json *j = record(s, "point", p);
    json_string(j, "op", p->op->name);
    op_kind_json(p->op, j);
    json_int(j, "bytes", (int64_t)p->bytes);
    json_int(j, "ranks", o->ranks);
    json_int(j, "threads", p->threads);
    param_values_json(j, "params", p->op->params, p->op_params);
    json_string(j, "method", p->method->name);
    if (method_nature(p->method, p->op, o->ranks))
        json_string(j, "nature", method_nature(p->method, p->op, o->ranks));
    if (method_bound(p->method))
        json_string(j, "bound", method_bound(p->method));
    param_values_json(j, "method_params", p->method->params, p->method_params);
    json_string(j, "rule", p->rule->name);
    param_values_json(j, "rule_params", p->rule->params, p->rule_params);
    json_double(j, "moved_bytes", o->moved);
    if (o->work > 0)
        json_double(j, "work", o->work);
    if (o->below)
        json_string(j, "below", o->below);
    json_int(j, "parts", o->parts);
    json_string(j, "report", o->report);
    json_int(j, "reps", o->reps);
    json_int(j, "warm_up_reps", o->warm_up_reps);
    if (p->method->describe)
        p->method->describe(o->bench, j);
    json_int(j, "start_ns", o->start_ns);
    return finish(s);
}

/* A list for each rank: value k of rank r is at [(r * count + k) * step]. */
static void write_ranks(struct json *j, const char *key, const struct chunk *c, const int64_t *values,
                        int64_t step)
{
    json_open(j, key, '[');
    for (int r = 0; r < c->ranks; ++r)
        json_ints(j, NULL, values + r * c->count * step, c->count, (size_t)step * sizeof *values);
    json_close(j, ']');
}

static void write_counts(struct json *j, const struct op *op, const struct chunk *c)
{
    const int counters = c->counts ? op_counters(op) : 0;
    json_open(j, "counts", '{');
    for (int i = 0; i < counters; ++i)
        write_ranks(j, op->counters[i], c, c->counts + i, counters);
    json_close(j, '}');
}

/* The numbers of the marked samples. */
static void write_marked(struct json *j, const char *key, const struct chunk *c,
                         bool (*is_marked)(const struct chunk *c, int64_t k))
{
    json_open(j, key, '[');
    for (int64_t k = 0; k < c->count; ++k)
        if (is_marked(c, k))
            json_int(j, NULL, k);
    json_close(j, ']');
}

/* Is it late on any rank? */
static bool is_late(const struct chunk *c, int64_t k)
{
    return c->extents[k].late;
}

static bool is_low(const struct chunk *c, int64_t k)
{
    return c->low[k];
}

static void write_probed(struct json *j, const struct probed *probed, int ranks)
{
    json_double(j, "canary_ns", probed->canary_ns);
    json_doubles(j, "noise", probed->noise, ranks, sizeof *probed->noise);
    json_ints(j, "cpu", probed->cpu, ranks, sizeof *probed->cpu);
}

static void write_spun(struct json *j, const struct chunk *c)
{
    json_ints(j, "spun_ns", &c->spun->ns, c->ranks, sizeof *c->spun);
    json_ints(j, "spun_lost_ns", &c->spun->lost_ns, c->ranks, sizeof *c->spun);
    json_ints(j, "spun_longest_ns", &c->spun->longest_ns, c->ranks, sizeof *c->spun);
}

/* What no rank's system tells is left out. */
static void write_used(struct json *j, const struct chunk *c)
{
    json_open(j, "used", '{');
    for (int field = 0; field < USED_FIELDS; ++field) {
        bool told = false;
        for (int r = 0; r < c->ranks; ++r)
            told = told || c->used[r].value[field] >= 0;
        if (told)
            json_ints(j, used_names[field], &c->used->value[field], c->ranks, sizeof *c->used);
    }
    json_close(j, '}');
}

/* Write the values of samples, not of ranks. */
static void write_samples(struct json *j, const struct chunk *c)
{
    if (c->low)
        write_marked(j, "low", c, is_low);
    if (c->before_index >= 0) {
        json_int(j, "sync_before", c->before_index);
        json_int(j, "sync_after", c->after_index);
    }
    if (c->target_ns) {
        json_int(j, "window_ns", c->window_ns);
        json_ints(j, "target_ns", c->target_ns, c->count, sizeof *c->target_ns);
        write_marked(j, "late", c, is_late);
    }
}

/* Write every rank's timestamps. */
static int write_whole(struct sink_jsonl *s, const struct point *p, const struct chunk *c)
{
    struct json *j = record(s, "obs", p);
    json_int(j, "first", c->first);
    json_int(j, "count", c->count);
    write_ranks(j, "start_ns", c, c->start_ns, 1);
    write_ranks(j, "stop_ns", c, c->stop_ns, 1);
    json_ints(j, "yields", c->yields, c->ranks, sizeof *c->yields);
    if (c->counts)
        write_counts(j, p->op, c);
    if (c->spun)
        write_spun(j, c);
    if (c->used)
        write_used(j, c);
    if (c->probed)
        write_probed(j, c->probed, c->ranks);
    write_samples(j, c);
    return finish(s);
}

/* Write values reduced over ranks. */
static int write_reduced(struct sink_jsonl *s, const struct point *p, const struct chunk *c)
{
    struct json *j = record(s, "reduced", p);
    json_int(j, "first", c->first);
    json_int(j, "count", c->count);
    reduced_json(c, j);
    write_samples(j, c);
    return finish(s);
}

static int write_chunk(struct sink *sink, const struct point *p, const struct chunk *c)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    int err = c->ranks_kept->whole ? write_whole(s, p, c) : 0;
    return !err && c->ranks_kept->reduces ? write_reduced(s, p, c) : err;
}

static int write_standing(struct sink *sink, const struct point *p, const struct standing *all, int ranks)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    struct json *j = record(s, "ranks", p);
    standing_json(all, ranks, j);
    return finish(s);
}

static int write_phases(struct sink *sink, const struct point *p, const struct phase_chunk *c)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    struct json *j = record(s, "phases", p);
    const struct phase *rows = p->op->phases;
    const size_t row = (size_t)c->columns * sizeof *c->values; /* of a rank */
    json_int(j, "first", c->first);
    json_int(j, "count", c->count);
    if (c->ranks < c->of) {
        json_int(j, "ranks", c->of);
        chosen_json("kept", c->of, j);
    }
    json_open(j, "phases", '[');
    for (int i = 0; i < c->phases; ++i) {
        json_open(j, NULL, '{');
        json_string(j, "name", rows[i].name);
        json_bool(j, "communicates", rows[i].communicates);
        if (p->op->phase_work)
            json_double(j, "work_share", p->op->phase_work(p->op_params, i));
        json_ints(j, "ns", c->values + i, c->ranks, row);
        json_ints(j, "calls", c->values + c->phases + i, c->ranks, row);
        if (c->values[2 * c->phases + i] > 0)
            json_ints(j, "moved", c->values + 2 * c->phases + i, c->ranks, row);
        json_close(j, '}');
    }
    json_close(j, ']');
    for (int i = 0; phase_counters[i]; ++i)
        json_ints(j, phase_counters[i], c->values + 3 * c->phases + i, c->ranks, row);
    return finish(s);
}

static void write_lanes_of(struct json *j, const char *key, const struct lane_times *t, const int64_t *first)
{
    const size_t each = sizeof *t->values, row = (size_t)t->count * each;
    json_open(j, key, '[');
    for (int r = 0; r < t->ranks; ++r)
        json_ints(j, NULL, (const int64_t *)((const char *)first + (size_t)r * row), t->count, each);
    json_close(j, ']');
}

static int write_lanes(struct sink *sink, const struct point *p, const struct lane_times *t)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    struct json *j = record(s, "lanes", p);
    json_int(j, "reps", t->reps);
    write_lanes_of(j, "start_ns", t, &t->values->start_ns);
    write_lanes_of(j, "stop_ns", t, &t->values->stop_ns);
    return finish(s);
}

static struct json *sync_record(struct sink_jsonl *s, const char *name, const struct sync *sync)
{
    struct json *j = &s->json;
    json_reset(j);
    json_open(j, NULL, '{');
    json_string(j, "record", name);
    json_int(j, "index", sync->count - 1);
    json_string(j, "algorithm", sync->algorithm->name);
    json_string(j, "error_basis", sync->asymmetric ? "bound" : "closure");
    json_int(j, "domains", sync->leader_count);
    json_int(j, "cost_ns", sync->cost_ns);
    return j;
}

static int write_whole_sync(struct sink_jsonl *s, const struct sync *sync)
{
    const struct sync_point *all = sync->all;
    const int ranks = sync->team->size;
    struct json *j = sync_record(s, "sync", sync);
    json_ints(j, "at_ns", &all->map.at_ns, ranks, sizeof *all);
    if (sync->clock->skew)
        json_ints(j, "true_ns", &all->true_ns, ranks, sizeof *all);
    json_doubles(j, "offset_ns", &all->map.offset_ns, ranks, sizeof *all);
    json_open(j, "drift_ppm", '[');
    for (int r = 0; r < ranks; ++r)
        json_double(j, NULL, all[r].map.drift * 1e6);
    json_close(j, ']');
    json_doubles(j, "error_ns", &all->error_ns, ranks, sizeof *all);
    json_doubles(j, "bound_ns", &all->bound_ns, ranks, sizeof *all);
    return finish(s);
}

static int write_worst_sync(struct sink_jsonl *s, const struct sync *sync)
{
    const struct sync_worst *worst = &sync->worst;
    struct json *j = sync_record(s, "sync_reduced", sync);
    json_int(j, "at_ns", sync->mine.map.at_ns);
    json_doubles(j, "error_ns", worst->error_ns, 2, sizeof worst->error_ns[0]);
    json_doubles(j, "bound_ns", worst->bound_ns, 2, sizeof worst->bound_ns[0]);
    json_open(j, "drift_ppm", '[');
    json_double(j, NULL, worst->least_drift * 1e6);
    json_double(j, NULL, worst->most_drift * 1e6);
    json_close(j, ']');
    return finish(s);
}

static int write_sync(struct sink *sink, const struct sync *sync)
{
    struct sink_jsonl *s = (struct sink_jsonl *)sink;
    int err = sync->keeps_all ? write_whole_sync(s, sync) : 0;
    return !err && sync->keeps_worst ? write_worst_sync(s, sync) : err;
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
    if (e->state && p->op->describe_end)
        p->op->describe_end(e->state, j);
    return finish(s);
}

/* No link is followed: where others may write as well, it may lead to any file of this user. */
static FILE *open_to_append(const char *path)
{
    const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    return file < 0 ? NULL : fdopen(file, "a");
}

int sink_jsonl_open(const char *path, struct sink_jsonl **out)
{
    struct sink_jsonl *s = calloc(1, sizeof *s);
    if (!s)
        return err_say(ERR_NOMEM, "no memory for the records");
    s->sink = (struct sink){.point = write_point,
                            .chunk = write_chunk,
                            .phases = write_phases,
                            .lanes = write_lanes,
                            .sync = write_sync,
                            .standing = write_standing,
                            .end = write_end};
    crc32_prepare(&s->crc);
    s->path = path ? path : "standard output";
    s->file = path ? open_to_append(path) : stdout;
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
