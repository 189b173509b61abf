/* What the mpi.mt.* ops share. */
#ifndef OPS_MPI_THREADS_THREADS_H
#define OPS_MPI_THREADS_THREADS_H

#include "core/op.h"

/* Another op, as one thread of ours does it: what `row` of such an op points to. */
struct mt_base {
    struct op alone;
    size_t own; /* parameters of ours, which stand before those of `alone` */
    struct param params[PARAMS_MAX + 1];
};

/* The op of that name, and its parameters behind `own` of ours. */
void mt_base_make(struct mt_base *base, const char *name, size_t own, const struct param *params);

/* What such an op is: that of its base, with several threads that call MPI. */
void mt_op(struct mt_base *base, struct op *op);

/* As one thread of it sees the point. */
struct op_env mt_env_alone(const struct op_env *env);

/* When the first of a rank's threads was done, when half of them were, and when the last: phases of an op,
 * for who gives `phases=on`. mt_stamp() sorts what each thread has read of phase_now(), at the end of the run
 * that phase_begin() began. */
extern const struct phase mt_phases[];
#define MT_PHASES_PARAM                                                                                      \
    PARAM_WORDS("phases", "record when the first thread is done, when half of them are and when all are",    \
                mt_off_on)
extern const char *const mt_off_on[3];
enum { MT_PHASES_OFF, MT_PHASES_ON };
void mt_stamp(struct phases *phases, int64_t *done_ns, int count);

/* Whether the threads of the op may call MPI at once. ERR_UNSUPPORTED and what to do; ERR_MPI. */
int mt_allowed(const struct op_env *env);

#endif
