/* A method: how an observation is lined up across ranks and timed. It knows no op but through run(), and no
 * MPI. */
#ifndef CORE_METHOD_H
#define CORE_METHOD_H

#include "core/op.h"
#include "sync/sync.h"

#include <stdbool.h>
#include <stdint.h>

/* What a method works on: one point's op, set up and ready. */
struct bench {
    const struct op *op;
    void *state;
    const struct team *team;
    const struct clock *clock;
    const double *params; /* the method's */
    int64_t reps;         /* repetitions in one observation; begin() decides, the same on all ranks */
    int64_t lead_in;      /* untimed repetitions before each; begin() decides */
    struct sync *sync;    /* open where the method is synchronised, NULL elsewhere */
    uint64_t seed;        /* the same on all ranks */
    struct windows {      /* of a synchronised method: when observations are to start, in reference time */
        int64_t first_ns, width_ns;
        int64_t next, late; /* of this block: observations so far, those that started late on this rank */
        int64_t block;      /* blocks so far */
    } windows;
};

struct observation {
    int64_t start_ns, stop_ns; /* this rank's clock */
    int64_t yields;            /* calls of sched_yield() in between */
    int64_t target_ns;         /* when it was to start, in reference time; synchronised methods only */
    bool late;                 /* it started after that on this rank */
};

struct method {
    const char *name, *summary;
    const char *missing; /* why there is none in this build; NULL when there is */
    bool suits[OP_CLASSES];
    const struct param *params;

    /* Warm up and decide on bench->reps. Collective over the team. */
    int (*begin)(struct bench *bench);

    /* Line up, run, stamp. Collective over the team. */
    int (*observe)(struct bench *bench, struct observation *observation);

    /* A synchronised method: the clocks are synchronised before and after each block of at most so many
     * observations, and open() is called before it. 0: there are no blocks. */
    int64_t block;
    int (*open)(struct bench *bench);
};

/* The table; it ends at NULL. */
extern const struct method *const methods[];

const struct method *method_find(const char *name);
bool method_suits(const struct method *method, const struct op *op);

/* What suits the op's class best, where the user does not say. */
const struct method *method_default(const struct op *op);

/* What methods share. Run `reps` repetitions between two stamps: */
int method_time(const struct bench *bench, struct observation *observation);

/* Run the op untimed until it has run `least` repetitions and WARM_NS have passed on rank 0; *rep_ns: rank
 * 0's duration of a repetition in the fastest round, which nothing interrupted; the same on all ranks. */
int method_warm_up(const struct bench *bench, int64_t least, double *rep_ns);

extern const struct method method_batch, method_barrier, method_epoch, method_truth;

#endif
