/* HOT: a function in which a kernel spends its time. It is compiled several times, each for more of what
 * processors have, and the first call takes the best that this one can run: an engine that was built
 * elsewhere is as fast as one built here with -march=native.
 *
 * Such a function holds loops and no OpenMP construct but `simd`: what the compiler takes out of a parallel
 * region into a function of its own is compiled once, for the plainest processor. A parallel region calls HOT
 * functions with the share of each thread. Small static functions that one calls are inlined, and so compiled
 * with it. */
#ifndef BASE_HOT_H
#define BASE_HOT_H

/* Not with sanitizers: some want to be there before the choice is made, which is while the program loads, and
 * the compiler would take minutes over loops whose speed nobody asks for. */
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
