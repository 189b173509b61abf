/* HOT: a function in which a kernel spends its time. It is compiled several times, each time for a higher
 * level of the processor, and the first call takes the best that this one can run. So an engine that was
 * built elsewhere is as fast as one built here with -march=native.
 *
 * Such a function holds loops and no OpenMP construct except `simd`: the compiler moves a parallel region
 * into a function of its own, which is compiled once, for the lowest level. A parallel region calls HOT
 * functions with the share of each thread. Small static functions are inlined, and so compiled with their
 * caller. */
#ifndef BASE_HOT_H
#define BASE_HOT_H

/* Not with sanitizers: some must be there before the choice, which is made while the program loads, and the
 * compiler would take minutes over loops whose speed does not matter. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOT __attribute__((noinline))
#elif defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HOT                                                                                                  \
    __attribute__((noinline, optimize("O3"), target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#elif defined(__GNUC__) && !defined(__clang__)
#define HOT __attribute__((noinline, optimize("O3")))
#else
#define HOT __attribute__((noinline))
#endif

#endif
