/* Wait for another process or thread to change shared memory. */
#ifndef BASE_WAIT_H
#define BASE_WAIT_H

#include <sys/syscall.h>
#include <unistd.h>

/* Call it after each look in vain, with a count that starts at 0. It marks a spin for the core and, after
 * some 10 us, yields the core at each look, in case the other side waits for it. It does not use
 * sched_yield(), whose calls base/yield counts as the library's. */
static inline void wait_a_little(int *looks)
{
    enum { LOOKS_BEFORE_YIELD = 1000 };
    if (++*looks < LOOKS_BEFORE_YIELD) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        __asm__ volatile("yield");
#endif
        return;
    }
    *looks = LOOKS_BEFORE_YIELD;
    syscall(SYS_sched_yield);
}

#endif
