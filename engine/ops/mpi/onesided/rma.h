/* What the one-sided ops of two ranks share: rank 0, the origin, calls MPI; rank 1, the target, has the
 * window and does what the synchronisation asks of it, or waits in MPI until the origin is done. Or both do
 * both. Several threads of a rank do so at once, with a window for all of them or one for each. */
#ifndef OPS_MPI_ONESIDED_RMA_H
#define OPS_MPI_ONESIDED_RMA_H

#include "base/gate.h"
#include "ops/mpi/coll/reduction.h"
#include "ops/mpi/onesided/window.h"

#include <stdint.h>

enum rma_role { RMA_ORIGIN, RMA_TARGET, RMA_BOTH, RMA_IDLE, RMA_ROLES };

/* What a call does to the memory that it names: which buffers it has, and what is where after it. */
enum rma_effect {
    RMA_PUT,     /* what is sent takes the window's place */
    RMA_GET,     /* the window is fetched */
    RMA_COMBINE, /* the window is combined with what is sent */
    RMA_FETCH,   /* the same, and what was there before is fetched */
    RMA_SWAP,    /* what is sent takes the window's place where that holds what is compared, and is fetched */
    RMA_EFFECTS
};

/* How the places of threads lie to each other in a window: rma_layout_words. */
enum rma_layout {
    RMA_DISJOINT, /* each thread has cache lines of its own */
    RMA_LINE,     /* threads that follow each other share cache lines */
    RMA_WORD,     /* all threads have the same places */
    RMA_LAYOUTS
};
extern const char *const rma_layout_words[RMA_LAYOUTS + 1];

struct rma;

/* `reps` repetitions of a thread: an epoch around each completion, or one around all of them. */
typedef int rma_loop(struct rma *s, int64_t reps);

/* A way to complete: the place of the first call that is to be. MPI's code. */
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
    struct rma_loops plain, written; /* written: what is sent is written again before each call */
};

/* A way to open or close an epoch on this rank's side. MPI's code. */
typedef int rma_side(struct rma *s);

/* A thread of a rank: what it calls. */
struct rma {
    _Alignas(GATE_LINE) const struct rma_call *row;
    const struct rma_loops *loops; /* the row's, by the word of `buffer` */
    enum rma_role role;
    int rank, peer;
    int thread, threads;   /* which of how many of its rank */
    MPI_Comm comm;         /* of the two; MPI_COMM_NULL on others, and where another thread has the epochs */
    bool borrows;          /* comm and group are those of thread 0 */
    MPI_Group group;       /* whom it calls: the peer */
    MPI_Group callers;     /* who calls it: the same; not its own */
    struct window own;     /* not made where another thread has made it */
    struct window *window; /* its own, or that of thread 0 */
    enum rma_layout layout;

    /* What a call is given; place i of a buffer is i strides on, of a window `apart` bytes times i. */
    MPI_Win win;
    MPI_Aint there; /* the peer's place 0 */
    char *send, *recv, *compare;
    size_t bytes, stride, apart;
    size_t first; /* place 0, in bytes from the beginning of the window's memory */
    size_t other; /* with DATA_SAME: that of the second set of places, which takes turns with the first */
    int count;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Request *requests; /* of each place, for calls that give one */

    /* A repetition: so many completions, each of so many calls; a target makes none. */
    int places, batch, completions;
    rma_side *open, *close;
    rma_finish *finish;
    rma_loop *loop;
    bool same;         /* what came is what is sent */
    rma_loop *turn;    /* the loop of one such repetition */
    bool locks;        /* the target has no part in the epochs */
    struct gate *gate; /* of threads whose epochs thread 0 opens and closes; NULL: its own */
    rma_side *first_opens, *first_closes; /* what thread 0 does then */
    struct phases *phases;                /* NULL: nobody asks when it was done */
    struct lane_time time;                /* of its calls, of phases */
    int rc;                               /* MPI's code of its last run */

    /* While a target is away from MPI, an origin counts what it completes; `stay` is the word.
     */
    int stay;
    int64_t away_ns, back_ns, last_ns; /* back_ns: the target is away until then at least, by this clock */
    int64_t begun, early;              /* calls that began before, and those of them that were complete */
    const struct phases *clock;
    rma_finish *plain_finish;
    rma_side *plain_close;

    /* What is checked. */
    struct reduction sum; /* of calls that combine; `replaces`, `keeps`: MPI_REPLACE, MPI_NO_OP */
    bool replaces, keeps;
    bool swaps; /* timed MPI_Compare_and_swap finds what it compares with */
    bool planted;
    int generation; /* of the data: that of one check is not that of another */
};

