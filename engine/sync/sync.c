#include "sync/pair.h"

#include "base/hash.h"
#include "base/json.h"
#include "team/hosts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CLOSURE_ROUNDS = 8, /* random pairings that check the result */
    CLOSURE_EXCHANGES = 10,
    DOMAIN_EXCHANGES = 30,
};

/* In simulations with noise the true error was at most 1.3 times the largest closure residual, and seldom
 * more than half of it. */
static const double CLOSURE_FACTOR = 1.5;

const struct sync_algorithm *const sync_algorithms[] = {&sync_tree, &sync_skampi, &sync_netgauge, &sync_hca3,
                                                        NULL};

int sync_choose(struct sync *s, const char *algorithm, const char *paths)
{
    int i = 0;
    while (algorithm && sync_algorithms[i] && strcmp(sync_algorithms[i]->name, algorithm) != 0)
        ++i;
    if (!sync_algorithms[i])
        return err_say(ERR_INPUT, "there is no synchronisation '%s'; see 'describe'", algorithm);
    if (paths && strcmp(paths, "symmetric") != 0 && strcmp(paths, "asymmetric") != 0)
        return err_say(ERR_INPUT, "--paths takes symmetric or asymmetric, not '%s'", paths);
    s->algorithm = sync_algorithms[i];
    s->asymmetric = paths && strcmp(paths, "asymmetric") == 0;
    return 0;
}

/* An offset that has changed by more than clocks may drift is of a clock that jumped. */
void sync_learned(struct sync *s, struct clock_map map, double bound_ns)
{
    double age = (double)(map.at_ns - s->mine.map.at_ns);
    double change = fabs(map.offset_ns - s->mine.map.offset_ns);
    double most = pair_most_drift * age + bound_ns + s->mine.bound_ns;
    if (s->count > 0 && change > most && !s->doubt[0])
        snprintf(s->doubt, sizeof s->doubt,
                 "the clocks of ranks %d and 0 cannot be related: they changed against each other by %.3g us "
                 "in %.3g ms",
                 s->team->rank, change / 1e3, age / 1e6);
    s->mine =
        (struct sync_point){.map = map, .bound_ns = bound_ns, .true_ns = clock_true(s->clock, map.at_ns)};
}

/* My index among the leaders; -1 when another rank's clock is mine. */
static int leader_index(const struct sync *s)
{
    for (int i = 0; i < s->leader_count; ++i)
        if (s->leaders[i] == s->team->rank)
            return i;
    return -1;
}

static bool enough_to_close(const struct sync *s, const struct clock_pair *p)
{
    (void)s;
    return p->count >= CLOSURE_EXCHANGES;
}

/* With whom I compare: leader me ^ mask, if there is one. Leaders at or above the largest power of two find a
 * partner when the mask has that bit, those below when it has not: so the rounds take turns, and no clock is
 * left unseen. Else the mask is random. */
static int closure_partner(const struct sync *s, int me, int round)
{
    int top = 1;
    while (2 * top < s->leader_count)
        top *= 2;
    int with_top = round % 2 == 0 || top == 1;
    uint64_t mixed = hash_mix((uint64_t)(s->count * CLOSURE_ROUNDS + round));
    int mask = with_top ? top + (int)(mixed % (uint64_t)top) : 1 + (int)(mixed % (uint64_t)(top - 1));
    return me ^ mask;
}

/* Random pairs, few of which the algorithm used, compare their reference times: by how many ns they disagree
 * at most, for this rank. */
static int close_pairs(struct sync *s, int me, int64_t *worst)
{
    int err = 0;
    for (int round = 0; round < CLOSURE_ROUNDS && !err && s->leader_count > 1; ++round) {
        int partner = closure_partner(s, me, round);
        struct clock_pair p;
        if (partner >= s->leader_count)
            continue;
        if (me > partner) {
            err = pair_answer(s, s->leaders[partner], &s->mine.map);
            continue;
        }
        err = pair_ask(s, s->leaders[partner], enough_to_close, &p);
        int64_t residual = llabs(llround(pair_offset(&p) - map_offset(&s->mine.map, pair_time(&p))));
        *worst = residual > *worst ? residual : *worst;
    }
    return err;
}

