/* app.*: proxy applications, written from the algorithms that they stand for. Each is a kernel of a suite;
 * what they share beyond kernel.h is the brick of cells of a rank and what its neighbours have of it. */
#ifndef KERNELS_APP_APP_H
#define KERNELS_APP_APP_H

#include "kernels/kernel.h"

/* By how much, relative, sums in another order may change what an app answers: that of threads, of ranks. */
#define APP_ALIKE 1e-9

/* What opening an app is made of. make() is each rank's own part, whose errors are agreed on before
 * connect(), which all ranks do together. close() takes any state, also one that is {0}, and frees it. */
struct app_parts {
    size_t size; /* of the state, which is {0} at first */
    int (*make)(struct kernel_env *env, void *state);
    int (*connect)(void *state);
    void (*close)(void *state);
};
int app_open(const struct app_parts *parts, struct kernel_env *env, void **state);

/* A sum over the bits of numbers that depends on their order, and on `turn`. */
uint64_t app_seal(const double *data, int64_t count, uint64_t turn);

extern const struct kernel app_hpccg, app_minife, app_minimd;

#endif
