/* An op: something that can be repeated, timed and checked. It reads no clock and prints nothing.
 *
 * A new operation is a row. A family (one file in ops/) is a function that lists its ops. Rows that share
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
    OP_LOCAL,      /* each rank alone */
    OP_P2P,        /* ranks 0 and 1 communicate, the others wait */
    OP_COLLECTIVE, /* all ranks together */
    OP_CLASSES
};

/* The starts that a rank's completion waits for; methods without a common clock depend on it. */
enum op_flow {
    FLOW_NONE,
    FLOW_OUT, /* from the root to all */
    FLOW_IN,  /* from all to the root */
    FLOW_UP,  /* from each rank to those above it */
    FLOW_ALL, /* from all to all */
    OP_FLOWS
};

/* Whose duration counts as the op's. */
enum op_report {
    OP_ROOT,    /* rank 0's */
    OP_SLOWEST, /* the longest of all ranks */
};

/* The kind of an op's value, which says what it can be compared with. */
enum op_role {
    ROLE_CALL,       /* the cost of a call or construct for its caller */
    ROLE_LATENCY,    /* a message on its way, or a load */
    ROLE_BANDWIDTH,  /* bytes of messages back to back, or of memory */
    ROLE_RATE,       /* messages per time */
    ROLE_COLLECTIVE, /* a collective of MPI, in any form */
    ROLE_PATTERN,    /* messages of many ranks at once */
    ROLE_OVERLAP,    /* messages with work beside them */
    ROLE_KERNEL,     /* the solution of a problem */
    ROLE_NOISE,      /* core time taken by others */
    ROLE_INSTRUMENT, /* the cost of measuring itself */
    ROLE_FILE,       /* data or names of a file system, by MPI or without it */
    ROLE_WORK,       /* the work of other ops, alone */
    ROLE_FAULT,      /* it fails on purpose: patterns do not select it */
    OP_ROLES
};

/* When a call of MPI returns. */
enum op_form {
    FORM_BLOCKING,    /* when it is done */
    FORM_NONBLOCKING, /* at once, with a request */
    FORM_PERSISTENT,  /* at once, with a request that is made once and used again */
    OP_FORMS
};

/* The carrier of an op's messages, if it is a layer of the path of a message; the lowest first. */
enum op_layer {
    LAYER_NONE, /* it is not compared with layers below or above it */
    LAYER_COPY,
    LAYER_SHARED_MEMORY,
    LAYER_PIPE,
    LAYER_NETWORK,
    LAYER_MPI,
    OP_LAYERS
};

/* How many of the delays that a repetition makes with the parameter `spin_ns` (ops/common/delay.h) follow
 * each other in the op's value. */
enum op_delays {
    DELAYS_NONE,    /* it has no such parameter */
    DELAYS_ONE,     /* one, or one in each thread at the same time */
    DELAYS_THREADS, /* as many as threads, which exclude each other */
    DELAYS_OTHERS,  /* one less than that */
    OP_DELAYS
};

struct delays;
struct first;
struct json;
struct op;

/* The input of an op's setup; it lives as long as the op's state. */
struct op_env {
    const struct op *op;
    const struct team *team;
    const struct clock *clock; /* only for the self.* ops, whose subject is the clock */
    size_t bytes;
    int threads;
    int lane; /* the index, if several threads do an op at once (ops/mpi/threads/threads.c); else 0 */
    int lanes_as_ranks;          /* threads of each process that are ranks of the communicator; 0: none are */
    const double *params;        /* a value for each row of op->params */
    bool by_turns;               /* the method times single messages, by `turn` */
    bool one_way;                /* and they all go one way */
    bool planted;                /* for tests: `verify` corrupts what this rank received before it checks */
    struct buffers *buffers;     /* memory for buffers (base/buffers.h): setup takes it here, the engine frees
                                    it */
    const struct delays *delays; /* when ranks come to each repetition (base/delays.h); NULL: not given */
    const char *files;           /* the folder of the campaign's files; NULL: not given */
    struct phases *phases;       /* of an op with phases, to stamp; else NULL */
    const struct first *first;   /* what this launch did first; NULL: nothing */
    double work_per_us; /* for an op that `works`: steps of work (base/work.h); 0: not in simulation */
};