/* What leaders do. */
static int relate(struct sync *s, int me, int64_t *worst)
{
    int err = s->algorithm->learn(s, me);
    if (!err && me == 0)
        sync_learned(s, (struct clock_map){.at_ns = clock_now(s->clock)}, (double)s->clock->tick_ns);
    return err ? err : close_pairs(s, me, worst);
}

/* The leaders' points to those who share their clocks: which is known no better than messages can tell. */
static int share_domains(struct sync *s)
{
    int err = 0;
    if (s->leader != s->team->rank) {
        err = team_recv(s->team, s->leader, &s->mine, sizeof s->mine);
        s->mine.bound_ns += s->domain_bound_ns;
        return err;
    }
    for (int i = 1; s->led && i < host_ranks(s->team) && !err; ++i)
        if (s->led[i] == s->team->rank)
            err = team_send(s->team, host_rank(s->team, i), &s->mine, sizeof s->mine);
    return err;
}

/* Ranks that share rank 0's clock are off by its tick alone, unless only what is guaranteed counts. For all
 * others the worst that any pair saw counts, not that of their own pairs: two clocks that are wrong alike
 * agree. So does the worst that any pair may hide: with two clocks the closure goes the very path that the
 * offset came by. */
static void state_error(struct sync *s, int64_t worst)
{
    double tick = (double)s->clock->tick_ns;
    double closure = (double)worst + tick;
    s->mine.error_ns =
        s->asymmetric ? s->mine.bound_ns : fmin(s->leader == 0 ? tick : closure, s->mine.bound_ns);
}

static void add_worst(double worst[2], double value)
{
    if (value > worst[0]) {
        worst[1] = worst[0];
        worst[0] = value;
    } else if (value > worst[1])
        worst[1] = value;
}

static void merge_worst(void *into_bytes, const void *from_bytes, size_t bytes)
{
    struct sync_worst *into = into_bytes;
    const struct sync_worst *from = from_bytes;
    (void)bytes;
    for (int i = 0; i < 2; ++i) {
        add_worst(into->error_ns, from->error_ns[i]);
        add_worst(into->bound_ns, from->bound_ns[i]);
    }
    into->least_drift = fmin(into->least_drift, from->least_drift);
    into->most_drift = fmax(into->most_drift, from->most_drift);
}

/* To rank 0, what it is to know of all. */
static int tell(struct sync *s)
{
    const size_t size = (size_t)s->team->size;
    int err = 0;
    s->worst = (struct sync_worst){.error_ns = {s->mine.error_ns},
                                   .bound_ns = {s->mine.bound_ns},
                                   .least_drift = s->mine.map.drift,
                                   .most_drift = s->mine.map.drift};
    if (s->keeps_worst)
        err = team_reduce(s->team, &s->worst, sizeof s->worst, merge_worst);
    if (s->keeps_all && s->team->rank == 0 && !s->all && !(s->all = calloc(size, sizeof *s->all)))
        err = err_say(ERR_NOMEM, "no memory to synchronise %d ranks", s->team->size);
    return err || !s->keeps_all ? err : team_gather(s->team, &s->mine, sizeof s->mine, s->all);
}

int sync_take(struct sync *s)
{
    int64_t worst = 0;
    int me = leader_index(s);
    s->begin_ns = clock_now(s->clock);
    s->unseen_ns = 0;
    s->doubt[0] = '\0';
    int err = team_barrier(s->team);
    if (!err && me >= 0)
        err = relate(s, me, &worst);
    if (!err)
        err = share_domains(s);
    worst = s->doubt[0] ? INT64_MAX : llround(fmax(CLOSURE_FACTOR * (double)worst, s->unseen_ns));
    if (!err)
        err = team_max(s->team, &worst);
    if (err)
        return err;
    if (worst == INT64_MAX) {
        s->history = SYNC_NEW;
        return err_say(ERR_CLOCK, "%s", s->doubt);
    }
    state_error(s, worst);
    err = tell(s);
    ++s->count;
    s->cost_ns = clock_now(s->clock) - s->begin_ns;
    return err;
}

