/* app.*: proxy applications, written from their published algorithms. Each is a kernel of a suite. Beyond
 * kernel.h they share the brick of cells of a rank and its neighbours' copies of it. */
#ifndef KERNELS_APP_APP_H
#define KERNELS_APP_APP_H

#include "kernels/kernel.h"

/* The relative change of an app's answer that another order of sums may cause: that of threads, of ranks. */
#define APP_ALIKE 1e-9

/* The parts of opening an app. make() is each rank's own part; ranks agree on its errors before connect(),
 * which all ranks do together. close() takes any state, also one that is {0}, and frees it. */
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
