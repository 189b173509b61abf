/* Operations of your own for Steelyard, without a change of its sources.
 *
 * A shared library that has STEELYARD_LIBRARY once is a family of operations:
 *
 *     cc -O2 -fPIC -shared -I"$(steelyard op-header)" -o libmine.so mine.c
 *     steelyard run ./libmine.so:mine
 *
 * Operations that call MPI include <mpi.h> before this header, and are compiled by that MPI's mpicc. They
 * communicate over MPI_COMM_WORLD or what they make of it; Steelyard has communicators of its own.
 *
 * docs/ops/own.md says how to write one; examples has two to begin with. */
#ifndef STEELYARD_OP_H
#define STEELYARD_OP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with each change of the structs below; an engine refuses other versions in a sentence. */
#define STEELYARD_OP_VERSION 1

/* The MPI that a library is compiled for: an engine of another one refuses it. */
#if defined MPI_ABI
#define STEELYARD_OP_MPI "the standard ABI of MPI"
#elif defined OPEN_MPI
#define STEELYARD_OP_MPI "Open MPI"
#elif defined MPICH_VERSION || defined MPICH_NAME
#define STEELYARD_OP_MPI "MPICH"
#elif defined MPI_VERSION
#define STEELYARD_OP_MPI "another MPI"
#else
#define STEELYARD_OP_MPI ""
#endif

/* What a function returns that fails; it returns env->fail(KIND, "what, where, what to do"), or 0. */
enum steelyard_error {
    STEELYARD_UNSUPPORTED = 1,    /* setup: this machine or MPI lacks it; the test case is skipped */
    STEELYARD_INPUT = 2,          /* setup: parameters that cannot be; skipped */
    STEELYARD_NO_MEMORY = 3,      /* setup; skipped */
    STEELYARD_SYSTEM = 4,         /* the operating system refused */
    STEELYARD_LIBRARY_FAILED = 5, /* a call of MPI returned an error */
    STEELYARD_WRONG = 6           /* verify, check: the answer is wrong; the test case fails */
};

/* Who takes part; it decides the method that is used if none is asked for. */
enum steelyard_group {
    STEELYARD_EACH, /* each rank alone */
    STEELYARD_PAIR, /* ranks 0 and 1 communicate, others wait */
    STEELYARD_ALL   /* all ranks together */
};

/* Of STEELYARD_ALL: whose start a rank's end waits for. It decides which methods suit. */
enum steelyard_flow {
    STEELYARD_FLOW_NONE,
    STEELYARD_FLOW_OUT, /* rank 0's, as of a broadcast */
    STEELYARD_FLOW_IN,  /* of all, at rank 0, as of a reduction */
    STEELYARD_FLOW_UP,  /* those of lower ranks, as of a scan */
    STEELYARD_FLOW_ALL  /* of all, at all, as of a barrier */
};

/* The kind of value, which tables group by. */
enum steelyard_role {
    STEELYARD_CALL,       /* the cost of a call for its caller */
    STEELYARD_LATENCY,    /* a message on its way, or a load */
    STEELYARD_BANDWIDTH,  /* bytes back to back */
    STEELYARD_RATE,       /* messages per time */
    STEELYARD_COLLECTIVE, /* a collective */
    STEELYARD_PATTERN,    /* messages of many ranks at once */
    STEELYARD_KERNEL      /* the solution of a problem */
};

/* Whose duration counts. */
enum steelyard_report { STEELYARD_ROOT, STEELYARD_SLOWEST };

/* A parameter, --param NAME=VALUE: a number, or one of `words`, whose value is an index. A table of them ends
 * at a row without a name. */
struct steelyard_param {
    const char *name, *unit, *summary;
    double usual, least, most;
    const char *const *words; /* up to NULL; NULL: a number */
};

