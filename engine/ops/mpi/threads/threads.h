/* Shared by the mpi.mt.* ops. */
#ifndef OPS_MPI_THREADS_THREADS_H
#define OPS_MPI_THREADS_THREADS_H

#include "comm/compat_mpi.h"
#include "comm/hint_mpi.h"
#include "core/op.h"

/* Another op, done by one thread of ours: `row` of such an op points to this. */
struct mt_base {
    struct op alone;
    size_t own; /* our parameters, which stand before those of `alone` */
    struct param params[PARAMS_MAX + 1];
};

/* Find the op of that name, and put its parameters behind `own` of ours. */
void mt_base_make(struct mt_base *base, const char *name, size_t own, const struct param *params);

/* Make such an op: that of its base, with several threads that call MPI. */
void mt_op(struct mt_base *base, struct op *op);

/* The environment for one of its threads. */
struct op_env mt_env_alone(const struct op_env *env);

/* The times until the first of a rank's threads was done, until half of them were, and until the last was:
 * phases of an op with `phases=on`. mt_stamp() keeps each thread's readings of phase_now() before its first
 * call and after its last, and sorts them, at the end of a run of `reps` repetitions that phase_begin()
 * began. mt_open_phases(), at setup on all ranks: their place, NULL for `phases=off`. */
extern const struct phase mt_phases[];
#define MT_PHASES_PARAM PARAM_WORDS("phases", "record when each thread begins and when it is done", mt_off_on)
extern const char *const mt_off_on[3];
enum { MT_PHASES_OFF, MT_PHASES_ON };
void mt_stamp(struct phases *phases, struct lane_time *lanes, int count, int64_t reps);
int mt_open_phases(const struct op_env *env, struct phases **phases);

/* The word of a parameter; "" if the op has none of that name. */
const char *mt_word(const struct op_env *env, const char *name);

/* The promise to the library about each thread's communicator, by the parameter `assert` (info_hints.c).
 * ERR_INPUT if it would not be true. Then, collective over the thread's team: make the promise, and read the
 * library's value for it. ERR_MPI. */
enum { MT_PROMISES = 5 };
extern const char *const mt_promise_words[MT_PROMISES + 1];
#define MT_PROMISE_PARAM                                                                                     \
    PARAM_WORDS("assert",                                                                                    \
                "what is promised to the library of a thread's communicator, by a key mpi_assert_...",       \
                mt_promise_words)
int mt_refuse_promise(const struct op_env *env, bool own_comm);
int mt_promise(const struct op_env *env, const struct team *lane, struct hint_seen *seen);

/* Give a thread's team a communicator on a stream of its own. Collective, in the order of threads.
 * ERR_UNSUPPORTED and what to do; ERR_MPI. Close it after the team. */
int mt_stream_open(const struct op_env *env, struct team *lane, MPIX_Stream *stream);
void mt_stream_close(MPIX_Stream *stream);

/* A communicator in which each thread of each process is a rank: those of process p are p times the threads
 * of a process, and so many that follow. Opening and closing are collective over processes; between them each
 * thread enters, which waits for all others and tells which of them it is there, and leaves. ERR_UNSUPPORTED
 * and what to do; ERR_MPI, ERR_WRONG. */
int mt_threadcomm_refuse(const struct op_env *env); /* ERR_UNSUPPORTED: its calls are not done there */
int mt_threadcomm_open(const struct op_env *env, MPI_Comm *comm);
int mt_threadcomm_enter(MPI_Comm comm, const struct op_env *env, int *lane);
void mt_threadcomm_leave(MPI_Comm comm);
void mt_threadcomm_close(MPI_Comm *comm);

/* May the threads of the op call MPI at once? ERR_UNSUPPORTED and what to do; ERR_MPI. */
int mt_allowed(const struct op_env *env);

#endif
