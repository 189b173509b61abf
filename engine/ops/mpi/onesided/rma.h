/* Shared by the one-sided ops of two ranks: rank 0, the origin, calls MPI. Rank 1, the target, has the window
 * and does its part of the synchronisation, or waits in MPI until the origin is done. Or both ranks do both.
 * Several threads of a rank may do so at once, with one window for all of them or one for each. */
#ifndef OPS_MPI_ONESIDED_RMA_H
#define OPS_MPI_ONESIDED_RMA_H

#include "base/gate.h"
#include "ops/mpi/coll/reduction.h"
#include "ops/mpi/onesided/window.h"

#include <stdint.h>

enum rma_role { RMA_ORIGIN, RMA_TARGET, RMA_BOTH, RMA_IDLE, RMA_ROLES };

/* The effect of a call on the memory that it names: its buffers, and their contents afterwards. */
enum rma_effect {
    RMA_PUT,     /* sent data replace the window's */
    RMA_GET,     /* the window is fetched */
    RMA_COMBINE, /* the window is combined with sent data */
    RMA_FETCH,   /* the same, and the old contents are fetched */
    RMA_SWAP,    /* sent data replace the window's if these equal the compared ones, and the old contents
                    are fetched */
    RMA_EFFECTS
};

/* The relation of the places of threads in a window: rma_layout_words. */
enum rma_layout {
    RMA_DISJOINT, /* each thread has cache lines of its own */
    RMA_LINE,     /* consecutive threads share cache lines */
    RMA_WORD,     /* all threads have the same places */
    RMA_LAYOUTS
};
extern const char *const rma_layout_words[RMA_LAYOUTS + 1];

struct rma;

/* Run `reps` repetitions of a thread: an epoch around each completion, or one around all of them. */
typedef int rma_loop(struct rma *s, int64_t reps);

/* Complete calls from the place of the first one on. MPI's code. */
typedef int rma_finish(struct rma *s, int first);

/* A call in its loops. */
struct rma_loops {
    rma_loop *epochs, *within;
    rma_finish *calls; /* a batch, not yet complete */
};

/* A row of the table of calls. */
struct rma_call {
    const char *name, *call, *summary;
    enum rma_effect effect;
    bool requests;                   /* it gives a request */
    bool single;                     /* of one element */
    struct rma_loops plain, written; /* written: the source is written again before each call */
};

/* Open or close an epoch on this rank's side. MPI's code. */
typedef int rma_side(struct rma *s);

/* A thread of a rank, and its calls. */
struct rma {
    _Alignas(GATE_LINE) const struct rma_call *row;
    const struct rma_loops *loops; /* the row's, by the word of `buffer` */
    enum rma_role role;
    int rank, peer;
    int thread, threads;   /* its number among those of its rank */
    MPI_Comm comm;         /* of the two; MPI_COMM_NULL on others, and if another thread has the epochs */
    bool borrows;          /* comm and group are those of thread 0 */
    MPI_Group group;       /* the rank that it calls: the peer */
    MPI_Group callers;     /* the rank that calls it: the same; not its own */
    struct window own;     /* not made if another thread has made it */
    struct window *window; /* its own, or that of thread 0 */
    enum rma_layout layout;

    /* The arguments of a call. Place i of a buffer is i strides on, place i of a window `apart` bytes times
     * i. */
    MPI_Win win;
    MPI_Aint there; /* the peer's place 0 */
    char *send, *recv, *compare;
    size_t bytes, stride, apart;
    size_t first; /* place 0, in bytes from the beginning of the window's memory */
    size_t other; /* with DATA_SAME: that of the second set of places, which alternates with the first */
    int count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request *requests; /* of each place, for calls with a request */

    /* A repetition: so many completions, each of so many calls; a target makes none. */
    int places, batch, completions;
    rma_side *open, *close;
    rma_finish *finish;
    rma_loop *loop;
    bool same;         /* received data are sent next */
    rma_loop *turn;    /* the loop of one such repetition */
    bool locks;        /* the target has no part in the epochs */
    struct gate *gate; /* of threads whose epochs thread 0 opens and closes; NULL: it opens its own */
    rma_side *first_opens, *first_closes; /* the calls of thread 0 in that case */
    struct phases *phases;                /* NULL: times are not noted */
    struct lane_time time;                /* of its calls, of phases */
    int rc;                               /* MPI's code of its last run */

