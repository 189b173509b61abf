/* The system's clocks, for what is timed before a launch has a clock, or outside what it measures. */
#ifndef BASE_SYSTEM_TIME_H
#define BASE_SYSTEM_TIME_H

#include <stdint.h>
#include <time.h>

/* In ns; 0 if there is no such clock. */
int64_t system_time_ns(clockid_t id);

#endif
