/* A window between ranks 0 and 1, in an epoch for all calls: that of ops whose lanes see what the other rank
 * did to their memory. */
#ifndef OPS_MPI_ONESIDED_TWO_RANKS_H
#define OPS_MPI_ONESIDED_TWO_RANKS_H

#include "ops/common/lanes.h"
#include "ops/mpi/onesided/window.h"

/* Once for a rank; lanes->shared. */
struct two_ranks {
    MPI_Comm comm; /* of the two ranks; MPI_COMM_NULL: this is another one, or there is no window */
    struct window window;
    bool locked;
};

/* The functions of a duty: `memory` makes a window of this kind; `join`; `leave`. */
int two_ranks_window(struct lanes *lanes, const struct op_env *env, int err, int kind, size_t bytes,
                     char **memory);
int two_ranks_join(const struct lanes *lanes, int err);
void two_ranks_leave(struct lanes *lanes);

#endif