/* ---- epochs, and calls in them (epoch.c) ---- */

enum { RMA_SYNCS = 5, RMA_COMPLETIONS = 6 };

/* The words of the parameters `sync` and `complete`. */
extern const char *const rma_sync_words[RMA_SYNCS + 1], *const rma_complete_words[RMA_COMPLETIONS + 1];
enum { RMA_BY_FLUSH, RMA_BY_REQUEST = RMA_COMPLETIONS - 1 };

/* What happens to the buffers before each call. ERR_INPUT and the reason for what nobody can do. */
int rma_choose_state(struct rma *s, const struct op_env *env);

/* With DATA_SAME, before each repetition: what came last is sent, into the other places of the peer. */
void rma_take_turns(struct rma *s);

/* The epochs of this rank's role, which thread 0 opens and closes where there is a gate. ERR_INPUT and the
 * reason for a pair that MPI does not define. */
int rma_choose_epochs(struct rma *s, const struct op_env *env, int sync, int complete);
bool rma_sync_locks(int sync);
bool rma_sync_is_of_one(int sync); /* an epoch is of one target */

/* The word for calls to one of several targets where another's word completes all of them. */
int rma_complete_one(int complete);

/* Tags of the messages of the two: threads may share a communicator. */
enum { RMA_TAG_DONE, RMA_TAG_LEAVE, RMA_TAGS };
static inline int rma_tag(const struct rma *s, int tag)
{
    return tag + RMA_TAGS * s->thread;
}

/* After all repetitions: where the target has no part in epochs it waits for this, in MPI. */
int rma_meet(struct rma *s);

/* ---- what the target of locks does meanwhile (stay.c) ---- */

enum { RMA_STAYS = 4 };
extern const char *const rma_stay_words[RMA_STAYS + 1];
bool rma_stays_away(int word);

/* By the word of `target_does`, and for how long it is away from MPI. After rma_choose_epochs(). ERR_INPUT
 * where it has a part in the epochs. */
int rma_choose_stay(struct rma *s, const struct op_env *env, int word, double away_us);

/* Before the repetitions: a target that is to be away leaves MPI now. MPI's code. */
int rma_leave(struct rma *s);

/* Until the origin is done. MPI's code. */
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
    if (s->completions == 1 && s->batch == 1) /* what else is around a call would be seen in its time */
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

/* A thread's places, in a window that so many threads share: the window's plan where it is the thread's own,
 * buffers, requests. */
int rma_take_memory(struct rma *s, const struct op_env *env, int sharing);

/* Parts of it: how far places of their own lines are apart; requests for all places. */
size_t rma_stride(const struct rma *s);
int rma_take_requests(struct rma *s);

/* ---- what is moved (check.c) ---- */

/* Buffers for what the call's effect and this rank's role need; numbers of a type where it combines, by the
 * word of `operator`. */
extern const char *const rma_operators[13];
int rma_take_buffers(struct rma *s, const struct op_env *env);
int rma_choose_numbers(struct rma *s, const struct op_env *env, int word, int type);

/* In a thread's places and buffers: fresh data, before a repetition; whether each byte of the window and of
 * what was fetched came, after it; data for timed calls. A second swap finds what the first has left. */
int rma_prepare(struct rma *s);
int rma_check(const struct rma *s, bool second);
int rma_refresh(struct rma *s);

/* Whether so many repetitions since have left what they should. */
int rma_check_timed(const struct rma *s, int64_t reps);

/* Whether timed numbers are such that they stay what they are: those of which nobody can say what many
 * repetitions make of them. They are not checked. */
bool rma_settles(const struct rma *s);

/* The numbers of this op's calls into the window of a rank: the window's own is the first, and those of the
 * threads that share a place follow. */
struct reduction rma_sum_at(const struct rma *s, int target);
int rma_number(const struct rma *s, int thread, int place);
bool rma_combines(const struct rma *s);

/* ---- places that all threads of a rank share (word.c) ---- */

/* ERR_INPUT for what they cannot be, which all ranks find alike. */
int rma_refuse_word(const struct rma *s);

/* What so many threads have fetched in a repetition is what they fetch one after another in some order, and
 * what so many repetitions have left is what they leave in any. Swaps that follow others are `later`: all
 * find what the first of them has left. ERR_WRONG. */
int rma_check_word(struct rma *threads, int count, bool later, int64_t reps);

/* ---- an op's life (job.c) ---- */

/* What the rows say of an op. */
struct rma_row {
    const struct rma_call *call;
    bool both;     /* both ranks are origin and target */
    bool threaded; /* several threads of each rank do it */
};

/* What a call is given by `type`, `operator` and the size. ERR_INPUT. */
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
