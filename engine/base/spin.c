#define _GNU_SOURCE
#include "base/spin.h"

#include <time.h>

enum { SECOND_NS = 1000000000 };

#ifdef SMPI_HELPERS_H

void spin_ns(int64_t ns)
{
    const struct timespec rest = {.tv_sec = ns / SECOND_NS, .tv_nsec = ns % SECOND_NS};
    if (ns > 0)
        nanosleep(&rest, NULL);
}

#else

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * SECOND_NS + t.tv_nsec;
}

/* A number of multiplications would last as long as the core's frequency of the moment likes; a deadline does
 * not, and needs no calibration. */
void spin_ns(int64_t ns)
{
    if (ns <= 0)
        return;
    const int64_t deadline = now_ns() + ns;
    while (now_ns() < deadline)
        ;
}

#endif
