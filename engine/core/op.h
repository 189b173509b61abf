/* An op: a thing that can be repeated, timed and checked. It reads no clock and prints nothing.
 *
 * A new operation is a row. A family (one file in ops/) is a function that lists its ops; rows that share
 * code, such as the blocking, nonblocking and persistent form of one collective, share it through `row`. */
#ifndef CORE_OP_H
#define CORE_OP_H

#include "base/buffers.h"
#include "base/opt.h"
#include "core/phase.h"
#include "team/team.h"
#include "time/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OP_NAME_MAX = 64 };

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

/* What the value of an op is, and so what it can be compared with. */
enum op_role {
    ROLE_CALL,       /* what a call or a construct costs who makes it */
    ROLE_LATENCY,    /* a message on its way, or a load */
    ROLE_BANDWIDTH,  /* bytes of messages back to back, or of memory */
    ROLE_RATE,       /* messages in a time */
    ROLE_COLLECTIVE, /* a collective of MPI, in any form */
    ROLE_PATTERN,    /* messages of many ranks at once */
    ROLE_OVERLAP,    /* messages with work beside them */
    ROLE_KERNEL,     /* the solution of a problem */
    ROLE_NOISE,      /* what others take of a core */
    ROLE_INSTRUMENT, /* what measuring itself costs */
    ROLE_WORK,       /* the work of others, alone */
    ROLE_FAULT,      /* it fails on purpose: only who names it means it */
    OP_ROLES
};

/* When a call of MPI comes back. */
enum op_form {
    FORM_BLOCKING,    /* when it is done */
    FORM_NONBLOCKING, /* at once, with a request */
    FORM_PERSISTENT,  /* at once, with a request that was made before and is used again */
    OP_FORMS
};

/* What carries the messages of an op that is a layer of the path of a message, the lowest first. */
enum op_layer {
    LAYER_NONE, /* it is not compared with layers below or above it */
    LAYER_COPY,
    LAYER_SHARED_MEMORY,
    LAYER_PIPE,
    LAYER_NETWORK,
    LAYER_MPI,
    OP_LAYERS
};

/* How many of the delays that a repetition makes with the parameter `spin_ns` (ops/common/delay.h) stand one
 * after another in the op's value. */
enum op_delays {
    DELAYS_NONE,    /* it has no such parameter */
    DELAYS_ONE,     /* one, or one in each thread at the same time */
    DELAYS_THREADS, /* as many as there are threads, which exclude each other */
    DELAYS_OTHERS,  /* one less than that */
    OP_DELAYS
};

struct delays;
struct json;
struct op;

/* What an op is given at setup; it lives as long as the op's state. */
struct op_env {
    const struct op *op;
    const struct team *team;
    const struct clock *clock; /* for the self.* ops alone, whose subject is the instrument */
    size_t bytes;
    int threads;
    int lane; /* of an op that several threads do at once (ops/mpi/threads/threads.c): which; 0 elsewhere */
    const double *params;    /* a value for each row of op->params */
    bool by_turns;           /* the method times messages one by one, by `turn` */
    bool planted;            /* for tests: `verify` spoils what this rank received before it looks */
    struct buffers *buffers; /* of the buffers (base/buffers.h): what setup takes from it, the engine frees */
    const struct delays *delays; /* when ranks come to each repetition (base/delays.h); NULL: nobody said */
    struct phases *phases;       /* of an op that has some, to be stamped; NULL elsewhere */
    double work_per_us; /* of an op that `works`: steps of work (base/work.h); 0: not in simulation */
};

struct op {
    char name[OP_NAME_MAX];
    char base[OP_NAME_MAX]; /* what its forms have in common of their names; "": it is the only form */
    const char *family, *summary;
    enum op_class class;
    enum op_role role;
    enum op_form form;
    enum op_layer layer;
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
    bool gapless;              /* nothing untimed is to stand between its samples, as far as can be */
    const char *reference;     /* the op that is the same without what is measured: value less its value is an
                                  overhead; NULL: there is none */
    double least_ns;           /* so long a sample of repetitions back to back lasts at least, because of
                                  what `run` does once; 0: any */
    bool works;                /* is given calibrated work, env->work_per_us */
    const char *default_bytes; /* NULL: the op has no size */
    const struct param *params;
    const struct phase *phases; /* what it names inside; NULL: nothing */
    /* What of `work` is done in a phase, 0 to 1; NULL: nobody counts. */
    double (*phase_work)(const double *params, int phase);
    const char *missing; /* why it cannot run in this build; NULL when it can */
    const void *row;     /* the family's own */

