/* Work: arithmetic that takes only time. It touches no memory, calls nothing and reads no clock, so it can
 * run beside communication without disturbing it. The steps per microsecond are measured once in a launch
 * (machine/work_rate.h), so the same work is the same number of steps in all its points. */
#ifndef BASE_WORK_H
#define BASE_WORK_H

#include <stdint.h>

/* Do `steps` steps from x; the result must be used. */
uint64_t work_do(uint64_t x, int64_t steps);

/* The same number, computed in a few steps: it shows that work was done and not optimised away. */
uint64_t work_after(uint64_t x, int64_t steps);

#endif