struct op {
    char name[OP_NAME_MAX];
    char base[OP_NAME_MAX]; /* the part of their names that its forms share; "": it is the only form */
    const char *family, *summary;
    const char *library; /* the shared library that it comes from (ops/own/own.h); NULL: it is ours */
    enum op_class class;
    enum op_role role;
    enum op_form form;
    enum op_layer layer;
    enum op_flow flow; /* of a collective */
    enum op_report report;
    int parts;                /* unit operations in one repetition: the two messages of a ping-pong */
    int least_ranks;          /* 0 is 1 */
    bool threaded;            /* it takes more than one thread */
    int least_threads;        /* 0 is 1 */
    int most_threads;         /* of a threaded op; 0: any number */
    const char *thread_level; /* of MPI, if the user sets none; NULL: what `threads` need */
    enum op_delays delays;
    int lead_in;               /* untimed repetitions before each sample; only methods that have them suit.
                                  0: one before short samples of repetitions back to back */
    bool gapless;              /* as little untimed work as possible between its samples */
    const char *reference;     /* the op that is the same without what is measured: value less its value is an
                                  overhead; NULL: there is none */
    double least_ns;           /* so long a sample of repetitions back to back lasts at least, because of
                                  what `run` does once; 0: any */
    bool works;                /* it gets calibrated work, env->work_per_us */
    const char *default_bytes; /* NULL: the op has no size */
    const struct param *params;
    const struct phase *phases; /* its named parts; NULL: none */
    /* The share of `work` that a phase does, 0 to 1; NULL: not counted. */
    double (*phase_work)(const double *params, int phase);
    const char *missing; /* why this build cannot run it; NULL if it can */
    const void *row;     /* the family's own */

    /* Allocate and fill. ERR_UNSUPPORTED, ERR_INPUT and ERR_NOMEM make a skipped point. All ranks must return
     * them alike, or the engine makes ranks agree. A failed setup leaves nothing behind. */
    int (*setup)(const struct op_env *env, void **state);

    /* For an op that changes its data and needs fresh ones, such as a kernel that solves a problem; else
     * NULL. Called before each sample, which is then one repetition, outside the timed region. Such an op
     * lasts long, so its default method lines ranks up by a barrier. */
    int (*prepare)(void *state);

    /* The only code in the timed region: `reps` repetitions. No allocation, no I/O, no branch on an option.
     */
    int (*run)(void *state, int64_t reps);

    /* For an op whose messages can be timed singly; else NULL. This rank's side of the next message of an
     * exchange between two ranks: the lower rank sends the even ones, the other the odd ones. */
    int (*turn)(void *state, int64_t message);
    bool
        streams; /* it can leave out all odd ones: a message does not wait for the answer to the one before */

    /* For an op with `turn` whose sender may write its data before each message; else NULL. Writes outside
     * the timed region; false: the parameters do not ask for it on this rank. */
    bool (*write)(void *state);

    /* For an op whose samples are more than durations; else NULL: the names of its counters, up to NULL, and
     * the counts of the last `run`, which are read outside the timed region. Ops whose subject is not a
     * duration have their result here. */
    const char *const *counters;
    void (*counted)(void *state, int64_t *values);

    /* Does it count with these parameters? NULL: yes. */
    bool (*counts)(const struct op_env *env);

    /* The partner of this rank, -1: none. NULL: ranks 0 and 1 are partners. */
    int (*partner)(void *state);

    /* Outside the timed region, on all ranks at once: make fresh data, do one repetition or a few, check
     * every byte of the answer; if `planted`, with one bit flipped. ERR_WRONG with a sentence on what is
     * wrong. */
    int (*verify)(void *state);

    /* For an op that can check whether what was timed has arrived; else NULL. Outside the timed region, on
     * all ranks at once, between samples: check the result of all repetitions since the last check, or
     * `verify`, and make fresh data. ERR_WRONG as `verify`. Called after each of the first repetitions, for a
     * while; after each chunk of samples, if checks take less time than samples, and after the last one;
     * after each sample if the parameter OP_CHECKS_PARAM says so. */
    int (*check)(void *state);

    /* For an op with more data in the record that ends its test case, on rank 0; else NULL: "answer" of runs
     * to compare with others, the "hint" that the library got. */
    void (*describe_end)(const void *state, struct json *j);

    void (*teardown)(void *state);

    /* For an op whose subject is its first use in a launch (core/first.h), which has no `run`; else NULL. */
    const struct op_first *first;

    /* The flow, if parameters change it: another root than rank 0, several teams at once; else NULL. */
    enum op_flow (*flow_at)(const struct op_env *env);

    /* For an op of a library above the system: the name of the op that does the same without the library, by
     * the parameters, and so bounds its time; NULL: there is none. */
    const char *(*below)(const struct op_env *env);

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

/* The words of the enums above; NULL for values that are left out. */
extern const char *const op_classes[OP_CLASSES],
    *const op_flows[OP_FLOWS], *const op_delay_words[OP_DELAYS], *const op_roles[OP_ROLES],
                                                                     *const op_forms[OP_FORMS],
                                                                         *const op_layers[OP_LAYERS];

/* The name that the forms of an op share: its own if it is the only one. */
const char *op_base(const struct op *op);

/* ERR_UNSUPPORTED: it needs more threads than these, or takes fewer. */
int op_check_threads(const struct op *op, int threads);

/* "base", "form", "role" and "layer". */
void op_kind_json(const struct op *op, struct json *j);

/* How many counters it has. */
int op_counters(const struct op *op);

void op_describe(const struct op *op, struct json *j);

#endif