    /* Allocate and fill. ERR_UNSUPPORTED, ERR_INPUT and ERR_NOMEM make a skipped point; they must be agreed
     * on by what all ranks know, or the engine agrees on them. On failure nothing is left behind. */
    int (*setup)(const struct op_env *env, void **state);

    /* For an op that changes its data and has to begin from fresh ones, as a kernel that solves a problem;
     * NULL elsewhere. Before each sample, which is then one repetition; outside the timed region. Such
     * an op lasts long: it is lined up by a barrier unless somebody asks for more. */
    int (*prepare)(void *state);

    /* The only code in the timed region: `reps` repetitions. No allocation, no I/O, no branch on an option.
     */
    int (*run)(void *state, int64_t reps);

    /* For an op whose messages can be timed one by one; NULL elsewhere. This rank's side of the next message
     * of an exchange between two ranks: the lower one sends the even ones, the other the odd ones. */
    int (*turn)(void *state, int64_t message);

    /* For an op with `turn` whose sender may write what it sends before each message; NULL elsewhere. Do so,
     * outside the timed region; false: the parameters do not ask for it on this rank. */
    bool (*write)(void *state);

    /* For an op whose samples are more than durations; NULL elsewhere: the names of what it counts, up to
     * NULL, and what the last `run` counted of each, which is asked for outside the timed region.
     * Ops whose subject is not time spent in a call have their result here. */
    const char *const *counters;
    void (*counted)(void *state, int64_t *values);

    /* Whether it counts at all, where its parameters say so; NULL: it does. */
    bool (*counts)(const struct op_env *env);

    /* With whom this rank does so, -1: with nobody. NULL: ranks 0 and 1 with each other. */
    int (*partner)(void *state);

    /* Outside the timed region, on all ranks at once: fresh data, one repetition or a few, check every byte
     * of the answer; where `planted`, with a bit of it flipped. ERR_WRONG and a sentence that says what is
     * wrong. */
    int (*verify)(void *state);

    /* For an op that can tell whether what was timed has arrived; NULL elsewhere. Outside the timed region,
     * on all ranks at once, between samples: check what the repetitions since the last check, or `verify`,
     * have left, and make fresh data. ERR_WRONG as `verify`. After each of the first repetitions, for a
     * while; after each chunk of samples, while that takes less time than the samples, and after the last
     * one; after each sample where the parameter OP_CHECKS_PARAM says so. */
    int (*check)(void *state);

    /* For an op that has more to say in the record that ends its test case, on rank 0; NULL elsewhere:
     * "answer" of runs that others can be compared with, the "hint" that the library was given. */
    void (*describe_end)(const void *state, struct json *j);

    void (*teardown)(void *state);

    /* The flow where parameters change it: another root than rank 0, several teams at once; NULL: they do
     * not. */
    enum op_flow (*flow_at)(const struct op_env *env);

    /* Bytes that one repetition moves, for its bandwidth; NULL: it moves none. */
    double (*moved)(const struct op_env *env);

    /* Operations that one repetition does, for its rate; NULL: they are not counted. */
    double (*work)(const struct op_env *env);
};

/* A parameter of ops that have `check`. */
enum { OP_CHECKS_CHUNK, OP_CHECKS_SAMPLE };
extern const char *const op_checks_words[3];
#define OP_CHECKS_PARAM                                                                                      \
    PARAM_WORDS("check", "when what timed calls have moved is checked: after chunks of samples or each one", \
                op_checks_words)

/* A family: its rows, and how row i becomes an op. */
struct op_family {
    size_t count;
    void (*op_at)(size_t i, struct op *op);
};

/* The words of the enums above; NULL where one says that there is nothing to say. */
extern const char *const op_classes[OP_CLASSES],
    *const op_flows[OP_FLOWS], *const op_delay_words[OP_DELAYS], *const op_roles[OP_ROLES],
                                                                     *const op_forms[OP_FORMS],
                                                                         *const op_layers[OP_LAYERS];

/* The name that the forms of an op share: its own where it is the only one. */
const char *op_base(const struct op *op);

/* "base", "form", "role" and "layer". */
void op_kind_json(const struct op *op, struct json *j);

/* How many counters it has. */
int op_counters(const struct op *op);

void op_describe(const struct op *op, struct json *j);

#endif
