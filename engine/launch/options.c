#include "launch/options.h"

#include "base/err.h"
#include "base/num.h"
#include "core/limits.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

const struct opt option_rows[] = {
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
    {"--keep", "ranks|sampled|slowest",
     "every rank's timestamps; what is reduced over ranks, with some of them; that alone. By the number of "
     "ranks otherwise; both, for tests",
     offsetof(struct options, keep)},
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
    {"--files", "FOLDER", "the folder of files that ops read and write, this campaign's own",
     offsetof(struct options, files)},
    {"--first", "POINT", "the words of a point whose op is timed before all else; it stands in --points, too",
     offsetof(struct options, first)},
    {"--started", "NS", "when its launcher was started, by the clock of day, since 1970",
     offsetof(struct options, started)},
    {"--load", "PATHS", "shared libraries of ops, separated by ':'", offsetof(struct options, load)},
    {"--thread-level", "LEVEL", "single, funneled, serialized, multiple",
     offsetof(struct options, thread_level)},
    {0},
};

/* A number, if it was given. */
static int number(const char *text, const char *name, int64_t least, int64_t most, int64_t *value)
{
    return text ? num_int(text, name, least, most, value) : 0;
}

/* The first of two words, which is also what nothing means, or the second. */
static int choice(const char *text, const char *name, const char *yes, const char *no, bool *value)
{
    *value = !text || strcmp(text, yes) == 0;
    return *value || strcmp(text, no) == 0
               ? 0
               : err_say(ERR_INPUT, "%s takes %s or %s, not '%s'", name, yes, no, text);
}

static int read_keep(const char *text, enum keep *keep)
{
    int i = text ? KEEP_BY_RANKS + 1 : KEEP_BY_RANKS;
    while (text && i < KEEPS && strcmp(keep_words[i], text) != 0)
        ++i;
    *keep = (enum keep)i;
    return i < KEEPS ? 0 : err_say(ERR_INPUT, "--keep takes ranks, sampled or slowest, not '%s'", text);
}

int options_read(const struct options *o, struct settings *s)
{
    *s = (struct settings){.seed = 1, .skew = -1, .jump = -1, .wild = -1};
    int err = number(o->ranks, "--ranks", 1, MOST_RANKS, &s->ranks);
    err = err ? err : choice(o->yield, "--yield", "real", "none", &s->yields);
    err = err ? err : choice(o->probe, "--probe", "on", "off", &s->probes);
    err = err ? err : read_keep(o->keep, &s->keep);
    err = err ? err : number(o->seed, "--seed", 0, MOST_SEED, &s->seed);
    err = err ? err : number(o->skew, "--skew", 0, INT64_MAX, &s->skew);
    err = err ? err : number(o->started, "--started", 0, INT64_MAX, &s->started);
    err = err ? err : number(o->jump, "--jump", 0, INT_MAX, &s->jump);
    return err ? err : number(o->wild, "--wild", 0, INT_MAX, &s->wild);
}
