/* A method: how ranks line up for a sample, and how it is timed. It knows an op only through run(), and no
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
struct timed_checks;

/* The input of a method: one point's op, set up and ready. */
struct bench {
    const struct op *op;
    void *state;
    const struct team *team;
    const struct clock *clock;
    struct phases *phases;       /* of an op with phases; else NULL */
    const struct first *first;   /* what this launch did first; NULL: nothing */
    struct timed_checks *checks; /* checks of moved data; NULL in tests of methods */
    const double *params;        /* the method's */
    enum op_report report;       /* whose duration counts as the op's, by this method */
    bool brief;                  /* warm up by the fewest repetitions that the method allows */
    int64_t reps;                /* repetitions in one sample; begin() decides, the same on all ranks */
    int64_t lead_in;             /* untimed repetitions before each; begin() decides */
    int64_t warm_up_reps;        /* repetitions before the first sample; they are in no record */
    int64_t window_ns;        /* about the distance of sample starts; begin() or open() decide; 0: at once */
    struct sync *sync;        /* open if the method is synchronised, else NULL */
    uint64_t seed;            /* the same on all ranks */
    struct spun spun;         /* this rank's waits in this chunk */
    struct cold_cache *evict; /* NULL: caches stay as the last sample left them */
    int64_t count;            /* samples in this block */
    void *own;                /* the method's own state: `size` bytes, zero before begin() */
};

/* For methods that observe one call at a time: the state of the caches before it. */
#define METHOD_CACHE                                                                                         \
    PARAM_WORDS("cache",                                                                                     \
                "warm: caches stay as the last sample left them; cold: they are evicted before each sample", \
                method_caches)
enum { CACHE_WARM, CACHE_COLD };
static const char *const method_caches[] = {[CACHE_WARM] = "warm", [CACHE_COLD] = "cold", NULL};

struct observation {
    int64_t start_ns, stop_ns; /* this rank's clock */
    int64_t yields;            /* calls of sched_yield() in between */
    int64_t target_ns;         /* the planned start, in reference time; synchronised methods only */
    bool late;                 /* it started after that on this rank */
    bool low;                  /* it is of the lower bound */
};

/* When a method needs the clocks synchronised. */
enum sync_use {
    SYNC_NEVER,
    SYNC_ONCE,  /* before the first block: later offsets are extrapolated */
    SYNC_BLOCK, /* before and after each block: offsets between are interpolated */
};

/* Whether a method's value is meant as a bound of the operation's time, and on which side. */
enum bound { BOUND_NONE, BOUND_LOWER, BOUND_UPPER, BOUNDS };

struct method {
    const char *name, *summary;
    const char *nature;  /* why its value is not simply the operation's time; NULL: it is */
    bool of_collectives; /* ... but only for collectives */
    enum bound bound;
    const char *missing; /* why this build lacks it; NULL if it has it */
    bool suits[OP_CLASSES];
    bool flows[OP_FLOWS]; /* of collectives; all false: any */
    bool messages;        /* it times messages one by one, so the op needs `turn` */
    bool streams;         /* they all go one way, so the op needs `streams` */
    bool single;          /* a sample can be one repetition, with something to do before it */
    bool at_root;         /* rank 0's duration stands for the op, whatever the op says */
    bool leads_in;        /* an op's `lead_in` comes before each sample */
    bool once;            /* there is one sample in a launch, which was taken when it began (core/first.h) */
    bool lows;            /* some of its samples are of a lower bound */
    int least_ranks;      /* 0 is 1 */
    const struct param *params;
    size_t size; /* of bench->own; 0: none */

    /* Warm up and decide on bench->reps. Collective over the team. */
    int (*begin)(struct bench *bench);

    /* Line ranks up, run, stamp. Collective over the team. */
    int (*observe)(struct bench *bench, struct observation *observation);

    /* A synchronised method takes blocks of at most so many samples; open(), if set, is called before
     * each. */
    enum sync_use sync;
    int64_t block;
    int (*open)(struct bench *bench);

    /* Rank 0: the time of a sample, in ns, for the stop rule. NULL: the duration that the op reports or, for
     * a synchronised method, the time from the first start to the last stop. */
    double (*value)(const struct bench *bench, const struct chunk *chunk, int64_t k);

    /* Rank 0: the results of begin(), as keys of the point's record. NULL: none. */
    void (*describe)(const struct bench *bench, struct json *j);

    /* Free the memory of bench->own; also after a failed begin(), or none. NULL: it has none. */
    void (*end)(struct bench *bench);
};

/* The table; it ends at NULL. */
extern const struct method *const methods[];

const struct method *method_find(const char *name);
bool method_suits(const struct method *method, const struct op *op);

/* Are its samples of windows, also of a lower bound, between synchronisations? */
bool method_has_windows(const struct method *method);

/* Does it depend on the op's flow? */
bool method_follows(const struct method *method);

/* The nature of its value for an op of so many ranks; NULL: it is simply the operation's time. */
const char *method_nature(const struct method *method, const struct op *op, int ranks);

/* "lower", "upper"; NULL: its value is no bound. */
const char *method_bound(const struct method *method);

/* "methods": the table, for `describe`. */
void methods_describe(struct json *j);

/* The best method for the op's class, if the user names none. */
const struct method *method_default(const struct op *op);

/* Prepare each sample: fresh data for an op that needs them, evicted caches if they are to be cold. */
int method_make_ready(const struct bench *bench);

/* Functions that methods share. Run `reps` repetitions between two timestamps: */
int method_time(const struct bench *bench, struct observation *observation);

/* The same at an instant of reference time; `observation` notes whether it had passed. */
int method_time_at(struct bench *bench, int64_t target_ns, struct observation *observation);

/* Run the op untimed until it has run `least` repetitions (fewer if that takes long) and has become steady,
 * or only briefly. *rep_ns: the duration of a repetition in the fastest round, which nothing interrupted,
 * INFINITY without rounds; the same on all ranks. */
int method_warm_up(struct bench *bench, int64_t least, double *rep_ns);

/* The time of the slowest rank for the team's barrier and a call: the 95th percentile of 20, or the longest
 * of fewer if a repetition, `rep_ns`, is long. */
int method_pilot(struct bench *bench, double rep_ns, int64_t *took_ns);

/* Agree on an instant that no rank has passed when it learns it, `after_ns` from now. */
int method_meet(const struct bench *bench, int64_t after_ns, int64_t *reference_ns);

extern const struct method method_batch;
extern const struct method method_root;
extern const struct method method_rank;
extern const struct method method_barrier;
extern const struct method method_library_barrier;
extern const struct method method_epoch;
extern const struct method method_window;
extern const struct method method_round_time;
extern const struct method method_ack;
extern const struct method method_bisected_ack;
extern const struct method method_trigger;
extern const struct method method_trigger_ack;
extern const struct method method_bounds;
extern const struct method method_each;
extern const struct method method_open_loop;
extern const struct method method_first;
extern const struct method method_truth;

#endif