static bool enough_to_share(const struct sync *s, const struct clock_pair *p)
{
    (void)s;
    return p->count >= DOMAIN_EXCHANGES;
}

/* Does my clock read what the lowest rank of my host reads? Ranks of a host are asked one after the other. */
static int find_leader(struct sync *s)
{
    static const struct clock_map raw = {0};
    const int me = s->team->rank, lowest = host_first(s->team, me);
    int err = 0;
    s->leader = me;
    if (lowest != me) {
        struct clock_pair p;
        err = pair_ask(s, lowest, enough_to_share, &p);
        double slack = 3 * (double)s->clock->tick_ns + (p.high - p.low) / 2;
        if (!err && fabs(pair_offset(&p)) <= slack) {
            s->leader = lowest;
            s->domain_bound_ns = pair_apart(&p, s->clock->tick_ns);
        }
    } else
        for (int i = 1; i < host_ranks(s->team) && !err; ++i)
            err = pair_answer(s, host_rank(s->team, i), &raw);
    return err;
}

/* To all: who leads. */
static int find_leaders(struct sync *s)
{
    const size_t size = (size_t)s->team->size;
    int *all = s->team->rank == 0 ? malloc(size * sizeof *all) : NULL;
    if (s->team->rank == 0 && !all)
        return err_say(ERR_NOMEM, "no memory for the clocks of %d ranks", s->team->size);
    int err = team_gather(s->team, &s->leader, sizeof s->leader, all);
    for (int r = 0; all && r < s->team->size && !err; ++r)
        if (all[r] == r)
            all[s->leader_count++] = r;
    err = err ? err : team_bcast(s->team, &s->leader_count, sizeof s->leader_count);
    const size_t bytes = (size_t)s->leader_count * sizeof *s->leaders;
    if (!err && !(s->leaders = malloc(bytes)))
        err = err_say(ERR_NOMEM, "no memory for %d leaders of clocks", s->leader_count);
    if (!err && all)
        memcpy(s->leaders, all, bytes);
    free(all);
    return err ? err : team_bcast(s->team, s->leaders, bytes);
}

static int find_domains(struct sync *s)
{
    const int count = host_ranks(s->team);
    const bool is_lowest = host_first(s->team, s->team->rank) == s->team->rank;
    int err = find_leader(s);
    if (!err && is_lowest && !(s->led = malloc((size_t)count * sizeof *s->led)))
        err = err_say(ERR_NOMEM, "no memory for the clocks of %d ranks", count);
    err = err ? err : host_gather(s->team, &s->leader, sizeof s->leader, s->led);
    return err ? err : find_leaders(s);
}

int sync_open(struct sync *s, const struct team *team, const struct clock *clock)
{
    *s = (struct sync){.algorithm = s->algorithm ? s->algorithm : sync_algorithms[0],
                       .asymmetric = s->asymmetric,
                       .team = team,
                       .clock = clock};
    int err = find_domains(s);
    if (!err)
        err = sync_take(s);
    if (!err && s->leader_count > 1 && s->algorithm->base_line_ns > 0) {
        clock_wait(clock, clock_now(clock) + s->algorithm->base_line_ns, NULL);
        err = sync_take(s);
    }
    if (err && err != ERR_CLOCK)
        sync_close(s);
    return err;
}

void sync_close(struct sync *s)
{
    free(s->leaders);
    free(s->led);
    free(s->all);
    *s = (struct sync){0};
}

void sync_describe(struct json *j)
{
    json_open(j, "sync_algorithms", '[');
    for (int i = 0; sync_algorithms[i]; ++i) {
        json_open(j, NULL, '{');
        json_string(j, "name", sync_algorithms[i]->name);
        json_string(j, "summary", sync_algorithms[i]->summary);
        json_close(j, '}');
    }
    json_close(j, ']');
}
