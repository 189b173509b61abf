#include "sink/reduced_json.h"

#include "base/json.h"
#include "core/ranks_kept.h"
#include "machine/probe.h"

#include <math.h>

/* A difference of timestamps to the ps: below that it is rounding. */
static double to_ps(double ns)
{
    return round(ns * 1e3) / 1e3;
}

static double took(const struct extent *e)
{
    return e->last_stop_ns - e->first_start_ns;
}

static double cost(const struct extent *e)
{
    return e->cost_ns;
}

static double skew(const struct extent *e)
{
    return e->last_start_ns - e->first_start_ns;
}

static double imbalance(const struct extent *e)
{
    return e->last_stop_ns - e->first_stop_ns;
}

static void write_extents(struct json *j, const char *key, const struct chunk *c,
                          double (*of)(const struct extent *))
{
    json_open(j, key, '[');
    for (int64_t k = 0; k < c->count; ++k)
        json_double(j, NULL, to_ps(of(&c->extents[k])));
    json_close(j, ']');
}

void chosen_json(const char *key, int ranks, struct json *j)
{
    json_open(j, key, '[');
    for (int i = 0; i < team_chosen_count(ranks); ++i)
        json_int(j, NULL, team_chosen(ranks, i));
    json_close(j, ']');
}

/* Chosen ranks' starts and stops of one sample, since the first start. */
static void write_kept(struct json *j, const struct chunk *c)
{
    static const char *const keys[] = {"start_ns", "stop_ns"};
    json_open(j, "kept", '{');
    json_int(j, "sample", c->kept);
    chosen_json("ranks", c->ranks, j);
    for (int side = 0; side < 2; ++side) {
        json_open(j, keys[side], '[');
        for (int i = 0; i < team_chosen_count(c->ranks); ++i)
            json_double(j, NULL, to_ps(c->kept_ns[2 * i + side] - c->extents[c->kept].first_start_ns));
        json_close(j, ']');
    }
    json_close(j, '}');
}

void reduced_json(const struct chunk *c, struct json *j)
{
    json_ints(j, "start_ns", c->start_ns, c->count, sizeof *c->start_ns); /* rank 0's */
    json_ints(j, "stop_ns", c->stop_ns, c->count, sizeof *c->stop_ns);
    write_extents(j, "took_ns", c, took);
    write_extents(j, "cost_ns", c, cost);
    json_ints(j, "slowest", &c->extents->slowest, c->count, sizeof *c->extents);
    if (c->before_index >= 0) {
        write_extents(j, "skew_ns", c, skew);
        write_extents(j, "imbalance_ns", c, imbalance);
    }
    json_int(j, "yields", c->all_yields);
    if (c->kept >= 0)
        write_kept(j, c);
    if (c->probed) {
        json_double(j, "canary_ns", c->probed->canary_ns);
        json_double(j, "noise", c->probed->most_noise);
    }
}

static void write_spun_of(struct json *j, const char *key, const struct spun *spun, int64_t rank)
{
    json_open(j, key, '{');
    json_int(j, "rank", rank);
    json_int(j, "ns", spun->ns);
    json_int(j, "lost_ns", spun->lost_ns);
    json_int(j, "longest_ns", spun->longest_ns);
    json_close(j, '}');
}

/* The buckets that are not empty, as pairs of a bucket and its number of ranks. */
static void write_sketch(struct json *j, const int64_t *buckets)
{
    json_double(j, "sketch_width", sketch_width);
    json_open(j, "sketch", '[');
    for (int i = 0; i < SKETCH_BUCKETS; ++i)
        if (buckets[i] > 0) {
            json_open(j, NULL, '[');
            json_int(j, NULL, i);
            json_int(j, NULL, buckets[i]);
            json_close(j, ']');
        }
    json_close(j, ']');
}

void standing_json(const struct standing *all, int ranks, struct json *j)
{
    json_int(j, "count", all->count);
    json_double(j, "least_mean_ns", to_ps(all->least_mean_ns));
    json_double(j, "mean_ns", to_ps(all->mean_sum_ns / ranks));
    json_double(j, "most_mean_ns", to_ps(all->most_mean_ns));
    write_sketch(j, all->sketch);
    if (all->worst_spun.ns > 0)
        write_spun_of(j, "worst_spun", &all->worst_spun, all->worst_rank);
    if (all->kept) {
        chosen_json("kept", ranks, j);
        json_doubles(j, "medians_ns", &all->kept->median_ns, team_chosen_count(ranks), sizeof *all->kept);
        json_doubles(j, "means_ns", &all->kept->mean_ns, team_chosen_count(ranks), sizeof *all->kept);
    }
}
