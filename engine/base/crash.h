/* The last words of a rank that a signal kills: which rank, which signal, in which point; and, where the rank
 * is asked for it by SIGUSR2, what it is doing. */
#ifndef BASE_CRASH_H
#define BASE_CRASH_H

#include <stdint.h>

/* From now on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT write one line to stderr and then kill as they
 * would have. SIGUSR2 writes one, too, with the calls that the main thread is in, and does no more. */
void crash_watch(int rank);

/* Say which signal ended a rank, for one that could not say so itself: of those above it has. */
void crash_tell(int rank, int signal_number);

/* What the rank is doing, for that line; `name` must live until the next call. The phase is then "setup". */
void crash_context(int point, const char *name);

/* In which phase of the point it is, a text that stays; and how many samples it has begun. */
void crash_phase(const char *phase);
void crash_sample(int64_t count);

#endif