    /* While a target is outside MPI, an origin counts its completions; `stay` is the word. */
    int stay;
    int64_t away_ns, back_ns, last_ns; /* back_ns: the target is outside MPI until then at least, by this
                                          clock */
    int64_t begun, early;              /* calls that began before, and the complete ones among them */
    const struct phases *clock;
    rma_finish *plain_finish;
    rma_side *plain_close;

    /* For checks. */
    struct reduction sum; /* of calls that combine; `replaces`, `keeps`: MPI_REPLACE, MPI_NO_OP */
    bool replaces, keeps;
    bool swaps; /* timed MPI_Compare_and_swap finds what it compares with */
    bool planted;
    int generation; /* of the data: each check has another one */
};

/* ---- epochs, and calls in them (epoch.c) ---- */

enum { RMA_SYNCS = 5, RMA_COMPLETIONS = 6 };

/* The words of the parameters `sync` and `complete`. */
extern const char *const rma_sync_words[RMA_SYNCS + 1], *const rma_complete_words[RMA_COMPLETIONS + 1];
enum { RMA_BY_FLUSH, RMA_BY_REQUEST = RMA_COMPLETIONS - 1 };

/* Choose the handling of the buffers before each call. ERR_INPUT and the reason for an impossible choice. */
int rma_choose_state(struct rma *s, const struct op_env *env);

/* With DATA_SAME, before each repetition: send the last received data, into the other places of the peer. */
void rma_take_turns(struct rma *s);

/* Choose the epochs of this rank's role, which thread 0 opens and closes if there is a gate. ERR_INPUT and
 * the reason for a pair that MPI does not define. */
int rma_choose_epochs(struct rma *s, const struct op_env *env, int sync, int complete);
bool rma_sync_locks(int sync);
bool rma_sync_is_of_one(int sync); /* an epoch is of one target */

/* The word for calls to one of several targets, if another word completes all of them. */
int rma_complete_one(int complete);

/* Tags of the messages of the two: threads may share a communicator. */
enum { RMA_TAG_DONE, RMA_TAG_LEAVE, RMA_TAGS };
static inline int rma_tag(const struct rma *s, int tag)
{
    return tag + RMA_TAGS * s->thread;
}

/* After all repetitions: a target without a part in the epochs waits for this, in MPI. */
int rma_meet(struct rma *s);

/* ---- what the target of locks does meanwhile (target_progress.c) ---- */

enum { RMA_STAYS = 4 };
extern const char *const rma_stay_words[RMA_STAYS + 1];
bool rma_stays_away(int word);

/* Choose by the word of `target_does`, and for how long the target is outside MPI. After rma_choose_epochs().
 * ERR_INPUT if it has a part in the epochs. */
int rma_choose_stay(struct rma *s, const struct op_env *env, int word, double away_us);

/* Before the repetitions: a target that must be away leaves MPI now. MPI's code. */
int rma_leave(struct rma *s);

/* Wait until the origin is done. MPI's code. */
int rma_stay(struct rma *s);

/* Loops with the call inlined: calls take tens of ns on shared memory. */
static inline __attribute__((always_inline)) int rma_calls(struct rma *s, int first,
                                                           int (*call)(struct rma *s, int place))
{
    int rc = MPI_SUCCESS;
    for (int i = 0; i < s->batch && rc == MPI_SUCCESS; ++i)
        rc = call(s, first + i);
    return rc;
}

static inline __attribute__((always_inline)) int rma_batch(struct rma *s, int first,
                                                           int (*call)(struct rma *s, int place))
{
    const int rc = rma_calls(s, first, call);
    return rc == MPI_SUCCESS ? s->finish(s, first) : rc;
}

static inline __attribute__((always_inline)) int rma_epochs(struct rma *s, int64_t reps,
                                                            int (*call)(struct rma *s, int place))
{
    int rc = MPI_SUCCESS;
    for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
        for (int k = 0; k < s->completions && rc == MPI_SUCCESS; ++k) {
            rc = s->open(s);
            if (rc == MPI_SUCCESS)
                rc = rma_batch(s, k * s->batch, call);
            if (rc == MPI_SUCCESS)
                rc = s->close(s);
        }
    return rc;
}

