/* OpenMP, or why it is not there. */
#ifndef OPS_OMP_COMPAT_H
#define OPS_OMP_COMPAT_H

#ifdef _OPENMP
#include <omp.h>
#define OMP_MISSING NULL
#else
#define OMP_MISSING "this engine was built by a compiler without OpenMP"
static inline int omp_get_thread_num(void)
{
    return 0;
}
#endif

#endif
