#include "core/first.h"

#include "base/system_time.h"
#include "core/op.h"
#include "core/point.h"
#include "team/team.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Half a second is long against how far apart ranks leave the start of a library (ms), and short against the
 * start of a job. The last of it is waited for awake, because a sleep ends late. */
static const int64_t STEP_NS = 500000000, AWAKE_NS = 2000000;

static void wait_for_instant(struct first *f)
{
    const int64_t begin = system_time_ns(CLOCK_REALTIME);
    f->instant = begin / STEP_NS + 1;
    const int64_t at = f->instant * STEP_NS, asleep = at - begin - AWAKE_NS;
    if (asleep > 0)
        nanosleep(&(struct timespec){.tv_nsec = asleep}, NULL);
    while (system_time_ns(CLOCK_REALTIME) < at)
        ;
}

/* Keep what went wrong first. */
static void note(struct first *f, int err)
{
    if (!err || f->err)
        return;
    f->err = err;
    snprintf(f->why, sizeof f->why, "%s", err_text());
}

/* All uses, also after a wrong answer, because others wait for them; not after a call that failed. */
static int use_all(struct first *f, const struct team *team)
{
    const struct op_first *first = f->op->first;
    const int64_t uses = (int64_t)param_value(f->op->params, f->params, FIRST_USE, 1);
    int err = 0;
    for (int64_t i = 1; i <= uses && !err; ++i) {
        f->before = first->from == FIRST_FROM_MAIN ? team->before_init : memory_footprint();
        if (i == uses && first->from == FIRST_FROM_INSTANT)
            wait_for_instant(f);
        f->start_ns = first->from == FIRST_FROM_MAIN ? team->began_ns + team->before_init_ns +
                                                           team->after_init_ns /* ours, not the job's */
                                                     : system_time_ns(CLOCK_MONOTONIC);
        f->stop_ns = 0;
        err = first->use(f);
        if (f->stop_ns == 0)
            first_end(f);
        f->after = memory_footprint();
        if (!err && first->after)
            note(f, first->after(f));
    }
    return err;
}

void first_begin(struct first *f)
{
    f->start_ns = system_time_ns(CLOCK_MONOTONIC);
}

void first_end(struct first *f)
{
    f->stop_ns = system_time_ns(CLOCK_MONOTONIC);
}

static const double FEW_BYTES = 64 << 20; /* a rank that starts takes about as much */

/* Ranks cannot add up yet what they need. So each asks for all that may be on its host, and all ask before
 * any of them takes memory: at one instant, or half a second later where a rank came late. Else one would go
 * on alone, and wait for ever. From main, whatever it does is timed, so it does not wait. */
static int ask_memory(struct first *f)
{
    const struct op_first *first = f->op->first;
    const double bytes = first->memory ? first->memory(f) : 0;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int here = processors > 0 && processors < f->size ? (int)processors : f->size;
    const bool waits = first->from != FIRST_FROM_MAIN;
    if (bytes <= FEW_BYTES)
        return 0;
    if (waits)
        wait_for_instant(f);
    const double left = (double)memory_left("");
    for (int i = 0; i < 2 && waits; ++i)
        wait_for_instant(f);
    f->instant = 0;
    return bytes * here <= left
               ? 0
               : err_say(ERR_NOMEM,
                         "the buffers of %s need %.3g GB on each of the %d ranks that may be on this host, "
                         "where %.3g GB are left; use smaller messages or fewer ranks",
                         f->op->name, bytes / 1e9, here, left / 1e9);
}

static void take(struct first *f, const struct team *team)
{
    const struct op_first *first = f->op->first;
    if (first->from == FIRST_FROM_INIT) {
        f->start_ns = team->init_begin_ns;
        f->stop_ns = team->init_end_ns;
        f->before = team->before_init;
        f->after = team->after_init;
        return;
    }
    int err = ask_memory(f);
    err = err || !first->ready ? err : first->ready(f);
    note(f, err);
    if (err)
        return;
    note(f, use_all(f, team));
    if (first->done)
        first->done(f);
}

void first_take(struct first *f, const struct point *point, const struct team *team)
{
    *f = (struct first){.op = point->op,
                        .bytes = point->bytes,
                        .params = point->op_params,
                        .planted = point->plant == team->rank,
                        .rank = team->rank,
                        .size = team->size - team->loses,
                        .dies = team->rank >= team->size - team->loses,
                        .taken = true};
    if (!point->op->missing && f->size >= point->op->least_ranks)
        take(f, team);
}

int first_check(const struct first *f, const struct op *op, const struct team *team)
{
    if (!f || !f->taken || f->op != op)
        return err_say(ERR_UNSUPPORTED,
                       "%s is timed before all else in a launch of its own, begun with --first, and this is "
                       "none",
                       op->name);
    int64_t last = f->instant, first = -f->instant;
    int err = team_max(team, &last);
    err = err ? err : team_max(team, &first);
    if (!err && f->err && f->err <= ERR_NOMEM) /* `ready` refused it */
        return err_say((enum err)f->err, "%s", f->why);
    if (!err && last != -first)
        err = err_say(ERR_UNSUPPORTED,
                      "ranks came to the instant of the first use more than half a second apart, or on its "
                      "two sides: this launch has none");
    return err;
}
