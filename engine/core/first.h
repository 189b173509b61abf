/* The first use of a library in a launch: before the team has sent anything, once, on all ranks at one
 * instant. */
#ifndef CORE_FIRST_H
#define CORE_FIRST_H

#include "base/err.h"
#include "base/memory.h"
#include "base/opt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct op;
struct point;
struct team;

/* The start of what is timed. */
enum first_from {
    FIRST_FROM_INSTANT, /* an instant for which all ranks wait */
    FIRST_FROM_INIT,    /* the call that starts the library; there is no `use` */
    FIRST_FROM_MAIN,    /* the begin of main: ranks do not wait for each other */
};

/* What a rank does first, and when it did. */
struct first {
    const struct op *op;
    size_t bytes;
    const double *params; /* a value for each row of op->params */
    bool planted;         /* for tests: `after` corrupts what it received before it checks */
    int rank, size;       /* without the ranks that the op loses */
    bool dies;            /* this rank is one of those */
    void *own;            /* the op's, from `ready` to `done` */
    bool taken;
    int64_t instant;                /* that it waited for, in steps of CLOCK_REALTIME; 0: it did not wait */
    int64_t start_ns, stop_ns;      /* CLOCK_MONOTONIC; `stop_ns` 0 in a use: not told by it */
    struct footprint before, after; /* of the use that is timed */
    int err;                        /* of a call or a check, and its sentence */
    char why[ERR_TEXT_MAX];
};

/* An op whose subject is its first use: the functions of its family. Those that may be missing are NULL. */
struct op_first {
    enum first_from from;
    double (*memory)(const struct first *f); /* bytes that a rank takes; may be missing: few */
    int loses; /* so many ranks die in `use`, the last ones of the launch, which are not of the team */
    int (*ready)(struct first *f); /* untimed, before all uses; may be missing; an error ends it, and nothing
                                      is left behind */
    int (*use)(struct first *f);   /* what is timed, as often as the parameter FIRST_USE_PARAM says */
    int (*after)(struct first *f); /* untimed, after each use: checks what came; may be missing */
    void (*done)(struct first *f); /* frees what `ready` made; may be missing */
};

/* A parameter of such ops: which use is timed; those before are not. */
#define FIRST_USE "use"
#define FIRST_USE_PARAM                                                                                      \
    {.name = FIRST_USE,                                                                                      \
     .unit = "",                                                                                             \
     .summary = "which use in a launch is timed: 1 is the first",                                            \
     .normal = 1,                                                                                            \
     .least = 1,                                                                                             \
     .most = 1e6}

/* Take the first use of the op of a point, on an open library and before any message. Never fails: what went
 * wrong stands in `f`. Ranks wait for the next half of a second of CLOCK_REALTIME, because they cannot tell
 * each other anything yet: hosts start as far apart as their clocks of day are. */
void first_take(struct first *f, const struct point *point, const struct team *team);

/* For a `use` that does something else before what is timed, or after it. */
void first_begin(struct first *f);
void first_end(struct first *f);

/* Is it the op's, and whole on all ranks? Collective. ERR_UNSUPPORTED with a sentence, and what `ready`
 * refused (ERR_INPUT, ERR_NOMEM). */
int first_check(const struct first *f, const struct op *op, const struct team *team);

#endif
