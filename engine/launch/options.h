/* The options of the command line: rows, and what they ask for. */
#ifndef LAUNCH_OPTIONS_H
#define LAUNCH_OPTIONS_H

#include "base/opt.h"
#include "core/retention.h"

#include <stdbool.h>
#include <stdint.h>

/* As they are written; NULL: not given. */
struct options {
    const char *points, *out, *ranks, *yield, *clock, *cpus, *seed, *thread_level, *sync, *paths, *skew,
        *jump, *wild, *probe, *arrivals, *keep, *load, *files, *first, *started;
};

extern const struct opt option_rows[];

/* Those that are numbers or one of two words. */
struct settings {
    int64_t ranks; /* 0: not said */
    int64_t seed;
    int64_t skew;       /* -1: clocks are as they are */
    int64_t started;    /* 0: not said */
    int64_t jump, wild; /* the rank whose clock it is; -1: nobody's */
    bool probes, yields;
    enum keep keep;
};

/* ERR_INPUT. */
int options_read(const struct options *options, struct settings *settings);

#endif
