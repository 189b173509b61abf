/* A method: how a sample is lined up across ranks and timed. It knows no op but through run(), and no
 * MPI. */
#ifndef CORE_METHOD_H
#define CORE_METHOD_H

#include "core/cold_cache.h"
#include "core/op.h"
#include "sync/sync.h"

#include <stdbool.h>
#include <stdint.h>

struct chunk;
struct json;
struct moved;

/* What a method works on: one point's op, set up and ready. */
struct bench {
    const struct op *op;
    void *state;
    const struct team *team;
    const struct clock *clock;
    struct phases *phases;    /* of an op that has some; NULL elsewhere */
    struct moved *moved;      /* checks of what was moved; NULL in tests of methods */
    const double *params;     /* the method's */
    enum op_report report;    /* whose duration stands for the op, by this method */
    bool brief;               /* warm up by the fewest repetitions that the method allows */
    int64_t reps;             /* repetitions in one sample; begin() decides, the same on all ranks */
    int64_t lead_in;          /* untimed repetitions before each; begin() decides */
    int64_t warm_up_reps;     /* repetitions before the first sample, which are in no record */
    int64_t window_ns;        /* about how far apart samples start; begin() or open() decide; 0: at once */
    struct sync *sync;        /* open where the method is synchronised, NULL elsewhere */
    uint64_t seed;            /* the same on all ranks */
    struct spun spun;         /* what the waits of this chunk saw, on this rank */
    struct cold_cache *evict; /* NULL: samples start with the caches as the last one left them */
    int64_t count;            /* samples in this block */
    void *own;                /* what the method itself keeps: `size` bytes, zero before begin() */
};

/* For methods that observe one call at a time: the caches before it. */
#define METHOD_CACHE                                                                                         \
    PARAM_WORDS("cache",                                                                                     \
                "warm: caches stay as the last sample left them; cold: they are evicted before each sample", \
                method_caches)
enum { CACHE_WARM, CACHE_COLD };
static const char *const method_caches[] = {[CACHE_WARM] = "warm", [CACHE_COLD] = "cold", NULL};

struct observation {
    int64_t start_ns, stop_ns; /* this rank's clock */
    int64_t yields;            /* calls of sched_yield() in between */
    int64_t target_ns;         /* when it was to start, in reference time; synchronised methods only */
    bool late;                 /* it started after that on this rank */
    bool low;                  /* it is of the lower bound */
};

/* When a method needs the clocks synchronised. */
enum sync_use {
    SYNC_NEVER,
    SYNC_ONCE,  /* before the first block: what comes later is extrapolated */
    SYNC_BLOCK, /* before and after each block: what lies between is interpolated */
};

/* On which side of what the operation takes a method's number is meant to lie. */
enum bound { BOUND_NONE, BOUND_LOWER, BOUND_UPPER, BOUNDS };

struct method {
    const char *name, *summary;
    const char *nature;  /* why its number is not simply what the operation takes; NULL: it is */
    bool of_collectives; /* ... which holds for collectives alone */
    enum bound bound;
    const char *missing; /* why there is none in this build; NULL when there is */
    bool suits[OP_CLASSES];
    bool flows[OP_FLOWS]; /* of collectives; all false: any */
    bool messages;        /* it times messages one by one, so the op needs `turn` */
    bool single;          /* a sample can be one repetition, with something to do before it */
    bool at_root;         /* rank 0's duration stands for the op, whatever the op says */
    bool lows;            /* some of its samples are of a lower bound */
    int least_ranks;      /* 0 is 1 */
    const struct param *params;
    size_t size; /* of what it keeps in bench->own; 0: nothing */

    /* Warm up and decide on bench->reps. Collective over the team. */
    int (*begin)(struct bench *bench);

    /* Line up, run, stamp. Collective over the team. */
    int (*observe)(struct bench *bench, struct observation *observation);

    /* A synchronised method takes blocks of at most so many samples, and open(), where there is one, is
     * called before each. */
    enum sync_use sync;
    int64_t block;
    int (*open)(struct bench *bench);

    /* Rank 0: what a sample took, in ns, for the stop rule. NULL: the duration that the op reports, or,
     * of a synchronised method, from when the first rank starts until the last has finished. */
    double (*value)(const struct bench *bench, const struct chunk *chunk, int64_t k);

    /* Rank 0: what begin() has found out, as keys of the point's record. NULL: nothing that Python needs. */
    void (*describe)(const struct bench *bench, struct json *j);

    /* Free what is in bench->own; also after a failed begin(), or none. NULL: it holds no memory. */
    void (*end)(struct bench *bench);
};

/* The table; it ends at NULL. */
extern const struct method *const methods[];

const struct method *method_find(const char *name);
bool method_suits(const struct method *method, const struct op *op);

/* Whether it rests on the op's flow. */
bool method_follows(const struct method *method);

/* The nature of its number for an op of so many ranks; NULL: it is simply what the operation takes. */
const char *method_nature(const struct method *method, const struct op *op, int ranks);

/* "lower", "upper"; NULL: its number is no bound. */
const char *method_bound(const struct method *method);

/* "methods": what there is, for `describe`. */
void methods_describe(struct json *j);

/* What suits the op's class best, where the user does not say. */
const struct method *method_default(const struct op *op);

/* What comes before each sample: an op that begins from fresh data gets them, caches are evicted where
 * they are to be cold. */
int method_make_ready(const struct bench *bench);

/* What methods share. Run `reps` repetitions between two timestamps: */
int method_time(const struct bench *bench, struct observation *observation);

/* The same at an instant of reference time, noting in `observation` whether it had passed. */
int method_time_at(struct bench *bench, int64_t target_ns, struct observation *observation);

/* Run the op unobserved until it has run `least` repetitions (fewer where that takes long) and has become
 * steady, unless it is to be brief; *rep_ns: the duration of a repetition in the fastest round, which nothing
 * interrupted, INFINITY after none; the same on all ranks. */
int method_warm_up(struct bench *bench, int64_t least, double *rep_ns);

/* How long the slowest rank takes for the team's barrier and a call, the 95th percentile of 20; the longest
 * of fewer where a repetition, `rep_ns`, is long. */
int method_pilot(struct bench *bench, double rep_ns, int64_t *took_ns);

/* Agree on an instant that no rank has passed when it hears of it, `after_ns` from now. */
int method_meet(const struct bench *bench, int64_t after_ns, int64_t *reference_ns);

extern const struct method method_batch, method_root, method_rank, method_barrier, method_library_barrier,
    method_epoch, method_window, method_round_time, method_ack, method_bisected_ack, method_trigger,
    method_trigger_ack, method_bounds, method_each, method_truth;

#endif