static inline __attribute__((always_inline)) int rma_within(struct rma *s, int64_t reps,
                                                            int (*call)(struct rma *s, int place))
{
    int rc = s->open(s);
    rma_finish *const finish = s->finish;
    if (s->completions == 1 && s->batch == 1) /* any further code around a call would be part of its time */
        for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i) {
            rc = call(s, 0);
            rc = rc == MPI_SUCCESS ? finish(s, 0) : rc;
        }
    else
        for (int64_t i = 0; i < reps && rc == MPI_SUCCESS; ++i)
            for (int k = 0; k < s->completions && rc == MPI_SUCCESS; ++k)
                rc = rma_batch(s, k * s->batch, call);
    return rc == MPI_SUCCESS ? s->close(s) : rc;
}

/* ---- where calls go (places.c) ---- */

/* Take a thread's places, in a window that so many threads share: the window's plan if the window is the
 * thread's own, buffers, requests. */
int rma_take_memory(struct rma *s, const struct op_env *env, int sharing);

/* Parts of it: the distance of places with their own lines; requests for all places. */
size_t rma_stride(const struct rma *s);
int rma_take_requests(struct rma *s);

/* ---- what is moved (check.c) ---- */

/* Buffers for the call's effect and this rank's role; numbers of a type if it combines, by the word of
 * `operator`. */
extern const char *const rma_operators[13];
int rma_take_buffers(struct rma *s, const struct op_env *env);
int rma_choose_numbers(struct rma *s, const struct op_env *env, int word, int type);

/* In a thread's places and buffers: make fresh data, before a repetition; check each byte of the window and
 * of fetched data, after it; make data for timed calls. A second swap finds what the first has left. */
int rma_prepare(struct rma *s);
int rma_check(const struct rma *s, bool second);
int rma_refresh(struct rma *s);

/* Have so many repetitions since then left the right data? */
int rma_check_timed(const struct rma *s, int64_t reps);

/* Do timed numbers keep their values? Numbers whose values after many repetitions are unknown are not
 * checked. */
bool rma_settles(const struct rma *s);

/* The numbers of this op's calls into the window of a rank: the window's own is the first, then those of the
 * threads that share a place. */
struct reduction rma_sum_at(const struct rma *s, int target);
int rma_number(const struct rma *s, int thread, int place);
bool rma_combines(const struct rma *s);

/* ---- places that all threads of a rank share (shared_elements.c) ---- */

/* ERR_INPUT for impossible choices, on all ranks alike. */
int rma_refuse_word(const struct rma *s);

/* Check that the data fetched by so many threads in a repetition are those of one order of their calls, and
 * that the data left by so many repetitions are those of any order. Swaps after others are `later`: all find
 * what the first of them has left. ERR_WRONG. */
int rma_check_word(struct rma *threads, int count, bool later, int64_t reps);

/* ---- an op's life (setup.c) ---- */

/* The rows of an op. */
struct rma_row {
    const struct rma_call *call;
    bool both;     /* both ranks are origin and target */
    bool threaded; /* several threads of each rank call */
};

/* Choose a call's arguments by `type`, `operator` and the size. ERR_INPUT. */
int rma_choose_type(struct rma *s, const struct op_env *env);

int rma_setup(const struct op_env *env, const struct rma_row *row, void **state);
int rma_run(void *state, int64_t reps);
int rma_verify(void *state);
int rma_check_moved(void *state);
extern const char *const rma_counters[3];
void rma_counted(void *state, int64_t *values);
void rma_describe_end(const void *state, struct json *j);
void rma_teardown(void *state);

/* The parameters that each op has, in this order, and the words of others. */
enum { RMA_SYNC, RMA_COMPLETE, RMA_WINDOW, RMA_INFO, RMA_PARAMS };
enum { RMA_PER_BATCH, RMA_PER_CALL };
extern const char *const rma_per_words[3], *const rma_swap_types[3], *const rma_windows_words[3],
                                                                         *const rma_comms_words[3];

#endif