/* What setup is given; it is there until teardown returns. */
struct steelyard_env {
    int rank, ranks, threads;
    size_t bytes;         /* --bytes */
    const double *params; /* a value for each row of the operation's params */
    int planted;          /* for tests: verify flips a bit of the answer before it looks */

    /* Keep a sentence, as printf does, and return `kind`. */
    int (*fail)(enum steelyard_error kind, const char *format, ...)
#ifdef __GNUC__
        __attribute__((format(printf, 2, 3)))
#endif
        ;

    /* In setup only: memory that begins at a page, which the engine writes to before anything is timed, and
     * frees. NULL: there is none, and the sentence is kept; return STEELYARD_NO_MEMORY. */
    void *(*buffer)(const struct steelyard_env *env, size_t bytes);

    /* Put the calling thread on the CPU of thread 0, 1, ... of this rank, as --placement says; 0 is the one
     * that calls setup and run; -1 frees the calling thread again. */
    void (*place_thread)(int thread);

    void *engine; /* the engine's own */
};

/* An operation. What is 0 or NULL is left out, save name, summary, setup, run, verify, teardown. */
struct steelyard_op {
    const char *name; /* FAMILY.NAME, in small letters, digits and '_' */
    const char *summary;
    enum steelyard_group group;
    enum steelyard_flow flow;
    enum steelyard_role role;
    enum steelyard_report report;
    int parts;                       /* unit operations in a repetition, 2 of a ping-pong; 0 is 1 */
    int least_ranks;                 /* 0 is 1 */
    int least_threads, most_threads; /* 0 is 1; most_threads -1: any number */
    const char *default_bytes;       /* "8,1Ki..1Mi"; NULL: it has no size */
    const char *reference;           /* the operation that does the same without what is measured */
    const struct steelyard_param *params;

    /* Allocate and fill; on failure nothing is left behind. */
    int (*setup)(const struct steelyard_env *env, void **state);

    /* Before each sample, which is then one repetition, untimed: for what needs fresh data. */
    int (*prepare)(void *state);

    /* What is timed: so many repetitions. No allocation, no output, no branch on an option. */
    int (*run)(void *state, int64_t repetitions);

    /* Of STEELYARD_PAIR: this rank's side of one message; the lower rank sends the even ones, the other one
     * the odd ones. Methods that time single messages need it. */
    int (*turn)(void *state, int64_t message);

    /* Untimed, on all ranks at once: fresh data, a repetition, and a look at every byte of the answer. */
    int (*verify)(void *state);

    /* Untimed, on all ranks, after samples: is what they have left right? */
    int (*check)(void *state);

    void (*teardown)(void *state);

    /* What the last run counted: names up to NULL, and their values. */
    const char *const *counters;
    void (*counted)(void *state, int64_t *values);

    /* What a repetition moves, for its bandwidth, and does, for its rate. */
    double (*bytes_moved)(const struct steelyard_env *env);
    double (*operations)(const struct steelyard_env *env);
};

/* What the engine looks for. */
struct steelyard_library {
    uint32_t version, library_bytes, op_bytes, env_bytes, param_bytes;
    uint32_t count;
    const char *family, *mpi;
    const struct steelyard_op *ops;
};

/* Once in a library: its family, and an array of its operations. */
#define STEELYARD_LIBRARY(family_name, array)                                                                \
    __attribute__((visibility("default"))) extern const struct steelyard_library steelyard_library;          \
    const struct steelyard_library steelyard_library = {STEELYARD_OP_VERSION,                                \
                                                        sizeof(struct steelyard_library),                    \
                                                        sizeof(struct steelyard_op),                         \
                                                        sizeof(struct steelyard_env),                        \
                                                        sizeof(struct steelyard_param),                      \
                                                        sizeof(array) / sizeof((array)[0]),                  \
                                                        (family_name),                                       \
                                                        STEELYARD_OP_MPI,                                    \
                                                        (array)}

#ifdef __cplusplus
}
#endif

#endif
