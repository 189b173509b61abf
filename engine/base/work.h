/* Work: arithmetic that takes time and nothing else. It touches no memory, calls nothing and reads no clock,
 * so that it can stand beside communication without disturbing it. How many steps make a microsecond is found
 * out once in a launch (machine/work_rate.h): the same work is the same number of steps in all its points. */
#ifndef BASE_WORK_H
#define BASE_WORK_H

#include <stdint.h>

/* `steps` steps on from x; what they lead to, which must be used. */
uint64_t work_do(uint64_t x, int64_t steps);

/* The same number, found in a few steps: what shows that work was done and not optimised away. */
uint64_t work_after(uint64_t x, int64_t steps);

#endif
