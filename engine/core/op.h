/* An op: a thing that can be repeated, timed and checked. It reads no clock and prints nothing.
 *
 * A new operation is a row. A family (one file in ops/) is a function that lists its ops; rows that share
 * code, such as the blocking, nonblocking and persistent form of one collective, share it through `row`. */
#ifndef CORE_OP_H
#define CORE_OP_H

#include "base/opt.h"
#include "base/store.h"
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

struct delays;
struct op;

/* What an op is given at setup; it lives as long as the op's state. */
struct op_env {
    const struct op *op;
    const struct team *team;
    const struct clock *clock; /* for the self.* ops alone, whose subject is the instrument */
    size_t bytes;
    int threads;
    const double *params; /* a value for each row of op->params */
    bool by_turns;        /* the method times messages one by one, by `turn` */
    bool planted;         /* for tests: `verify` spoils what this rank received before it looks */
    struct store *store;  /* of the buffers (base/store.h): what setup takes from it, the engine frees */
    const struct delays *delays; /* when ranks come to each repetition (base/delays.h); NULL: nobody said */
    double work_per_us; /* of an op that `works`: steps of work (base/work.h); 0: not in simulation */
};

struct op {
    char name[OP_NAME_MAX];
    const char *family, *summary;
    enum op_class class;
    enum op_flow flow; /* of a collective */
    enum op_report report;
    int parts;                 /* unit operations in one repetition: the two messages of a ping-pong */
    int least_ranks;           /* 0 is 1 */
    bool threaded;             /* takes more than one thread */
    bool works;                /* is given calibrated work, env->work_per_us */
    const char *default_bytes; /* NULL: the op has no size */
    const struct param *params;
    const char *missing; /* why it cannot run in this build; NULL when it can */
    const void *row;     /* the family's own */

    /* Allocate and fill. ERR_UNSUPPORTED, ERR_INPUT and ERR_NOMEM make a skipped point; they must be agreed
     * on by what all ranks know, or the engine agrees on them. On failure nothing is left behind. */
    int (*setup)(const struct op_env *env, void **state);

    /* The only code in the timed region: `reps` repetitions. No allocation, no I/O, no branch on an option.
     */
    int (*run)(void *state, int64_t reps);

    /* Of an op whose messages can be timed one by one; NULL elsewhere. This rank's side of the next message
     * of an exchange between two ranks: the lower one sends the even ones, the other the odd ones. */
    int (*turn)(void *state, int64_t message);

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
};

/* A family: its rows, and how row i becomes an op. */
struct op_family {
    size_t count;
    void (*op_at)(size_t i, struct op *op);
};

const char *op_class_name(enum op_class class);
const char *op_flow_name(enum op_flow flow);

void op_describe(const struct op *op, struct json *j);

#endif
