/* app.*: proxy applications, written from the algorithms that they stand for. Each is a kernel of a suite;
 * what they share beyond kernel.h is the brick of cells of a rank and what its neighbours have of it. */
#ifndef KERNELS_APP_APP_H
#define KERNELS_APP_APP_H

#include "kernels/kernel.h"

/* By how much, relative, sums in another order may change what an app answers: that of threads, of ranks. */
#define APP_ALIKE 1e-9

extern const struct kernel app_hpccg, app_minife, app_minimd;

#endif
