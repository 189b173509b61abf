/* A core kept busy for a known time, for ops that delay a rank on purpose. */
#ifndef BASE_SPIN_H
#define BASE_SPIN_H

#include <stdint.h>

/* Return when that much time has passed: at once for 0, and less than one reading of the system's clock too
 * late otherwise. Nothing is stamped, so an op that calls it reads no clock of the measurement. In
 * simulation, where time does not pass while a core is busy, the thread sleeps instead. */
void spin_ns(int64_t ns);

#endif
