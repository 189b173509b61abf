/* A method: how an observation is lined up across ranks and timed. It knows no op but through run(), and no
 * MPI. */
#ifndef CORE_METHOD_H
#define CORE_METHOD_H

#include "core/evict.h"
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
    struct phases *phases; /* of an op that has some; NULL elsewhere */
    const double *params;  /* the method's */
    int64_t reps;          /* repetitions in one observation; begin() decides, the same on all ranks */
    int64_t lead_in;       /* untimed repetitions before each; begin() decides */
    int64_t warm_up_reps;  /* repetitions before the first observation, which are in no record */
    struct sync *sync;     /* open where the method is synchronised, NULL elsewhere */
    uint64_t seed;         /* the same on all ranks */
    struct windows {       /* when observations are to start, in reference time */
        int64_t first_ns, width_ns, least_ns;
        int64_t next, late; /* of this block: observations so far, those that started late on this rank */
        int64_t block;      /* blocks so far */
        int bad, good;      /* blocks in a row with too many late observations, with none */
    } windows;
    struct path {                    /* what a method without a common clock watches; the same on all ranks */
        int late, observer;          /* the rank that starts last, the rank whose completion is reported */
        double late_ns, observer_ns; /* how long a message from and to rank 0 takes, one way */
        int64_t loops;               /* of a few calls each, to find it; 0: there was no choice */
        int64_t settle_ns;           /* until those who start early are as far as they can be; 0: no path */
        int64_t hold_ns;             /* after rank 0 began, until a group starts: all of it know by then */
    } path;
    struct spun spun;    /* what the waits of this chunk saw, on this rank */
    int64_t low_reps;    /* of bounds: repetitions in an observation of the lower one */
    int partner;         /* with whom this rank exchanges them; -1: with nobody */
    int64_t *stamps_ns;  /* of messages timed one by one: room for a block's, on this rank */
    struct evict *evict; /* NULL: observations start with the caches as the last one left them */
    int64_t count;       /* observations in this block */
    int64_t next;        /* observations so far, where a method has to count them */
};

/* Of methods that observe one call at a time: the caches before it. */
#define METHOD_CACHE                                                                                         \
    PARAM_WORDS("cache", "what was used before stays in the caches, or is evicted before each observation",  \
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

struct method {
    const char *name, *summary;
    const char *missing; /* why there is none in this build; NULL when there is */
    bool suits[OP_CLASSES];
    bool flows[OP_FLOWS]; /* of collectives; all false: any */
    bool messages;        /* it times messages one by one, so the op needs `turn` */
    bool single;          /* an observation can be one repetition, with something to do before it */
    bool at_root;         /* rank 0's duration stands for the op, whatever the op says */
    int least_ranks;      /* 0 is 1 */
    const struct param *params;

    /* Warm up and decide on bench->reps. Collective over the team. */
    int (*begin)(struct bench *bench);

    /* Line up, run, stamp. Collective over the team. */
    int (*observe)(struct bench *bench, struct observation *observation);

    /* A synchronised method takes blocks of at most so many observations, and open(), where there is one, is
     * called before each. */
    enum sync_use sync;
    int64_t block;
    int (*open)(struct bench *bench);
};

/* The table; it ends at NULL. */
extern const struct method *const methods[];

const struct method *method_find(const char *name);
bool method_suits(const struct method *method, const struct op *op);

/* Whether it rests on the op's flow. */
bool method_follows(const struct method *method);

/* What suits the op's class best, where the user does not say. */
const struct method *method_default(const struct op *op);

/* What comes before each observation: an op that begins from fresh data gets them, caches are evicted where
 * they are to be cold. */
int method_make_ready(const struct bench *bench);

/* What methods share. Run `reps` repetitions between two stamps: */
int method_time(const struct bench *bench, struct observation *observation);

/* The same at an instant of reference time, noting whether it had passed, in `observation` and in
 * bench->windows. */
int method_time_at(struct bench *bench, int64_t target_ns, struct observation *observation);

/* Run the op unobserved until it has run `least` repetitions (fewer where that takes long) and has become
 * steady; *rep_ns: rank 0's duration of a repetition in the fastest round, which nothing interrupted; the
 * same on all ranks. */
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
