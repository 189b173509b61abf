/* An op: a thing that can be repeated, timed and checked. It reads no clock and prints nothing.
 *
 * A new operation is a row. A family (one file in ops/) is a function that lists its ops; rows that share
 * code, such as the blocking, nonblocking and persistent form of one collective, share it through `row`. */
#ifndef CORE_OP_H
#define CORE_OP_H

#include "base/opt.h"
#include "base/store.h"
#include "core/phase.h"
#include "team/team.h"
#include "time/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OP_NAME_MAX = 48 };

/* Who takes part, and so which methods make sense. */
enum op_class {
    OP_LOCAL,      /* each rank for itself */
    OP_P2P,        /* ranks 0 and 1 talk, the others wait */
    OP_COLLECTIVE, /* all ranks together */
    OP_CLASSES
};

/* Whose start which rank's completion waits for: what methods without a clock rest on. */
enum op_flow {
    FLOW_NONE,
    FLOW_OUT, /* from the root to all */
    FLOW_IN,  /* from all to the root */
    FLOW_UP,  /* from each rank to those above it */
    FLOW_ALL, /* from all to all */
    OP_FLOWS
};

/* Whose duration stands for the op. */
enum op_report {
    OP_ROOT,    /* rank 0's */
    OP_SLOWEST, /* the longest of all ranks */
};

/* How many of the delays that a repetition makes with the parameter `spin_ns` (ops/delay.h) stand one after
 * another in the op's value. */
enum op_delays {
    DELAYS_NONE,    /* it has no such parameter */
    DELAYS_ONE,     /* one, or one in each thread at the same time */
    DELAYS_THREADS, /* as many as there are threads, which exclude each other */
    DELAYS_OTHERS,  /* one less than that */
    OP_DELAYS
};

struct delays;
struct op;

/* What an op is given at setup; it lives as long as the op's state. */
struct op_env {
    const struct op *op;
    const struct team *team;
    const struct clock *clock; /* for the self.* ops alone, whose subject is the instrument */
    size_t bytes;
    int threads;
    int lane;             /* of an op that several threads do at once (ops/mpi_mt.c): which; 0 elsewhere */
    const double *params; /* a value for each row of op->params */
    bool by_turns;        /* the method times messages one by one, by `turn` */
    bool planted;         /* for tests: `verify` spoils what this rank received before it looks */
    struct store *store;  /* of the buffers (base/store.h): what setup takes from it, the engine frees */
    const struct delays *delays; /* when ranks come to each repetition (base/delays.h); NULL: nobody said */
    struct phases *phases;       /* of an op that has some, to be stamped; NULL elsewhere */
    double work_per_us; /* of an op that `works`: steps of work (base/work.h); 0: not in simulation */
};

struct op {
    char name[OP_NAME_MAX];
    const char *family, *summary;
    enum op_class class;
    enum op_flow flow; /* of a collective */
    enum op_report report;
    int parts;         /* unit operations in one repetition: the two messages of a ping-pong */
    int least_ranks;   /* 0 is 1 */
    bool threaded;     /* takes more than one thread */
    int least_threads; /* 0 is 1 */
    int most_threads;  /* of a threaded op; 0: as many as are asked for */
    const char
        *thread_level; /* of MPI, which it needs where nobody says another; NULL: what `threads` need */
    enum op_delays delays;
    bool gapless;          /* nothing untimed is to stand between its observations, as far as can be */
    const char *reference; /* the op that is the same without what is measured: value less its value is an
                              overhead; NULL: there is none */
    double least_ns;       /* so long an observation of repetitions back to back lasts at least, because of
                              what `run` does once; 0: any */
    bool works;            /* is given calibrated work, env->work_per_us */
    const char *default_bytes; /* NULL: the op has no size */
    const struct param *params;
    const struct phase *phases; /* what it names inside; NULL: nothing */
    const char *missing;        /* why it cannot run in this build; NULL when it can */
    const void *row;            /* the family's own */

    /* Allocate and fill. ERR_UNSUPPORTED, ERR_INPUT and ERR_NOMEM make a skipped point; they must be agreed
     * on by what all ranks know, or the engine agrees on them. On failure nothing is left behind. */
    int (*setup)(const struct op_env *env, void **state);

    /* Of an op that changes its data and has to begin from fresh ones, as a kernel that solves a problem;
     * NULL elsewhere. Before each observation, which is then one repetition; outside the timed region. Such
     * an op lasts long: it is lined up by a barrier unless somebody asks for more. */
    int (*prepare)(void *state);

    /* The only code in the timed region: `reps` repetitions. No allocation, no I/O, no branch on an option.
     */
    int (*run)(void *state, int64_t reps);

    /* Of an op whose messages can be timed one by one; NULL elsewhere. This rank's side of the next message
     * of an exchange between two ranks: the lower one sends the even ones, the other the odd ones. */
    int (*turn)(void *state, int64_t message);

    /* Of an op whose observations are more than durations; NULL elsewhere: the names of what it counts, up to
     * NULL, and what the last `run` counted of each, which is asked for outside the timed region.
     * Ops whose subject is not time spent in a call have their result here. */
    const char *const *counters;
    void (*counted)(void *state, int64_t *values);

    /* With whom this rank does so, -1: with nobody. NULL: ranks 0 and 1 with each other. */
    int (*partner)(void *state);

    /* Outside the timed region, on all ranks at once: fresh data, one repetition or a few, check every byte
     * of the answer; where `planted`, with a bit of it flipped. ERR_WRONG and a sentence that says what is
     * wrong. */
    int (*verify)(void *state);

    void (*teardown)(void *state);

    /* The flow where parameters change it: another root than rank 0, several teams at once; NULL: they do
     * not. */
    enum op_flow (*flow_at)(const struct op_env *env);

    /* Bytes that one repetition moves, for its bandwidth; NULL: it moves none. */
    double (*moved)(const struct op_env *env);

    /* Operations that one repetition does, for its rate; NULL: they are not counted. */
    double (*work)(const struct op_env *env);
};

/* A family: its rows, and how row i becomes an op. */
struct op_family {
    size_t count;
    void (*op_at)(size_t i, struct op *op);
};

const char *op_class_name(enum op_class class);
const char *op_flow_name(enum op_flow flow);
const char *op_delays_name(enum op_delays delays);

/* How many counters it has. */
int op_counters(const struct op *op);

void op_describe(const struct op *op, struct json *j);

#endif
